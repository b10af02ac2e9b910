"""The moves of an automatic run: which rules are tried, in which way, and which only together.

Every exchange is used in one direction (σ and π towards the leaves, anonymizations below unions and joins),
so that a run never undoes what it did; `measure` says why it ends. A rule that only splits an operator is
used together with the push-down that the split allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL, Kind, chain
from tarnkappe.algebra.nodes import (
    Anonymization,
    Generalization,
    Grouping,
    Join,
    Plan,
    Projection,
    Randomization,
    Rename,
    Selection,
    SlicingNode,
)
from tarnkappe.algebra.optimizer.places import Path, at, lifted, replaced
from tarnkappe.algebra.rules import ALL_RULES, LR, RL, SWAP, RewriteRule, Way


@dataclass(frozen=True)
class Taken:
    """One rule as it was used: enough to replay it."""

    rule: RewriteRule
    way: Way
    path: Path
    after: Plan
    kind: Kind

    def below(self, index: int) -> Taken:
        """The same seen from the parent, whose child of this number it was used on."""
        return Taken(self.rule, self.way, (index, *self.path), self.after, self.kind)


@dataclass(frozen=True)
class PlanRewriting:
    """A replacement of a whole plan, and what led to it."""

    plan: Plan
    kind: Kind
    taken: tuple[Taken, ...]


@dataclass(frozen=True)
class Move:
    """One rule at the root of a plan, or several in a row at places below it."""

    parts: tuple[tuple[RewriteRule, Way, Path], ...]
    guard: Callable[[Plan], bool] | None = None
    is_swap: bool = False

    def made(self, plan: Plan, facts: Facts) -> Iterator[PlanRewriting]:
        """All allowed replacements that keep every promise."""
        if self.guard is None or self.guard(plan):
            yield from _following(plan, self.parts, facts)

    @property
    def root(self) -> type[Plan]:
        """The operator that stands at the root of what the move replaces."""
        if self.guard is not None:
            return GUARDED[self.guard]
        rule, way, _ = self.parts[0]
        side = rule.right if way is RL else rule.left
        return OPERATORS[side.partition("[")[0]]

    @property
    def name(self) -> str:
        """The rules of the move."""
        return " ".join(f"{rule.name}.{way.value}" for rule, way, _ in self.parts)


def _following(
    plan: Plan, parts: tuple[tuple[RewriteRule, Way, Path], ...], facts: Facts
) -> Iterator[PlanRewriting]:
    if not parts:
        yield PlanRewriting(plan, EQUAL, ())
        return
    (rule, way, path), *rest = parts
    for rewrite in rule.apply(at(plan, path), way, facts):
        if rewrite.plan is None or rewrite.weakens:
            continue
        kind = lifted(plan, path, rewrite.kind)
        for further in _following(replaced(plan, path, rewrite.plan), tuple(rest), facts):
            taken = Taken(rule, way, path, rewrite.plan, rewrite.kind)
            yield PlanRewriting(further.plan, chain(kind, further.kind), (taken, *further.taken))


def _selection_is_blocked(plan: Plan) -> bool:
    """Whether a selection stands above an anonymization that touches what it reads."""
    return (
        isinstance(plan, Selection)
        and isinstance(plan.child, Anonymization)
        and bool(plan.predicate.columns & plan.child.attributes)
    )


def _selection_hides(plan: Plan) -> bool:
    """Whether a projection is kept from an anonymization or a join by a selection."""
    return (
        isinstance(plan, Projection)
        and isinstance(plan.child, Selection)
        and isinstance(plan.child.child, Anonymization | Join | Rename)
    )


GUARDED: dict[Callable[[Plan], bool], type[Plan]] = {
    _selection_is_blocked: Selection,
    _selection_hides: Projection,
}
OPERATORS: dict[str, type[Plan]] = {
    "Gen": Generalization,
    "Slice": SlicingNode,
    "Noise": Randomization,
    "Proj": Projection,
    "Sel": Selection,
    "Group": Grouping,
    "Ren": Rename,
}
"""As the rules' statements name them."""


def _single(way: Way, *names: str, is_swap: bool = False) -> list[Move]:
    return [Move(((ALL_RULES[name], way, ()),), is_swap=is_swap) for name in names]


def _together(guard: Callable[[Plan], bool], *parts: tuple[str, Way, Path]) -> Move:
    return Move(tuple((ALL_RULES[name], way, path) for name, way, path in parts), guard)


CLEANUP = _single(LR, "G1", "G2", "G3", "S1", "D1", "D2", "D3")
REMOVE = [*_single(RL, "G11", "S6", "D10"), *_single(LR, "GD4", "SD2")]
MERGE = _single(
    LR, "G4", "G5", "G6", "G7", "G8", "S2", "S3", "D5", "D6", "D7", "ProjProj", "SelSel", "RenRename"
)
SWAPS = [
    *_single(SWAP, "D5", is_swap=True),
    *_single(LR, "GD1", "GS1", "SD1", is_swap=True),
    *_single(RL, "GD1", "GS1", "SD1", is_swap=True),
]
PUSH_SELECTIONS = [
    *_single(RL, "D11", "G14"),
    *_single(LR, "SelProj", "SelJoin", "SelJoinBoth", "SelJoinPart", "SelUnion", "SelDiff", "SelDiffLeft"),
    *_single(LR, "SelRename", "SelGroup"),
    _together(_selection_is_blocked, ("D5", RL, (0,)), ("D11", RL, ())),
    *(
        _together(_selection_is_blocked, ("SelSel", RL, ()), ("SelSel", SWAP, ()), (name, RL, (0,)))
        for name in ("D11", "G14")
    ),
]
PUSH_PROJECTIONS = [
    *_single(RL, "G10", "G12", "G13", "S5", "D9"),
    *_single(LR, "ProjJoin", "ProjUnion", "ProjRename", "ProjGroup"),
    *(
        _together(_selection_hides, ("SelProjHelper", RL, ()), (name, way, (0, 0)))
        for way, names in (
            (RL, ("G10", "G11", "G12", "G13", "S5", "S6", "D9", "D10")),
            (LR, ("ProjJoin", "ProjRename")),
        )
        for name in names
    ),
]
DISTRIBUTE = _single(LR, "D12", "D13", "S8", "S9", "G15", "G16", "G17")
BELOW_NAMES = _single(LR, "GenRename", "SliceRename", "NoiseRename")

RUN: tuple[Move, ...] = (
    *CLEANUP,
    *REMOVE,
    *MERGE,
    *SWAPS,
    *PUSH_SELECTIONS,
    *PUSH_PROJECTIONS,
    *DISTRIBUTE,
    *BELOW_NAMES,
)
"""All moves, in the order in which they are tried (of equally good plans, the first found is kept)."""


def can_be_equal(rule: RewriteRule, facts: Facts) -> bool:
    """Whether a rule ever gives an equal plan: then strict mode asks for its conditions.

    Asking costs: some facts are counted in the data. G7 and G13-G16 are equal only where there is nothing to
    generalize; S8 is where slicings cut the same buckets again.
    """
    return not rule.kind.startswith("partialG") and (
        not rule.kind.startswith("partialS") or facts.stable_buckets
    )


def strict_run(facts: Facts) -> tuple[Move, ...]:
    """The moves of a run that can be equal."""
    return tuple(move for move in RUN if all(can_be_equal(rule, facts) for rule, _, _ in move.parts))
