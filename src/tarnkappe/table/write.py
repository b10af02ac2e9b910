"""Writing tables: whole, or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import Format, is_compressed, replace_atomically, suffix_of
from tarnkappe.table.formats.address import is_address, shown
from tarnkappe.table.formats.columnar import write_arrow, write_parquet
from tarnkappe.table.formats.csv_dialect import check_stated
from tarnkappe.table.formats.exact_types import TEXT
from tarnkappe.table.formats.memory import read_memory
from tarnkappe.table.formats.names import check_names
from tarnkappe.table.formats.text_write import CsvStyle, csv_blocks, json_blocks
from tarnkappe.table.reading import Reading
from tarnkappe.table.spelling.numbers import COMMA
from tarnkappe.table.table import Table
from tarnkappe.table.written_format import written_format

__all__ = ["replace_atomically", "write"]


def write(
    data: Any,
    target: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    excel: bool = False,
    reading: Reading | None = None,
    sheet: str | None = None,
    table: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write a table so that reading gives it back, value by value.

    A file appears whole or not at all; a table in a database is created in one transaction. A file that
    this process has written is replaced, any other only if it is said so. What is written holds the rows and
    the column names and nothing else: no metadata, no unused entries of dictionaries, no memory behind
    missing values. Text formats keep missing values and empty texts apart, but not types: numbers and dates
    are read again where that loses nothing. What a format cannot hold is refused.

    Args:
        data: a `Table`, or a table of pyarrow, pandas, polars or DuckDB.
        target: the path of a file, whose suffix tells the format as in `read`, or a database address.
        delimiter: what stands between the fields of a CSV file; if not given as in the file that the table
            was read from, else a comma, or a tab in .tsv. Formats without fields in lines do without it.
        excel: whether a CSV file is written for Excel: semicolons, a byte order mark, line ends of Windows,
            the decimal comma if the input had it, and an apostrophe before text that Excel would compute.
        reading: how the file was read whose rows these are; that of the table if not given. A CSV file has
            its delimiter, line ends, words for missing values, and a byte order mark unless it was UTF-8
            without one.
        sheet: the name of the sheet in an Excel workbook.
        table: the table in the database to create, by name or as schema.name.
        replace: whether a file or a table of that name may be replaced, whoever has made it.
        progress: is told how many rows are written.
    """
    rows = data.data if isinstance(data, Table) else read_memory(data)
    check_names(rows.column_names, "the table")
    if is_address(target):
        address = str(target)
        if table is None:
            raise ParameterError(
                "table.pass-table-name-table",
                "{address}: pass `table`, the name of the table to write",
                address=shown(address),
            )
        _refuse_foreign(sheet=sheet)
        from tarnkappe.table.formats.sql_write import write_sql  # loaded when used, as in `read`

        write_sql(rows, address, table=table, replace=replace, progress=progress)
        return
    if not isinstance(target, str | os.PathLike):
        raise ParameterError(
            "table.target-no-path",
            "what is written needs the path of a file or a database address, not a {kind}: for instance "
            "write('people.release.csv')",
            kind=type(target).__name__,
        )
    path = Path(target)
    form = written_format(path)
    _refuse_foreign(table=table, sheet=sheet if form is not Format.EXCEL else None)
    check_stated(delimiter, '"')
    with replace_atomically(path, replace=replace) as partial:
        if form is Format.PARQUET:
            write_parquet(rows, partial, progress)
        elif form is Format.ARROW:
            write_arrow(rows, partial, progress)
        elif form is Format.EXCEL:
            from tarnkappe.table.formats.excel_write import write_excel

            write_excel(rows, partial, sheet="Data" if sheet is None else sheet, progress=progress)
        else:
            if reading is None and isinstance(data, Table):
                reading = data.reading
            style = csv_style(reading, suffix_of(path), delimiter, excel)
            blocks = csv_blocks(rows, style, progress) if form is Format.CSV else json_blocks(rows, progress)
            _write_blocks(blocks, partial, compress=is_compressed(path))


def csv_style(reading: Reading | None, suffix: str, delimiter: str | None, excel: bool = False) -> CsvStyle:
    """How a CSV file is written: as the file that its rows were read from, unless something else is said."""
    usual = "\t" if suffix == ".tsv" else ","
    missing = (
        {} if reading is None else {name: said.mark for name, said in reading.columns.items() if said.mark}
    )
    comma = reading is not None and reading.decimal == COMMA
    if excel:
        return CsvStyle(delimiter or ";", "\r\n", True, missing, comma, True, bare_numbers=True)
    if reading is None or reading.delimiter is None:
        return CsvStyle(delimiter or usual)
    foreign = reading.encoding not in (None, "utf-8")
    own = usual if suffix == ".tsv" else reading.delimiter or usual
    return CsvStyle(
        delimiter or own, reading.line_end or "\n", reading.mark or foreign, missing, bare_numbers=True
    )


def without_guards(written: pa.Table, style: CsvStyle) -> pa.Table:
    """What was written for a spreadsheet program, without the apostrophes before would-be formulas."""
    if not style.guard_formulas:
        return written
    columns = {}
    for name in written.column_names:
        column = written.column(name)
        if column.type == TEXT:
            column = pc.replace_substring_regex(column.cast(pa.string()), r"^'([=+\-@])", r"\1")
        columns[name] = column
    return pa.table(columns)


def _refuse_foreign(**options: Any) -> None:
    """An option that does not apply is a misunderstanding, so it is not ignored."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(
                "table.not-apply-here-leave", "`{name}` does not apply here: leave it out", name=name
            )


def _write_blocks(blocks: Iterable[memoryview], path: Path, *, compress: bool) -> None:
    with path.open("xb") as raw:
        # Without a name and a time in it, the same table gives the same file.
        zipped = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if compress else nullcontext(raw)
        with zipped as stream:
            for block in blocks:
                stream.write(block)
