"""p-sensitive k-anonymity: k-anonymity with at least p different sensitive values in every class."""

from __future__ import annotations

import dataclasses

from tarnkappe.privacy.composite import CompositeModel
from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Model, other_rows, require_whole


@dataclasses.dataclass(frozen=True)
class PSensitiveKAnonymity(CompositeModel):
    """Every class has at least k rows and at least p values of the sensitive column (Truta and Vinay 2006).

    >>> [str(part) for part in PSensitiveKAnonymity(5, 2, "disease").parts]
    ['k-anonymity(k=5)', 'distinct-diversity(column=disease, l=2)']
    """

    name = "p-sensitive-k-anonymity"

    k: int
    p: int
    column: str

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k)
        require_whole(self.name, "p", self.p)

    @classmethod
    def examples(cls) -> tuple[PSensitiveKAnonymity, ...]:
        return (cls(3, 2, "disease"),)

    @property
    def promise(self) -> str:
        return (
            f"Every row of the release shares what others may know with at least {other_rows(self.k - 1)}, "
            f"and at least {self.p} values of '{self.column}' remain possible for it."
        )

    @property
    def parts(self) -> tuple[Model, ...]:
        return (KAnonymity(self.k), DistinctDiversity(self.column, self.p))
