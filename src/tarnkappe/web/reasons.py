"""The reasons that detectors and builders give, and what the gate has noted, in the language of the visit.

They are written in English where they are found. What is kept as a text alone is known by its pattern; what a
language has no pattern for is shown as it is. Errors are told by their codes (`tarnkappe.texts`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from tarnkappe.errors import Reason
from tarnkappe.schema.written import toml_table
from tarnkappe.texts import told

BEST = "best so far: loss "
"""How a search begins to tell of its best."""


def in_words(language: str, reason: str) -> str:
    """A reason in another language.

    >>> in_words("de", "all of the values are e-mail addresses")
    'alle Werte sind E-Mail-Adressen'
    """
    if isinstance(reason, Reason):
        return told(language, reason)
    patterns, words = _patterns(language)
    for pattern, sentence in patterns:
        found = pattern.fullmatch(reason)
        if found:
            return sentence.format(*(words.get(part, part) for part in found.groups()))
    clauses = reason.split("; ")
    if len(clauses) > 1:
        return "; ".join(in_words(language, clause) for clause in clauses)
    return reason


@cache
def _patterns(language: str) -> tuple[list[tuple[re.Pattern[str], str]], Mapping[str, str]]:
    place = files("tarnkappe.web.texts").joinpath(f"reasons-{language}.toml")
    if not place.is_file():
        return [], {}
    content = toml_table(place.read_text(encoding="utf-8"))
    return [(re.compile(each["pattern"]), each["words"]) for each in content["reason"]], content["words"]
