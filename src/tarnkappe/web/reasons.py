"""The reasons that detectors and builders give, and what the gate has noted, in the language of the visit.

They are written in English where they are found. What is kept as a text alone is known by its pattern; what a
language has no pattern for is shown as it is. Errors are told by their codes (`tarnkappe.texts`).
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from tarnkappe.errors import Reason
from tarnkappe.schema.written import toml_table
from tarnkappe.texts import told

BEST = "best so far: loss "
"""How a search begins to tell of its best."""
_SWAPPED = str.maketrans(",.", ".,")


def in_words(language: str, reason: str) -> str:
    """A reason in another language.

    >>> in_words("de", "all of the values are e-mail addresses")
    'alle Werte sind E-Mail-Adressen'
    """
    if isinstance(reason, Reason):
        return told(language, reason)
    patterns, _ = _patterns(language)
    for pattern, sentence in patterns:
        found = pattern.fullmatch(reason)
        if found:
            return _Told(language).format(sentence, *found.groups())
    clauses = reason.split("; ")
    if len(clauses) > 1:
        return "; ".join(in_words(language, clause) for clause in clauses)
    return reason


class _Told(string.Formatter):
    """Fills in the groups of a pattern: `{0}` as it stands, as are names of columns and paths.

    `{0:words}` is told in the language, and so is each part of `{0:list}` between commas; `{0:number}` is
    written as the language writes numbers.
    """

    def __init__(self, language: str) -> None:
        self._language = language

    def format_field(self, value: Any, format_spec: str) -> Any:
        if format_spec == "words":
            return self._words(value)
        if format_spec == "list":
            return ", ".join(map(self._words, value.split(", ")))
        if format_spec == "number":
            return value.translate(_SWAPPED)
        return super().format_field(value, format_spec)

    def _words(self, text: str) -> str:
        _, words = _patterns(self._language)
        return words[text] if text in words else in_words(self._language, text)


@cache
def _patterns(language: str) -> tuple[list[tuple[re.Pattern[str], str]], Mapping[str, str]]:
    place = files("tarnkappe.web.texts").joinpath(f"reasons-{language}.toml")
    if not place.is_file():
        return [], {}
    content = toml_table(place.read_text(encoding="utf-8"))
    return [(re.compile(each["pattern"]), each["words"]) for each in content["reason"]], content["words"]
