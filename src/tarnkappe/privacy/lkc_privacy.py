"""LKC-privacy: protection against attackers who know at most L of the quasi-identifiers."""

from __future__ import annotations

import dataclasses

from tarnkappe.privacy.composite import CompositeModel
from tarnkappe.privacy.exact import Exact, decimal
from tarnkappe.privacy.model import Model, as_names, others
from tarnkappe.privacy.subset_anonymity import SubsetAnonymity
from tarnkappe.privacy.subset_confidence import SubsetConfidence


@dataclasses.dataclass(frozen=True)
class LKCPrivacy(CompositeModel):
    """Every combination of at most l quasi-identifiers is shared by k rows, no value above c among them.

    Mohammed, Fung, Hung and Lee 2009, for tables with many quasi-identifiers, of which no attacker knows
    more than l of anybody. `values` are the values of the column that are sensitive; without them all are.

    The part on sizes is monotone with suppression too, the part on shares is not: see `SubsetAnonymity` and
    `SubsetConfidence`.
    """

    name = "lkc-privacy"

    l: int
    k: int
    c: Exact
    column: str
    values: tuple[str, ...] = dataclasses.field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", as_names(self.values))
        _ = self.parts  # the parts refuse what they cannot work with

    @classmethod
    def examples(cls) -> tuple[LKCPrivacy, ...]:
        return (cls(2, 2, 0.5, "disease"), cls(1, 3, 0.6, "disease", values=("flu",)))

    @property
    def promise(self) -> str:
        return (
            f"Whoever knows at most {self.l} quasi-identifiers of somebody in the release cannot tell her "
            f"apart from at least {others(self.k - 1)}, nor infer a sensitive value of her '{self.column}' "
            f"with a probability above {decimal(self.c)}."
        )

    @property
    def parts(self) -> tuple[Model, ...]:
        return (
            SubsetAnonymity(self.l, self.k),
            SubsetConfidence(self.l, self.c, self.column, values=self.values),
        )
