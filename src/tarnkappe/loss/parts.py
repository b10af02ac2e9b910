"""Into how many parts the classes of a state may fall where labels are less general.

A class of a state u is the union of classes at any levels v that are nowhere more general. There are no more
of these than combinations of labels of v that lie under the labels of the class: at most

    R(v, u) = the product over the columns of the most labels of v that lie under one label of u,

counting only labels that occur. What is known of u therefore says how well v can do at best, before v is
grouped.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tarnkappe.loss.grid import Grid, over_levels
from tarnkappe.loss.remembered import remembered
from tarnkappe.native import compiled
from tarnkappe.table import ClassState, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts

MOST_PARTS = 4096
"""Where a class may fall into more parts than this, nothing but its rows is taken to limit them."""


@remembered
def most_parts(tuples: Tuples, name: str, low: int, high: int) -> int:
    """The most labels of a column at one level that occur and lie under one label at a higher level."""
    column = tuples.columns[name]
    occurring = np.flatnonzero(tuples.label_counts(name, 0))
    if column.levels is None or low == high or len(occurring) == 0:
        return 1
    below, above = (column.levels.maps[level][occurring] for level in (low, high))
    labels = np.int64(column.levels.distinct(low))
    pairs = np.unique(above * labels + below)
    return int(np.bincount(pairs // labels).max())


def parts_below(state: ClassState, levels: Sequence[range]) -> Grid:
    """R(v, u) for every combination v of some levels, none above those of the state u."""
    classes = state.classes
    return over_levels(
        np.multiply,
        [
            [most_parts(classes.tuples, column.name, low, high) for low in chosen]
            for column, high, chosen in zip(classes.quasi_identifiers, classes.levels, levels, strict=True)
        ],
    )


class Divisible(NamedTuple):
    """Classes, by how many times `k` rows they have: |E| / k, rounded down, and `MOST_PARTS` if it is more.

    Attributes:
        counts: how many classes.
        rows: how many rows they have together.
        squares: the sum of |E|² over them.
        times: the sum over all classes of |E| / k, rounded down.
    """

    counts: Grid
    rows: Grid
    squares: Grid
    times: float

    @classmethod
    def of(cls, sizes: Counts, chosen: Mask, k: int) -> Divisible:
        """Some classes."""
        return cls(*_by_times(sizes, chosen, k))

    def most_classes(self, parts: Grid) -> Grid:
        """How many classes of at least k rows are left where each class falls into at most R parts.

        A class has at most R parts, and at most |E| / k of them have k rows.
        """
        # As many classes as have at least i times k rows can have an i-th part.
        have = np.cumsum(self.counts[:0:-1])[::-1]
        most = np.append(0.0, np.cumsum(have))
        return np.where(parts < MOST_PARTS, most[np.minimum(parts, MOST_PARTS).astype(np.int64)], self.times)

    def least_charge(self, parts: Grid, k: int) -> Grid:
        """What rows are charged at least where each is charged the size of its part, and never less than k.

        By the inequality of Cauchy and Schwarz, R parts of a class have a sum of squares of at least
        |E|² / R; and a row is charged k at least. So a class is charged no less than the greater of |E|² / R
        and k |E|, which is the first just where |E| / k, rounded down, is at least R.
        """
        shares = np.minimum(parts, MOST_PARTS).astype(np.int64)
        few = np.cumsum(np.append(0.0, self.rows))[shares]
        many = np.cumsum(self.squares[::-1])[::-1]
        charge = k * few + many[shares] / parts
        # The classes of the last number may have fewer than R times k rows.
        return np.where(parts <= MOST_PARTS, charge, k * self.rows.sum())


@compiled
def _by_times(sizes: Counts, chosen: Mask, k: int) -> tuple[Grid, Grid, Grid, float]:
    # A histogram by how often k fits into a class, so that any number of parts is answered from a running
    # sum. Its length is fixed by `MOST_PARTS`, whatever the rows. Squares are added as floats: their sum
    # passes 64 bits. Whole `times` stay exact until they are returned.
    counts, rows = np.zeros(MOST_PARTS + 1), np.zeros(MOST_PARTS + 1)
    squares, times = np.zeros(MOST_PARTS + 1), 0
    for index in range(len(sizes)):
        if chosen[index]:
            size = sizes[index]
            place = min(size // k, MOST_PARTS)
            counts[place] += 1
            rows[place] += size
            squares[place] += np.float64(size) * size
            times += size // k
    return counts, rows, squares, np.float64(times)
