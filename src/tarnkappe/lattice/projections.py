"""Lower bounds from few columns at a time.

Let the columns be divided into parts, and let a node satisfy a monotone criterion. Bring all columns but
those of one part to the top: what comes out lies above the node and satisfies the criterion too. So the
levels of every part are among those that satisfy with everything else at the top. A part has few nodes, so
these can be found by testing. If the loss is a sum over the columns, its least value over the whole lattice
is no less than the sum over the parts of the least that each part can lose; and so in every box of it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import SearchProblem
from tarnkappe.lattice.tested_nodes import Notebook
from tarnkappe.loss import AggregateFunction, ColumnLoss
from tarnkappe.loss.grid import Grid, over_levels

ROUNDING = 1e-12
"""Sums in another order differ by less than this share of their value."""


NO_SUMS = (AggregateFunction.MAXIMUM, AggregateFunction.RANK)
"""Aggregates that no sum stands for."""


class Terms(NamedTuple):
    """A lower bound of the loss as a growing function of a sum over the columns.

    Attributes:
        by_column: what each level of each column adds.
        total: the bound that a sum stands for.
    """

    by_column: tuple[tuple[float, ...], ...]
    total: Callable[[float], float]


def terms_of(problem: SearchProblem) -> Terms | None:
    """The bound from the levels as a sum over the columns, if it is one."""
    loss = problem.loss
    if not isinstance(loss, ColumnLoss) or loss.multiplies or loss.aggregate in NO_SUMS:
        return None
    weights = [loss.weights.get(name, 1.0) for name in problem.quasi_identifiers]
    is_geometric = loss.aggregate is AggregateFunction.GEOMETRIC_MEAN
    by_column = []
    for column, weight, height in zip(problem.columns, weights, problem.lattice.heights, strict=True):
        bounds = (loss.bound_of_column(problem.tuples, column, level) for level in range(height + 1))
        by_column.append(tuple(weight * (math.log1p(each) if is_geometric else each) for each in bounds))
    whole = 1.0 if loss.aggregate is AggregateFunction.SUM else math.fsum(weights) or 1.0
    return Terms(tuple(by_column), lambda sum_: math.expm1(sum_ / whole) if is_geometric else sum_ / whole)


class LatticeProjection:
    """A few columns, and what each combination of their levels adds to the bound, all others at the top.

    Combinations that are shown to fail add infinity. Until `exclude` has come to its end, some that fail may
    still be taken for good, which makes the bound lower but not wrong.
    """

    def __init__(self, notebook: Notebook, columns: Sequence[int], terms: Terms) -> None:
        self.columns = tuple(columns)
        self._notebook = notebook
        attempt = notebook.attempt
        self._bottom = tuple(attempt.bottom[i] for i in columns)
        self._top = tuple(attempt.top[i] for i in columns)
        self._adds: Grid = over_levels(
            np.add, [terms.by_column[i][attempt.bottom[i] : attempt.top[i] + 1] for i in columns]
        )

    def least(self, low: Node, high: Node) -> float:
        """The least that the part adds in a box of the lattice; infinite if nothing in it can satisfy."""
        own_low, own_high = (tuple(node[i] for i in self.columns) for node in (low, high))
        return float(self._adds[self._places(own_low, own_high)].min())

    def exclude(self, is_enough: Callable[[], bool]) -> None:
        """Find the combinations that fail, cheapest first, until all are found or it is enough."""
        boxes = [(0.0, self._bottom, self._top)]
        while boxes and not is_enough():
            _, low, high = heapq.heappop(boxes)
            if self._notebook.excludes(self._in_lattice(high)):
                self._adds[self._places(low, high)] = np.inf
            elif not self._notebook.excludes(self._in_lattice(low)):
                continue
            else:
                axis = max(range(len(low)), key=lambda i: high[i] - low[i])
                middle = (low[axis] + high[axis]) // 2
                for each in (
                    (low, (*high[:axis], middle, *high[axis + 1 :])),
                    ((*low[:axis], middle + 1, *low[axis + 1 :]), high),
                ):
                    heapq.heappush(boxes, (float(self._adds[self._places(*each)].min()), *each))

    def _in_lattice(self, levels: Node) -> Node:
        node = list(self._notebook.attempt.top)
        for column, level in zip(self.columns, levels, strict=True):
            node[column] = level
        return tuple(node)

    def _places(self, low: Node, high: Node) -> tuple[slice, ...]:
        return tuple(
            slice(least - base, most - base + 1)
            for least, most, base in zip(low, high, self._bottom, strict=True)
        )


class Projections:
    """Parts of the columns, and the bound that they give together.

    Args:
        notebook: makes the tests.
        terms: the loss as a sum.
        max_nodes: how many combinations of levels a part may have.
    """

    def __init__(self, notebook: Notebook, terms: Terms, max_nodes: int) -> None:
        self._terms = terms
        self.parts = [
            LatticeProjection(notebook, columns, terms) for columns in _divide(notebook, terms, max_nodes)
        ]
        self.part_of = {column: place for place, part in enumerate(self.parts) for column in part.columns}

    def exclude(self, is_enough: Callable[[], bool]) -> None:
        """Find what fails in each part, until all is found or it is enough."""
        for part in self.parts:
            part.exclude(is_enough)

    def least(self, low: Node, high: Node) -> tuple[float, ...]:
        """The least that each part adds in a box."""
        return tuple(part.least(low, high) for part in self.parts)

    def bound(self, least: Sequence[float]) -> float:
        """The bound that these sums stand for."""
        total = self._terms.total(math.fsum(least))
        return total - ROUNDING * abs(total) if math.isfinite(total) else total


def _divide(notebook: Notebook, terms: Terms, max_nodes: int) -> list[list[int]]:
    """As few parts as possible, about equally large, each with some of the columns that cost most."""
    attempt = notebook.attempt
    sizes = [math.log(top - bottom + 1) for top, bottom in zip(attempt.top, attempt.bottom, strict=True)]
    parts: list[list[int]] = [[] for _ in range(max(1, math.ceil(sum(sizes) / math.log(max_nodes))))]
    filled = [0.0] * len(parts)
    for column in sorted(notebook.columns, key=lambda i: -terms.by_column[i][attempt.top[i]]):
        place = min(range(len(parts)), key=filled.__getitem__)
        parts[place].append(column)
        filled[place] += sizes[column]
    return [part for part in parts if part]
