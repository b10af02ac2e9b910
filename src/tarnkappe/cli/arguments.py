"""The small languages of the command line: `NAME:parameter=value,...` and `COLUMN=FILE`."""

from __future__ import annotations

import tomllib
from typing import Any

from tarnkappe.errors import ParameterError


def parse_column(text: str) -> tuple[str, str | None]:
    """A column, with the file of its hierarchy if one is given.

    >>> parse_column("age=age.csv"), parse_column("age")
    (('age', 'age.csv'), ('age', None))
    """
    name, _, file = text.partition("=")
    return name, file or None


def parse_parameters(text: str) -> tuple[str, dict[str, Any]]:
    """A name with parameters; values are numbers, true and false, lists in brackets, or plain text.

    >>> parse_parameters("recursive-diversity:column=occupation,c=3,l=4")
    ('recursive-diversity', {'column': 'occupation', 'c': 3, 'l': 4})
    """
    name, _, rest = text.partition(":")
    parameters: dict[str, Any] = {}
    for part in _split(rest):
        key, sign, value = part.partition("=")
        if not sign or not key:
            raise ParameterError(f"'{part}' in '{text}' is no parameter: write NAME:parameter=value,...")
        parameters[key.strip()] = _value(value.strip())
    return name, parameters


def _split(text: str) -> list[str]:
    """Split at commas that are not inside brackets or quotes."""
    parts, depth, quoted, current = [], 0, "", ""
    for character in text:
        if quoted:
            quoted = "" if character == quoted else quoted
        elif character in "\"'":
            quoted = character
        else:
            depth += (character in "[{") - (character in "]}")
        if character == "," and not depth and not quoted:
            parts.append(current)
            current = ""
        else:
            current += character
    return [part for part in [*parts, current] if part]


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
