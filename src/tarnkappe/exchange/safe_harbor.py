"""HIPAA's safe harbor as a filter: what the rule lets stay of a table whose columns are classified."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pyarrow as pa

from tarnkappe.risk import Kind
from tarnkappe.risk.identifiers import safe_age, safe_birth_year, safe_postcode

YEAR = re.compile(r"\d{4}")


def filtered(
    table: pa.Table, kinds: Mapping[str, Kind], today: int, areas: Mapping[str, int] | None = None
) -> pa.Table:
    """The table without the 18 identifiers, as far as the columns are classified.

    Postcodes keep their first three digits where more than 20,000 people live there, dates keep their year,
    ages over 89 are one group and years that show such an age are removed. Columns of all other kinds are
    removed.

    Args:
        table: the table.
        kinds: which of the 18 identifiers the columns hold.
        today: this year.
        areas: how many people live where postcodes begin with these three digits.

    >>> ward = pa.table({"zip": ["53715"], "age": [90], "born": ["1930-05-01"], "phone": ["555-0100"]})
    >>> kinds = {"zip": Kind.PLACE, "age": Kind.DATE, "born": Kind.DATE, "phone": Kind.PHONE}
    >>> filtered(ward, kinds, 2020, {"537": 20_001}).to_pylist()
    [{'zip': '537', 'age': '90+', 'born': None}]
    """
    safe: dict[Kind, Callable[[str], str | None]] = {
        Kind.PLACE: lambda code: safe_postcode(code, areas),
        Kind.DATE: lambda text: _safe_date_or_age(text, today),
    }
    for name, kind in kinds.items():
        if name not in table.column_names:
            continue
        place = table.column_names.index(name)
        if kind in safe:
            table = table.set_column(place, name, _translated(table.column(name), safe[kind]))
        else:
            table = table.remove_column(place)
    return table


def _safe_date_or_age(text: str, today: int) -> str | None:
    """A number of up to three digits is an age; in anything else the year is looked for."""
    if text.isdigit() and len(text) <= 3:
        return safe_age(int(text))
    found = YEAR.search(text)
    year = None if found is None else safe_birth_year(int(found[0]), today)
    return None if year is None else str(year)


def _translated(column: pa.ChunkedArray, safe: Callable[[str], str | None]) -> pa.ChunkedArray:
    texts = column.cast(pa.string()).combine_chunks().dictionary_encode()
    words = [None if text is None else safe(text) for text in texts.dictionary.to_pylist()]
    return pa.chunked_array([pa.array(words, pa.string()).take(texts.indices)])
