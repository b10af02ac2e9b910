"""All nodes that may be chosen, in flat arrays: their order, what they lose at least, what is known of them.

A node is a number here, so that thousands of nodes are looked through in compiled code between two tests.

Explained in docs/explanation/searches.md.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import SearchProblem
from tarnkappe.loss.grid import Grid, over_levels
from tarnkappe.native import compiled

Facts = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.int64]

CHECKED = 1
FOUND = 2
"""It meets the criterion that is searched for: the full one, or one that it implies."""
FAILED = 4
"""It cannot satisfy."""
NO_BETTER = 8
"""It cannot be better than the best found."""
VISITED = 16
CLOSED = CHECKED | FAILED | NO_BETTER
"""It need not be tested."""


class NodeSpace:
    """The nodes of a problem, numbered, and what is known of each.

    Attributes:
        bounds: a loss that neither a node nor anything above it goes below.
        least: a loss that a node itself does not go below; never less than its bound.
        by_bound: the nodes in the order of the bounds that follow from their levels.
        known: facts about each node, one bit each.
        shape: how many levels each column has.
        strides: by how much the number of a node grows with a level of each column.
    """

    def __init__(self, problem: SearchProblem, *, lower_bounds: bool) -> None:
        ranges = problem.level_ranges
        self.low: Node = tuple(levels[0] for levels in ranges)
        self.shape = np.array([len(levels) for levels in ranges])
        self.strides = np.append(np.cumprod(self.shape[:0:-1])[::-1], 1).astype(np.int64)
        self.known: Facts = np.zeros(self.shape.prod(), np.uint8)
        self._problem = problem
        grid = problem.loss.lower_bounds(problem.tuples, problem.columns, ranges) if lower_bounds else None
        self.bounds = np.full(len(self.known), -np.inf) if grid is None else grid.ravel()
        self.least = self.bounds.copy()
        self.by_bound: Indices = np.argsort(self.bounds, kind="stable")

    @cached_property
    def order(self) -> Indices:
        """The nodes in the total order."""
        return np.lexsort([key.ravel() for key in reversed(_order_keys(self._problem))])

    @cached_property
    def rank(self) -> Indices:
        """The place of each node in the total order."""
        rank = np.empty(len(self.order), np.int64)
        rank[self.order] = np.arange(len(self.order))
        return rank

    def node(self, index: int) -> Node:
        """The levels of a node."""
        levels = []
        for stride, low in zip(self.strides.tolist(), self.low, strict=True):
            level, index = divmod(index, stride)
            levels.append(level + low)
        return tuple(levels)

    def index(self, node: Node) -> int:
        """The number of a node."""
        return sum(
            (level - low) * stride
            for level, low, stride in zip(node, self.low, self.strides.tolist(), strict=True)
        )

    def mark(self, index: int, what: int) -> None:
        """Note a fact about one node."""
        self.known[index] |= np.uint8(what)

    def mark_above(self, index: int, what: int, *, itself: bool = True) -> None:
        """Note a fact about a node and everything above it."""
        mark_between(self.known, index, len(self.known) - 1, what, itself, self.shape, self.strides)

    def mark_below(self, index: int, what: int) -> None:
        """Note a fact about a node and everything below it."""
        mark_between(self.known, 0, index, what, True, self.shape, self.strides)

    def raise_above(self, index: int, bound: float) -> None:
        """Note that a node and everything above it loses at least so much, if that is news."""
        if bound > self.bounds[index]:
            box = (index, len(self.known) - 1, self.shape, self.strides)
            raise_between(self.bounds, np.full(1, bound), *box)
            raise_between(self.least, np.full(1, bound), *box)

    def raise_below(self, index: int, bounds: Grid) -> None:
        """Note what each node up to a node loses at least by itself; nothing follows for what is above it."""
        raise_between(self.least, bounds.ravel(), 0, index, self.shape, self.strides)

    def is_open_below(self, index: int, closed: int, ceiling: float) -> bool:
        """Whether a node below this one is open."""
        return is_open_between(self.known, closed, self.least, ceiling, 0, index, self.shape, self.strides)

    def next_open(self, order: Indices, position: int, closed: int, ceiling: float) -> int:
        """The first place in an order, from a place on, of a node that no fact closes and no bound."""
        return next_open(order, position, self.known, closed, self.least, ceiling)

    def successors(self, index: int) -> Indices:
        """The direct generalizations in the total order."""
        return successors(index, self.rank, self.shape, self.strides)

    def path(self, index: int, closed: int, hopeless: int, ceiling: float, *, far: bool) -> Indices:
        """A way upward from a node through nodes that no fact closes, the first in the order at each step.

        It ends where a bound, or a fact, shows that nothing better lies above, or if `far` where it can go
        no further.
        """
        return path_from(
            index,
            self.known,
            closed,
            hopeless,
            self.bounds,
            ceiling,
            far,
            self.rank,
            self.shape,
            self.strides,
        )


def _order_keys(problem: SearchProblem) -> list[Grid]:
    """The keys of the total order, the most important first; nearly equal shares may differ in their order.

    The order decides only what is tested first. Equally good nodes are told apart by `SearchProblem.order`.
    """
    ranges, columns = problem.level_ranges, problem.columns
    heights = problem.lattice.heights
    sums = over_levels(np.add, [list(levels) for levels in ranges])
    shares = over_levels(
        np.add, [[level / max(h, 1) for level in levels] for levels, h in zip(ranges, heights, strict=True)]
    )
    lost = over_levels(
        np.add,
        [
            [1 - c.levels.distinct(level) / c.levels.distinct(0) for level in levels]
            for levels, c in zip(ranges, columns, strict=True)
            if c.levels is not None
        ],
    )
    digits, place = {}, 1.0
    for index in sorted(range(len(ranges)), key=lambda i: problem.quasi_identifiers[i], reverse=True):
        digits[index] = [level * place for level in range(len(ranges[index]))]
        place *= len(ranges[index])
    names = over_levels(np.add, [digits[index] for index in range(len(ranges))])
    return [sums, np.round(shares, 9), np.round(lost, 9), names]


@compiled
def next_open(order: Indices, position: int, known: Facts, closed: int, least: Grid, ceiling: float) -> int:
    """The first place in an order, from a place on, of a node that is open."""
    # The order is by bound, and nodes only ever close: who keeps the place goes through the order once in the
    # whole search. Facts are asked first, as a byte is read faster than a bound.
    while position < len(order):
        index = order[position]
        if known[index] & closed == 0 and least[index] <= ceiling:
            break
        position += 1
    return position


@compiled
def mark_between(
    known: Facts, low: int, high: int, what: int, with_low: bool, shape: Indices, strides: Indices
) -> None:
    """Note a fact about all nodes from one up to another."""
    # The box between two nodes is rows of neighbours in memory; marking is what a failed test is worth, up to
    # the whole lattice. `before` is taken first: with `with_low` False the node itself keeps its facts.
    fact, before = np.uint8(what), known[low]
    starts, length = rows_between(low, high, shape, strides)
    for start in starts:
        for place in range(start, start + length):
            known[place] |= fact
    if not with_low:
        known[low] = before


@compiled
def raise_between(numbers: Grid, bounds: Grid, low: int, high: int, shape: Indices, strides: Indices) -> None:
    """Raise numbers to bounds, one for each node from one up to another, or one for all of them."""
    # Bounds come in the order of `rows_between`, one for each node; a single one is read again and again by a
    # step of 0. A bound never falls: the greater of two lower bounds is one, too.
    starts, length = rows_between(low, high, shape, strides)
    step, position = int(len(bounds) > 1), 0
    for start in starts:
        for place in range(start, start + length):
            numbers[place] = max(numbers[place], bounds[position])
            position += step


@compiled
def is_open_between(
    known: Facts,
    closed: int,
    least: Grid,
    ceiling: float,
    low: int,
    high: int,
    shape: Indices,
    strides: Indices,
) -> bool:
    """Whether a node from one up to another is open."""
    # The same rows as `mark_between`, but it ends at the first open node: usually after a few. It decides
    # whether bounds for all nodes below are worth computing.
    starts, length = rows_between(low, high, shape, strides)
    for start in starts:
        for place in range(start, start + length):
            if known[place] & closed == 0 and least[place] <= ceiling:
                return True
    return False


@compiled
def rows_between(low: int, high: int, shape: Indices, strides: Indices) -> tuple[Indices, int]:
    """All nodes from one up to another, in order: where each row of neighbours begins, and its length."""
    # The last column is left out: its levels are neighbours, so every row is a range and inner loops have no
    # division. Starts are made by repeating what is filled, in rising order of node numbers, on which the
    # bounds of `raise_between` rely. Memory is a number for each row of the box.
    last = len(shape) - 1
    least, most = low // strides % shape, high // strides % shape
    starts = np.empty(np.prod((most - least + 1)[:last]), np.int64)
    starts[0] = low
    filled = 1
    for axis in range(last - 1, -1, -1):  # the last columns change fastest
        own = filled
        for level in range(1, most[axis] - least[axis] + 1):
            for place in range(own):
                starts[filled] = starts[place] + level * strides[axis]
                filled += 1
    return starts, most[last] - least[last] + 1


@compiled
def successors(index: int, rank: Indices, shape: Indices, strides: Indices) -> Indices:
    """The direct generalizations of a node in the total order."""
    # Insertion into a sorted list: there are as many as columns, too few for anything else. `rank` is a total
    # order of all nodes, so every search visits neighbours in one and the same order.
    found = np.empty(len(shape), np.int64)
    number = 0
    for axis in range(len(shape)):
        if (index // strides[axis]) % shape[axis] + 1 < shape[axis]:
            above = index + strides[axis]
            place = number
            while place > 0 and rank[found[place - 1]] > rank[above]:
                found[place] = found[place - 1]
                place -= 1
            found[place] = above
            number += 1
    return found[:number]


@compiled
def path_from(
    index: int,
    known: Facts,
    closed: int,
    hopeless: int,
    bounds: Grid,
    ceiling: float,
    far: bool,
    rank: Indices,
    shape: Indices,
    strides: Indices,
) -> Indices:
    """A way upward from a node through open nodes; hopeful ones are preferred."""
    # A path is at most all levels long, so its array is made once. Of hopeful and others, hopeful ones first,
    # then the lower rank: comparing pairs keeps the choice independent of the order of columns.
    path = np.empty(shape.sum(), np.int64)
    path[0] = index
    length = 1
    while True:
        best, best_is_hopeful = -1, False
        for axis in range(len(shape)):
            if (index // strides[axis]) % shape[axis] + 1 < shape[axis]:
                above = index + strides[axis]
                if known[above] & closed:
                    continue
                hopeful = bounds[above] <= ceiling and known[above] & hopeless == 0
                if not (hopeful or far):
                    continue
                if best >= 0 and (best_is_hopeful, -rank[best]) > (hopeful, -rank[above]):
                    continue
                best, best_is_hopeful = above, hopeful
        if best < 0:
            return path[:length]
        index = best
        path[length] = index
        length += 1
