"""(epsilon,m)-anonymity: no more than one m-th of a class has a number close to anybody's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.exact import TOLERANCE, decimal, sql_ratio
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    Monotonicity,
)
from tarnkappe.privacy.numeric_model import NumericModel, numbers_of
from tarnkappe.privacy.shares import no_entry, quotients, ratios_at_most, size_of_entry
from tarnkappe.schema import FromOne, NotNegative, param
from tarnkappe.table import Column, Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


class EpsilonMAnonymity(NumericModel):
    """For every number in a class, at most one m-th of the class lies within epsilon (Li, Tao and Xiao 2008).

    Close to x is what differs from x by at most epsilon, or, with `relative`, by at most epsilon times |x|.
    The missing value is close to itself only. It stops the proximity attack, which takes numbers that are
    nearly equal for equal. `m` may be fractional.

    Why not monotone: of a class in which nothing is close together two numbers may lie on either side of a
    number from another class and be close to it. With epsilon 1 and m 2, {0, 2} and {1, 9} hold; together,
    three of four numbers are close to 1.

    Why it implies diversity: a value is close to itself, so no share exceeds 1/m and there are at least m.
    """

    name = "epsilon-m-anonymity"
    cites = ("li2008",)
    direction = Direction.AT_MOST

    epsilon: Annotated[NotNegative, param("how near to a number another one counts as similar", start=1.0)]
    m: Annotated[FromOne, param("one of so many rows of a class may be similar to a given one", start=3.0)]
    relative: Annotated[bool, param("whether epsilon is a share of the number itself")] = False

    @classmethod
    def examples(cls) -> tuple[EpsilonMAnonymity, ...]:
        return (
            cls("income", 100, 2),
            cls("income", 0.5, 1.5, relative=True),
            cls("income", 100, 1.5, given=("treatment",)),
        )

    @property
    def promise(self) -> str:
        unit = " times the value" if self.relative else ""
        return (
            f"Nobody's value of '{self.column}' can be guessed up to {self.epsilon:g}{unit} "
            f"with a probability above 1/{self.m:g}."
        )

    @property
    def bound(self) -> float:
        return 1 / self.m

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            False,
            False,
            "Two numbers of one class that are far from each other may both be close to one of another.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return DistinctDiversity(self.column, math.ceil(decimal(self.m))).sub_criteria(tuples)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        self.require_values(tuples, math.ceil(decimal(self.m)))

    def measure_values(self, distribution: Distribution) -> Measure:
        worst = np.zeros(distribution.num_classes)
        close = self._close(distribution)
        np.maximum.at(worst, distribution.class_of_entry, quotients(close, size_of_entry(distribution)))
        return worst

    def values_hold(self, distribution: Distribution) -> Mask:
        good = ratios_at_most(self._close(distribution), size_of_entry(distribution), 1 / decimal(self.m))
        return no_entry(distribution, np.flatnonzero(~good))

    def _close(self, distribution: Distribution) -> Counts:
        """For each entry, how many rows of its class have a value close to it.

        The entries are sorted by class and value, so that those close to one are next to each other and
        their counts are the difference of two sums.
        """
        width = distribution.column.cardinality
        first, last = close_codes(distribution.column, self.epsilon, relative=self.relative)
        start_of_class = distribution.class_of_entry.astype(np.int64) * width
        keys = start_of_class + distribution.codes
        order = np.argsort(keys)
        sums = np.concatenate([[0], np.cumsum(distribution.counts[order])])
        begin = np.searchsorted(keys[order], start_of_class + first[distribution.codes], "left")
        end = np.searchsorted(keys[order], start_of_class + last[distribution.codes], "right")
        close: Counts = sums[end] - sums[begin]
        return close

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.m)
        reach = f"{self.epsilon!r} * abs(x.number)" if self.relative else repr(self.epsilon)
        return f"""
            WITH numbers AS (
                SELECT class, value, counts.n, number, sum(counts.n) OVER (PARTITION BY class) AS size
                FROM counts JOIN totals USING (value)),
            close AS (
                SELECT x.class, x.value, any_value(x.size) AS size, sum(y.n) AS n
                FROM numbers x JOIN numbers y ON x.class = y.class AND (x.value = y.value
                    OR abs(x.number - y.number) <= {reach} + {TOLERANCE} * greatest(1, {reach}))
                GROUP BY x.class, x.value)
            SELECT class, max(n / size) AS value,
                bool_and(n * {numerator} <= size * {denominator}) AS holds FROM close GROUP BY class"""


def close_codes(column: Column, epsilon: float, *, relative: bool) -> tuple[Counts, Counts]:
    """For each distinct value of a column, the first and the last one close to it, decided exactly.

    Values are in ascending order, so those close to one are a range. Only the ends of a range that lie
    within rounding of epsilon are decided again in exact arithmetic.
    """
    cache: dict[tuple[float, bool], tuple[Counts, Counts]] = column.__dict__.setdefault("_close_codes", {})
    if (epsilon, relative) not in cache:
        cache[epsilon, relative] = _close_codes(column, epsilon, relative)
    return cache[epsilon, relative]


def _close_codes(column: Column, epsilon: float, relative: bool) -> tuple[Counts, Counts]:
    numbers = numbers_of(column)
    known = numbers[~np.isnan(numbers)]
    reach = epsilon * np.abs(known) if relative else np.full(len(known), epsilon)
    slack = TOLERANCE * np.maximum(1, np.maximum(reach, np.abs(known)))
    first = np.searchsorted(known, known - reach - slack, "left")
    last = np.searchsorted(known, known + reach + slack, "right") - 1
    surely_first = np.searchsorted(known, known - reach + slack, "left")
    surely_last = np.searchsorted(known, known + reach - slack, "right") - 1
    bound = decimal(epsilon)

    def close(x: int, y: int) -> bool:
        own = decimal(known[x])
        return abs(decimal(known[y]) - own) <= (bound * abs(own) if relative else bound)

    for x in np.flatnonzero((first != surely_first) | (last != surely_last)).tolist():
        while not close(x, int(first[x])):
            first[x] += 1
        while not close(x, int(last[x])):
            last[x] -= 1
    missing = np.arange(len(known), len(numbers))  # the missing value is the last and close to itself only
    return np.concatenate([first, missing]), np.concatenate([last, missing])
