"""One attempt to solve a problem: the best so far, the tests in their order, the time that is left.

It keeps nothing of nodes that were not tested, so the lattice may have any size.
"""

from __future__ import annotations

import math
import time
from collections import Counter

from tarnkappe.lattice.checker import Checker, NodeCheck
from tarnkappe.lattice.effort import EvaluationSettings
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import BestNodes, Evaluation, SearchProblem
from tarnkappe.lattice.solution import Solution
from tarnkappe.privacy import Model, ModelScope, monotone
from tarnkappe.table.encoding import Progress

TOLD_EVERY = 32
"""Tests after which progress is told."""


class LimitReachedError(Exception):
    """A search must end early; the message says why."""


class OutOfTimeError(LimitReachedError):
    """The time that was given to a search is over."""


class Attempt:
    """The state of one search.

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
        problem: SearchProblem,
        progress: Progress | None = None,
        *,
        effort: EvaluationSettings | None = None,
        implied_criteria: bool = True,
        lower_bounds: bool = False,
        seconds: float | None = None,
    ) -> None:
        self.problem = problem
        self.tests: list[Node] = []
        self.best = BestNodes(problem)
        self._tested: Counter[int] = Counter()
        self._satisfying: Counter[int] = Counter()
        self.bottom: Node = tuple(levels[0] for levels in problem.level_ranges)
        self.top: Node = tuple(levels[-1] for levels in problem.level_ranges)
        self.bound: float | None = problem.loss.lower_bound_at(problem.tuples, problem.columns, self.bottom)
        suppression = problem.limit > 0
        self.monotone = monotone(problem.models, suppression=suppression)
        self.loss_monotone = problem.loss.monotone(criterion_monotone=self.monotone, suppression=suppression)
        self.assumed: tuple[str, ...] = ()
        """What is taken to be monotone without proof, in words."""
        implied = _implied(problem) if implied_criteria and not self.monotone else ()
        self.checker = Checker(problem, implied, effort, self.is_spent)
        self.checker.keeps_satisfying = self.case != 1
        self._progress = progress
        self.lower_bounds = lower_bounds
        self._is_interrupted = False
        self._started = time.monotonic()
        self._deadline = None if seconds is None else self._started + seconds

    @property
    def implied(self) -> tuple[Model, ...]:
        """Monotone criteria that the models imply, where the models themselves are not monotone."""
        return self.checker.implied

    @implied.setter
    def implied(self, criteria: tuple[Model, ...]) -> None:
        self.checker.implied = criteria

    @property
    def case(self) -> int:
        """The case of the decision table."""
        column = 0 if self.monotone else 1 if self.implied else 2
        return 1 + 2 * column + (not self.loss_monotone)

    @property
    def not_monotone(self) -> tuple[str, ...]:
        """What is not proven to be monotone, in words."""
        proven = {"the criterion": self.monotone, "the loss": self.loss_monotone}
        return tuple(what for what, is_proven in proven.items() if not is_proven)

    def assume_monotone(self) -> None:
        """Treat criterion and loss as monotone from now on; what is not proven is remembered."""
        self.assumed = self.not_monotone
        self.monotone = self.loss_monotone = True
        self.implied = ()
        self.checker.keeps_satisfying = False

    def check(self, node: Node) -> Evaluation:
        """Test a node, note what follows from the answer, and remember it if it is the best."""
        return self.examine(node).evaluation

    def examine(self, node: Node) -> NodeCheck:
        """Test a node as `check` does, and return all that was found."""
        self.keep_time()
        found = self.checker.check(node)
        self.learn(found)
        return found

    def interrupt(self) -> None:
        """End the search before its next test."""
        self._is_interrupted = True

    def keep_time(self) -> None:
        """End the search if its time is over, or if the user has had enough."""
        if self._is_interrupted:
            raise KeyboardInterrupt
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfTimeError("out of time")

    @property
    def elapsed(self) -> float:
        """For how many seconds the search is under way."""
        return time.monotonic() - self._started

    def raise_bound(self, bound: float | None) -> None:
        """Note a loss that no satisfying node goes below, if that is news."""
        if bound is not None and bound > (-math.inf if self.bound is None else self.bound):
            self.bound = bound

    def learn(self, found: NodeCheck) -> None:
        """Note what follows from a test, and remember the node if it is the best."""
        self.best.offer(found.evaluation)
        self.count(found.evaluation.node, satisfied=found.evaluation.satisfied)
        self.note(found.evaluation.node, self.problem.num_nodes)

    def note(self, node: Node, possible: int) -> None:
        """List a test, one of so many that are possible, and tell about the progress."""
        self.tests.append(node)
        if self._progress and len(self.tests) % TOLD_EVERY == 0:
            best = f"best so far: loss {self.best.loss:,.6g}" if self.best.found else "nothing found yet"
            self.tell("searching", len(self.tests), possible, best)

    def tell(self, what: str, done: int, total: int, note: str = "") -> None:
        """Tell about the progress, and show the lattice to those who do not only count."""
        if self._progress:
            self._progress(what, done, total, note)
            look = getattr(self._progress, "look", None)
            if look is not None:
                look(self.filling)

    def count(self, node: Node, *, satisfied: bool) -> None:
        """Count a test on its level."""
        self._tested[sum(node)] += 1
        self._satisfying[sum(node)] += satisfied

    def filling(self) -> list[tuple[int, int, int]]:
        """For each level from below: its nodes, how many were tested, how many of those satisfy."""
        sizes = enumerate(self.problem.lattice.level_sizes)
        return [(size, self._tested[level], self._satisfying[level]) for level, size in sizes]

    def is_spent(self, node: Node) -> bool:
        """Whether nothing above a node will be tested any more."""
        del node
        return False

    def solution(self, algorithm: str, *, optimal: bool, stopped: str = "") -> Solution:
        """What was found."""
        best = self.best.evaluation
        is_met = self.bound is not None and self.best.found and self.bound >= self.best.least
        is_met = is_met and not self.problem.loss.has_ranks  # the bound is one of the first rank alone
        proven = (optimal and not self.assumed) or is_met
        rule = self.problem.suppression_rule
        optimal = proven and not rule
        # A bound, too, is one of levels whose classes are suppressed by the rule: it bounds nothing else.
        bound = None if rule else self.bound
        return Solution(
            best,
            optimal=optimal,
            nodes=self.problem.num_nodes,
            algorithm=algorithm,
            counters=self.checker.counters,
            bound=best.loss if optimal and best is not None else bound,
            stopped=stopped,
            assumed=self.assumed,
            optimal_given=rule if proven else "",
            tests=tuple(self.tests),
        )


def _implied(problem: SearchProblem) -> tuple[Model, ...]:
    found = (criterion for model in problem.models for criterion in model.sub_criteria(problem.tuples))
    implied = tuple(dict.fromkeys(found))
    if monotone(implied, suppression=problem.limit > 0):
        return implied
    return tuple(criterion for criterion in implied if criterion.scope is ModelScope.CLASS)
