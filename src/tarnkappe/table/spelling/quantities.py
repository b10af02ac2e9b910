"""Whether a cell alone looks like a number or a date: enough to tell rows from headers."""

from __future__ import annotations

import re

from tarnkappe.table.spelling.moments import COMPACT, SERIAL, YEAR, written
from tarnkappe.table.spelling.numbers import COMMA, POINT, NumberFormat

MOSTLY_NUMBERS = 0.9
"""The share of quantities that makes a column one of numbers, at a glance."""

_POINT, _COMMA = NumberFormat(POINT), NumberFormat(COMMA)


def is_quantity(text: str) -> bool:
    """Whether a text alone looks like a number or a date.

    >>> [is_quantity(text) for text in ("1.5", "1,5", "31.12.1980", "age", "")]
    [True, True, True, False, False]
    """
    if not re.search("[0-9]", text):
        return False
    return _POINT.parse(text) is not None or _COMMA.parse(text) is not None or is_date(text)


def is_date(text: str) -> bool:
    """Whether a text alone looks like a date, or a date with a time.

    >>> [is_date(text) for text in ("31.12.1980", "1980-12-31 10:00", "1980", "12.5")]
    [True, True, False, False]
    """
    found = written(text)
    return found is not None and found.shape not in (COMPACT, YEAR, SERIAL)
