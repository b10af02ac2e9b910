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

from collections.abc import Iterator
from enum import IntFlag

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.lattice.history import History
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Best, Evaluation, Problem
from tarnkappe.lattice.search import Solution
from tarnkappe.privacy import Model, Scope, monotone, protect, satisfied
from tarnkappe.table.encoding import Progress

MAX_NODES = 100_000_000
"""One byte is kept of what is known of each node."""


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

    A bounded search also gives up nodes whose levels alone show that they cannot beat the best found.
    """

    def __init__(self, problem: Problem, progress: Progress | None = None, *, bounded: bool = False) -> None:
        if problem.lattice.num_nodes > MAX_NODES:
            raise ParameterError(
                f"there are {problem.lattice.num_nodes:,} combinations of levels, more than "
                f"the {MAX_NODES:,} that can be searched: take fewer quasi-identifiers or flatter hierarchies"
            )
        self.problem = problem
        self.tests: list[Node] = []
        self.best = Best(problem)
        self.rolled_up = 0
        self.bottom: Node = tuple(levels[0] for levels in problem.level_ranges)
        self.top: Node = tuple(levels[-1] for levels in problem.level_ranges)
        suppression = problem.limit > 0
        self.monotone = monotone(problem.models, suppression=suppression)
        self.loss_monotone = problem.loss.monotone(criterion_monotone=self.monotone, suppression=suppression)
        self.implied: tuple[Model, ...] = () if self.monotone else _implied(problem)
        self._known = np.zeros([height + 1 for height in problem.lattice.heights], dtype=np.uint8)
        self._history = History(problem.tuples)
        self._progress = progress
        self._bounded = bounded

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
        problem = self.problem
        base = self._history.base_for(node)
        self.rolled_up += base is not problem.tuples
        distributions = (*problem.distributions, *(d for model in self.implied for d in model.distributions))
        classes = base.classes(problem.quasi_identifiers, node, distributions)
        state = protect(classes, problem.models)
        good = satisfied(state, problem.models, problem.limit)
        evaluation = Evaluation(
            node, good, problem.loss(state) if good else float("inf"), state.suppressed_rows, state.num_kept
        )
        sub_good = good or not self.implied
        if not sub_good:
            sub_good = satisfied(protect(classes, self.implied), self.implied, problem.limit)
        if self._history.is_worth_keeping(classes.num_classes, base):
            others = [name for name in base.columns if name not in problem.quasi_identifiers]
            self._history.keep(node, base.rolled_up(classes, others))
        self._learn(evaluation, sub_good)
        self.tests.append(node)
        self.best.offer(evaluation)
        if self._progress and len(self.tests) % 32 == 0:
            self._progress("searching", len(self.tests), problem.num_nodes)
        return evaluation

    def _learn(self, evaluation: Evaluation, sub_good: bool) -> None:
        node = evaluation.node
        self.mark(node, Known.CHECKED | (Known.GOOD if evaluation.satisfied else Known.BAD))
        if self.monotone:
            if evaluation.satisfied:
                self.mark_above(node, Known.GOOD)
            else:
                self.mark_below(node, Known.BAD)
        elif self.implied:
            if sub_good:
                self.mark_above(node, Known.SUB_GOOD)
            else:
                self.mark_below(node, Known.SUB_BAD | Known.BAD)
        if self.loss_monotone and evaluation.satisfied:
            for above in self.successors(node):
                self.mark_above(above, Known.NO_BETTER)

    def is_hopeless(self, node: Node) -> bool:
        """Whether a node and everything above it is shown to be worse than the best found."""
        if not self._bounded or self.best.evaluation is None:
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

    def solution(self, algorithm: str, *, optimal: bool) -> Solution:
        """What was found."""
        return Solution(
            self.best.evaluation,
            optimal=optimal,
            checked=len(self.tests),
            nodes=self.problem.num_nodes,
            algorithm=algorithm,
            rolled_up=self.rolled_up,
        )


def _implied(problem: Problem) -> tuple[Model, ...]:
    found = (criterion for model in problem.models for criterion in model.sub_criteria(problem.tuples))
    implied = tuple(dict.fromkeys(found))
    if monotone(implied, suppression=problem.limit > 0):
        return implied
    return tuple(criterion for criterion in implied if criterion.scope is Scope.CLASS)
