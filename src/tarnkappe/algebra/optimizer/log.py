"""What a rewriting did, what it refused, and why: the proof that a user is shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL, Kind, chain
from tarnkappe.algebra.nodes import Anonymization, Projection, Relation, Union
from tarnkappe.algebra.optimizer.places import Path, path_text, replaced
from tarnkappe.algebra.plan import Plan
from tarnkappe.algebra.rules import Way
from tarnkappe.algebra.tree import operator_text

T = TypeVar("T")


class RewriteMode(StrEnum):
    """Which rewrites may be made."""

    STRICT = "strict"
    """Only such that leave the distribution of results as it is."""
    RELAXED = "relaxed"
    """Also partially equal ones, where no operator above notices and every promise is kept."""
    EXPLICIT = "explicit"
    """The rules that a user names, in his order, and nothing else."""


@dataclass(frozen=True)
class RewriteStep:
    """One rewrite that was made.

    Attributes:
        rule: its name.
        way: which side replaced the other.
        path: where in the plan as it was before this step.
        before: what stood there.
        after: what stands there now.
        kind: how equal the two are.
        whole: how equal the whole plans before and after the step are.
        conditions: what had to hold, in words.
        checked: the facts that were asked for it, with the answers.
        weakens: why the released degree may fall; empty if it cannot.
        cost_before: the estimated cost of the whole plan before.
        cost_after: the same after.
    """

    rule: str
    way: Way
    path: Path
    before: Plan
    after: Plan
    kind: Kind
    whole: Kind
    conditions: tuple[str, ...]
    checked: tuple[str, ...]
    weakens: str
    cost_before: float
    cost_after: float

    def as_dict(self) -> dict[str, Any]:
        """The step for machines."""
        return {
            "rule": self.rule,
            "way": self.way.value,
            "path": path_text(self.path),
            "operator": operator_text(self.before),
            "kind": str(self.kind),
            "whole": str(self.whole),
            "conditions": list(self.conditions),
            "checked": list(self.checked),
            "weakens": self.weakens,
            "cost_before": self.cost_before,
            "cost_after": self.cost_after,
        }

    def __str__(self) -> str:
        lines = [f"{self.rule} {self.way.value} at {path_text(self.path)} ({operator_text(self.before)})"]
        lines[0] += f": {self.kind}; cost {self.cost_before:,.0f} to {self.cost_after:,.0f}"
        lines += [f"  because {condition}" for condition in self.conditions]
        lines += [f"  known: {fact}" for fact in self.checked]
        return "\n".join([*lines, *([f"  WEAKENS: {self.weakens}"] if self.weakens else [])])


@dataclass(frozen=True)
class RejectedRewrite:
    """One rewrite that was considered and not made."""

    rule: str
    way: Way | None
    path: Path
    reasons: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The refusal for machines."""
        way = self.way and self.way.value
        return {"rule": self.rule, "way": way, "path": path_text(self.path), "reasons": list(self.reasons)}

    def __str__(self) -> str:
        way = f" {self.way.value}" if self.way else ""
        return f"{self.rule}{way} at {path_text(self.path)}: {'; '.join(self.reasons)}"


@dataclass(frozen=True)
class ParallelPart:
    """Parts of the plan that can be worked on at the same time, each anonymized by itself.

    Attributes:
        path: the union or join in which they meet.
        parts: the roots of the parts.
        techniques: the rules whose partitioned side this is (D12, S8, G15; D13, S9 for joins).
    """

    path: Path
    parts: tuple[Path, ...]
    techniques: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The partition for machines."""
        return {
            "path": path_text(self.path),
            "parts": [path_text(part) for part in self.parts],
            "techniques": list(self.techniques),
        }


@dataclass(frozen=True)
class Rewriting:
    """A rewritten plan with the whole story.

    Attributes:
        original: the plan as it was given.
        plan: the plan to run.
        mode: which rewrites were allowed.
        kind: how equal the two are.
        steps: what was done, in order; replaying it on the original gives the plan.
        refused: what was considered and refused, at the places of the final plan.
        cost_before: the estimated cost of the original.
        cost_after: the estimated cost of the plan.
        partitions: what can run in parallel.
        lost: the promises of the original that the plan does not make; only explicit mode can lose any.
        is_complete: whether all rewrites were explored; false if the effort was limited.
        explored: how many plans were looked at.
    """

    original: Plan
    plan: Plan
    mode: RewriteMode
    kind: Kind
    steps: tuple[RewriteStep, ...]
    refused: tuple[RejectedRewrite, ...]
    cost_before: float
    cost_after: float
    partitions: tuple[ParallelPart, ...] = ()
    lost: tuple[str, ...] = ()
    is_complete: bool = True
    explored: int = 0

    def shortened(self, number: int, reason: str) -> Rewriting:
        """Only the first, equal steps, and why the others are not made."""
        plan = self.original
        kind: Kind = EQUAL
        for step in self.steps[:number]:
            plan, kind = replaced(plan, step.path, step.after), chain(kind, step.whole)
        dropped = [RejectedRewrite(step.rule, step.way, step.path, (reason,)) for step in self.steps[number:]]
        return replace(
            self,
            plan=plan,
            kind=kind,
            steps=self.steps[:number],
            refused=(*dropped, *self.refused),
            cost_after=self.steps[number].cost_before,
            partitions=(),
            lost=(),
        )

    def as_dict(self) -> dict[str, Any]:
        """The rewriting for machines; plans are printed elsewhere."""
        return {
            "mode": self.mode.value,
            "kind": str(self.kind),
            "steps": [step.as_dict() for step in self.steps],
            "refused": [refusal.as_dict() for refusal in self.refused],
            "cost_before": self.cost_before,
            "cost_after": self.cost_after,
            "partitions": [partition.as_dict() for partition in self.partitions],
            "lost": list(self.lost),
            "complete": self.is_complete,
            "explored": self.explored,
        }


@dataclass(frozen=True)
class RecordingFacts(Facts):
    """Facts that note every question and its answer: how the conditions of a step were checked."""

    facts: Facts
    noted: dict[str, None] = field(default_factory=dict)

    @property
    def bucket(self) -> int | None:  # type: ignore[override]
        return self._noting("rows in a bucket", self.facts.bucket)

    @property
    def stable_buckets(self) -> bool:  # type: ignore[override]
        return self._noting("two slicings cut the same buckets", self.facts.stable_buckets)

    def is_static(self, column: str) -> bool:
        return self._noting(f"the noise of '{column}' is static", self.facts.is_static(column))

    def same_hierarchy(self, old: str, new: str) -> bool:
        same = self.facts.same_hierarchy(old, new)
        return self._noting(f"'{new}' has the hierarchy of '{old}'", same)

    def same_noise(self, old: str, new: str) -> bool:
        return self._noting(f"'{new}' has the noise of '{old}'", self.facts.same_noise(old, new))

    def fewest_rows(self, plan: Plan) -> int:
        return self._counting(f"least rows of [{operator_text(plan)}]", plan, self.facts.fewest_rows(plan))

    def row_count(self, plan: Plan) -> int | None:
        return self._counting(f"rows of [{operator_text(plan)}]", plan, self.facts.row_count(plan))

    def is_unique(self, plan: Plan, columns: Collection[str]) -> bool:
        return self._about("key of", self.facts.is_unique, columns, plan)

    def is_not_null(self, plan: Plan, columns: Collection[str]) -> bool:
        return self._about("never missing in", self.facts.is_not_null, columns, plan)

    def has_partners(self, left: Plan, right: Plan, columns: Collection[str]) -> bool:
        return self._about("partners for", self.facts.has_partners, columns, left, right)

    def same_order(self, left: Plan, right: Plan, columns: Collection[str]) -> bool:
        return self._about("same order in", self.facts.same_order, columns, left, right)

    def _about(self, what: str, ask: Callable[..., bool], columns: Collection[str], *plans: Plan) -> bool:
        named = " and ".join(f"[{operator_text(plan)}]" for plan in plans)
        return self._noting(f"{', '.join(sorted(columns))}: {what} {named}", ask(*plans, columns))

    def _counting(self, question: str, plan: Plan, answer: T) -> T:
        """Sizes of base relations are statistics. How many rows a condition selects is an answer about
        people that an explanation must not give: it is paid for by no budget and seen by no gate.
        """
        if all(isinstance(node, Relation | Union | Projection | Anonymization) for node in plan.walk()):
            return self._noting(question, answer)
        self.noted[f"{question}: {'not known' if answer is None else 'counted, not shown'}"] = None
        return answer

    def _noting(self, question: str, answer: T) -> T:
        known = {True: "yes", False: "not known", None: "not known"}
        text = known[answer] if answer is None or isinstance(answer, bool) else str(answer)
        self.noted[f"{question}: {text}"] = None
        return answer


def conditions_met(conditions: Mapping[str, bool]) -> tuple[str, ...]:
    """The conditions that hold, in words."""
    return tuple(condition for condition, met in conditions.items() if met)
