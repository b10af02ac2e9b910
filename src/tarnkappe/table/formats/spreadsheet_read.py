"""Reading spreadsheets of other programs and older versions: .xls, .xlsb, .ods."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import python_calamine

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import OpenFile
from tarnkappe.table.formats.names import chosen_names
from tarnkappe.table.formats.worksheet import LOOKED_AT, column_of, sheet_header, shown_value, with_notes

Cell = Any


def read_spreadsheet(
    source: OpenFile,
    *,
    sheet: str | None = None,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Read one sheet: names in the first row, then rows; rows without any value are left out."""
    try:
        book = python_calamine.load_workbook(source.stream)
        title = _chosen_sheet(source, book, sheet)
        rows = [list(map(_value, row)) for row in book.get_sheet_by_name(title).iter_rows()]
    except (python_calamine.CalamineError, ValueError, TypeError, OSError, OverflowError):
        raise InputError(
            "table.no-spreadsheet-kind-damaged",
            "{path}: this is no spreadsheet of its kind, or it is damaged",
            path=source.path,
        ) from None
    rows = [row for row in rows if any(value is not None for value in row)]
    header = sheet_header(rows[:LOOKED_AT])
    body = rows[header.above :]
    if not body:
        raise InputError(
            "table.sheet-no-rows-below-header",
            "{path}: the sheet '{title}' has no rows below a header",
            path=source.path,
            title=title,
        )
    names = list(header.names)
    if any(value is not None for row in body for value in row[len(names) :]):
        raise InputError(
            "table.value-column-without-name",
            "{path}: there is a value in a column without a name",
            path=source.path,
        )
    if progress:
        progress("reading", len(body), len(body))
    wanted = chosen_names(names, columns, str(source.path))
    table = pa.table({name: column_of([row[names.index(name)] for row in body]) for name in wanted})
    return with_notes(table, header.notes)


def _chosen_sheet(source: OpenFile, book: Any, sheet: str | None) -> str:
    names: list[str] = book.sheet_names
    if sheet is not None:
        if sheet not in names:
            raise ParameterError(
                "table.no-sheet",
                "{path}: there is no sheet '{sheet}': it has {names}",
                path=source.path,
                sheet=sheet,
                names=", ".join(names),
            )
        return sheet
    filled = [name for name in names if next(book.get_sheet_by_name(name).iter_rows(), None) is not None]
    if not filled:
        raise InputError("table.workbook-empty", "{path}: the workbook is empty", path=source.path)
    if len(filled) > 1:
        raise InputError(
            "table.several-sheets-sheet-chooses",
            "{path}: there are several sheets, and --sheet chooses one: {filled}",
            path=source.path,
            filled=", ".join(filled),
        )
    return filled[0]


def _value(cell: Cell) -> Cell:
    """A cell as Python's value; an empty one is missing, a whole number is whole, midnight is a day."""
    if cell == "" or cell is None:
        return None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date()
    return shown_value(cell) if isinstance(cell, datetime.timedelta) else cell
