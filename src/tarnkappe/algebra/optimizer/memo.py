"""Exploration with a memo: for every part of a plan the group of all plans that may replace it.

A group starts from one plan and is closed under the moves at its root and the replacements of its children,
which are the groups of the children. A group is explored once, wherever its plan occurs. Every member
remembers the steps that led to it, so the plan that is chosen in the end comes with its proof.

A move looks at the upper operators of a plan and hands the parts below on unchanged. So of the members that
agree in these (their *shape*) and in how equal they are to the first plan, only the cheapest is kept, and
partially equal ones only if they are cheaper than the equal one. This is what keeps a blocked way open: noise
that was merged (cheaper) and noise that was swapped (dearer, but a selection may pass it now) have different
shapes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import product
from typing import Protocol

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL, NOT_EQUAL, Kind, chain, through
from tarnkappe.algebra.nodes import Anonymization, Plan, Projection, Selection
from tarnkappe.algebra.optimizer.cost import CardinalityEstimator, PlanCost
from tarnkappe.algebra.optimizer.moves import Move, Taken

EFFORT = 20_000
"""How many plans are looked at, at most: enough for queries that people write, in a few seconds."""
NOT_PARAMETERS = {"child", "left", "right", "schema"}
Shape = tuple[Hashable, ...]


class Offer(Protocol):
    """Keeps a member if it is the best of its shape."""

    def __call__(self, found: Plan, kind: Kind, taken: tuple[Taken, ...], *, is_new: bool) -> None: ...


@dataclass(frozen=True)
class MemoPlan:
    """A plan of a group."""

    plan: Plan
    kind: Kind
    taken: tuple[Taken, ...]
    cost: PlanCost

    @property
    def key(self) -> tuple[PlanCost, int]:
        """What makes a member better than another: costs, then fewer steps."""
        return self.cost, len(self.taken)


@dataclass
class Memo:
    """All groups that one rewriting has explored.

    Attributes:
        facts: what rules may rely on.
        estimator: what plans cost.
        partial: whether partially equal members are kept, too.
        moves: what may be done.
        effort: how many plans may be looked at.
        explored: how many were.
    """

    facts: Facts
    estimator: CardinalityEstimator
    partial: bool
    moves: tuple[Move, ...]
    effort: int = EFFORT
    explored: int = 0
    _groups: dict[Plan, tuple[MemoPlan, ...]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._by_root: dict[type[Plan], list[Move]] = defaultdict(list)
        for move in self.moves:
            self._by_root[move.root].append(move)

    @property
    def is_complete(self) -> bool:
        """Whether the effort was enough."""
        return self.explored < self.effort

    def group(self, plan: Plan) -> tuple[MemoPlan, ...]:
        """The plans that may replace a plan, itself included, the best one first."""
        if plan not in self._groups:
            self._groups[plan] = self._explore(plan)
        return self._groups[plan]

    def _explore(self, plan: Plan) -> tuple[MemoPlan, ...]:
        kept: dict[Shape, MemoPlan] = {}
        waiting: deque[tuple[Shape, MemoPlan, bool]] = deque()

        def offer(found: Plan, kind: Kind, taken: tuple[Taken, ...], *, is_new: bool) -> None:
            if kind == NOT_EQUAL or not (self.partial or kind.is_equal):
                return
            self.explored += 1
            member = MemoPlan(found, kind, taken, self.estimator.cost(found))
            shape = _shape(found)
            if all(
                member.key < known.key for known in (kept.get((*shape, k)) for k in {kind, EQUAL}) if known
            ):
                kept[*shape, kind] = member
                waiting.append(((*shape, kind), member, is_new))

        offer(plan, EQUAL, (), is_new=True)
        while waiting:
            shape, member, is_new = waiting.popleft()
            if kept[shape] is not member or not self.is_complete:
                continue
            if is_new and member.plan.children:
                self._replace_children(member, offer)
            for move in self._by_root[type(member.plan)]:
                for made in move.made(member.plan, self.facts):
                    if made.plan != member.plan:
                        kind = chain(member.kind, made.kind)
                        offer(made.plan, kind, (*member.taken, *made.taken), is_new=True)
        return tuple(sorted(kept.values(), key=lambda member: member.key))

    def _replace_children(self, member: MemoPlan, offer: Offer) -> None:
        """Members whose children were replaced; groups are closed, so these need not be replaced again."""
        plan = member.plan
        for choice in product(*(self.group(child) for child in plan.children)):
            if not self.is_complete:
                return
            if all(not chosen.taken for chosen in choice):
                continue
            kind, taken = member.kind, member.taken
            for index, chosen in enumerate(choice):
                kind = chain(kind, through(plan, chosen.kind))
                taken += tuple(step.below(index) for step in chosen.taken)
            offer(plan.with_children(*(chosen.plan for chosen in choice)), kind, taken, is_new=False)


def _shape(plan: Plan) -> Shape:
    """What a move may look at: the root, its children, and what is below a child that it looks through."""
    seen = [_head(plan), *map(_head, plan.children)]
    match plan:
        case Anonymization(Projection(child)) | Projection(Selection(child)):
            seen.append(type(child))
    return tuple(seen)


def _head(plan: Plan) -> Hashable:
    """An operator with its parameters, without its children."""
    own = {name: value for name, value in vars(plan).items() if name not in NOT_PARAMETERS}
    return type(plan), *own.values()
