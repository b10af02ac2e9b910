"""Reading tables, from wherever they are."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.compression import compression_of
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import STDIN, Format, OpenFile, opened
from tarnkappe.table.formats.address import is_address, refuse_web, shown
from tarnkappe.table.formats.columnar import read_arrow, read_parquet
from tarnkappe.table.formats.csv_dialect import NO_DELIMITER
from tarnkappe.table.formats.csv_options import CsvFile, CsvOptions
from tarnkappe.table.formats.csv_read import open_csv, read_csv
from tarnkappe.table.formats.exact_types import TEXT
from tarnkappe.table.formats.json_read import read_json
from tarnkappe.table.formats.memory import read_memory
from tarnkappe.table.formats.names import chosen_names
from tarnkappe.table.formats.text_write import CsvStyle
from tarnkappe.table.formats.worksheet import notes_of
from tarnkappe.table.frames import FrameKind, kind_of
from tarnkappe.table.kinds import in_known_kinds
from tarnkappe.table.reading import (
    Reading,
    stated_bad_lines,
    stated_dates,
    stated_decimal,
    stated_header,
    stated_missing,
)
from tarnkappe.table.spelling import Spelling
from tarnkappe.table.spelling.columns import Stated, as_written, spell
from tarnkappe.table.spelling.numbers import COMMA, POINT
from tarnkappe.table.table import Table


def _read_excel(*arguments: Any, **options: Any) -> pa.Table:
    # Excel and databases need large libraries; loading them would double the start of every command.
    from tarnkappe.table.formats.excel_read import read_excel

    return read_excel(*arguments, **options)


def _read_spreadsheet(*arguments: Any, **options: Any) -> pa.Table:
    from tarnkappe.table.formats.spreadsheet_read import read_spreadsheet

    return read_spreadsheet(*arguments, **options)


def _read_statistics(*arguments: Any, **options: Any) -> pa.Table:
    from tarnkappe.table.formats.statistics_read import read_statistics

    return read_statistics(*arguments, **options)


def _described(data: pa.Table) -> dict[str, dict[str, Any]]:
    from tarnkappe.table.formats.statistics_read import described

    return described(data)


READERS: dict[Format, Callable[..., pa.Table]] = {
    Format.JSON: read_json,
    Format.PARQUET: read_parquet,
    Format.EXCEL: _read_excel,
    Format.ARROW: read_arrow,
    Format.SPREADSHEET: _read_spreadsheet,
    Format.STATISTICS: _read_statistics,
}
SPELLED = ("decimal", "dates", "missing", "types")
"""Options about the spelling of texts, which any file can hold."""
FILE_OPTIONS = {
    Format.CSV: ("delimiter", "encoding", "quote", "header", "bad_lines", *SPELLED),
    Format.EXCEL: ("sheet", *SPELLED),
    Format.SPREADSHEET: ("sheet", *SPELLED),
}
DATABASE_OPTIONS = ("table", "query")
READING_KEYS = (
    "delimiter",
    "encoding",
    "quote",
    "header",
    "decimal",
    "dates",
    "missing",
    "bad_lines",
    "sheet",
    "types",
)
"""What can be said about how a file is written; each is an argument of `read`."""


def read(
    source: Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    header: bool | str | None = None,
    decimal: str | None = None,
    dates: str | None = None,
    missing: str | Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    bad_lines: str | None = None,
    table: str | None = None,
    query: str | None = None,
    sheet: str | None = None,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Table:
    """Read a table: whole, and so that every value can be written back as it was.

    Text becomes numbers or dates only where they give the same text back; otherwise it stays text, and
    `reading` of the table tells what it stands for ("1.113,71", "31.12.1980"). Words for missing values
    become missing, and texts that stand for the same number or date become the most frequent of them; nothing
    else is changed. What is guessed (encoding, delimiter, header, decimal mark, order of dates, missing
    values) is told by `reading` and stated by an argument. A source that is missing, empty, ragged, ambiguous
    or changed while it is read is refused with one line that says where and what to do. Such a line never
    shows a cell or a password.

    Args:
        source: the path of a file (.csv, .tsv, .txt, .json, .jsonl, .ndjson, also compressed: .gz, .bz2,
            .zst, .lz4, .zip; .parquet, .arrow, .feather; .xlsx, .xls, .xlsb, .ods; .dta, .sav, .zsav, .por,
            .sas7bdat, .xpt), or `-` for what is piped in; a database address (postgresql://, sqlite:///,
            duckdb:///, ...); or a table of pyarrow, pandas, polars, DuckDB or anything else that speaks
            Arrow.
        delimiter: what stands between the fields of a CSV file; found out if not given.
        encoding: how a CSV file writes characters; found out if not given.
        quote: what stands around fields of a CSV file ("" for nothing); found out if not given.
        header: whether the first line of a CSV file names the columns (True, False, "yes", "no").
        decimal: the decimal mark of numbers, "." or ",".
        dates: the order of day and month where the year comes last, "dmy" or "mdy".
        missing: the words that stand for missing values, instead of the usual ones ("NA", "n/a", "NULL",
            ...).
        types: of some columns: "text", "number", "code", "date", or "date:FORMAT" with a format of strptime.
        bad_lines: "skip" leaves out lines with another number of fields, if they are at most 1 %.
        table: the table of a database to read, by name or as schema.name.
        query: or the query whose answer to read.
        sheet: the sheet of a workbook, or the file of an archive; needed if there are several.
        columns: the columns to read, in this order; all if not given.
        progress: is told how far reading has come. Where the whole is not known, as with a query,
            the total is what has been read so far.

    >>> read(pa.table({"age": [34, None]})).num_rows
    2
    """
    given: dict[str, Any] = {
        "delimiter": delimiter,
        "encoding": encoding,
        "quote": quote,
        "header": stated_header(header),
        "decimal": stated_decimal(decimal),
        "dates": stated_dates(dates),
        "missing": stated_missing(missing),
        "types": types or None,
        "bad_lines": bad_lines,
        "table": table,
        "query": query,
        "sheet": sheet,
    }
    options = {name: value for name, value in given.items() if value is not None}
    refuse_web(source)
    if is_address(source):
        _refuse_foreign(options, DATABASE_OPTIONS, "database")
        from tarnkappe.table.formats.sql_read import read_sql

        data = read_sql(source, columns=columns, progress=progress, **options)
        return _finished(data, shown(source))
    if isinstance(source, str | os.PathLike):
        return _read_file(Path(source), columns, progress, options)
    _refuse_foreign(options, (), "table in memory")
    return _finished(read_memory(source, columns=columns), "the table", frame=kind_of(source))


def _read_file(
    path: Path, columns: Sequence[str] | None, progress: Progress | None, options: dict[str, Any]
) -> Table:
    with opened(path, options.get("sheet") if _is_archive(path) else None) as file:
        form = file.form
        known = FILE_OPTIONS.get(form, SPELLED)
        _refuse_foreign(options, (*known, "sheet") if file.member else known, f"{form} file")
        if form is Format.CSV:
            data, reading = _read_csv(file, columns, progress, options)
        else:
            own = {"sheet": options["sheet"]} if "sheet" in options and not file.member else {}
            data = READERS[form](file, columns=columns, progress=progress, **own)
            notes = notes_of(data)
            beside = _described(data) if form is Format.STATISTICS else {}
            data, spellings = spell(data, stated_spelling(options), convert=bool(set(options) & set(SPELLED)))
            spellings = {
                name: dataclasses.replace(spelling, **beside.get(name, {}))
                for name, spelling in spellings.items()
            }
            reading = Reading(str(form), compression=file.compression, columns=spellings, notes=notes)
    return _finished(data, str(path), reading)


def _is_archive(path: Path) -> bool:
    return compression_of(path) == "zip" or str(path) in STDIN


def _read_csv(
    file: OpenFile, columns: Sequence[str] | None, progress: Progress | None, options: dict[str, Any]
) -> tuple[pa.Table, Reading]:
    csv = open_csv(file, csv_options(options))
    wanted = None if columns is None else chosen_names(csv.names, columns, str(file.path))
    # All columns are looked at, since others decide what one leaves open: one file has one reading.
    data = read_csv(csv, progress=progress)
    data, spellings = spell(data, stated_spelling(options, semicolons=csv.dialect.delimiter == ";"))
    return data if wanted is None else data.select(wanted), csv_reading(csv, spellings)


def read_written(path: Path, style: CsvStyle) -> pa.Table:
    """What was written, as it stands, for whoever verifies it: no word but those of the style is missing."""
    with opened(path) as file:
        if file.form is not Format.CSV:
            return read(path).data
        csv = open_csv(file, CsvOptions("utf-8", style.delimiter, '"', header=True))
        data = read_csv(csv)
    missing = {name: (mark,) for name, mark in style.missing.items()}
    return pa.table(
        {name: as_written(data.column(name), missing.get(name, ())) for name in data.column_names}
    )


def as_typed(written: pa.Table, schema: pa.Schema) -> pa.Table:
    """What was written with the types that it had before; a decimal comma is a point again."""
    columns = {}
    for field in schema:
        column = written.column(field.name)
        if pa.types.is_floating(field.type) and column.type == TEXT:
            column = pc.replace_substring(column.cast(pa.string()), ",", ".")
        columns[field.name] = column.cast(field.type)
    return pa.table(columns, schema=schema)


def csv_options(options: Mapping[str, Any]) -> CsvOptions:
    """What is stated about a CSV file."""
    return CsvOptions(
        encoding=options.get("encoding"),
        delimiter=options.get("delimiter"),
        quote=options.get("quote"),
        header=options.get("header"),
        skip_bad_lines=stated_bad_lines(options.get("bad_lines")),
    )


def csv_reading(csv: CsvFile, spellings: Mapping[str, Spelling]) -> Reading:
    """How a CSV file was read."""
    marks = {spelling.number.decimal for spelling in spellings.values() if spelling.number is not None}
    notes = [*csv.notes]
    for name, spelling in spellings.items():
        if spelling.date is not None and spelling.date.open:
            notes.append(
                f"'{name}': day and month cannot be told apart, only the year is used; --dates decides"
            )
        if spelling.unread:
            notes.append(
                f"'{name}': {spelling.unread:.2%} of the cells are not {spelling.kind}s and stay text"
            )
    return Reading(
        str(Format.CSV),
        encoding=csv.encoding.name,
        misfits=bool(csv.encoding.misfits),
        mark=csv.encoding.mark,
        compression=csv.source.compression,
        delimiter="" if csv.dialect.delimiter == NO_DELIMITER else csv.dialect.delimiter,
        quote=csv.dialect.quote,
        line_end=csv.line_end,
        header=csv.header.lines,
        sheet=csv.source.member,
        decimal=COMMA if marks == {COMMA} else POINT if marks else None,
        columns=spellings,
        skipped_lines=tuple(csv.skipped),
        notes=tuple(notes),
    )


def stated_spelling(options: Mapping[str, Any], *, semicolons: bool = False) -> Stated:
    """What is stated about the spelling of texts."""
    return Stated(
        options.get("decimal"),
        options.get("dates"),
        options.get("missing"),
        options.get("types", {}),
        semicolons,
    )


def _refuse_foreign(options: Mapping[str, Any], known: Sequence[str], kind: str) -> None:
    """An option that does not apply is a misunderstanding, so it is not ignored."""
    for name in options:
        if name not in known:
            raise ParameterError(
                "table.not-apply-leave",
                "`{name}` does not apply to a {kind}: leave it out",
                name=name,
                kind=kind,
            )


def _finished(
    data: pa.Table, source: str, reading: Reading | None = None, frame: FrameKind | None = None
) -> Table:
    """The rows and nothing else: what a source's metadata say would travel into every release."""
    if not data.num_rows:
        raise InputError("table.read-no-rows", "{source}: there are no rows", source=source)
    plain = data.cast(pa.schema([pa.field(field.name, field.type) for field in data.schema]))
    return Table(in_known_kinds(plain), reading=reading, frame=frame)
