"""The test of one node: generalize, group, decide, measure the loss.

A test starts from the smallest set of classes at hand that lies below the node: the table itself, or a
snapshot of a node that was tested before (`History`).
"""

from __future__ import annotations

import dataclasses

from tarnkappe.lattice.history import MAX_SHARE, MAX_SNAPSHOTS, History
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Evaluation, Problem
from tarnkappe.lattice.solution import Counters
from tarnkappe.privacy import Model, protect, satisfied


@dataclasses.dataclass(frozen=True)
class Effort:
    """How tests are made; the outcome is the same whatever is chosen.

    Attributes:
        snapshots: how many snapshots are kept at most; none switches the history off.
        snapshot_share: how large a snapshot may be, as a share of the table.
    """

    snapshots: int = MAX_SNAPSHOTS
    snapshot_share: float = MAX_SHARE


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
    """Tests nodes and counts what it costs."""

    def __init__(
        self, problem: Problem, implied: tuple[Model, ...] = (), effort: Effort | None = None
    ) -> None:
        self.problem = problem
        self.implied = implied
        effort = effort or Effort()
        self._history = History(problem.tuples, effort.snapshots, effort.snapshot_share)
        self.counters = Counters()

    def check(self, node: Node) -> Check:
        """Test a node."""
        problem = self.problem
        base = self._history.base_for(node)
        is_rolled_up = base is not problem.tuples
        self.counters = Counters(
            self.counters.checked + 1,
            self.counters.rolled_up + is_rolled_up,
            self.counters.from_snapshots + is_rolled_up,
            self.counters.groups + base.num_tuples,
        )
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
        return Check(evaluation, sub_good, problem.loss.lower_bound(state))
