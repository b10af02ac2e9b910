"""(X,Y)-privacy: (X,Y)-anonymity and (X,Y)-linkability together."""

from __future__ import annotations

import dataclasses

from tarnkappe.privacy.composite import CompositeModel
from tarnkappe.privacy.exact import Exact, decimal
from tarnkappe.privacy.model import Model, as_names
from tarnkappe.privacy.x_y_anonymity import XYAnonymity, quoted
from tarnkappe.privacy.x_y_linkability import XYLinkability


@dataclasses.dataclass(frozen=True)
class XYPrivacy(CompositeModel):
    """Every value of `x` has at least k values of `y`, none with a share above p (Wang and Fung 2006).

    `x` are quasi-identifiers, all of them if none is named; `y` are other columns, whose combinations of
    values count.
    """

    name = "x-y-privacy"

    y: tuple[str, ...]
    k: int
    p: Exact
    x: tuple[str, ...] = dataclasses.field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", as_names(self.x))
        object.__setattr__(self, "y", as_names(self.y))
        _ = self.parts  # the parts refuse what they cannot work with

    @classmethod
    def examples(cls) -> tuple[XYPrivacy, ...]:
        return (cls(("disease",), 2, 0.75), cls(("disease",), 2, "2/3", x=("a",)))

    @property
    def promise(self) -> str:
        known = quoted(self.x) if self.x else "all quasi-identifiers"
        return (
            f"From {known} nobody can be linked to fewer than {self.k} values of {quoted(self.y)}, "
            f"nor to any of them with a probability above {decimal(self.p)}."
        )

    @property
    def parts(self) -> tuple[Model, ...]:
        return (XYAnonymity(self.y, self.k, x=self.x), XYLinkability(self.y, self.p, x=self.x))
