"""Branch and bound: the lattice in boxes, the one with the smallest bound first."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Evaluation
from tarnkappe.lattice.projections import Projections
from tarnkappe.lattice.search_run import LimitReachedError
from tarnkappe.lattice.tested_nodes import Notebook
from tarnkappe.loss import Loss


@dataclasses.dataclass(frozen=True, slots=True)
class Box:
    """All nodes from one node up to another.

    Attributes:
        low: the lowest node.
        high: the highest node.
        bound: what no satisfying node in the box goes below.
        least: what each part of the columns adds to that bound at least.
    """

    low: Node
    high: Node
    bound: float
    least: tuple[float, ...] = ()


class Boxes:
    """The open boxes, which together hold every node that may still be better than the best.

    A box is closed when its bound exceeds the best loss; when its highest node fails a monotone criterion and
    so all of it does; when the loss is monotone and its lowest node satisfies; or when it is one node, which
    then is tested. Any other box is halved along one column. The smallest bound of all open boxes is a bound
    of the whole lattice, and it never falls, since the parts of a box are no better than the box.
    """

    def __init__(self, notebook: Notebook, projections: Projections | None, max_boxes: int) -> None:
        self._notebook = notebook
        self._attempt = notebook.attempt
        self._projections = projections
        self._max_boxes = max_boxes
        self._open: list[tuple[float, int, Box]] = []
        self._number = itertools.count()
        problem = self._attempt.problem
        # A state tells more than its levels where the loss has a bound of its own for states.
        self._states_tell = type(problem.loss).lower_bound is not Loss.lower_bound
        self._costs = [
            [self._cost(i, level) for level in range(top + 1)] for i, top in enumerate(self._attempt.top)
        ]

    def close_all(self) -> None:
        """Go on until no box is open; the bound of the attempt rises on the way."""
        bottom, top = self._attempt.bottom, self._attempt.top
        if not self._notebook.excludes(top):
            self._add(bottom, top)
        while self._open:
            bound, _, box = heapq.heappop(self._open)
            self._attempt.raise_bound(min(bound, self._attempt.best.loss))
            self._attempt.keep_time()
            if not self._is_hopeless(box):
                self._close_or_halve(box)
            if len(self._open) > self._max_boxes:
                raise LimitReachedError(f"more than {self._max_boxes:,} boxes open")

    def _add(self, low: Node, high: Node, within: Box | None = None, halved: int | None = None) -> None:
        bound = self._notebook.bound_at(low)
        least: tuple[float, ...] = ()
        if self._projections is not None:
            if within is None or halved is None:
                least = self._projections.least(low, high)
            else:
                place = self._projections.part_of[halved]
                part = self._projections.parts[place].least(low, high)
                least = (*within.least[:place], part, *within.least[place + 1 :])
            bound = max(bound, self._projections.bound(least))
        bound = bound if within is None else max(bound, within.bound)
        self._put(Box(low, high, bound, least))

    def _put(self, box: Box) -> None:
        if box.bound == math.inf or self._is_hopeless(box):
            return
        heapq.heappush(self._open, (box.bound, next(self._number), box))

    def _is_hopeless(self, box: Box) -> bool:
        """Whether nothing in a box can be better than the best, nor as good and less general."""
        best = self._attempt.best
        if box.bound > best.ceiling:
            return True
        if self._attempt.problem.loss.has_ranks:  # as good, but maybe better in the next column
            return False
        winner = best.evaluation if best.found and box.bound >= best.least else None
        if winner is None:
            return False
        order = self._attempt.problem.order
        return order(winner.node) <= order(box.low)

    def _close_or_halve(self, box: Box) -> None:
        if box.low == box.high:
            self._notebook.check(box.low)
            return
        if self._is_worth_testing(box.low):
            found = self._notebook.check(box.low)
            if self._closes(found.evaluation):
                return
            if found.bound is not None and found.bound > box.bound:
                self._put(dataclasses.replace(box, bound=found.bound))
                return
        column, level = self._where_to_halve(box)
        above = (*box.low[:column], level + 1, *box.low[column + 1 :])
        below = (*box.high[:column], level, *box.high[column + 1 :])
        self._add(above, box.high, box, column)
        if not self._notebook.excludes(below):
            self._add(box.low, below, box, column)

    def _is_worth_testing(self, low: Node) -> bool:
        if self._notebook.was_tested(low) or self._states_tell or not self._notebook.can_exclude:
            return True
        return not self._notebook.must_fail(low)

    def _closes(self, lowest: Evaluation) -> bool:
        return self._attempt.loss_monotone and lowest.satisfied

    def _cost(self, column: int, level: int) -> float:
        """What a level of one column costs: the bound with all others at the bottom, or else the level."""
        bottom = self._attempt.bottom
        bound = self._notebook.bound_at((*bottom[:column], level, *bottom[column + 1 :]))
        return bound if math.isfinite(bound) else level

    def _where_to_halve(self, box: Box) -> tuple[int, int]:
        """The column that can still cost most, and the level that divides its cost most evenly."""
        spread = {
            i: self._costs[i][box.high[i]] - self._costs[i][box.low[i]]
            for i in self._notebook.columns
            if box.low[i] < box.high[i]
        }
        column = max(spread, key=lambda i: (spread[i], box.high[i] - box.low[i]))
        low, high, cost = box.low[column], box.high[column], self._costs[column]

        def evenness(level: int) -> tuple[float, float]:
            return (cost[level + 1] - cost[low]) * (cost[high] - cost[level]), -abs(level - (low + high) / 2)

        return column, max(range(low, high), key=evenness)
