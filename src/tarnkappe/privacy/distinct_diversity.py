"""Distinct l-diversity: every class has at least l different sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity, SensitiveModel
from tarnkappe.schema import param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask


def distinct_values(distribution: Distribution) -> Measure:
    """How many different values each class has."""
    return np.diff(distribution.offsets).astype(np.float64)


class DistinctDiversity(SensitiveModel):
    """At least l distinct values of the sensitive column in every class (Machanavajjhala et al. 2006).

    It stops the homogeneity attack, but one value may still dominate a class.
    """

    name = "distinct-diversity"
    cites = ("machanavajjhala2007",)
    direction = Direction.AT_LEAST

    l: Annotated[
        int,
        param(
            "different sensitive values that every class has at least",
            ge=1,
            le=1_000_000,
            unit="values",
            start=3,
        ),
    ]

    @classmethod
    def examples(cls) -> tuple[DistinctDiversity, ...]:
        return (cls("disease", 2), cls("disease", 3), cls("disease", 2, given=("treatment",)))

    @property
    def promise(self) -> str:
        return f"For everybody in the release at least {self.l} values of '{self.column}' remain possible."

    @property
    def bound(self) -> float:
        return self.l

    @property
    def monotonicity(self) -> Monotonicity:
        reason = "Merging classes never loses a value, so the number of distinct values never falls."
        if self.given:
            reason += " A division of a class can however be spoiled by a class that was suppressed."
        return Monotonicity(True, not self.given, reason)

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (DistinctDiversity(self.column, self.l), KAnonymity(self.l))

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        self.require_values(tuples, self.l)

    def measure_values(self, distribution: Distribution) -> Measure:
        return distinct_values(distribution)

    def values_hold(self, distribution: Distribution) -> Mask:
        return distinct_values(distribution) >= self.l

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"SELECT class, count(*) AS value, count(*) >= {self.l} AS holds FROM counts GROUP BY class"
