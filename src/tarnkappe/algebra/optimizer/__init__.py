"""The optimizer: a plan as it was written becomes an equal plan that costs less, with a proof of every step.

>>> from tarnkappe.algebra.facts import DeclaredFacts
>>> from tarnkappe.algebra.nodes import Projection, Randomization, Relation
>>> noisy = Randomization.of(Relation("spender", ("alter", "plz")), {"alter": "1/4", "plz": "1/4"})
>>> rewriting = rewrite(Projection(noisy, ("alter",)), "strict", DeclaredFacts(), {})
>>> [(step.rule, step.way.value) for step in rewriting.steps], str(rewriting.kind)
([('D9', 'rl')], 'equal')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tarnkappe.algebra.facts import DeclaredFacts, Facts
from tarnkappe.algebra.kinds import Kind
from tarnkappe.algebra.optimizer.cost import CardinalityEstimator, PlanCost
from tarnkappe.algebra.optimizer.explicit import Call, Explicit, refusals
from tarnkappe.algebra.optimizer.log import (
    ParallelPart,
    RecordingFacts,
    RejectedRewrite,
    RewriteMode,
    RewriteStep,
    Rewriting,
    conditions_met,
)
from tarnkappe.algebra.optimizer.memo import EFFORT, Memo, MemoPlan
from tarnkappe.algebra.optimizer.moves import RUN, Taken, can_be_equal, strict_run
from tarnkappe.algebra.optimizer.partitions import partitions
from tarnkappe.algebra.optimizer.places import Path, at, lifted, path_text, places, replaced
from tarnkappe.algebra.optimizer.promise_check import lost
from tarnkappe.algebra.plan import Plan
from tarnkappe.algebra.rules import ALL_RULES, LR, RL, Rewrite, RewriteRule, Way
from tarnkappe.algebra.statistics import Statistics
from tarnkappe.errors import ParameterError

__all__ = [
    "Call",
    "ParallelPart",
    "PlanCost",
    "RejectedRewrite",
    "RewriteMode",
    "RewriteStep",
    "Rewriting",
    "path_text",
    "rewrite",
]

WORTH = 0.9
"""A partially equal plan must cost at most this share of the best equal one: equality is not sold cheaply."""


def rewrite(
    plan: Plan,
    mode: RewriteMode | str,
    facts: Facts,
    statistics: Statistics,
    *,
    parallelism: int = 1,
    rules: Sequence[str | Call] | None = None,
    effort: int = EFFORT,
) -> Rewriting:
    """Rewrite a plan by rules whose conditions are met.

    Args:
        plan: the plan as it was written.
        mode: "strict" (equal plans only), "relaxed" (partially equal ones too, where no operator above
            notices and every promise is kept) or "explicit" (the named rules only, in their order).
        facts: what is known of the data; what is not known is not guessed.
        statistics: what the costs are estimated from.
        parallelism: how many parts of a union or join run at the same time.
        rules: in explicit mode, the calls: names with optional way and XPath, as `D12.rl@//union`.
        effort: how many plans are looked at, at most.
    """
    mode = _mode(mode, rules)
    estimator = CardinalityEstimator(statistics, parallelism)
    if mode is RewriteMode.EXPLICIT:
        return _explicit(plan, facts, estimator, rules or ())
    strict = Memo(facts, estimator, False, strict_run(facts), effort)
    relaxed = Memo(facts, estimator, True, RUN, effort)
    memo = relaxed if mode is RewriteMode.RELAXED else strict
    group = memo.group(plan)
    if memo is relaxed and not relaxed.is_complete:
        group = (
            *group,
            *strict.group(plan),
        )  # a relaxed run that was cut short is not worse than a strict one
    best, given_up = _choose(plan, group)
    teller = _Teller(facts, estimator, mode)
    steps = teller.steps(plan, best.taken)
    return Rewriting(
        plan,
        best.plan,
        mode,
        best.kind,
        steps,
        (*given_up, *teller.refused(best.plan)),
        estimator.cost(plan).time,
        best.cost.time,
        partitions(best.plan),
        is_complete=memo.is_complete,
        explored=memo.explored,
    )


def _mode(mode: RewriteMode | str, rules: Sequence[str | Call] | None) -> RewriteMode:
    try:
        mode = RewriteMode(mode)
    except ValueError:
        known = ", ".join(RewriteMode)
        raise ParameterError(
            "algebra.no-mode-rewriting",
            "'{mode}' is no mode of rewriting; there are {known}",
            mode=mode,
            known=known,
        ) from None
    if (mode is RewriteMode.EXPLICIT) != (rules is not None):
        raise ParameterError(
            "algebra.explicit-mode-needs-rules",
            "explicit mode needs the rules to use, and the other modes take none",
        )
    return mode


def _explicit(
    plan: Plan, facts: Facts, estimator: CardinalityEstimator, rules: Iterable[str | Call]
) -> Rewriting:
    work = Explicit(plan, facts)
    for call in rules:
        work.use(Call.of(call) if isinstance(call, str) else call)
    teller = _Teller(facts, estimator, RewriteMode.EXPLICIT)
    steps = teller.steps(plan, tuple(work.taken))
    costs = estimator.cost(plan).time, estimator.cost(work.plan).time
    return Rewriting(
        plan,
        work.plan,
        RewriteMode.EXPLICIT,
        work.kind,
        steps,
        tuple(work.refused),
        *costs,
        partitions(work.plan),
        () if work.kind.is_equal else tuple(lost(plan, work.plan)),
        explored=len(steps) + 1,
    )


def _choose(plan: Plan, group: Sequence[MemoPlan]) -> tuple[MemoPlan, list[RejectedRewrite]]:
    """The best equal plan, or a partially equal one that is worth it and keeps every promise."""
    best = min((member for member in group if member.kind.is_equal), key=lambda member: member.key)
    given_up: list[RejectedRewrite] = []
    for member in sorted(group, key=lambda member: member.key):
        if member.kind.is_equal or member.cost.time > WORTH * best.cost.time:
            continue
        reasons = tuple(lost(plan, member.plan))
        if not reasons:
            return member, given_up
        last = next(step for step in reversed(member.taken) if not step.kind.is_equal)
        given_up.append(RejectedRewrite(last.rule.name, last.way, last.path, reasons))
    return best, list(dict.fromkeys(given_up))


class _Teller:
    """Tells what was done and what was not, with reasons, for people."""

    def __init__(self, facts: Facts, estimator: CardinalityEstimator, mode: RewriteMode) -> None:
        self._facts = facts
        self._estimator = estimator
        self._mode = mode

    def steps(self, plan: Plan, taken: Iterable[Taken]) -> tuple[RewriteStep, ...]:
        """The steps, replayed on the whole plan."""
        steps = []
        for each in taken:
            before = at(plan, each.path)
            recording = RecordingFacts(self._facts)
            found = each.rule.apply(before, each.way, recording)
            rewrite = next(rewrite for rewrite in found if rewrite.plan == each.after)
            after = replaced(plan, each.path, each.after)
            steps.append(
                RewriteStep(
                    each.rule.name,
                    each.way,
                    each.path,
                    before,
                    each.after,
                    each.kind,
                    lifted(plan, each.path, each.kind),
                    conditions_met(rewrite.conditions),
                    tuple(recording.noted),
                    rewrite.weakens,
                    self._estimator.cost(plan).time,
                    self._estimator.cost(after).time,
                )
            )
            plan = after
        return tuple(steps)

    def refused(self, plan: Plan) -> tuple[RejectedRewrite, ...]:
        """What else was considered on the final plan, and why it was not done."""
        found = []
        for path, here in places(plan):
            for rule, way in CONSIDERED:
                unasked = self._mode is RewriteMode.STRICT and not can_be_equal(rule, self._facts)
                for rewrite in rule.considered(here, way, NOTHING_ASKED if unasked else self._facts):
                    reasons = (
                        [self._not_equal(rewrite.kind)]
                        if unasked
                        else self._reasons(plan, path, rule, rewrite)
                    )
                    found.append(RejectedRewrite(rule.name, way, path, tuple(reasons)))
        return tuple(dict.fromkeys(found))

    def _not_equal(self, kind: Kind) -> str:
        return f"strict mode takes equal plans only, and this is {kind}"

    def _reasons(self, plan: Plan, path: Path, rule: RewriteRule, rewrite: Rewrite) -> Iterator[str]:
        always = list(refusals(plan, path, rule, rewrite))
        yield from always
        if always or rewrite.plan is None:
            return
        kind = lifted(plan, path, rewrite.kind)
        if rewrite.weakens:
            yield f"it would weaken the promise: {rewrite.weakens}"
        elif self._mode is RewriteMode.STRICT and not kind.is_equal:
            yield self._not_equal(kind)
        else:
            after = replaced(plan, path, rewrite.plan)
            yield from lost(plan, after) if not kind.is_equal else ()
            mine, its = (self._estimator.cost(each).time for each in (plan, after))
            cheap = its < mine and not kind.is_equal
            why = "too little is saved to give up equality" if cheap else "it would not pay"
            yield f"{why}: cost {its:,.0f} after {mine:,.0f}"


def _considered() -> Iterator[tuple[RewriteRule, Way]]:
    """What a user may wonder about: the rules of a run, and the exchanges that never hold."""
    singles = ((move.parts[0][0], move.parts[0][1]) for move in RUN if len(move.parts) == 1)
    for rule, way in dict.fromkeys(singles):
        if not rule.field.startswith("Obsolete"):
            yield rule, way
    for rule in ALL_RULES:
        if rule.kind == "noneq":
            yield from ((rule, way) for way in (LR, RL))


CONSIDERED = tuple(_considered())
NOTHING_ASKED = DeclaredFacts()
"""In place of facts that might be counted in the data for a rule that will not be used anyway."""
