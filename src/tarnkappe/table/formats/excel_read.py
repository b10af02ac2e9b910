"""Reading Excel workbooks."""

from __future__ import annotations

import datetime
import itertools
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from xml.etree.ElementTree import ParseError

import openpyxl
import pyarrow as pa
from openpyxl.utils import get_column_letter

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import OpenFile
from tarnkappe.table.formats.names import chosen_names
from tarnkappe.table.formats.worksheet import LOOKED_AT, column_of, sheet_header, with_notes

ESCAPE = re.compile(r"_x(?!D[89A-F])([0-9A-F]{4})_", re.IGNORECASE)
"""How workbooks write characters that XML cannot hold; halves of characters are never written so."""

FORMULA = re.compile(rb"<(\w+:)?f[\s/>]")
REPORT_EVERY = 5_000

Row = tuple[int, list[Any]]
"""The number of a row in the sheet, and its values."""

DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    RuntimeError,
    EOFError,
)
"""What the libraries raise where a workbook is none, or damaged."""


def read_excel(
    source: OpenFile,
    *,
    sheet: str | None = None,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Read one sheet: names in the first row below titles, then rows; rows without any value are left out.

    Formulas count with the results stored in the file. A column that holds values of several kinds
    (say, numbers and remarks) becomes text.
    """
    with _workbook(source, data_only=True) as book:
        worksheet = _sheet(source, book, sheet)
        title = worksheet.title
        rows = _rows(worksheet)
        first = list(itertools.islice(rows, LOOKED_AT))
        header = sheet_header([values for _, values in first])
        names = list(header.names)
        rows = itertools.chain(first[header.above :], rows)
        collected: list[list[Any]] = [[] for _ in names]
        for count, row in enumerate(rows, 1):
            for values, value in zip(collected, _within(source, row, len(names)), strict=True):
                values.append(value)
            if progress and count % REPORT_EVERY == 0:
                progress("reading", count, count)
    if not collected or not collected[0]:
        raise InputError(
            "table.sheet-header-but-no-rows",
            "{path}: the sheet '{title}' has a header but no rows",
            path=source.path,
            title=title,
        )
    _refuse_open_formulas(source, title)
    wanted = chosen_names(names, columns, str(source.path))
    table = pa.table({name: column_of(collected[names.index(name)]) for name in wanted})
    return with_notes(table, header.notes)


@contextmanager
def _workbook(source: OpenFile, *, data_only: bool) -> Iterator[Any]:
    source.stream.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about formatting and extensions, which are no data
        warnings.filterwarnings("error", message="Cell .* is marked as a date")
        try:
            book = openpyxl.load_workbook(source.stream, read_only=True, data_only=data_only)
            try:
                yield book
            finally:
                book.close()
        except UserWarning as warning:
            cell = str(warning).split()[1]
            raise InputError(
                "table.cell-marked-date-but-none",
                "{path}, cell {cell}: this is marked as a date but is none",
                path=source.path,
                cell=cell,
            ) from None
        except DAMAGED:
            raise InputError(
                "table.no-excel-workbook-xlsx",
                "{path}: this is no Excel workbook (.xlsx), or it is damaged",
                path=source.path,
            ) from None


def _sheet(source: OpenFile, book: Any, sheet: str | None) -> Any:
    names = [worksheet.title for worksheet in book.worksheets]
    if sheet is not None:
        if sheet not in names:
            raise ParameterError(
                "table.no-sheet",
                "{path}: there is no sheet '{sheet}': it has {names}",
                path=source.path,
                sheet=sheet,
                names=", ".join(names),
            )
        return book[sheet]
    filled = [worksheet for worksheet in book.worksheets if next(_rows(worksheet), None)]
    if len(filled) > 1:
        raise InputError(
            "table.several-sheets-sheet-chooses",
            "{path}: there are several sheets, and --sheet chooses one: {filled}",
            path=source.path,
            filled=", ".join(worksheet.title for worksheet in filled),
        )
    if not filled:
        raise InputError("table.workbook-empty", "{path}: the workbook is empty", path=source.path)
    return filled[0]


def _rows(worksheet: Any) -> Iterator[Row]:
    """The rows that have a value."""
    worksheet.reset_dimensions()  # what a file says of its size need not be true
    for number, cells in enumerate(worksheet.iter_rows(), 1):
        values = [_value(cell) for cell in cells]
        if any(value is not None for value in values):
            yield number, values


def _value(cell: Any) -> Any:
    value = cell.value
    if isinstance(value, str):
        return ESCAPE.sub(lambda escaped: chr(int(escaped[1], 16)), value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value if "h" in cell.number_format.lower() else value.date()
    return value


def _within(source: OpenFile, row: Row, width: int) -> list[Any]:
    number, values = row
    for place, value in enumerate(values[width:], width + 1):
        if value is not None:
            cell = f"{get_column_letter(place)}{number}"
            raise InputError(
                "table.cell-value-column-without-name",
                "{path}, cell {cell}: there is a value in a column without a name",
                path=source.path,
                cell=cell,
            )
    return values[:width] + [None] * (width - len(values))


def _refuse_open_formulas(source: OpenFile, title: str) -> None:
    """A formula whose result nobody has computed would be taken for a missing value."""
    source.stream.seek(0)
    with zipfile.ZipFile(source.stream) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        if not any(_has_formula(archive, name) for name in sheets):
            return
    with _workbook(source, data_only=True) as results, _workbook(source, data_only=False) as formulas:
        for row, formula_row in zip(results[title].iter_rows(), formulas[title].iter_rows(), strict=True):
            for cell, formula in zip(row, formula_row, strict=True):
                if formula.data_type == "f" and cell.value is None:
                    raise InputError(
                        "table.cell-formula-no-stored",
                        "{path}, cell {coordinate}: the formula has no stored result: open the file in "
                        "Excel and save it",
                        path=source.path,
                        coordinate=formula.coordinate,
                    )


def _has_formula(archive: zipfile.ZipFile, name: str) -> bool:
    tail = b""
    with archive.open(name) as stream:
        while chunk := stream.read(2**20):
            if FORMULA.search(tail + chunk):
                return True
            tail = chunk[-32:]
    return False
