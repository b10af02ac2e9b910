"""Reading tables, from wherever they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import Format, format_of, opened
from tarnkappe.table.formats.address import is_address, shown
from tarnkappe.table.formats.columnar import read_arrow, read_parquet
from tarnkappe.table.formats.csv_read import read_csv
from tarnkappe.table.formats.json_read import read_json
from tarnkappe.table.formats.memory import read_memory
from tarnkappe.table.table import Table


def _read_excel(*arguments: Any, **options: Any) -> pa.Table:
    # Excel and databases need large libraries; loading them would double the start of every command.
    from tarnkappe.table.formats.excel_read import read_excel

    return read_excel(*arguments, **options)


READERS: dict[Format, Callable[..., pa.Table]] = {
    Format.CSV: read_csv,
    Format.JSON: read_json,
    Format.PARQUET: read_parquet,
    Format.EXCEL: _read_excel,
    Format.ARROW: read_arrow,
}
FILE_OPTIONS = {Format.CSV: ("delimiter", "encoding", "quote"), Format.EXCEL: ("sheet",)}
DATABASE_OPTIONS = ("table", "query")


def read(
    source: Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    table: str | None = None,
    query: str | None = None,
    sheet: str | None = None,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Table:
    """Read a table: whole, exactly as it is, or not at all.

    No value is changed by reading: text becomes numbers or dates only where they give the same text
    back, and missing values and empty texts are kept apart. A source that is missing, empty, ragged,
    wrongly encoded, ambiguous, without proper column names or changed while it is read is refused
    with one line that says where and what to do. Such a line never shows a cell or a password.

    Args:
        source: the path of a file (.csv, .tsv, .txt, .json, .jsonl, .ndjson, also gzipped; .parquet,
            .xlsx, .arrow, .feather); a database address (postgresql://, sqlite:///, duckdb:///, ...);
            or a table of pyarrow, pandas, polars, DuckDB or anything else that speaks Arrow.
        delimiter: what stands between the fields of a CSV file; found out if not given.
        encoding: how a CSV file writes characters; UTF-8, or UTF-16 if the file shows it.
        quote: what stands around fields of a CSV file ("" for nothing); found out if not given.
        table: the table of a database to read, by name or as schema.name.
        query: or the query whose answer to read.
        sheet: the sheet of an Excel workbook; needed if it has several.
        columns: the columns to read, in this order; all if not given.
        progress: is told how far reading has come. Where the whole is not known, as with a query,
            the total is what has been read so far.

    >>> read(pa.table({"age": [34, None]})).num_rows
    2
    """
    stated = {
        "delimiter": delimiter,
        "encoding": encoding,
        "quote": quote,
        "table": table,
        "query": query,
        "sheet": sheet,
    }
    options = {name: value for name, value in stated.items() if value is not None}
    if is_address(source):
        _refuse_foreign(options, DATABASE_OPTIONS, "database")
        from tarnkappe.table.formats.sql_read import read_sql

        data = read_sql(source, columns=columns, progress=progress, **options)
        return _finished(data, shown(source))
    if isinstance(source, str | os.PathLike):
        return _read_file(Path(source), columns, progress, options)
    _refuse_foreign(options, (), "table in memory")
    return _finished(read_memory(source, columns=columns), "the table")


def _read_file(
    path: Path, columns: Sequence[str] | None, progress: Progress | None, options: dict[str, str]
) -> Table:
    form = format_of(path)
    _refuse_foreign(options, FILE_OPTIONS.get(form, ()), f"{form} file")
    with opened(path) as file:
        data = READERS[form](file, columns=columns, progress=progress, **options)
    return _finished(data, str(path))


def _refuse_foreign(options: dict[str, str], known: Sequence[str], kind: str) -> None:
    """An option that does not apply is a misunderstanding, so it is not ignored."""
    for name in options:
        if name not in known:
            raise ParameterError(f"`{name}` does not apply to a {kind}: leave it out")


def _finished(data: pa.Table, source: str) -> Table:
    """The rows and nothing else: what a source's metadata say would travel into every release."""
    if not data.num_rows:
        raise InputError(f"{source}: there are no rows")
    return Table(data.cast(pa.schema([pa.field(field.name, field.type) for field in data.schema])))
