"""Basic beta-likeness: no sensitive value gains more than a factor of 1 + beta in a class."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

import numpy as np
import numpy.typing as npt

from tarnkappe.privacy.exact import TOLERANCE, at_most, decimal, sql_ratio
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    Monotonicity,
    SensitiveModel,
    entries_of,
)
from tarnkappe.schema import Positive, param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask

LARGEST_IMPLIED_SIZE = 1000
"""Where the search for the smallest class that can be alike stops."""


def gains(distribution: Distribution) -> npt.NDArray[np.float64]:
    """For each entry (q - p) / p, with the share p of its value in the table and q in the class."""
    sizes = distribution.sizes[distribution.class_of_entry]
    table = distribution.totals[distribution.codes] / max(int(distribution.totals.sum()), 1)
    gain: npt.NDArray[np.float64] = distribution.counts / sizes / table - 1.0
    return gain


def exact_gain(total: int, rows: int, count: int, size: int) -> Fraction:
    """(q - p) / p without rounding."""
    return Fraction(count * rows, size * total) - 1


def smallest_alike_size(shares: npt.NDArray[np.float64], beta: npt.NDArray[np.float64]) -> int:
    """The smallest size of a class in which no share p grows to more than (1 + beta) p.

    Of n rows at most floor(n (1 + beta) p) may have the value, and n rows can be found just if these
    numbers sum up to at least n. They are rounded up a little here, so that the size, if inexact at all,
    is a lower bound; where the search stops it is one too.
    """
    most = np.minimum((1 + beta) * shares, 1.0) * (1 + TOLERANCE) + TOLERANCE
    for size in range(1, LARGEST_IMPLIED_SIZE + 1):
        if np.floor(size * most).sum() >= size:
            return size
    return LARGEST_IMPLIED_SIZE + 1


class BasicBetaLikeness(SensitiveModel):
    """In every class (q - p) / p <= beta for every value that is more frequent there than in the table.

    Cao and Karras 2012, with p the share of the value in the whole table and q its share in the class. It
    treats a rare value and a frequent one alike, and lets values be rarer in a class than in the table.

    Why it survives merging: it bounds every q from above, and the share of a union lies between the
    shares of its parts. Why it implies k-anonymity: see `smallest_alike_size`.
    """

    name = "basic-beta-likeness"
    cites = ("cao2012",)
    direction = Direction.AT_MOST

    beta: Annotated[
        Positive, param("how much more frequent a value may be in a class than in the table", start=2.0)
    ]

    @classmethod
    def examples(cls) -> tuple[BasicBetaLikeness, ...]:
        return (cls("disease", 1), cls("disease", 0.5), cls("disease", 1, given=("treatment",)))

    @property
    def promise(self) -> str:
        return (
            f"Within any group of the release no value of '{self.column}' is more than "
            f"{1 + self.beta:g} times as frequent as in the whole table."
        )

    @property
    def bound(self) -> float:
        return self.beta

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            False,
            "The share of a value in a merged class lies between its shares in the parts; but a class that "
            "was suppressed can spoil the one it is merged with.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        totals = self.whole(tuples).totals
        shares = totals[totals > 0] / totals.sum()
        size = smallest_alike_size(shares, self.allowed_gain(shares))
        return (KAnonymity(size),) if size > 1 else ()

    def allowed_gain(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """How much values with these shares in the table may gain."""
        return np.full_like(shares, self.beta)

    def measure_values(self, distribution: Distribution) -> Measure:
        largest = np.zeros(distribution.num_classes)  # in any class some value does not get rarer
        np.maximum.at(largest, distribution.class_of_entry, gains(distribution))
        return largest

    def values_hold(self, distribution: Distribution) -> Mask:
        beta, totals = decimal(self.beta), distribution.totals.tolist()
        rows = sum(totals)

        def exactly(index: int) -> bool:
            entries = entries_of(distribution, index)
            size = sum(count for _, count in entries)
            return all(exact_gain(totals[code], rows, count, size) <= beta for code, count in entries)

        return at_most(self.measure_values(distribution), self.beta, exactly)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.beta)
        return f"""
            WITH whole AS (SELECT sum(n) AS rows FROM totals),
            sizes AS (SELECT class, sum(n) AS size FROM counts GROUP BY class)
            SELECT class, max(counts.n * rows / (totals.n * size)) - 1 AS value,
                bool_and(counts.n * rows * {denominator}
                    <= ({denominator} + {numerator}) * totals.n * size) AS holds
            FROM counts JOIN totals USING (value) JOIN sizes USING (class) CROSS JOIN whole GROUP BY class"""
