"""(k,e)-anonymity: at least k different numbers in every class, over a range of at least e."""

from __future__ import annotations

from typing import Annotated

from tarnkappe.privacy.composite import CompositeModel
from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.model import Model
from tarnkappe.privacy.value_range import ValueRange
from tarnkappe.schema import Name, NotNegative, Rows, param


class KEAnonymity(CompositeModel):
    """At least k numbers in every class, the largest and the smallest at least e apart (Zhang et al. 2007).

    It ignores how the numbers are spread within the range: nearly all of them may be close together.
    Against that, use `epsilon-m-anonymity`.
    """

    name = "k-e-anonymity"
    cites = ("zhang2007",)

    k: Annotated[Rows, param("rows that every class has at least", unit="rows", start=5)]
    e: Annotated[
        NotNegative,
        param("the least difference between the largest and the smallest number of a class", start=10.0),
    ]
    column: Annotated[Name, param("the sensitive column of numbers", kind="column")]

    @classmethod
    def examples(cls) -> tuple[KEAnonymity, ...]:
        return (cls(3, 300, "income"),)

    @property
    def promise(self) -> str:
        return (
            f"For everybody in the release at least {self.k} values of '{self.column}' remain possible, "
            f"over a range of at least {self.e:g}."
        )

    @property
    def parts(self) -> tuple[Model, ...]:
        return (DistinctDiversity(self.column, self.k), ValueRange(self.column, self.e))
