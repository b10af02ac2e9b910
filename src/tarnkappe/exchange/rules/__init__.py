"""Rule sets: laws and guidelines as data files, evaluated on what is known of a request.

A rule names facts. `when` says when it applies, `all` which facts must be true, `any` of which one must be;
`not` before a name turns it round. A fact is true, false or not known, and so is a rule: where it depends on
something that no program knows, a human has to look. A new law is a new file in this folder, or anywhere
else; no code changes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.exchange.sections import built, read_toml, refuse_unknown

FOLDER = Path(__file__).parent


class RuleOutcome(StrEnum):
    """What a rule says."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    NEEDS_HUMAN = "needs a human"


@dataclasses.dataclass(frozen=True)
class LegalFact:
    """Something that is true, false, or not known to a program, and why."""

    value: bool | None
    because: str


@dataclasses.dataclass(frozen=True)
class LegalRule:
    """One rule of a rule set.

    Attributes:
        id: its short name.
        title: what it is about.
        paragraph: where it stands.
        text: what it says, in a sentence.
        when: facts that must all be true for the rule to apply.
        all: facts that must all be true.
        any: facts of which at least one must be true.
    """

    id: str
    title: str
    paragraph: str
    text: str
    when: tuple[str, ...] = ()
    all: tuple[str, ...] = ()
    any: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part in ("when", "all", "any"):
            object.__setattr__(self, part, tuple(getattr(self, part)))
        if not self.all and not self.any:
            raise JobError(
                "exchange.rule-asks-nothing-name",
                "the rule {id} asks for nothing: name facts in `all` or `any`",
                id=self.id,
            )

    @property
    def facts(self) -> frozenset[str]:
        """The facts that it asks for."""
        return frozenset(name.removeprefix("not ") for name in (*self.when, *self.all, *self.any))


@dataclasses.dataclass(frozen=True)
class RuleSet:
    """The rules of one law or guideline."""

    name: str
    title: str
    rules: tuple[LegalRule, ...]

    @classmethod
    def load(cls, name: str) -> RuleSet:
        """A rule set that ships with the program, by its name, or any other by the path of its file."""
        return _shipped(name) if not name.endswith(".toml") else cls._read(name)

    @classmethod
    def _read(cls, name: str) -> RuleSet:
        path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
        if not name.endswith(".toml") and not path.is_file():
            known = ", ".join(sorted(each.stem for each in FOLDER.glob("*.toml")))
            raise JobError(
                "exchange.no-rule-set-known",
                "there is no rule set '{name}': known are {known}, or name a .toml file",
                name=name,
                known=known,
            )
        content = read_toml(path, "rule set")
        refuse_unknown(content, ("title", "rule"), f"section of {path.name}")
        rules = tuple(built(LegalRule, said, f"[[rule]] of {path.name}") for said in content.get("rule", ()))
        if not rules or len({rule.id for rule in rules}) < len(rules):
            raise JobError(
                "exchange.rule-set-rules-no-two",
                "{path}: a rule set has rules, and no two with one id",
                path=path.name,
            )
        return cls(path.stem, content.get("title", path.stem), rules)


@cache
def _shipped(name: str) -> RuleSet:
    return RuleSet._read(name)


@dataclasses.dataclass(frozen=True)
class Ruling:
    """What a rule says of a request, with the evidence."""

    rule_set: str
    rule: LegalRule
    outcome: RuleOutcome
    evidence: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "rule_set": self.rule_set,
            "rule": self.rule.id,
            "title": self.rule.title,
            "paragraph": self.rule.paragraph,
            "outcome": str(self.outcome),
            "evidence": list(self.evidence),
        }


def evaluate(rules: RuleSet, facts: Mapping[str, LegalFact]) -> tuple[Ruling, ...]:
    """What every rule of a set says.

    >>> known = {"purpose_stated": LegalFact(True, "a purpose is given")}
    >>> rule = LegalRule("R1", "purpose", "§6", "Data need a purpose.", all=("purpose_stated",))
    >>> [str(ruling.outcome) for ruling in evaluate(RuleSet("x", "X", (rule,)), known)]
    ['pass']
    """
    return tuple(_ruling(rules.name, rule, facts) for rule in rules.rules)


def _ruling(name: str, rule: LegalRule, facts: Mapping[str, LegalFact]) -> Ruling:
    applies = _all([_value(fact, facts) for fact in rule.when])
    if applies is False:
        said = [fact for fact in rule.when if _value(fact, facts) is False]
        return Ruling(
            name, rule, RuleOutcome.PASS, tuple(f"does not apply: {_because(each, facts)}" for each in said)
        )
    demands = [_value(fact, facts) for fact in rule.all]
    if rule.any:
        demands.append(_any([_value(fact, facts) for fact in rule.any]))
    met = _all(demands)
    outcome = (
        RuleOutcome.PASS if met else RuleOutcome.FAIL if met is False and applies else RuleOutcome.NEEDS_HUMAN
    )
    return Ruling(name, rule, outcome, tuple(_because(each, facts) for each in _deciding(rule, facts, met)))


def _deciding(rule: LegalRule, facts: Mapping[str, LegalFact], met: bool | None) -> list[str]:
    """The facts that decided: those with the value of the outcome, or all that are not known."""
    asked = [*rule.all, *rule.any] if met is not None else [*rule.when, *rule.all, *rule.any]
    return [name for name in asked if _value(name, facts) is met] or asked


def _value(name: str, facts: Mapping[str, LegalFact]) -> bool | None:
    fact = facts.get(name.removeprefix("not "))
    if fact is None or fact.value is None:
        return None
    return fact.value != name.startswith("not ")


def _because(name: str, facts: Mapping[str, LegalFact]) -> str:
    fact = facts.get(name.removeprefix("not "))
    return f"nobody has said whether '{name}' holds" if fact is None else fact.because


def _all(values: Sequence[bool | None]) -> bool | None:
    if False in values:
        return False
    return None if None in values else True


def _any(values: Sequence[bool | None]) -> bool | None:
    if True in values:
        return True
    return None if None in values else False
