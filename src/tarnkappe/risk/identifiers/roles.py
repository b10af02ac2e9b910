"""What a column should be to the one who publishes it: a proposal and the reason for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tarnkappe.risk.identifiers.detector import Certainty, Finding
from tarnkappe.risk.identifiers.view import ColumnView, is_like
from tarnkappe.risk.identifiers.words import HEADER_WORDS
from tarnkappe.table import Role

FREE_TEXT_WORDS = 4
WEAK_WORDS = ("status", "type", "group", "class")
"""Words that decide nothing beside another one."""
_ICD = re.compile(r"[A-TV-Z][0-9][0-9AB](?:\.[0-9A-TV-Z]{1,4})?")
_SEXES = frozenset(
    [
        "m",
        "f",
        "w",
        "d",
        "x",
        "male",
        "female",
        "man",
        "woman",
        "männlich",
        "weiblich",
        "divers",
        "other",
        "unknown",
        "u",
    ]
)


def propose_role(column: ColumnView, findings: Sequence[Finding]) -> tuple[Role, str, Certainty]:
    """The role of a column, and why.

    What was found in it decides first. Then come its values, then its header. What nothing tells anything
    about is proposed as a quasi-identifier: if an attacker may know it, it must not single anybody out.
    """
    if findings:
        strictest = min(findings, key=lambda found: (found.role is not Role.IDENTIFIER, found.kinds))
        return strictest.role, strictest.reason, Certainty.SURE
    if column.is_nested or not column.filled:
        what = "is nested and cannot be protected cell by cell" if column.is_nested else "is empty"
        return (
            (Role.IDENTIFIER if column.is_nested else Role.INSENSITIVE),
            f"the column {what}",
            Certainty.SURE,
        )
    if column.distinct == 1:
        return _one_value(column)
    if column.numbers is None and _is_free_text(column):
        return (
            Role.IDENTIFIER,
            "free text: nobody can tell what it gives away, so it should not be released",
            Certainty.LIKELY,
        )
    if {text.lower() for text in column.sample} <= _SEXES:
        return Role.QUASI_IDENTIFIER, "the values are sexes, which everybody can see", Certainty.SURE
    if column.distinct >= 3 and column.share_of(lambda text: bool(_ICD.fullmatch(text))) >= 0.8:
        return Role.SENSITIVE, "the values look like codes of diagnoses (ICD-10)", Certainty.SURE
    kept, known = _last_word(column, "sensitive"), _last_word(column, "known")
    if kept > known or (kept == known > 0):
        return Role.SENSITIVE, "the header speaks of what people want to keep to themselves", Certainty.LIKELY
    if known:
        return (
            Role.QUASI_IDENTIFIER,
            "the header speaks of what neighbours and colleagues may know",
            Certainty.LIKELY,
        )
    return (
        Role.QUASI_IDENTIFIER,
        f"{column.distinct:,} different values that nothing explains: an attacker may know them",
        Certainty.GUESS,
    )


def _one_value(column: ColumnView) -> tuple[Role, str, Certainty]:
    """One value says the same of everybody only if everybody has it: where cells are empty it is a mark."""
    if column.filled == column.rows:
        return Role.INSENSITIVE, "it says the same of everybody", Certainty.SURE
    mark = f"a mark that {column.filled:,} of {column.rows:,} rows have: it tells them from the others"
    if column.speaks_of(HEADER_WORDS["date"]):
        return Role.QUASI_IDENTIFIER, mark, Certainty.GUESS
    return Role.SENSITIVE, mark, Certainty.GUESS


def _is_free_text(column: ColumnView) -> bool:
    """Whether cells are sentences, most of them different, or notes of several words."""
    different = column.rarefied_share > 0.5
    notes = column.speaks_of(HEADER_WORDS["notes"]) and column.distinct > 5 and column.words >= 2
    return (column.words >= FREE_TEXT_WORDS and different) or (notes and different)


def _last_word(column: ColumnView, name: str) -> int:
    """The place in the header of the last word of a list, from 1; 0 if it has none."""
    own = column.header.split()
    strong = [word for word in own if word not in WEAK_WORDS] or own
    return max(
        (place for place, word in enumerate(strong, 1) if is_like(word, HEADER_WORDS[name])),
        default=int(column.says([phrase for phrase in HEADER_WORDS[name] if " " in phrase])),
    )
