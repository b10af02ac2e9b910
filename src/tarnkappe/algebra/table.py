"""The commutation table: which anonymization passes which operator, generated from the rules.

A field of the table is *unrestricted* if the exchange is possible in both directions without a condition
(or, for repeated application, if any two can be merged), *conditional* if some rule allows it at all, and
*no* if none does. Demands that the operators' contracts make anyway (bags, minimum sizes) do not count as
conditions.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from tarnkappe.algebra.rules import LR, RL, RULES, Effect, RewriteRule

OPERATORS = {"Gen": "G", "Slice": "S", "Dp": "D"}
PARTNERS = {
    "Idem": "twice",
    "Proj": "π",
    "Sel": "σ",
    "Union": "∪",
    "Join": "⋈",
    "Inter": "∩",
    "Diff": "−",
}


class Passage(StrEnum):
    """How far an exchange is possible."""

    UNRESTRICTED = "unrestricted"
    CONDITIONAL = "conditional"
    NO = "no"


class Spectrum(StrEnum):
    """Which kinds count, and whether with the conditions as first published or as corrected."""

    EQUAL_AS_PUBLISHED = "equal, as published"
    EQUAL = "equal"
    PARTIAL_AS_PUBLISHED = "partially equal, as published"
    PARTIAL = "partially equal"


Table = dict[str, dict[str, Passage]]


def field_of(operator: str, partner: str) -> str:
    """The name of a field, such as GenProj or IdemGen."""
    return partner + operator if partner == "Idem" else operator + partner


def commutation_table(spectrum: Spectrum = Spectrum.EQUAL, rules: Iterable[RewriteRule] = RULES) -> Table:
    """For each anonymization operator and each partner how far they may be exchanged.

    >>> commutation_table(Spectrum.EQUAL)["Dp"]["Union"].value
    'unrestricted'
    """
    rules = tuple(rules)
    return {
        operator: {
            partner: _passage([r for r in rules if r.field == field_of(operator, partner)], spectrum)
            for partner in PARTNERS
        }
        for operator in OPERATORS
    }


def rules_of(operator: str, partner: str, rules: Iterable[RewriteRule] = RULES) -> list[str]:
    """The rules of a field, each with its mark: ⇎ none, ⊆ partial, → or ← one way only.

    >>> rules_of("Gen", "Proj")
    ['G9→', 'G10←', 'G11←', 'G12←', 'G13⊆←']
    """
    return [_marked(rule) for rule in rules if rule.field == field_of(operator, partner)]


def _marked(rule: RewriteRule) -> str:
    if rule.kind == "noneq":
        return f"{rule.name} ⇎"
    partial = "⊆" if rule.kind.startswith("partial") else ""
    one_way = rule.field.endswith("Proj")
    return rule.name + partial + ({"lr": "→", "rl": "←"}.get(rule.direction, "") if one_way else "")


def _passage(rules: list[RewriteRule], spectrum: Spectrum) -> Passage:
    counting = [rule for rule in rules if _counts(rule, spectrum)]
    if not counting:
        return Passage.NO
    free = [rule for rule in counting if _is_free(rule, spectrum)]
    merges = any(rule.effect is Effect.MERGE for rule in free)
    ways = {way for rule in free if rule.effect is Effect.EXCHANGE for way in rule.ways}
    return Passage.UNRESTRICTED if merges or {LR, RL} <= ways else Passage.CONDITIONAL


def _counts(rule: RewriteRule, spectrum: Spectrum) -> bool:
    if spectrum in (Spectrum.PARTIAL, Spectrum.PARTIAL_AS_PUBLISHED):
        return rule.kind != "noneq"
    return rule.kind == "eq"


def _is_free(rule: RewriteRule, spectrum: Spectrum) -> bool:
    """Whether a rule of the spectrum always applies."""
    if rule.conditions:
        return False
    if spectrum is Spectrum.EQUAL:
        return not rule.corrections
    return spectrum is not Spectrum.PARTIAL or not rule.corrections or rule.otherwise is not None


def as_markdown(spectrum: Spectrum = Spectrum.EQUAL) -> str:
    """The table for people, with the rules of each field."""
    head = ["", *PARTNERS.values()]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for operator, fields in commutation_table(spectrum).items():
        cells = [f"{passage} ({' '.join(rules_of(operator, name))})" for name, passage in fields.items()]
        lines.append("| " + " | ".join([operator, *cells]) + " |")
    return "\n".join(lines)
