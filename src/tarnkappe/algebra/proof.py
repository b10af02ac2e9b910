"""Rules checked by enumeration: does a claim hold on all small relations, and is its condition needed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from tarnkappe.algebra.equivalence import Counterexample
from tarnkappe.algebra.facts import MeasuredFacts
from tarnkappe.algebra.nodes import Plan
from tarnkappe.algebra.rules import LR, RL, SWAP, Rewrite, RewriteRule, Way
from tarnkappe.algebra.semantics import possible_result
from tarnkappe.algebra.space import WORLDS, WorldSpace, small_spaces
from tarnkappe.algebra.world import World
from tarnkappe.errors import NoSolutionError


@dataclass(frozen=True)
class Trial:
    """One replacement in one world."""

    way: Way
    rewrite: Rewrite
    seen: Counterexample | None
    """Both results; None if the replacement cannot be written down or run."""

    @property
    def is_equal(self) -> bool:
        """Whether plan and replacement have the same results."""
        return self.seen is not None and self.seen.left.same_as(self.seen.right)

    @property
    def keeps_claim(self) -> bool:
        """Whether an allowed replacement can run and is equal in its kind."""
        return self.seen is not None and self.rewrite.kind.holds(self.seen.left, self.seen.right)


@dataclass
class RuleFinding:
    """What the worlds of a rule's examples have shown.

    Attributes:
        rule: the rule.
        worlds: how many worlds the plan could run in.
        rows: the most rows of a relation that were tried.
        incomplete: in how many of the worlds values may be missing.
        allowed: how often each way was allowed and compared.
        refused: how often each way was refused by a condition.
        broken: a world in which an allowed replacement does not keep the claim; there must be none.
        unequal: a world in which an allowed replacement is not equal, for kinds that do not claim it.
        needed: a world in which a refused replacement is not equal: what the condition keeps away.
    """

    rule: RewriteRule
    worlds: int = 0
    rows: int = 0
    incomplete: int = 0
    allowed: Counter[Way] = field(default_factory=Counter)
    refused: Counter[Way] = field(default_factory=Counter)
    broken: Trial | None = None
    unequal: Counterexample | None = None
    needed: Counterexample | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the claim was tried in every way and kept; a non-equivalence needs its counterexample."""
        if self.broken is not None:
            return False
        if self.rule.kind == "noneq":
            return self.needed is not None and not self.allowed.total()
        return all(self.allowed[way] for way in self.rule.ways)

    def as_dict(self) -> dict[str, Any]:
        """The finding for machines."""
        broken = self.broken.seen if self.broken else None
        return {
            "rule": self.rule.as_dict(),
            "confirmed": self.is_confirmed,
            "worlds": self.worlds,
            "rows": self.rows,
            "worlds_with_null": self.incomplete,
            "allowed": {way.value: number for way, number in self.allowed.items()},
            "refused": {way.value: number for way, number in self.refused.items()},
            "broken": broken and broken.as_dict(),
            "unequal": self.unequal and self.unequal.as_dict(),
            "needed": self.needed and self.needed.as_dict(),
        }

    @property
    def _claim(self) -> str:
        """What held, in words: a rule that is an equality under a correction says what it is without."""
        if self.rule.otherwise is None or self.unequal is None:
            return f"the claim ({self.rule.kind}) holds"
        corrections = " and ".join(self.rule.corrections)
        return f"the claim holds: {self.rule.kind} given {corrections}"

    def __str__(self) -> str:
        rule = self.rule
        lines = [f"{rule.name} ({rule.field}): {rule.statement}", *rule.reason.splitlines()]
        if self.broken is not None and self.broken.seen is not None:
            return "\n".join([*lines, "REFUTED: the claim does not hold", str(self.broken.seen)])
        tried = f"{self.worlds} worlds with relations of up to {self.rows} rows"
        tried += f", {self.incomplete} of them with NULL" if self.incomplete else ""
        if rule.kind == "noneq":
            lines.append(f"confirmed on {tried}: no exchange holds in general")
            return "\n".join([*lines, str(self.needed)])
        ways = ", ".join(f"{way.value}: {self.allowed[way]}" for way in rule.ways)
        lines.append(f"{self._claim} on {tried} (allowed {ways})")
        if self.unequal is not None:
            lines += ["where it is not equality:", str(self.unequal)]
        if self.needed is not None:
            lines += ["its condition is needed:", str(self.needed)]
        return "\n".join(lines)


def check_rule(
    rule: RewriteRule,
    *,
    worlds: int = WORLDS,
    dynamic: Collection[str] = (),
    bucket: int = 2,
    stable_buckets: bool = True,
) -> RuleFinding:
    """Apply a rule to its examples in all small worlds and compare plan and replacement exactly.

    Args:
        rule: the rule.
        worlds: at most about so many worlds for each example and way.
        dynamic: the columns whose noise depends on the old value.
        bucket: the least number of rows in a bucket of slicing.
        stable_buckets: whether slicings cut the same buckets again.
    """
    finding = RuleFinding(rule)
    for way, plan in starts(rule):
        spaces = small_spaces(
            plan, worlds=worlds, dynamic=dynamic, bucket=bucket, stable_buckets=stable_buckets
        )
        for space in spaces:
            finding.rows = max(finding.rows, space.rows)
            for world in space.worlds(plan):
                trials = try_rule(rule, way, plan, world)
                finding.worlds += trials is not None
                finding.incomplete += trials is not None and bool(space.nullable)
                for trial in trials or ():
                    _note(finding, trial)
    return finding


def starts(rule: RewriteRule) -> Iterator[tuple[Way, Plan]]:
    """The plans to start from, in each way: the examples, and for the way back what they are rewritten to."""
    if rule.ways == (RL,):
        yield from ((RL, example) for example in rule.examples)
        return
    for example in rule.examples:
        yield LR, example
        if SWAP in rule.ways:
            yield SWAP, example
        if RL in rule.ways or not rule.ways:
            yield from ((RL, plan) for plan in sorted(_results(rule, example), key=repr))


def _note(finding: RuleFinding, trial: Trial) -> None:
    if not trial.rewrite.is_allowed:
        finding.refused[trial.way] += 1
        if trial.seen is not None and not trial.is_equal:
            finding.needed = finding.needed or trial.seen
        return
    finding.allowed[trial.way] += 1
    if not trial.keeps_claim:
        finding.broken = finding.broken or trial
    elif not trial.is_equal:
        finding.unequal = finding.unequal or trial.seen


def try_rule(rule: RewriteRule, way: Way, plan: Plan, world: World) -> list[Trial] | None:
    """All replacements of a plan's root by a rule in one world; None if the plan cannot run in it."""
    mine = possible_result(plan, world)
    if mine is None:
        return None
    trials = []
    for rewrite in rule.considered(plan, way, MeasuredFacts(world)):
        seen = None
        if rewrite.plan is not None:
            other = possible_result(rewrite.plan, world)
            seen = None if other is None else Counterexample((plan, rewrite.plan), world, mine, other)
        trials.append(Trial(way, rewrite, seen))
    return trials


def _results(rule: RewriteRule, example: Plan) -> set[Plan]:
    results: set[Plan] = set()
    for world in WorldSpace.of(example, worlds=1).worlds(example):
        try:
            rewrites = rule.considered(example, LR, MeasuredFacts(world))
        except NoSolutionError:
            continue
        results |= {rewrite.plan for rewrite in rewrites if rewrite.plan is not None}
    return results
