"""What errors and reasons say, in the language of whoever reads it.

They are English where they are written; `de.po` has the German by their codes. The catalogue is read when a
sentence is first said in another language, never before.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from tarnkappe.errors import Filling, Reason, TarnkappeError, shortened
from tarnkappe.texts.catalogue import read_po

ENGLISH = "en"
LANGUAGES = (ENGLISH, "de")
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
_SWAPPED = str.maketrans(",.", ".,")


def language() -> str:
    """What the environment asks for, as programs of Unix read it, if it is one of ours, else English.

    >>> language() in LANGUAGES
    True
    """
    asked = next((value for name in VARIABLES if (value := os.environ.get(name))), "")
    return asked[:2].lower() if asked[:2].lower() in LANGUAGES else ENGLISH


def told(language: str, said: TarnkappeError | str) -> str:
    """What an error or a reason says; a mere text, and what has no translation, is told as it is.

    >>> told("de", TarnkappeError("schema.missing", "it is missing").within("k"))
    'k: es fehlt'
    """
    reason = said.reason if isinstance(said, TarnkappeError) else said
    if language == ENGLISH or not isinstance(reason, Reason):
        return shortened(reason)
    return shortened(_in(language, reason))


def _in(language: str, reason: Reason) -> str:
    template = _catalogue(language).get(reason.code)
    sentence = template and _filled(language, template, reason.values)
    if not sentence:
        sentence = reason.sentence
    elif reason.is_clause:
        sentence = sentence.rstrip(".")
    return f"{reason.place}: {sentence}" if reason.place else sentence


def _filled(language: str, template: str, values: Mapping[str, Any]) -> str | None:
    """The sentence; none if the values are not those of its places, as in what another version has kept."""
    try:
        return _Formatter(language).vformat(template, (), values)
    except (KeyError, IndexError, ValueError, TypeError):
        return None


class _Formatter(Filling):
    """Fills in values as the language writes them, and reasons in the language."""

    def __init__(self, language: str) -> None:
        self._language = language

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Reason):
            return _in(self._language, value)
        if isinstance(value, Sequence) and not isinstance(value, str):
            between = "; " if any(isinstance(each, Reason) for each in value) else ", "
            return between.join(self.format_field(each, "") for each in value)
        if isinstance(value, int | float) and format_spec and "|" not in format_spec:
            return format(value, format_spec).translate(_SWAPPED)
        return str(super().format_field(value, format_spec))


@cache
def _catalogue(language: str) -> Mapping[str, str]:
    if language not in LANGUAGES:
        return {}
    source = files(__name__).joinpath(f"{language}.po").read_text(encoding="utf-8")
    return {each.code: each.translation for each in read_po(source) if not each.is_fuzzy}
