"""Only the root: a value is shown or it is not."""

from __future__ import annotations

from tarnkappe.hierarchy.builder import Builder, Domain, Labels


class RootOnly(Builder):
    """Values without steps in between, for columns with few categories such as sex.

    >>> import pyarrow as pa
    >>> list(RootOnly().build(pa.array(["Male", "Female"])).rows())
    [('Female', '*'), ('Male', '*')]
    """

    name = "root"

    @classmethod
    def examples(cls) -> tuple[RootOnly, ...]:
        """Instances for the common tests."""
        return (cls(),)

    @property
    def height(self) -> int:
        """The root is level 1."""
        return 1

    @property
    def looks_at_data(self) -> bool:
        """The root is the same for all."""
        return False

    def generalize(self, domain: Domain) -> list[Labels]:
        """No level below the root."""
        del domain
        return []
