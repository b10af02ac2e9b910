"""Cells of worksheets as columns."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa

from tarnkappe.table.formats.exact_types import TEXT

EXACT_INTEGERS = 2**53


def column_of(values: list[Any]) -> pa.Array:
    """Cells of one kind as values, cells of several as text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {datetime.date, datetime.datetime}:
        values = [value and _at_midnight(value) for value in values]
        kinds = {datetime.datetime}
    if kinds == {int, float} and not any(isinstance(v, int) and abs(v) > EXACT_INTEGERS for v in values):
        return pa.array(values, pa.float64())
    if kinds == {datetime.datetime}:
        whole = all(value is None or value.microsecond == 0 for value in values)
        return pa.array(values, pa.timestamp("s" if whole else "ms"))
    if kinds in ({bool}, {int}, {float}, {datetime.date}, {datetime.time}):
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, OverflowError):
            pass  # whole numbers of more than 64 bits keep all their digits as text
    return pa.array([None if value is None else shown_value(value) for value in values]).cast(TEXT)


def _at_midnight(value: datetime.date) -> datetime.datetime:
    """A date as a time; what is a time already stays as it is."""
    return (
        value if isinstance(value, datetime.datetime) else datetime.datetime.combine(value, datetime.time())
    )


def shown_value(value: Any) -> str:
    """A cell as text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)
