"""Recursive (c,l)-diversity: no sensitive value of a class is too frequent, even if others are ruled out.

Explained in docs/explanation/guarantees.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.exact import decimal, less_than, sql_ratio
from tarnkappe.privacy.keepable import MILLION, most_of_odds
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    Monotonicity,
    SensitiveModel,
    literal,
)
from tarnkappe.schema import Positive, param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Codes, Counts

LARGEST_C = 1000
"""Up to here, millionths of c times the rows of a class fit into a word."""


@compiled
def frequency_and_tail(
    offsets: Counts, codes: Codes, counts: Counts, harmless: Mask, l: int
) -> tuple[Counts, Counts]:
    """The count of the most frequent harmful value of each class, and what is left of the others.

    Left are the counts of all other values without the l - 2 largest, nothing if there are fewer than
    l values. A class without a harmful value has a frequency of 0.
    """
    # Sorted only for l above 2: else all others are left, in whatever order. The harmful value is set to 0
    # before, so it adds nothing to the rest. On a copy, since `counts` belong to the state. Entries in time,
    # and a sort of each class.
    num_classes = len(offsets) - 1
    frequency = np.zeros(num_classes, np.int64)
    tail = np.zeros(num_classes, np.int64)
    for index in range(num_classes):
        begin, end = offsets[index], offsets[index + 1]
        most = -1
        for entry in range(begin, end):
            if not harmless[codes[entry]] and (most < 0 or counts[entry] > counts[most]):
                most = entry
        if most < 0:
            continue
        frequency[index] = counts[most]
        if end - begin < l:
            continue
        others = counts[begin:end].copy()
        others[most - begin] = 0
        if l > 2:
            others.sort()
        tail[index] = others[: len(others) - (l - 2)].sum()
    return frequency, tail


def sql_odds(harmless: Sequence[str], c: float, l: int) -> str:
    """The query of all recursive diversities: the odds for the most frequent harmful value of each class.

    With the most frequent harmful value in the first place and the others by frequency after it, what is
    left of the others are the places from l on.
    """
    numerator, denominator = sql_ratio(c)
    tolerated = f"value IN ({', '.join(map(literal, harmless))})" if harmless else "false"
    return f"""
        WITH marked AS (SELECT class, n::HUGEINT AS n, {tolerated} AS harmless FROM counts),
        first AS (
            SELECT *, NOT harmless
                AND row_number() OVER (PARTITION BY class ORDER BY harmless, n DESC) = 1 AS most FROM marked),
        placed AS (
            SELECT *, row_number() OVER (PARTITION BY class ORDER BY most DESC, n DESC) AS place FROM first),
        summed AS (
            SELECT class, coalesce(sum(n) FILTER (most), 0) AS frequency,
                coalesce(sum(n) FILTER (place >= {l}), 0) AS tail FROM placed GROUP BY class)
        SELECT class,
            CASE WHEN frequency = 0 THEN 0 WHEN tail = 0 THEN 'inf' ELSE frequency / tail END AS value,
            frequency = 0 OR frequency * {denominator} < {numerator} * tail AS holds
        FROM summed"""


class RecursiveDiversity(SensitiveModel):
    """In every class r1 < c (rl + ... + rd), with the counts of its d values in descending order.

    Machanavajjhala et al. 2006. The inequality is strict, `c` is the decimal number as written, and a
    class with fewer than l values fails, since nothing is left on the right side.

    The left side divided by the sum is what is measured. It bounds the odds for every value, not only
    for the most frequent one: let an attacker rule out any l - 2 values but s; the odds for s against
    the rest are largest if s is the most frequent value and the others ruled out follow it.

    Why it survives merging: the largest count of a union is at most the sum of the largest counts, and
    the sum of the l - 1 largest counts is at most the sum of those sums (both are maxima over sets of
    values), so what is left on the right side is at least the sum of what was left in the parts.

    Why it implies distinct diversity: the d - l + 1 counts on the right are at most r1, so
    r1 < c (d - l + 1) r1, that is d > l - 1 + 1/c: at least l + floor(1/c) values.

    >>> RecursiveDiversity("disease", 3, 4).promise
    "Even if 2 values are ruled out, the odds for any value of 'disease' stay below 3 to 1."
    """

    name = "recursive-diversity"
    cites = ("machanavajjhala2007",)
    direction = Direction.LESS_THAN

    c: Annotated[Positive, param("times the rest that the most frequent value stays below", start=3.0)]
    l: Annotated[
        int,
        param("place from which counts are added up to the rest", ge=2, le=1_000_000, unit="values", start=3),
    ]

    @classmethod
    def examples(cls) -> tuple[RecursiveDiversity, ...]:
        return (
            cls("disease", 2, 2),
            cls("disease", 1.5, 3),
            cls("disease", 0.9, 2),
            cls("disease", 3, 2, given=("treatment",)),
        )

    @property
    def promise(self) -> str:
        ruled_out = f"Even if {self.l - 2} values are ruled out, the" if self.l > 2 else "The"
        return f"{ruled_out} odds for any value of '{self.column}' stay below {self.c:g} to 1."

    @property
    def bound(self) -> float:
        return self.c

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            False,
            "In a merged class no value is more frequent, and the rest no rarer, than in its parts together; "
            "but a class that was suppressed can spoil the one it is merged with.",
        )

    @property
    def least_values(self) -> int:
        """How many values every class has at least."""
        return self.l + math.floor(1 / decimal(self.c))

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return DistinctDiversity(self.column, self.least_values).sub_criteria(tuples)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        self.require_values(tuples, self.least_values)

    def harmless_codes(self, distribution: Distribution) -> Mask:
        """The values that may be disclosed: here none."""
        return np.zeros(distribution.column.cardinality, dtype=bool)

    def measure_values(self, distribution: Distribution) -> Measure:
        return odds(*self._frequency_and_tail(distribution))

    def values_hold(self, distribution: Distribution) -> Mask:
        c = decimal(self.c)
        frequency, tail = self._frequency_and_tail(distribution)

        def exactly(index: int) -> bool:
            return int(frequency[index]) < c * int(tail[index])

        return less_than(odds(frequency, tail), self.c, exactly)

    def values_keepable(self, distribution: Distribution) -> Counts | None:
        if self.c > LARGEST_C or self.harmless_codes(distribution).any():
            return None
        c = math.ceil(decimal(self.c) * MILLION)  # a greater c never keeps less
        return most_of_odds(distribution.offsets, distribution.counts, c, self.l)

    def _frequency_and_tail(self, distribution: Distribution) -> tuple[Counts, Counts]:
        return frequency_and_tail(
            distribution.offsets,
            distribution.codes,
            distribution.counts,
            self.harmless_codes(distribution),
            self.l,
        )

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return sql_odds((), self.c, self.l)


def odds(frequency: Counts, tail: Counts) -> npt.NDArray[np.float64]:
    """Frequency divided by tail: 0 for a frequency of 0, else infinite where nothing is left."""
    measured = np.where(frequency > 0, np.inf, 0.0)
    np.divide(frequency, tail, out=measured, where=tail > 0)
    return measured
