"""Dates and times in predicates: a day is the moment at which it begins."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

from tarnkappe.errors import ParameterError


def read_time(text: str) -> date:
    """A date, or a date with a time, as ISO 8601 writes it; without a time zone.

    >>> read_time("2024-02-29"), read_time("2024-02-29 12:30:00")
    (datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30))
    """
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ParameterError(
            "algebra.text-compared-date-time",
            "A text that is compared with a date or a time must be one, as '2024-02-29' or '2024-02-29 "
            "12:30:00'.",
        ) from None
    if moment.tzinfo is not None:
        raise ParameterError(
            "algebra.time-predicate-no-time",
            "A time in a predicate has no time zone: columns that have one are read in UTC.",
        )
    return moment


def alike(one: Any, other: Any) -> tuple[Any, Any]:
    """Two values; if one is a day and the other a moment, both as moments."""
    if not isinstance(one, date) or not isinstance(other, date):
        return one, other
    if isinstance(one, datetime) == isinstance(other, datetime):
        return one, other
    return as_moment(one), as_moment(other)


def as_moment(value: date) -> datetime:
    """A day as its beginning."""
    return value if isinstance(value, datetime) else datetime.combine(value, time())
