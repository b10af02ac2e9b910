"""Every word that the web application says, as data: one file a language, the same keys in each.

A text is asked for by its key (`files.title`); places in braces are filled in. A key that is not there is an
error in the program, not in the input, and is raised as such.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from tarnkappe.schema.written import toml_table

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""What each language calls itself."""

_NUMBER = re.compile(r"(?<=\d),(?=\d{3})|(?<=\d)\.(?=\d)")


@cache
def words(language: str) -> Mapping[str, str]:
    """All texts of a language by key."""
    source = files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return dict(_flat(toml_table(source)))


def says(language: str, key: str, **values: object) -> str:
    """The text with this key, with its places filled in.

    >>> says("en", "columns.count", columns=3, rows="1,000")
    '1,000 rows, 3 columns'
    """
    text = words(language)[key]
    return text.format(**values) if values else text


def has(key: str) -> bool:
    """Whether there is a text with this key."""
    return key in words("en")


def number(language: str, value: float | None, digits: int = 4) -> str:
    """A number as people of the language write it.

    >>> number("en", 12345.5, 7), number("de", 12345.5, 7), number("en", None)
    ('12,345.5', '12.345,5', '–')
    """
    if value is None:
        return "–"
    written = f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}g}"
    if "e" in written and abs(value) >= 1:
        written = f"{round(value):,}"
    if language != "de":
        return written
    return _NUMBER.sub(lambda found: "." if found.group() == "," else ",", written)


def _flat(content: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in content.items():
        found += _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else [(prefix + key, value)]
    return found
