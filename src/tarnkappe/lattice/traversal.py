"""What a search knows of the nodes, and the test that teaches it more.

A test answers for other nodes too, as far as the models and the loss are proven to allow it:

| | criterion monotone | an implied criterion is monotone | neither |
|---|---|---|---|
| **loss monotone** | 1 | 3 | 5 |
| **loss not monotone** | 2 | 4 | 6 |

In cases 1 and 2 all nodes below a failing node fail and all above a satisfying one satisfy. In cases 3 and 4
this holds for the implied criterion only: where it fails, everything below fails the full one. In cases 1,
3 and 5 nothing above a satisfying node can be better, so it need not be tested, and whether it satisfies
stays unknown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from enum import IntFlag

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.lattice.checker import Check, Checker, Effort
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Best, Evaluation, Problem
from tarnkappe.lattice.solution import Solution
from tarnkappe.privacy import Model, Scope, monotone
from tarnkappe.table.encoding import Progress

MAX_NODES = 100_000_000
"""One byte is kept of what is known of each node."""


class OutOfTimeError(Exception):
    """The time that was given to a search is over."""


class Known(IntFlag):
    """What is known of a node."""

    CHECKED = 1
    GOOD = 2
    BAD = 4
    SUB_GOOD = 8
    SUB_BAD = 16
    NO_BETTER = 32
    """It lies above a satisfying node and cannot be better than that."""
    VISITED = 64


class Traversal:
    """The state of one search: what is known of every node, the best so far, the tests in their order.

    Args:
        problem: what is to be solved.
        progress: told how many nodes are tested.
        effort: how tests are made.
        implied_criteria: whether simpler monotone criteria that the models imply exclude nodes.
        lower_bounds: whether nodes are skipped that provably cannot beat the best found.
        seconds: after which time a test raises `OutOfTimeError`.
    """

    def __init__(
        self,
        problem: Problem,
        progress: Progress | None = None,
        *,
        effort: Effort | None = None,
        implied_criteria: bool = True,
        lower_bounds: bool = False,
        seconds: float | None = None,
    ) -> None:
        if problem.lattice.num_nodes > MAX_NODES:
            raise ParameterError(
                f"there are {problem.lattice.num_nodes:,} combinations of levels, more than "
                f"the {MAX_NODES:,} that can be searched: take fewer quasi-identifiers or flatter hierarchies"
            )
        self.problem = problem
        self.tests: list[Node] = []
        self.best = Best(problem)
        self.bound: float | None = problem.loss.lower_bound_at(
            problem.tuples, problem.columns, tuple(levels[0] for levels in problem.level_ranges)
        )
        self.bottom: Node = tuple(levels[0] for levels in problem.level_ranges)
        self.top: Node = tuple(levels[-1] for levels in problem.level_ranges)
        suppression = problem.limit > 0
        self.monotone = monotone(problem.models, suppression=suppression)
        self.loss_monotone = problem.loss.monotone(criterion_monotone=self.monotone, suppression=suppression)
        self._checker = Checker(
            problem, _implied(problem) if implied_criteria and not self.monotone else (), effort
        )
        self._known = np.zeros([height + 1 for height in problem.lattice.heights], dtype=np.uint8)
        self._progress = progress
        self._lower_bounds = lower_bounds
        self._deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def implied(self) -> tuple[Model, ...]:
        """Monotone criteria that the models imply, where the models themselves are not monotone."""
        return self._checker.implied

    @implied.setter
    def implied(self, criteria: tuple[Model, ...]) -> None:
        self._checker.implied = criteria

    @property
    def case(self) -> int:
        """The case of the decision table."""
        column = 0 if self.monotone else 1 if self.implied else 2
        return 1 + 2 * column + (not self.loss_monotone)

    def knows(self, node: Node, what: Known) -> bool:
        """Whether one of some facts is known of a node."""
        return bool(self._known[node] & what)

    def mark(self, node: Node, what: Known) -> None:
        """Note a fact about one node."""
        self._known[node] |= np.uint8(what)

    def mark_above(self, node: Node, what: Known) -> None:
        """Note a fact about a node and everything above it."""
        self._known[tuple(slice(level, None) for level in node)] |= np.uint8(what)

    def mark_below(self, node: Node, what: Known) -> None:
        """Note a fact about a node and everything below it."""
        self._known[tuple(slice(level + 1) for level in node)] |= np.uint8(what)

    def check(self, node: Node) -> Evaluation:
        """Test a node, note what follows from the answer, and remember it if it is the best."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfTimeError
        found = self._checker.check(node)
        self.best.offer(found.evaluation)
        self._learn(found)
        self.tests.append(node)
        if self._progress and len(self.tests) % 32 == 0:
            self._progress("searching", len(self.tests), self.problem.num_nodes)
        return found.evaluation

    def _learn(self, found: Check) -> None:
        evaluation, node = found.evaluation, found.evaluation.node
        self.mark(node, Known.CHECKED | (Known.GOOD if evaluation.satisfied else Known.BAD))
        if self.monotone:
            if evaluation.satisfied:
                self.mark_above(node, Known.GOOD)
            else:
                self.mark_below(node, Known.BAD)
        elif self.implied:
            if found.sub_good:
                self.mark_above(node, Known.SUB_GOOD)
            else:
                self.mark_below(node, Known.SUB_BAD | Known.BAD)
        is_bounded = self._lower_bounds and found.bound is not None and found.bound > self.best.ceiling
        if is_bounded or (self.loss_monotone and evaluation.satisfied):
            self._give_up_above(node)

    def _give_up_above(self, node: Node) -> None:
        for above in self.successors(node):
            self.mark_above(above, Known.NO_BETTER)

    def is_hopeless(self, node: Node) -> bool:
        """Whether a node and everything above it is shown to be worse than the best found."""
        if not self._lower_bounds or not self.best.found:
            return False
        bound = self.problem.loss.lower_bound_at(self.problem.tuples, self.problem.columns, node)
        if bound is None or bound <= self.best.ceiling:
            return False
        self.mark_above(node, Known.NO_BETTER)
        return True

    def need_not_be_tested(self, node: Node) -> bool:
        """Whether a node was tested, or cannot satisfy, or cannot be better than one that was."""
        return self.knows(node, Known.CHECKED | Known.BAD | Known.NO_BETTER)

    def successors(self, node: Node) -> list[Node]:
        """The direct generalizations that may be chosen, in the total order."""
        above = [up for up in self.problem.lattice.successors(node) if all(map(int.__le__, up, self.top))]
        return sorted(above, key=self.problem.order)

    def levels(self) -> Iterator[list[Node]]:
        """The nodes that may be chosen, level by level from below."""
        for level in range(sum(self.bottom), sum(self.top) + 1):
            nodes = self.problem.lattice.nodes_on(level)
            yield [node for node in nodes if all(map(self._within, node, self.bottom, self.top))]

    @staticmethod
    def _within(level: int, least: int, greatest: int) -> bool:
        return least <= level <= greatest

    def solution(self, algorithm: str, *, optimal: bool, stopped: str = "") -> Solution:
        """What was found."""
        best = self.best.evaluation
        return Solution(
            best,
            optimal=optimal,
            nodes=self.problem.num_nodes,
            algorithm=algorithm,
            counters=self._checker.counters,
            bound=best.loss if optimal and best is not None else self.bound,
            stopped=stopped,
        )


def _implied(problem: Problem) -> tuple[Model, ...]:
    found = (criterion for model in problem.models for criterion in model.sub_criteria(problem.tuples))
    implied = tuple(dict.fromkeys(found))
    if monotone(implied, suppression=problem.limit > 0):
        return implied
    return tuple(criterion for criterion in implied if criterion.scope is Scope.CLASS)
