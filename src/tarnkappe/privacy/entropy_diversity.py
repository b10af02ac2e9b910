"""Entropy l-diversity: the sensitive values of every class are as uncertain as l equally frequent ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated

import numpy as np

from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.exact import TOLERANCE, at_least, decimal, sign_of_logarithms
from tarnkappe.privacy.keepable import most_of_entropy
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity, SensitiveModel
from tarnkappe.schema import FromOne, param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


def effective_values(distribution: Distribution) -> Measure:
    """The number of equally frequent values that would be as uncertain: e to the entropy of each class."""
    counts = distribution.counts.astype(np.float64)
    sizes = distribution.sizes.astype(np.float64)
    terms = counts * np.log(counts)
    sums = np.bincount(distribution.class_of_entry, weights=terms, minlength=distribution.num_classes)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sizes > 0, np.exp(np.log(sizes) - sums / sizes), 0.0)


@lru_cache(maxsize=65536)
def entropy_reaches(counts: tuple[int, ...], l: Fraction) -> bool:
    """Whether the entropy of the counts is at least ln l, exactly.

    With N rows it is so just if N ln N - (n1 ln n1 + ... + nd ln nd) - N ln l is not negative.
    """
    total = sum(counts)
    terms = [(total, total), *((-n, n) for n in counts), (-total, l.numerator), (total, l.denominator)]
    return sign_of_logarithms(terms) >= 0


class EntropyDiversity(SensitiveModel):
    """The entropy of the sensitive column in every class is at least ln l (Machanavajjhala et al. 2006).

    `l` may be fractional. A class whose entropy is exactly ln l passes.
    """

    name = "entropy-diversity"
    cites = ("machanavajjhala2007",)
    direction = Direction.AT_LEAST

    l: Annotated[
        FromOne,
        param(
            "equally frequent values that are as uncertain as every class is at least",
            unit="values",
            start=3,
        ),
    ]

    @classmethod
    def examples(cls) -> tuple[EntropyDiversity, ...]:
        return (cls("disease", 2), cls("disease", 1.8), cls("disease", 2, given=("treatment",)))

    @property
    def promise(self) -> str:
        return (
            f"For everybody in the release '{self.column}' is at least as uncertain as "
            f"a draw from {self.l:g} equally likely values."
        )

    @property
    def bound(self) -> float:
        return self.l

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            False,
            "Entropy is concave, so a merged class is at least as uncertain as the worse of its parts; "
            "but a class that was suppressed can spoil the one it is merged with.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return DistinctDiversity(self.column, math.ceil(decimal(self.l))).sub_criteria(tuples)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        self.require_values(tuples, math.ceil(decimal(self.l)))

    def measure_values(self, distribution: Distribution) -> Measure:
        return effective_values(distribution)

    def values_hold(self, distribution: Distribution) -> Mask:
        l, offsets, counts = decimal(self.l), distribution.offsets, distribution.counts

        def exactly(index: int) -> bool:
            present = counts[offsets[index] : offsets[index + 1]]
            return entropy_reaches(tuple(sorted(present.tolist())), l)

        return at_least(effective_values(distribution), self.l, exactly)

    def values_keepable(self, distribution: Distribution) -> Counts:
        return most_of_entropy(distribution.offsets, distribution.counts, math.log(self.l))

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"""
            WITH shares AS (SELECT class, n / sum(n) OVER (PARTITION BY class) AS p FROM counts)
            SELECT class, exp(-sum(p * ln(p))) AS value, value >= {self.l!r} - {TOLERANCE} AS holds
            FROM shares GROUP BY class"""
