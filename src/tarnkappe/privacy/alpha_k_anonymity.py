"""(alpha,k)-anonymity: k-anonymity in which no sensitive value is too frequent in any class."""

from __future__ import annotations

from typing import Annotated

from tarnkappe.privacy.composite import CompositeModel
from tarnkappe.privacy.exact import decimal
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Model, other_rows
from tarnkappe.privacy.x_y_linkability import XYLinkability
from tarnkappe.schema import ExactPositiveShare, Name, Rows, param


class AlphaKAnonymity(CompositeModel):
    """Every class has at least k rows, and every sensitive value a share of at most alpha (Wong et al. 2006).

    This is the general form, for all values of the column; to bound some values only, use
    `confidence-bounding`. `alpha` may be a fraction such as '2/3'.
    """

    name = "alpha-k-anonymity"
    cites = ("wong2006",)

    k: Annotated[Rows, param("rows that every class has at least", unit="rows", start=5)]
    alpha: Annotated[
        ExactPositiveShare,
        param("the largest share that a value may have in a class", kind="share", start=0.5),
    ]
    column: Annotated[Name, param("the sensitive column", kind="column")]

    @classmethod
    def examples(cls) -> tuple[AlphaKAnonymity, ...]:
        return (cls(2, 0.6, "disease"),)

    @property
    def promise(self) -> str:
        return (
            f"Every row of the release shares what others may know with at least {other_rows(self.k - 1)}, "
            f"and no value of '{self.column}' can be inferred with a probability above {decimal(self.alpha)}."
        )

    @property
    def parts(self) -> tuple[Model, ...]:
        return (KAnonymity(self.k), XYLinkability((self.column,), self.alpha))
