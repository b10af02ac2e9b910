"""(alpha,k)-anonymity: k-anonymity in which no sensitive value is too frequent in any class."""

from __future__ import annotations

import dataclasses

from tarnkappe.privacy.composite import CompositeModel
from tarnkappe.privacy.exact import Exact, decimal
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Model, other_rows, require_whole
from tarnkappe.privacy.shares import require_share
from tarnkappe.privacy.x_y_linkability import XYLinkability


@dataclasses.dataclass(frozen=True)
class AlphaKAnonymity(CompositeModel):
    """Every class has at least k rows, and every sensitive value a share of at most alpha (Wong et al. 2006).

    This is the general form, for all values of the column; to bound some values only, use
    `confidence-bounding`. `alpha` may be a fraction such as '2/3'.
    """

    name = "alpha-k-anonymity"

    k: int
    alpha: Exact
    column: str

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k)
        require_share(self.name, "alpha", self.alpha, above_zero=True)

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
