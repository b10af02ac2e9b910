"""Searching for the border of a monotone criterion with few tests, led by a forecast.

What fails excludes everything below it, so one test may settle thousands of nodes, if it is made at the right
node: high enough to exclude much, low enough to fail. A forecast of the suppressed rows tells where that is.

Explained in docs/explanation/searches.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.lattice.forecast import Forecast
from tarnkappe.lattice.space import CHECKED, CLOSED, FAILED, FOUND, Facts, Indices, NodeSpace, next_open
from tarnkappe.loss.grid import Grid
from tarnkappe.native import compiled

if TYPE_CHECKING:
    from tarnkappe.lattice.auto import Hunt
    from tarnkappe.lattice.checker import NodeCheck

Amounts = npt.NDArray[np.int32]

# Places in the inner loops are unsigned: a number that may be negative keeps the compiler from adding many at
# once.

MARGIN = 0.1
"""By so much the logarithm of the suppressed rows must exceed the limit for a node to be taken as failing."""


class Axes(NamedTuple):
    """The part of the lattice in which nodes may be open, column by column.

    The columns with most levels come first and change fastest, so that inner loops are long.

    Attributes:
        low: the lowest level.
        high: the highest level.
        starts: where the terms of the column begin.
        strides: by how much the number of a node grows with a level.
    """

    low: Indices
    high: Indices
    starts: Indices
    strides: Indices

    @classmethod
    def of(cls, space: NodeSpace) -> Axes:
        """The whole lattice."""
        order = np.argsort(-space.shape, kind="stable")
        starts = np.cumsum(space.shape) - space.shape
        low = np.zeros(len(order), np.int64)
        return cls(low, space.shape[order] - 1, starts[order], space.strides[order])


class Sweep:
    """A search that ends when no node is left that could satisfy and be better than the best found."""

    def __init__(self, hunt: Hunt) -> None:
        self._hunt = hunt
        self._forecast = Forecast(hunt.problem)
        self._axes = Axes.of(hunt.space)
        self._charges = hunt.lower_bounds and hunt.problem.loss.charge_grows_downward
        self._settled = CHECKED | FAILED | (0 if self._charges else FOUND)
        self._by_levels = hunt.space.bounds.copy()
        self._position, self._reached = 0, -1
        self._climbs = climbs(hunt)
        self._charged, self._suppressed = 0.0, 0

    def search(self) -> None:
        """Test what is foretold to satisfy, and what lies above it, or else what excludes most by failing."""
        hunt, space = self._hunt, self._hunt.space
        while True:
            index = self._choose()
            if index < 0:
                return
            found = hunt.test(index)
            self._learn(index, found)
            # Where rows are charged for, what lies above is rather excluded than tested one by one.
            if space.known[index] & FOUND and not self._charges:
                hunt.visit_above(index)

    def _choose(self) -> int:
        space, ceiling = self._hunt.space, self._hunt.best.ceiling
        border = math.log(self._effective_limit() + 0.75)
        foretold = self._forecast.by_level()
        if not self._climbs:
            return choose(space.known, space.least, ceiling, *foretold, border, self._settled, *self._axes)
        index, self._position, self._reached = climb(
            space.known,
            space.least,
            ceiling,
            space.by_bound,
            self._position,
            self._reached,
            *foretold,
            border,
            self._settled,
            self._forecast.starts,
            space.shape,
            space.strides,
        )
        return index

    def _learn(self, index: int, found: NodeCheck) -> None:
        self._forecast.learn(found.evaluation.node, found.suppressed_about)
        if found.evaluation.satisfied:
            self._charged += found.evaluation.loss - float(self._by_levels[index])
            self._suppressed += found.evaluation.suppressed

    def _effective_limit(self) -> float:
        """With more suppressed rows than this no node is likely to be the best: it would be charged too much.

        What a row is charged beyond what the levels cost is known from the tests so far. Nothing is concluded
        from it: such a node is tested like one that is foretold to fail, and its test says what all nodes
        below it are charged at least.
        """
        hunt, space, limit = self._hunt, self._hunt.space, self._hunt.problem.limit
        if not self._charges or self._charged <= 0 or self._suppressed == 0:
            return limit
        self._position = space.next_open(space.by_bound, self._position, CLOSED, hunt.best.ceiling)
        if self._position == len(space.by_bound):
            return limit
        room = hunt.best.ceiling - float(self._by_levels[space.by_bound[self._position]])
        return min(limit, max(room, 0.0) * self._suppressed / self._charged)


def climbs(hunt: Hunt) -> bool:
    """Whether tests are so cheap that looking at all nodes before each of them takes longer."""
    return len(hunt.space.known) > hunt.checker.bottom.num_classes


@compiled
def climb(
    known: Facts,
    least: Grid,
    ceiling: float,
    by_bound: Indices,
    position: int,
    reached: int,
    constant: float,
    terms: Grid,
    border: float,
    settled: int,
    starts: Indices,
    shape: Indices,
    strides: Indices,
) -> tuple[int, int, int]:
    """The node to be tested next, or -1 if none is open, found by looking at few nodes.

    The open node whose levels cost least is tested if it is foretold to satisfy. Else a way leads up from it
    as long as nodes are foretold to fail, each time by the level that takes in most nodes below for what the
    forecast falls, and its end is tested. After that, a node just above the end that is foretold to satisfy.

    Returns the node, the place in the order from which on nodes are open, and the end of a way or -1.
    """
    best = -1
    for axis in range(len(shape) if reached >= 0 else 0):
        above = reached + strides[axis]
        if reached // strides[axis] % shape[axis] + 1 == shape[axis] or known[above] & (CLOSED | FOUND):
            continue
        is_better = least[above] <= ceiling and (best < 0 or least[above] < least[best])
        if is_better and foretold_at(above, constant, terms, starts, shape, strides) <= border:
            best = above
    if best >= 0:
        return best, position, -1
    position = next_open(by_bound, position, known, CLOSED, least, ceiling)
    if position == len(by_bound):
        return -1, position, -1
    index = by_bound[position]
    height = foretold_at(index, constant, terms, starts, shape, strides) - border
    if height <= MARGIN:
        return index, position, -1
    while True:
        best, most, fall_of_best = -1, 0.0, 0.0
        for axis in range(len(shape)):
            level = index // strides[axis] % shape[axis]
            if level + 1 == shape[axis] or known[index + strides[axis]] & settled:
                continue
            fall = terms[starts[axis] + level] - terms[starts[axis] + level + 1]
            gain = np.log((level + 2) / (level + 1)) / max(fall, 1e-3)
            if height - fall > MARGIN and gain > most:
                best, most, fall_of_best = axis, gain, fall
        if best < 0:
            return index, position, index
        index += strides[best]
        height -= fall_of_best


@compiled
def foretold_at(
    index: int, constant: float, terms: Grid, starts: Indices, shape: Indices, strides: Indices
) -> float:
    """What is foretold of a node."""
    # A node is a number with mixed radix: `index // stride % shape` is its level. The terms of all columns
    # lie in one array, each from its start. It is computed anew, as a way asks for few nodes; `nodes_between`
    # asks for all.
    total = constant
    for axis in range(len(shape)):
        total += terms[starts[axis] + index // strides[axis] % shape[axis]]
    return total


@compiled
def choose(
    known: Facts,
    bounds: Grid,
    ceiling: float,
    constant: float,
    terms: Grid,
    border: float,
    settled: int,
    low: Indices,
    high: Indices,
    starts: Indices,
    strides: Indices,
) -> int:
    """The node to be tested next, or -1 if none is open.

    Of the open nodes that are foretold to satisfy, it is the one with the least bound. If there are none, it
    is a node, hopeful or not, that is foretold to fail and has many open nodes below it, unless it is settled
    what its test would tell.

    All open nodes are between `low` and `high`, which are drawn together here. Nothing beyond needs to be
    looked at: of a node that reaches out of there, the part within has the same open nodes below it, and
    fails if the node does.
    """
    lengths = high - low + 1
    places, foretold = nodes_between(low, lengths, constant, terms, starts, strides)
    below = np.zeros(len(places), np.int32)
    best, nearest = -1, -1
    for place in range(len(places)):
        index = places[place]
        if known[index] & CLOSED or bounds[index] > ceiling:
            continue
        below[place] = 1
        if foretold[place] <= border and (best < 0 or bounds[index] < bounds[places[best]]):
            best = place
        if nearest < 0 or foretold[place] > foretold[nearest]:
            nearest = place
    if nearest < 0:
        return -1
    draw_together(low, high, below, lengths)
    if best >= 0:
        return int(places[best])
    add_below(below, lengths)
    score = 0.0
    for place in range(len(places)):
        if below[place] == 0 or known[places[place]] & settled:
            continue
        above_border = foretold[place] - border
        if above_border > MARGIN and below[place] * min(1.0, 0.5 + above_border) > score:
            best, score = place, below[place] * min(1.0, 0.5 + above_border)
    return int(places[best if best >= 0 else nearest])


@compiled
def nodes_between(
    low: Indices, lengths: Indices, constant: float, terms: Grid, starts: Indices, strides: Indices
) -> tuple[Indices, Grid]:
    """The numbers of the nodes with so many levels from `low` on, and for each the sum of its terms."""
    # A table of all sums without a division: each column repeats what is filled, shifted by its level. Levels
    # go down because the first part is read until the last and is itself overwritten by level 0 at the end,
    # with step and term of that level. One step a node. Unsigned counters, or Numba guards against negative
    # indices.
    number, base = 1, 0
    for axis in range(len(lengths)):
        number *= lengths[axis]
        base += low[axis] * strides[axis]
    places, sums = np.empty(number, np.int64), np.empty(number, np.float64)
    places[0], sums[0] = base, constant
    filled = np.uint64(1)
    for axis in range(len(lengths)):
        for level in range(lengths[axis] - 1, -1, -1):
            step, term = level * strides[axis], terms[starts[axis] + low[axis] + level]
            offset = np.uint64(level) * filled
            for place in range(filled):
                places[offset + place] = places[place] + step
                sums[offset + place] = sums[place] + term
        filled *= np.uint64(lengths[axis])
    return places, sums


@compiled
def draw_together(low: Indices, high: Indices, is_open: Amounts, lengths: Indices) -> None:
    """Leave out the lowest and the highest levels at which no node is open."""
    # At least one node must be open, or both loops run off the end; the caller has returned before. `lengths`
    # are those of the table and stay, while `low` and `high` shrink: `high` is computed from the old `low`,
    # hence first.
    stride = 1
    for axis in range(len(lengths)):
        lowest, highest = 0, lengths[axis] - 1
        while is_empty(is_open, lowest, stride, lengths[axis]):
            lowest += 1
        while is_empty(is_open, highest, stride, lengths[axis]):
            highest -= 1
        high[axis] = low[axis] + highest
        low[axis] += lowest
        stride *= lengths[axis]


@compiled
def is_empty(is_open: Amounts, level: int, stride: int, length: int) -> bool:
    """Whether no node is open at a level of a column."""
    # Nodes with one level of a column are runs of `stride` neighbours, `stride * length` apart: they are read
    # in the order of memory, and the first open one ends it.
    for start in range(level * stride, len(is_open), stride * length):
        for place in range(start, start + stride):
            if is_open[place] > 0:
                return False
    return True


@compiled
def add_below(counts: Amounts, lengths: Indices) -> None:
    """Make each number the sum of those of the node and of everything below it."""
    # A running sum along one axis after the other is the sum over the whole cone below: columns times nodes
    # instead of a look at every pair. Levels rise, since each adds what is complete just below it. Unsigned
    # for speed.
    stride = np.uint64(1)
    for length in lengths:
        levels = np.uint64(length)
        for start in range(np.uint64(0), np.uint64(len(counts)), stride * levels):
            for level in range(np.uint64(1), levels):
                first = start + level * stride
                for place in range(stride):
                    counts[first + place] += counts[first + place - stride]
        stride *= levels
