"""Explicit mode: the rules that a user names, in his order, each wherever it applies.

A call is written `NAME`, `NAME.way` or `NAME.way@XPATH`: `D9`, `D12.rl`, `G14.lr@//union`, `DP04`. Without a
way, the rule goes the way that it normally goes; an XPath restricts it to the parts of the plan below the
elements found. A rule is used until no place is left, except splits and swaps, which are made once at each
place. Nothing is made whose conditions are not met, nor where an operator above would read what differs;
what only weakens the promise is made, because the user asked for it, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL, NOT_EQUAL, Kind, chain
from tarnkappe.algebra.optimizer.log import RejectedRewrite
from tarnkappe.algebra.optimizer.moves import Taken
from tarnkappe.algebra.optimizer.places import Path, at, lifted, matching, places, replaced
from tarnkappe.algebra.plan import Plan
from tarnkappe.algebra.rules import (
    ALL_RULES,
    LR,
    RL,
    SWAP,
    TRANSFORMATIONS,
    Effect,
    Rewrite,
    RewriteRule,
    Way,
)
from tarnkappe.algebra.tree import operator_text
from tarnkappe.errors import ParameterError


@dataclass(frozen=True)
class Call:
    """A rule that a user asks for."""

    rule: RewriteRule
    way: Way | None
    """None for a rule that may never be used: it is answered with its reason."""
    within: str = ""
    """An XPath expression; empty for the whole plan."""

    @classmethod
    def of(cls, text: str) -> Call:
        """A call from its text.

        >>> call = Call.of("D12.rl@//union")
        >>> call.rule.name, call.way.value, call.within
        ('D12', 'rl', '//union')
        """
        named, _, within = text.partition("@")
        name, _, way = named.strip().partition(".")
        if name in TRANSFORMATIONS:
            if way:
                raise ParameterError(
                    "algebra.transformation-way-own-leave",
                    "'{named}': the transformation {name} has a way of its own, leave it out",
                    named=named,
                    name=name,
                )
            return cls(TRANSFORMATIONS[name].rule, TRANSFORMATIONS[name].way, within.strip())
        rule = ALL_RULES[name]
        return cls(rule, _way(rule, way), within.strip())

    @property
    def repeats(self) -> bool:
        """Whether the rule is used until no place is left."""
        return self.way is not SWAP and (self.rule.effect is not Effect.MERGE or self.way is LR)


def _way(rule: RewriteRule, text: str) -> Way | None:
    if not text:
        return rule.prefer or (rule.ways[0] if rule.ways else None)
    try:
        way = Way(text)
    except ValueError:
        raise ParameterError(
            "algebra.no-way-rule-lr", "'{text}' is no way of a rule; there are lr, rl and swap", text=text
        ) from None
    if rule.ways and way not in rule.ways:
        ways = " or ".join(f"{rule.name}.{own.value}" for own in rule.ways)
        raise ParameterError(
            "algebra.cannot-used-write",
            "{rule} cannot be used {way}; write {ways}",
            rule=rule.name,
            way=way.value,
            ways=ways,
        )
    return way


@dataclass
class Explicit:
    """The plan while named rules are used on it.

    Attributes:
        plan: the plan so far.
        facts: what rules may rely on.
        kind: how equal it is to the plan at the beginning.
        taken: what was done.
        refused: what was asked for and not done.
    """

    plan: Plan
    facts: Facts

    def __post_init__(self) -> None:
        self.kind: Kind = EQUAL
        self.taken: list[Taken] = []
        self.refused: list[RejectedRewrite] = []

    def use(self, call: Call) -> None:
        """Use a rule wherever it applies; say why where it does not."""
        roots = matching(self.plan, call.within) if call.within else [()]
        outermost = [root for root in roots if not any(root[: len(r)] == r and root != r for r in roots)]
        if not outermost:
            self._refuse(call, (), (f"the plan has no place that {call.within} names",))
        for root in outermost:
            if not self._use_below(call, root):
                self._refuse_places(call, root)

    def _use_below(self, call: Call, root: Path) -> bool:
        """Bottom-up, as nested matches become possible when what is above them was moved away."""
        used = False
        seen = {self.plan}
        while True:
            below = reversed([(*root, *path) for path, _ in places(at(self.plan, root))])
            moved = [place for place in below if self._use_at(call, place)]
            used = used or bool(moved)
            if not moved or not call.repeats or self.plan in seen:
                return used
            seen.add(self.plan)

    def _use_at(self, call: Call, path: Path) -> bool:
        if call.way is None:
            return False
        try:
            here = at(self.plan, path)
        except IndexError:  # a rule that was used below has removed the place
            return False
        for rewrite in call.rule.apply(here, call.way, self.facts):
            kind = chain(self.kind, lifted(self.plan, path, rewrite.kind))
            if rewrite.plan is None or kind == NOT_EQUAL:
                continue
            self.kind = kind
            self.taken.append(Taken(call.rule, call.way, path, rewrite.plan, rewrite.kind))
            self.plan = replaced(self.plan, path, rewrite.plan)
            return True
        return False

    def _refuse_places(self, call: Call, root: Path) -> None:
        """Every place of the right shape with the conditions that it fails, or that there is none."""
        found = False
        for path, here in places(at(self.plan, root)):
            for way in [call.way] if call.way else [LR, RL]:
                for rewrite in call.rule.considered(here, way, self.facts):
                    place = (*root, *path)
                    found = True
                    reasons = tuple(refusals(self.plan, place, call.rule, rewrite)) or (
                        f"{rewrite.kind}, which has no common notion with what was done before: {self.kind}",
                    )
                    self._refuse(call, place, reasons, way)
        if not found:
            shape = call.rule.right if call.way is RL else call.rule.left
            why = [_in_one_line(call.rule.reason)] if call.rule.kind == "noneq" else []
            self._refuse(call, root, (f"no part of the plan has the shape {shape}", *why))

    def _refuse(self, call: Call, path: Path, reasons: tuple[str, ...], way: Way | None = None) -> None:
        refusal = RejectedRewrite(call.rule.name, way or call.way, path, reasons)
        if refusal not in self.refused:
            self.refused.append(refusal)


def refusals(plan: Plan, path: Path, rule: RewriteRule, rewrite: Rewrite) -> Iterator[str]:
    """Why a rewrite must not be made at a place, whatever the mode; nothing if it may."""
    if rule.kind == "noneq":
        yield from rewrite.refused
        yield _in_one_line(rule.reason)
        return
    for condition in rewrite.refused:
        yield f"not met or not known: {condition}"
    if not rewrite.refused and lifted(plan, path, rewrite.kind) == NOT_EQUAL:
        yield f"{rewrite.kind}, and {_reader(plan, path, rewrite)} above may read what differs"


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _reader(plan: Plan, path: Path, rewrite: Rewrite) -> str:
    """The lowest operator above that a partial equality does not pass."""
    for depth in range(len(path) - 1, -1, -1):
        if lifted(at(plan, path[:depth]), path[depth:], rewrite.kind) == NOT_EQUAL:
            return f"[{operator_text(at(plan, path[:depth]))}]"
    return "an operator"
