"""HIPAA's safe harbor as a filter: what the rule lets stay of a table whose columns are classified."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pyarrow as pa

from tarnkappe.errors import HierarchyError, InputError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.risk import IdentifierKind
from tarnkappe.risk.cells import read_cell
from tarnkappe.risk.identifiers import safe_age, safe_birth_year, safe_postcode
from tarnkappe.risk.identifiers.safe_harbor import OLDEST
from tarnkappe.table import MISSING, SUPPRESSED, Column
from tarnkappe.table.encoding import encode_column

AGE_DIGITS = 3
YEAR = re.compile(r"\d{4}")


def filtered(
    table: pa.Table, kinds: Mapping[str, IdentifierKind], today: int, areas: Mapping[str, int] | None = None
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
    >>> date = IdentifierKind.DATE
    >>> kinds = {"zip": IdentifierKind.PLACE, "age": date, "born": date, "phone": IdentifierKind.PHONE}
    >>> filtered(ward, kinds, 2020, {"537": 20_001}).to_pylist()
    [{'zip': '537', 'age': '90+', 'born': None}]
    """
    safe: dict[IdentifierKind, Callable[[str], str | None]] = {
        IdentifierKind.PLACE: lambda code: safe_postcode(code, areas),
        IdentifierKind.DATE: lambda text: _safe_date_or_age(text, today),
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


def safe_hierarchy(
    column: Column, originals: frozenset[str], build: Callable[[Column], Hierarchy]
) -> Hierarchy:
    """How a column generalizes whose values the filter has changed.

    A hierarchy of ages knows numbers and no "90+". So it is built from the values that stayed; what the
    filter wrote stays as it is up to the root, and a range that goes on after 89 ends there, since whoever is
    older is no longer in it. Where no value stayed, the new ones are generalized as new values are.

    Args:
        column: the filtered column.
        originals: the values before the filter.
        build: makes the hierarchy of a column.
    """
    texts = [label for label in column.labels if label not in (MISSING, SUPPRESSED)]
    stayed = [text for text in texts if text in originals]
    written = [text for text in texts if text not in originals]
    if not stayed:
        try:
            built = build(column)
            built.attach(column)  # a hierarchy of the old values does not know the new ones
            return built
        except (HierarchyError, InputError, ParameterError):
            return Hierarchy.from_rows([[value, SUPPRESSED] for value in column.labels])
    ages = all(text.isdigit() and len(text) <= AGE_DIGITS for text in stayed)
    values = pa.array([int(text) for text in stayed]) if ages else pa.array(stayed)
    built = build(encode_column(column.name, pa.chunked_array([values])))
    rows = [["" if cell is None else str(cell) for cell in row] for row in built.rows()]
    known = {row[0] for row in rows}
    if ages:
        rows = [[row[0], *map(_ending_at_89, row[1:])] for row in rows]
    new = [text for text in (*written, *_others(column)) if text not in known]
    return Hierarchy.from_rows([*rows, *([text] * built.height + [built.root] for text in new)])


def _others(column: Column) -> list[str]:
    return [label for label in column.labels if label == SUPPRESSED]


def _ending_at_89(label: str) -> str:
    """A range of ages without those over 89."""
    span = read_cell(label).range
    if span is None or label == SUPPRESSED or span.high <= OLDEST + 1 or not 0 <= span.low <= OLDEST:
        return label
    return f"{span.low:g}-{OLDEST}"


def _safe_date_or_age(text: str, today: int) -> str | None:
    """A number of up to three digits is an age; in anything else the year is looked for."""
    if text.isdigit() and len(text) <= AGE_DIGITS:
        return safe_age(int(text))
    found = YEAR.search(text)
    year = None if found is None else safe_birth_year(int(found[0]), today)
    return None if year is None else str(year)


def _translated(column: pa.ChunkedArray, safe: Callable[[str], str | None]) -> pa.ChunkedArray:
    texts = column.cast(pa.string()).combine_chunks().dictionary_encode()
    words = [None if text is None else safe(text) for text in texts.dictionary.to_pylist()]
    return pa.chunked_array([pa.array(words, pa.string()).take(texts.indices)])
