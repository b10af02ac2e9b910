"""The reasons that detectors, builders and errors give, in the language of the visit.

They are written in English where they are found. What a language has no pattern for is shown as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

BEST = "best so far: loss "
"""How a search begins to tell of its best."""


def in_words(language: str, reason: str) -> str:
    """A reason in another language.

    >>> in_words("de", "all of the values are e-mail addresses")
    'alle Werte sind E-Mail-Adressen'
    """
    patterns, words = _patterns(language)
    for pattern, sentence in patterns:
        found = pattern.fullmatch(reason)
        if found:
            return sentence.format(*(words.get(part, part) for part in found.groups()))
    return reason


@cache
def _patterns(language: str) -> tuple[list[tuple[re.Pattern[str], str]], Mapping[str, str]]:
    place = files("tarnkappe.web.texts").joinpath(f"reasons-{language}.toml")
    if not place.is_file():
        return [], {}
    content = tomllib.loads(place.read_text(encoding="utf-8"))
    return [(re.compile(each["pattern"]), each["words"]) for each in content["reason"]], content["words"]
