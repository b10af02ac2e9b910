"""Words that tell names and towns, from the lists beside this file, which anybody can extend.

A name that is also an ordinary word (Brown, Baker, May, Rose, Jordan) is no evidence of a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from itertools import chain

from tarnkappe.table.examples.lists import names


def _lines(name: str) -> list[str]:
    text = files(__package__).joinpath("lists", f"{name}.txt").read_text(encoding="utf-8")
    return [line.strip().lower() for line in text.splitlines() if not line.startswith("#")]


def _words(name: str, *further: Iterable[str]) -> frozenset[str]:
    return frozenset(word.lower() for text in chain(_lines(name), *further) for word in text.split())


_ORDINARY = _words("ordinary_words")
_FOREIGN = [text for women, men, _ in names().origins.values() for text in (women, men)]

GIVEN_NAMES = (
    _words("given_names", _lines("given_names_by_country"), names().women, names().men, _FOREIGN) - _ORDINARY
)
_LOCAL = (names().families, *(families for _, _, families in names().origins.values()))
FAMILY_NAMES = _words("family_names", _lines("family_names_by_country"), _LOCAL) - _ORDINARY
NAMES = GIVEN_NAMES | FAMILY_NAMES
TOWNS = frozenset(_lines("towns"))


def _header_words() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    text = " ".join(_lines("header_words"))
    for match in re.finditer(r"(\w+): ([^:]*)(?=\s\w+:|$)", text):
        found[match[1]] = tuple(word.strip() for word in match[2].split(","))
    return found


HEADER_WORDS = _header_words()
"""What words of a header speak of: names, things that have names, identifiers, groups, dates, what others
know, what people keep to themselves, places, notes."""
