"""Partitions of the numbers into intervals that contain their lower and not their upper end."""

from __future__ import annotations

import bisect
import dataclasses
from decimal import Decimal
from typing import Protocol

import numpy as np
import pyarrow as pa

from tarnkappe.errors import HierarchyError
from tarnkappe.hierarchy.builder import ROOT, Domain
from tarnkappe.hierarchy.numbers import EXACT, floor_quotient, is_whole, number_text
from tarnkappe.table.encoding import Counts

Bound = Decimal | None
"""The end of an interval; None if it is open."""


class NumberPartition(Protocol):
    """The intervals of one level; they cover all numbers."""

    @property
    def is_whole(self) -> bool:
        """Whether all intervals end at whole numbers."""

    def interval(self, number: Decimal) -> tuple[Bound, Bound]:
        """The interval that a number lies in."""


@dataclasses.dataclass(frozen=True)
class FixedWidthPartition:
    """Intervals of one width, cut off below the bottom and from the top on.

    The ends are cut off alike on every level, so grids nest whenever their widths do.

    >>> FixedWidthPartition(Decimal(0), Decimal(5), bottom=None, top=Decimal(88)).interval(Decimal(86))
    (Decimal('85'), Decimal('88'))
    """

    origin: Decimal
    width: Decimal
    bottom: Bound
    top: Bound

    @property
    def is_whole(self) -> bool:
        """Whether all intervals end at whole numbers."""
        return all(n is None or is_whole(n) for n in (self.origin, self.width, self.bottom, self.top))

    def interval(self, number: Decimal) -> tuple[Bound, Bound]:
        """The interval that a number lies in."""
        if self.bottom is not None and number < self.bottom:
            return None, self.bottom
        if self.top is not None and number >= self.top:
            return self.top, None
        index = floor_quotient(EXACT.subtract(number, self.origin), self.width)
        low = EXACT.add(self.origin, EXACT.multiply(Decimal(index), self.width))
        high = EXACT.add(low, self.width)
        return (
            low if self.bottom is None else max(low, self.bottom),
            high if self.top is None else min(high, self.top),
        )


@dataclasses.dataclass(frozen=True)
class Cuts:
    """Intervals between given numbers in ascending order, with open ends.

    >>> Cuts((Decimal(18), Decimal(65))).interval(Decimal(18))
    (Decimal('18'), Decimal('65'))
    """

    cuts: tuple[Decimal, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all intervals end at whole numbers."""
        return all(map(is_whole, self.cuts))

    def interval(self, number: Decimal) -> tuple[Bound, Bound]:
        """The interval that a number lies in."""
        above = bisect.bisect_right(self.cuts, number)
        return (
            self.cuts[above - 1] if above else None,
            self.cuts[above] if above < len(self.cuts) else None,
        )


def finite_numbers(domain: Domain, builder: str) -> list[Decimal | None]:
    """The values as numbers; None for what a column of numbers holds besides finite ones."""
    numbers = domain.numbers
    if None in numbers and domain.spelling is None and not pa.types.is_floating(domain.values.type):
        text = domain.texts[numbers.index(None)]
        raise HierarchyError(
            "hierarchy.needs-numbers-but-value",
            "{builder} needs numbers, but {owner} has the value '{text}': correct it or use another "
            "builder, such as groups or masking",
            builder=builder,
            owner=domain.owner,
            text=text,
        )
    return numbers


def quantile_cuts(numbers: list[Decimal], counts: Counts, parts: int) -> Cuts:
    """Cuts into intervals with about equally many rows.

    For each share i/parts it cuts at the least number that has at least this share of all rows below it.
    A cut depends on its share only, so the cuts for a divisor of `parts` are some of those for `parts`.

    Args:
        numbers: distinct numbers in ascending order.
        counts: in how many rows each occurs.
        parts: how many intervals to make; there are fewer where many rows share a number.
    """
    rows_below = np.concatenate([[0], np.cumsum(counts)])
    total = int(rows_below[-1])
    wanted = [-(-i * total // parts) for i in range(1, parts)]
    positions = np.maximum(np.searchsorted(rows_below[:-1], wanted), 1)
    return Cuts(tuple(dict.fromkeys(numbers[i] for i in positions if i < len(numbers))))


def interval_label(low: Bound, high: Bound, whole: bool) -> str:
    """The interval from `low` to below `high` in words that cannot be misread.

    >>> interval_label(Decimal(20), Decimal(30), whole=True)
    '20-29'
    >>> interval_label(Decimal(-10), Decimal(0), whole=True)
    '-10 to -1'
    >>> interval_label(Decimal("0.5"), Decimal(1), whole=False)
    '[0.5, 1)'
    >>> interval_label(None, Decimal(20), whole=True), interval_label(Decimal(90), None, whole=True)
    ('<20', '>=90')
    """
    if low is None:
        return ROOT if high is None else f"<{number_text(high)}"
    if high is None:
        return f">={number_text(low)}"
    if not whole:
        return f"[{number_text(low)}, {number_text(high)})"
    last = EXACT.subtract(high, Decimal(1))
    if last == low:
        return number_text(low)
    return f"{number_text(low)}{'-' if low >= 0 else ' to '}{number_text(last)}"


def label_ascending(partition: NumberPartition, ascending: list[Decimal]) -> list[str]:
    """The labels of numbers in ascending order; they read as ranges if all numbers and ends are whole."""
    whole = partition.is_whole and all(map(is_whole, ascending))
    labels: list[str] = []
    end: Bound = None
    for number in ascending:
        if not labels or (end is not None and number >= end):
            low, end = partition.interval(number)
            label = interval_label(low, end, whole)
        labels.append(label)
    return labels
