"""The test of one node: generalize, group, decide, measure the loss."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from threading import Lock

from tarnkappe.lattice.groups import Groups
from tarnkappe.lattice.history import Effort, History
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Evaluation, Problem
from tarnkappe.lattice.solution import Counters
from tarnkappe.privacy import Model, protect, satisfied
from tarnkappe.table import State


@dataclasses.dataclass(frozen=True)
class Check:
    """What a test found.

    Attributes:
        evaluation: what the node does to the table; the loss is infinite where the node does not satisfy.
        sub_good: whether the implied criteria are met.
        bound: a loss that neither this node nor anything above it goes below, if one is known.
    """

    evaluation: Evaluation
    sub_good: bool
    bound: float | None


class Checker:
    """Tests nodes and counts what it costs. Several threads may test at once.

    Args:
        problem: what is to be solved.
        implied: monotone criteria that the models imply.
        effort: what tests may start from.
        is_spent: whether nothing above a node will be tested any more.
    """

    def __init__(
        self,
        problem: Problem,
        implied: tuple[Model, ...] = (),
        effort: Effort | None = None,
        is_spent: Callable[[Node], bool] | None = None,
    ) -> None:
        self.problem = problem
        self.implied = implied
        self.keeps_satisfying = True
        """Whether a snapshot of a satisfying node can be of use: not where nothing above it is tested."""
        self.counters = Counters()
        self._least_size = max(model.least_size(problem.tuples) for model in problem.models)
        counted = (*problem.distributions, *(d for model in implied for d in model.distributions))
        self.bottom = Groups.of_tuples(problem, tuple(dict.fromkeys(counted)))
        self._history = History(self.bottom, effort or Effort(), is_spent or (lambda _: False))
        self._lock = Lock()

    def check(self, node: Node) -> Check:
        """Test a node, from the fewest classes at hand.

        Where an implied criterion is not met, nothing else is looked at: `suppressed` is then what the implied
        criteria suppress, which is no more than what the models would.
        """
        base = self._history.base_for(node)
        groups = base.at(node)
        found = self._rule_out(groups) or self.judge(groups)
        self._history.offer(groups, base, keep=self.keeps_satisfying or not found.evaluation.satisfied)
        self.count(base)
        return found

    def _rule_out(self, groups: Groups) -> Check | None:
        """Whether implied criteria, which are simpler than the models, already fail."""
        if not self.implied:
            return None
        state = protect(groups.classes(), self.implied)
        if satisfied(state, self.implied, self.problem.limit):
            return None
        return Check(
            Evaluation(groups.node, False, float("inf"), state.suppressed_rows, state.num_kept),
            False,
            self.problem.loss.lower_bound(state, least_size=self._least_size),
        )

    def judge(self, groups: Groups) -> Check:
        """What classes are worth."""
        problem = self.problem
        state = protect(groups.classes(), problem.models)
        good = satisfied(state, problem.models, problem.limit)
        loss = problem.loss(state) if good else float("inf")
        return Check(
            Evaluation(groups.node, good, loss, state.suppressed_rows, state.num_kept),
            good or self._implied_hold(state),
            problem.loss.lower_bound(state, least_size=self._least_size),
        )

    def _implied_hold(self, state: State) -> bool:
        if not self.implied:
            return True
        return satisfied(protect(state.classes, self.implied), self.implied, self.problem.limit)

    def count(self, base: Groups) -> None:
        """Note that a node was tested, and from what."""
        with self._lock:
            old = self.counters
            rolled_up = base is not self.bottom
            self.counters = Counters(
                old.checked + 1,
                old.rolled_up + rolled_up,
                self._history.hits,
                old.groups + base.num_classes,
            )
