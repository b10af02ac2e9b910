"""Cells of worksheets as columns."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tarnkappe.table.formats.csv_header import MOST_TITLES, find_header, padded_titles
from tarnkappe.table.formats.exact_types import TEXT

EXACT_INTEGERS = 2**53
LOOKED_AT = MOST_TITLES + 100
"""Rows that tell titles from the header."""
NOTES = b"notes"
"""The key of what was decided about a sheet, in the metadata of its table."""


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


@dataclasses.dataclass(frozen=True)
class SheetHeader:
    """What the first rows of a sheet say.

    Attributes:
        names: of its columns.
        above: how many rows stand above the first one of data.
        notes: what was decided, in words.
    """

    names: tuple[str, ...]
    above: int
    notes: tuple[str, ...]


def sheet_header(rows: Sequence[Sequence[Any]]) -> SheetHeader:
    """Titles, one or two lines of names, and odd names, as in a CSV file.

    Args:
        rows: the first rows that have a value, at most `LOOKED_AT`.
    """
    wide = max((len(row) for row in rows if row), default=0)
    texts = [[None if cell is None else shown_value(cell) for cell in row] for row in rows[:LOOKED_AT]]
    padded = [[*row, *[None] * (wide - len(row))] for row in texts]
    titles = padded_titles(padded) if wide > 1 else 0
    kept = padded[titles:]
    while wide > 1 and all(row[wide - 1] is None for row in kept):
        wide -= 1  # formatted, but empty
    if len(kept) < 2 or not wide:
        return SheetHeader((), len(rows), ())
    found = find_header([row[:wide] for row in kept], [False] * wide, titled=titles > 0)
    lines = "1 line" if titles == 1 else f"{titles} lines"
    told = (f"left out above the header: {lines}",) if titles else ()
    return SheetHeader(found.names, titles + found.lines, (*told, *found.notes))


def with_notes(table: pa.Table, notes: Sequence[str]) -> pa.Table:
    """The table with what was decided about its sheet."""
    return table.replace_schema_metadata({NOTES: json.dumps(notes).encode()}) if notes else table


def notes_of(table: pa.Table) -> tuple[str, ...]:
    """What was decided about the sheet that a table was read from."""
    told = (table.schema.metadata or {}).get(NOTES)
    return () if told is None else tuple(json.loads(told))
