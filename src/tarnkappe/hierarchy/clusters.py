"""Clusters of numbers: intervals whose numbers are as near each other as can be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from msgspec import Meta

from tarnkappe.errors import HierarchyError
from tarnkappe.hierarchy.builder import MOST_LEVELS, Builder, Domain, Labels, ValueKind, per_level
from tarnkappe.hierarchy.numbers import EXACT
from tarnkappe.hierarchy.partition import Cuts, finite_numbers, label_ascending
from tarnkappe.schema import Listed, Problem, listed, param

MOST_CLUSTERS = 200
MOST_NUMBERS = 10_000
"""Every number is compared with every other one."""

Numbers = npt.NDArray[np.float64]
Number = Annotated[int, Meta(ge=2, le=MOST_CLUSTERS)]


class Clusters(Builder):
    """Numbers become intervals, so many on each level, with the least sum of squared distances from the means
    of the rows in them (k-means in one dimension, solved exactly: Wang and Song 2011,
    https://doi.org/10.32614/RJ-2011-015).

    Level 1 is the best of all partitions. Every further level joins neighbours of the level below, and is the
    best of all ways to do so. An interval begins at the number with the fewest digits that parts it from the
    one before. What is no finite number (`nan`, `inf`) keeps its own label below the root.

    >>> import pyarrow as pa
    >>> ages = Clusters(clusters=[3, 2]).build(pa.array([19, 21, 22, 47, 48, 81]))
    >>> for row in ages.rows(): print(*row, sep=";")
    19;<40;<40;*
    21;<40;<40;*
    22;<40;<40;*
    47;40-79;>=40;*
    48;40-79;>=40;*
    81;>=80;>=40;*
    """

    name = "clusters"
    kinds = frozenset({ValueKind.NUMBERS})

    clusters: Annotated[
        Number | Annotated[Listed[Number], Meta(min_length=1, max_length=MOST_LEVELS)],
        param("how many intervals there are on each level, falling; or on the only level", start=(8, 4, 2)),
    ]

    def rules(self) -> Iterator[Problem]:
        """There are fewer intervals on every level."""
        if any(more <= fewer for more, fewer in itertools.pairwise(self._numbers)):
            raise HierarchyError(
                "hierarchy.clusters-would-not-nest",
                "clusters would not nest: there must be fewer on every level, not {numbers}",
                numbers=listed(self._numbers),
            )
        yield from ()

    @classmethod
    def examples(cls) -> tuple[Clusters, ...]:
        """Instances for the common tests."""
        return (cls(clusters=2), cls(clusters=(5, 3, 2)))

    @property
    def height(self) -> int:
        """One level for each number, and the root."""
        return len(self._numbers) + 1

    def generalize(self, domain: Domain) -> list[Labels]:
        """The interval of each value on each level."""
        numbers = finite_numbers(domain, self.name)
        rows: dict[Decimal, int] = {}
        for number, count in zip(numbers, domain.counts.tolist(), strict=True):
            if number is not None:
                rows[number] = rows.get(number, 0) + max(count, 1)
        ascending = sorted(rows)
        if len(ascending) > MOST_NUMBERS:
            raise HierarchyError(
                "hierarchy.different-numbers-clusters-compares",
                "{owner} has {ascending:,} different numbers, and clusters compares at most "
                "{most_numbers:,}: use intervals with quantiles",
                owner=domain.owner,
                ascending=len(ascending),
                most_numbers=MOST_NUMBERS,
            )
        levels = []
        starts = list(range(len(ascending)))  # the first number of each interval
        for parts in self._numbers:
            starts = _joined(ascending, [rows[each] for each in ascending], starts, parts)
            cuts = Cuts(tuple(shortest_between(ascending[at - 1], ascending[at]) for at in starts[1:]))
            label = dict(zip(ascending, label_ascending(cuts, ascending), strict=True))
            levels.append(
                [text if n is None else label[n] for text, n in zip(domain.texts, numbers, strict=True)]
            )
        return levels

    @property
    def _numbers(self) -> tuple[int, ...]:
        return per_level(self.clusters)


def _joined(
    numbers: Sequence[Decimal], counts: Sequence[int], starts: Sequence[int], parts: int
) -> list[int]:
    """Where the best intervals begin that are unions of neighbouring given ones.

    The best partition of the first j intervals into p parts is, for some i, the best one of the first i into
    p - 1 parts and the rest as one part. Of equally good ones the last part is the longest.
    """
    if len(starts) <= parts:
        return list(starts)
    weight, total, squares = (_until(each, starts) for each in _moments(numbers, counts))
    best = _error(weight, total, squares, 0, np.arange(len(starts) + 1))
    begins = []
    for _ in range(parts - 1):
        better, begin = np.full(len(starts) + 1, np.inf), np.zeros(len(starts) + 1, np.int64)
        for end in range(1, len(starts) + 1):
            tried = best[:end] + _error(weight, total, squares, np.arange(end), end)
            begin[end] = np.argmin(tried)
            better[end] = tried[begin[end]]
        best = better
        begins.append(begin)
    found, end = [], len(starts)
    for begin in reversed(begins):
        end = int(begin[end])
        found.append(end)
    return [starts[at] for at in sorted({0, *found})]


def _moments(numbers: Sequence[Decimal], counts: Sequence[int]) -> tuple[Numbers, Numbers, Numbers]:
    """Rows, their sum and that of their squares for each number; measured from the middle, in ranges."""
    low, high = numbers[0], numbers[-1]
    span = EXACT.subtract(high, low)
    at = np.array([float(EXACT.subtract(number, low) / span) - 0.5 if span else 0.0 for number in numbers])
    weight = np.array(counts, np.float64)
    return weight, weight * at, weight * at * at


def _until(values: Numbers, starts: Sequence[int]) -> Numbers:
    """The sums of the values before each interval, and of all of them."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(sums[[*starts, len(values)]])


def _error(weight: Numbers, total: Numbers, squares: Numbers, begin: Any, end: Any) -> Numbers:
    """The sum of squared distances from the mean of what lies from `begin` to before `end`."""
    rows = weight[end] - weight[begin]
    moved = total[end] - total[begin]
    spread = squares[end] - squares[begin]
    return np.asarray(np.maximum(spread - moved * moved / np.where(rows > 0, rows, 1.0), 0.0))


def shortest_between(low: Decimal, high: Decimal) -> Decimal:
    """The number above `low`, and not above `high`, with the fewest digits; the greatest of these.

    >>> int(shortest_between(Decimal(22), Decimal(47))), shortest_between(Decimal("0.12"), Decimal("0.131"))
    (40, Decimal('0.13'))
    """
    place = max(high.adjusted(), low.adjusted()) + 1
    while True:
        unit = Decimal(1).scaleb(place)
        multiple = EXACT.multiply((high / unit).to_integral_value(rounding="ROUND_FLOOR"), unit)
        if low < multiple <= high:
            return multiple
        place -= 1
