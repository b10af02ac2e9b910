"""What a rewrite rule is: a statement, a condition, two sides, and the reason why it holds.

A rule is one function. It gets a plan, a way (left to right or right to left) and the facts, matches the
plan by its shape, and yields what it may be replaced by. Every replacement carries the kind of equality it
has and its conditions, each met or not. A replacement with an unmet condition must not be used; it is
yielded all the same, so that a user can be told what was considered and refused, and why, and so that the
tests can look for the counterexample that the condition is there to keep away.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import Kind
from tarnkappe.algebra.nodes import Plan


class Way(StrEnum):
    """Which side of a rule replaces the other."""

    LEFT_TO_RIGHT = "lr"
    RIGHT_TO_LEFT = "rl"
    SWAP = "swap"
    """Two operators of the same kind change places; neither side of the rule remains."""


LR, RL, SWAP = Way.LEFT_TO_RIGHT, Way.RIGHT_TO_LEFT, Way.SWAP


class Effect(StrEnum):
    """What a rule does to a plan."""

    REMOVE = "remove"
    MERGE = "merge"
    EXCHANGE = "exchange"
    INSERT = "insert"


@dataclass(frozen=True)
class Rewrite:
    """One replacement of a plan.

    Attributes:
        plan: the replacement; None if it cannot even be written down.
        kind: how equal it is to the replaced plan, given the conditions.
        conditions: what must hold, in words, and whether it does.
        weakens: why the released degree of anonymity may fall although the kind holds; empty if it cannot.
    """

    plan: Plan | None
    kind: Kind
    conditions: Mapping[str, bool] = field(default_factory=dict)
    weakens: str = ""

    @property
    def refused(self) -> tuple[str, ...]:
        """The conditions that are not met or not known to be."""
        return tuple(condition for condition, met in self.conditions.items() if not met)

    @property
    def is_allowed(self) -> bool:
        """Whether all conditions are met."""
        return self.plan is not None and not self.refused


Function = Callable[[Plan, Way, Facts], Iterator[Rewrite]]


@dataclass(frozen=True)
class RewriteRule:
    """A rule of the catalogue, as data and as a function.

    Attributes:
        name: the name that users call it by, such as G10.
        field: the pair of operators that it is about, such as GenProj.
        left: the left side of its statement (in exchanges: anonymize late).
        right: the right side (anonymize early).
        kind: the claimed kind, with its parameter: eq, partialG(X), partialS(V) or noneq.
        ways: the ways in which it may be used; none for a non-equivalence.
        effect: what it does.
        function: matches and builds; its docstring says why the rule holds.
        prefer: the way that an optimizer normally goes, if it is two-way.
        conditions: what is checked.
        shape: what is checked, but says no more than that a letter of the statement means one thing.
        wellformed: what always holds where the left side is a plan at all.
        corrections: restrictions that the rule needs beyond its first publication.
        assumes: what the operators' contracts ask for: bags, minimum sizes, no empty parameters.
        otherwise: the weaker kind that remains if only a correction is not met, or None.
        examples: plans of the left (or only) side on which the rule is checked by enumeration.
    """

    name: str
    field: str
    left: str
    right: str
    kind: str
    ways: tuple[Way, ...]
    effect: Effect
    function: Function
    prefer: Way | None = None
    conditions: tuple[str, ...] = ()
    shape: tuple[str, ...] = ()
    wellformed: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()
    otherwise: str | None = None
    examples: tuple[Plan, ...] = ()

    @property
    def reason(self) -> str:
        """Why the rule holds (or why no exchange does)."""
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def statement(self) -> str:
        """The rule as a formula."""
        arrow = {"eq": "⇔", "noneq": "⇎"}.get(self.kind, "⇔⊆")
        return f"{self.left} {arrow} {self.right}"

    @property
    def direction(self) -> str:
        """lr, rl, both or none."""
        one_way = [way for way in self.ways if way is not SWAP]
        return "none" if not self.ways else one_way[0].value if len(one_way) == 1 else "both"

    def considered(self, plan: Plan, way: Way, facts: Facts) -> list[Rewrite]:
        """All replacements of the plan's root by this rule, allowed or not; none if the shape is another."""
        return list(self.function(plan, way, facts))

    def apply(self, plan: Plan, way: Way, facts: Facts) -> list[Rewrite]:
        """The allowed replacements of the plan's root."""
        if way not in self.ways:
            return []
        return [rewrite for rewrite in self.considered(plan, way, facts) if rewrite.is_allowed]

    def as_dict(self) -> dict[str, Any]:
        """The rule for machines."""
        return {
            "id": self.name,
            "field": self.field,
            "lhs": self.left,
            "rhs": self.right,
            "kind": self.kind,
            "dir": self.direction,
            "prefer": self.prefer and self.prefer.value,
            "effect": self.effect.value,
            "cond": [*self.conditions, *self.shape],
            "wf": list(self.wellformed),
            "fix": [*self.corrections, *self.assumes],
            "otherwise": self.otherwise,
            "reason": self.reason,
        }


def rule(
    name: str,
    field: str,
    left: str,
    right: str,
    kind: str,
    ways: tuple[Way, ...],
    effect: Effect,
    **details: Any,
) -> Callable[[Function], RewriteRule]:
    """Make a rule of the function below; its docstring is the justification."""

    def made(function: Function) -> RewriteRule:
        return RewriteRule(name, field, left, right, kind, ways, effect, function, **details)

    return made
