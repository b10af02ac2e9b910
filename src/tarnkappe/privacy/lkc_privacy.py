"""LKC-privacy: protection against attackers who know at most L of the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from tarnkappe.privacy.composite import CompositeModel
from tarnkappe.privacy.exact import decimal
from tarnkappe.privacy.model import Model, others
from tarnkappe.privacy.subset_anonymity import SubsetAnonymity
from tarnkappe.privacy.subset_confidence import SubsetConfidence, rule_of_confidence
from tarnkappe.schema import MOST_VALUES, ExactShare, Name, Problem, Rows, param


class LKCPrivacy(CompositeModel):
    """Every combination of at most l quasi-identifiers is shared by k rows, no value above c among them.

    Mohammed, Fung, Hung and Lee 2009, for tables with many quasi-identifiers, of which no attacker knows
    more than l of anybody. `values` are the values of the column that are sensitive; without them all are.

    The part on sizes is monotone with suppression too, the part on shares is not: see `SubsetAnonymity` and
    `SubsetConfidence`.
    """

    name = "lkc-privacy"
    cites = ("mohammed2009",)

    l: Annotated[
        int,
        param("values that the attacker knows at most of anybody", ge=1, le=1_000, unit="columns", start=2),
    ]
    k: Annotated[Rows, param("rows that every class has at least", unit="rows", start=5)]
    c: Annotated[
        ExactShare,
        param("the largest confidence with which a value may be concluded", kind="share", start=0.5),
    ]
    column: Annotated[Name, param("the sensitive column", kind="column")]
    values: Annotated[
        tuple[Name, ...],
        param(
            "the sensitive values that must not be concluded; all if none is named",
            kind="values",
            max_length=MOST_VALUES,
        ),
    ] = ()

    def rules(self) -> Iterator[Problem]:
        yield from rule_of_confidence(self.c, self.values)

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
