"""The test of one node: generalize, group, decide, measure the loss."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np

from tarnkappe.lattice.effort import EvaluationSettings
from tarnkappe.lattice.groups import PackedClasses, join_pieces
from tarnkappe.lattice.history import SnapshotCache
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.merging import HANDS
from tarnkappe.lattice.problem import Evaluation, SearchProblem
from tarnkappe.lattice.solution import Counters
from tarnkappe.privacy import Model, ModelScope, protect, satisfied
from tarnkappe.privacy.keepable import keepable
from tarnkappe.table import ClassState


@dataclasses.dataclass(frozen=True)
class NodeCheck:
    """What a test found.

    Attributes:
        evaluation: what the node does to the table; the loss is infinite where the node does not satisfy.
        sub_good: whether the implied criteria are met.
        bound: a loss that neither this node nor anything above it goes below, if one is known.
        estimate: about how many rows would be suppressed, where only some classes were looked at.
        keepable: the classes, and those that may hold rows that are kept at this node or below it; where the
            node does not rule out all nodes below it.
    """

    evaluation: Evaluation
    sub_good: bool
    bound: float | None
    estimate: float | None = None
    keepable: ClassState | None = None

    @property
    def suppressed_about(self) -> float:
        """How many rows would be suppressed, at least about."""
        return self.evaluation.suppressed if self.estimate is None else self.estimate


FIRST_HANDS = 4
"""So many hands of classes are looked at before it is foretold how many will show that a node fails."""


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
        problem: SearchProblem,
        implied: tuple[Model, ...] = (),
        effort: EvaluationSettings | None = None,
        is_spent: Callable[[Node], bool] | None = None,
    ) -> None:
        self.problem = problem
        self.implied = implied
        self.keeps_satisfying = True
        """Whether a snapshot of a satisfying node can be of use: not where nothing above it is tested."""
        self.counts_keepable = False
        """Whether rows that no lower node can keep are counted; the searches of the literature do not."""
        self.counters = Counters()
        parts = [part for model in (implied or problem.models) for part in model.parts]
        self._rejects_early = all(part.scope is ModelScope.CLASS for part in parts)
        self.least_size = max(model.least_size(problem.tuples) for model in problem.models)
        self._nested = _nested(problem.models, implied)
        self._merging = [
            part
            for model in problem.models
            for part in model.parts
            if part.scope is ModelScope.CLASS and part.monotonicity.without_suppression
        ]
        counted = (*problem.distributions, *(d for model in implied for d in model.distributions))
        effort = effort or EvaluationSettings()
        self.bottom = PackedClasses.of_tuples(problem, tuple(dict.fromkeys(counted)), effort)
        self._history = SnapshotCache(self.bottom, effort, is_spent or (lambda _: False))
        self._lock = Lock()

    def check(self, node: Node) -> NodeCheck:
        """Test a node, from the fewest classes at hand.

        Where an implied criterion is not met, nothing else is looked at. `suppressed` is then what the
        implied criteria suppress, maybe in some classes only: no more than what the models would.
        """
        base = self._history.base_for(node)
        stone = self._history.stone_for(base, node)
        if stone is not None:
            base = self._step_to(stone, base)
        groups = self._group(base, node)
        self.count(base)
        if isinstance(groups, NodeCheck):
            return groups
        found = self._rule_out(groups) or self.judge(groups)
        self._history.offer(groups, base, keep=self.keeps_satisfying or not found.evaluation.satisfied)
        return found

    def _group(self, base: PackedClasses, node: Node) -> PackedClasses | NodeCheck:
        """The classes of a node, unless some of them already take more rows to suppress than may be.

        Most nodes that fail do so by far. Of many classes a few are then enough to prove it; how many is
        foretold from the first ones.
        """
        if not (self._rejects_early and base.are_many):
            return base.at(node)
        limit, criteria = self.problem.limit, self.implied or self.problem.models
        hands, pieces, suppressed, kept, taken, wanted = base.deal(node), [], 0, 0, 0, FIRST_HANDS
        while taken < HANDS:
            pieces.append(hands.take(taken, wanted))
            some = protect(pieces[-1].classes(), criteria)
            suppressed += int(some.classes.sizes @ ~some.kept)
            kept += some.num_kept
            if suppressed > limit:
                rejected = Evaluation(node, False, float("inf"), suppressed, kept)
                return NodeCheck(rejected, not self.implied, None, suppressed * HANDS / wanted)
            taken = wanted
            needed = taken * 1.1 * limit / max(suppressed, 1)
            wanted = HANDS if needed > 0.8 * HANDS else max(math.ceil(needed), taken + 1)
        return join_pieces(pieces)

    def _step_to(self, stone: Node, base: PackedClasses) -> PackedClasses:
        groups = base.at(stone)
        self._history.offer_stone(groups, base)
        with self._lock:
            self.counters = dataclasses.replace(self.counters, groups=self.counters.groups + base.num_classes)
        return groups

    def _rule_out(self, groups: PackedClasses) -> NodeCheck | None:
        """Whether implied criteria, which are simpler than the models, already fail."""
        if not self.implied:
            return None
        state = protect(groups.classes(), self.implied)
        suppressed = state.suppressed_rows
        if satisfied(state, self.implied, self.problem.limit):
            suppressed = self._surely_suppressed(state) if self.counts_keepable else 0
            if suppressed <= self.problem.limit:
                return None
        return NodeCheck(
            Evaluation(groups.node, False, float("inf"), suppressed, state.num_kept),
            False,
            self.problem.loss.lower_bound(state, least_size=self.least_size),
        )

    def _surely_suppressed(self, state: ClassState) -> int:
        """How many rows are suppressed, here and at every node below, as far as models on classes tell."""
        most = state.classes.sizes * state.kept
        for part in self._merging:
            keepable_rows = keepable(part, state.classes)
            if keepable_rows is not None:
                most = np.minimum(most, keepable_rows)
        return state.classes.num_rows - int(most.sum())

    def judge(self, groups: PackedClasses, *, with_bound: bool = True) -> NodeCheck:
        """What classes are worth; a bound is of no use where all that lies above is tested, or none of it."""
        problem = self.problem
        state = protect(groups.classes(), problem.models)
        good = satisfied(state, problem.models, problem.limit)
        loss = problem.loss(state) if good else float("inf")
        ranks = problem.loss.ranks(state) if good else ()
        sub_good = good or self._implied_hold(state)
        has_bound = with_bound and (self.keeps_satisfying or not good)
        return NodeCheck(
            Evaluation(groups.node, good, loss, state.suppressed_rows, state.num_kept, ranks),
            sub_good,
            problem.loss.lower_bound(state, least_size=self.least_size) if has_bound else None,
            keepable=self._keepable(state) if with_bound and sub_good else None,
        )

    def _keepable(self, state: ClassState) -> ClassState:
        if len(self._nested) == sum(len(model.parts) for model in self.problem.models):
            return state
        return protect(state.classes, self._nested)

    def _implied_hold(self, state: ClassState) -> bool:
        if not self.implied:
            return True
        return satisfied(protect(state.classes, self.implied), self.implied, self.problem.limit)

    def count(self, base: PackedClasses) -> None:
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


def _nested(models: Sequence[Model], implied: Sequence[Model]) -> tuple[Model, ...]:
    """Criteria that all models imply and under which a row that is kept stays so on every way upward.

    So it is with criteria on classes and groups that are monotone with suppression: classes that hold rows
    that were kept meet them, and more rows do not hurt. One on the table as a whole may have a choice.
    """
    parts = [part for model in models for part in model.parts]
    own = [
        part for part in parts if part.monotonicity.with_suppression and part.scope is not ModelScope.TABLE
    ]
    classwise = [part for each in implied for part in each.parts if part.scope is ModelScope.CLASS]
    return tuple(dict.fromkeys([*own, *classwise]))
