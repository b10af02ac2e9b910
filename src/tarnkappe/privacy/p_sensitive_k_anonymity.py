"""p-sensitive k-anonymity: k-anonymity with at least p different sensitive values in every class."""

from __future__ import annotations

from typing import Annotated

from tarnkappe.privacy.composite import CompositeModel
from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Model, other_rows
from tarnkappe.schema import Name, Rows, param


class PSensitiveKAnonymity(CompositeModel):
    """Every class has at least k rows and at least p values of the sensitive column (Truta and Vinay 2006).

    >>> [str(part) for part in PSensitiveKAnonymity(5, 2, "disease").parts]
    ['k-anonymity(k=5)', 'distinct-diversity(column=disease, l=2)']
    """

    name = "p-sensitive-k-anonymity"
    cites = ("truta2006",)

    k: Annotated[Rows, param("rows that every class has at least", unit="rows", start=5)]
    p: Annotated[
        int,
        param(
            "different sensitive values that every class has at least",
            ge=1,
            le=1_000_000,
            unit="values",
            start=3,
        ),
    ]
    column: Annotated[Name, param("the sensitive column", kind="column")]

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
