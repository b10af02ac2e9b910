"""Reading CSV: in blocks of whole records, on all cores, every column as text first."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from tarnkappe.errors import InputError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import OpenFile
from tarnkappe.table.formats.csv_dialect import (
    DELIMITERS,
    MOST_ROWS,
    SAMPLE,
    Dialect,
    check_stated,
    find_dialect,
    refuse_malformed,
    stated_delimiter,
)
from tarnkappe.table.formats.csv_header import (
    Header,
    find_header,
    padded_titles,
    quoted_fields,
    quotes_needlessly,
    titles_above,
)
from tarnkappe.table.formats.csv_no_text import refuse_no_text
from tarnkappe.table.formats.csv_options import CsvFile, CsvOptions
from tarnkappe.table.formats.csv_records import SOUND, UNFINISHED, find_records, without_odd_records
from tarnkappe.table.formats.exact_types import TEXT, exactly_typed, joined
from tarnkappe.table.formats.unicode import (
    find_encoding,
    line_breaks,
    require_utf8,
    utf8_chunks,
)
from tarnkappe.table.parallel import in_order
from tarnkappe.table.spelling.converting import QUOTED_MARK
from tarnkappe.table.spelling.marks import MARKS

LONGEST_RECORD = 2**26
MOST_SKIPPED = 0.01
"""The largest share of lines that may be left out."""


@dataclasses.dataclass(frozen=True)
class _Block:
    """Some whole records, and where in the file they begin."""

    data: bytes
    offset: int
    line: int
    records: int


def read_csv(file: CsvFile, *, progress: Progress | None = None) -> pa.Table:
    """Read a CSV file; an empty field is a missing value, a quoted empty one is an empty text.

    In a file that quotes whatever it holds, quotes mean nothing, and a quoted empty field is missing, too.

    Empty lines mean nothing, save in a file with a single column, where they are missing values.
    Columns become numbers, booleans, dates or times only where that loses nothing (see
    `exact_types`). What does not fit is refused with the line, and never with the content.
    """
    source = file.source
    wanted = file.names
    columns_in_blocks: list[list[pa.Array]] = [[] for _ in wanted]
    for arrays in in_order(lambda block: _parse(block, file, wanted), _blocks(file)):
        for blocks, array in zip(columns_in_blocks, arrays, strict=True):
            blocks.append(array)
        if progress:
            progress("reading", source.position, source.size)
    if not columns_in_blocks[0]:
        raise InputError(
            "table.file-header-but-no-rows", "{path}: the file has a header but no rows", path=source.path
        )
    table = pa.table(dict(zip(wanted, in_order(joined, columns_in_blocks), strict=True)))
    _refuse_many_skipped(file, table.num_rows)
    return _without_empty_ends(table, file.header)


def text_blocks(file: CsvFile) -> Iterator[list[pa.Array]]:
    """The columns of one block of records after another, all of text.

    For who cannot hold the file in memory. What is text and what could be a number is seen only at its
    end: `exactly_typed` tells it from the distinct values.
    """
    return in_order(lambda block: _parse(block, file, file.names, typed=False), _blocks(file))


def open_csv(source: OpenFile, options: CsvOptions) -> CsvFile:
    """Find out how a CSV file is written."""
    encoding = find_encoding(source, options.encoding)
    source.restart()
    chunks, offset = utf8_chunks(source, encoding)
    first, last = next(chunks)
    refuse_no_text(source.path, first, last)
    statement = stated_delimiter(first)
    first, offset = first[statement.end :], offset + statement.end
    sample = first[:SAMPLE]
    complete = last and len(sample) == len(first)
    delimiter = options.delimiter if options.delimiter is not None else statement.delimiter or None
    stated = {"delimiter": delimiter, "quote": options.quote}
    above = _titles(sample, complete, stated)
    dialect = find_dialect(source.path, sample[above:], complete, **stated)
    found = find_records(sample[above:], dialect.delimiter, dialect.quote, complete=complete)
    if not found.records:
        refuse_malformed(source.path, found, 1 + statement.lines, 1, dialect)
        raise InputError(
            "table.no-header-line-first",
            "{path}: there is no header line in the first {sample:,} bytes",
            path=source.path,
            sample=SAMPLE,
        )
    require_utf8(source.path, first[: above + found.first_end], offset, 1)
    rows = _first_rows(sample[above : above + found.end], found.first_fields, dialect)
    padded = 0 if options.header is False else padded_titles(rows)
    if padded:
        above += _header_end(sample[above:], dialect, padded, complete)
        found, rows = (
            find_records(sample[above:], dialect.delimiter, dialect.quote, complete=complete),
            rows[padded:],
        )
    top = first[: above + found.first_end]
    require_utf8(source.path, top, offset, 1)
    below = sample[above + found.first_end :]
    loose = quotes_needlessly(below, dialect)
    quoted = quoted_fields(top[above:], dialect)
    in_quotes = [False if loose else mark for mark in quoted]
    header = find_header(rows, in_quotes, options.header, titled=above > 0)
    start = above + _header_end(sample[above:], dialect, header.lines, complete)
    return CsvFile(
        source=source,
        encoding=encoding,
        dialect=dialect,
        header=header,
        line_end=_line_end(sample),
        titles=line_breaks(sample[:above]),
        quotes_mean_text=not loose,
        options=options,
        chunks=itertools.chain([(first[start:], last)], chunks),
        offset=offset + start,
        line=1 + statement.lines + line_breaks(first[:start]),
        statement=statement,
    )


def _titles(sample: bytes, complete: bool, stated: dict[str, str | None]) -> int:
    """How many bytes of titles stand above the header; a file that is explained without has none."""
    delimiters = tuple(DELIMITERS) if stated["delimiter"] is None else (stated["delimiter"],)
    check_stated(stated["delimiter"], stated["quote"])
    quote = '"' if stated["quote"] is None else stated["quote"]
    for delimiter in delimiters:
        found = find_records(sample, delimiter, quote, complete=complete)
        if found.first_fields > 1 and not found.odd_records and found.fault in (SOUND, UNFINISHED):
            return 0
    return titles_above(sample, complete, delimiters, quote)


def _first_rows(data: bytes, fields: int, dialect: Dialect) -> list[list[str | None]]:
    """The first records with as many fields as the first, for a look at their cells."""
    kept, _ = without_odd_records(data, dialect.delimiter, dialect.quote, fields, fields > 1, MOST_ROWS)
    names = [str(place) for place in range(fields)]
    try:
        table = _convert(kept, names, dialect, skip_blank_lines=fields > 1)
    except pa.ArrowInvalid:  # what is wrong is told when the rows are read; the header is sound
        first, _ = without_odd_records(data, dialect.delimiter, dialect.quote, fields, fields > 1, 1)
        table = _convert(first, names, dialect, skip_blank_lines=fields > 1)
    return [list(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]


def _header_end(sample: bytes, dialect: Dialect, lines: int, complete: bool) -> int:
    end = 0
    for _ in range(lines):
        end += find_records(sample[end:], dialect.delimiter, dialect.quote, complete=complete).first_end
    return end


def _line_end(sample: bytes) -> str:
    feed = sample.find(b"\n")
    if feed < 0:
        return "\r" if b"\r" in sample else "\n"
    return "\r\n" if sample[feed - 1 : feed] == b"\r" else "\n"


def _refuse_many_skipped(file: CsvFile, rows: int) -> None:
    if len(file.skipped) > MOST_SKIPPED * (rows + len(file.skipped)):
        raise InputError(
            "table.lines-another-number-fields",
            "{path}: {skipped:,} {skipped:line has|lines have} another number of fields, more than "
            "{most_skipped:.0%}: this is"
            " no table with {names} {names:column|columns}{hint}",
            path=file.source.path,
            skipped=len(file.skipped),
            most_skipped=MOST_SKIPPED,
            names=len(file.names),
            hint=file.dialect.hint,
        )


def _without_empty_ends(table: pa.Table, header: Header) -> pa.Table:
    """The table without columns at its end that have neither a name nor a value."""
    names = list(table.column_names)
    while (
        len(names) > 1
        and names[-1] in header.unnamed
        and table.column(names[-1]).null_count == table.num_rows
    ):
        names.pop()
    return table.select(names)


def _blocks(body: CsvFile) -> Iterator[_Block]:
    """Cut a file at ends of records; whatever is wrong with them is refused here."""
    rest = b""
    offset, line = body.offset, body.line
    for chunk, last in body.chunks:
        data = rest + chunk
        found = find_records(
            data,
            body.dialect.delimiter,
            body.dialect.quote,
            fields=len(body.names),
            skip_blank_lines=body.skip_blank_lines,
            complete=last,
        )
        records, whole = found.records, data[: found.end]
        if found.odd_records and body.options.skip_bad_lines:
            whole, odd = without_odd_records(
                whole, body.dialect.delimiter, body.dialect.quote, len(body.names), body.skip_blank_lines
            )
            body.skipped.extend(line + before for before in odd)
            records -= len(odd)
            found = found._replace(odd_records=0)
        refuse_malformed(body.source.path, found, line, len(body.names), body.dialect)
        if records:
            yield _Block(whole, offset, line, records)
        rest = data[found.end :]
        offset, line = offset + found.end, line + found.lines
        if len(rest) > LONGEST_RECORD:
            raise InputError(
                "table.line-record-over-bytes",
                "{path}, line {line}: a record of over {longest_record:,} bytes begins: is a quote opened "
                "and never closed?{hint}",
                path=body.source.path,
                line=line,
                longest_record=LONGEST_RECORD,
                hint=body.dialect.hint,
            )


def _parse(block: _Block, body: CsvFile, wanted: list[str], *, typed: bool = True) -> list[pa.Array]:
    try:
        table = _convert(
            block.data,
            body.names,
            body.dialect,
            body.skip_blank_lines,
            wanted,
            quotes_mean_text=body.quotes_mean_text,
        )
        if table.num_rows != block.records:
            raise InputError(
                "table.line-records-begin-but-can-read",
                "{path}, from line {line}: {records:,} records begin, but {num_rows:,} can be read; nothing"
                " was taken",
                path=body.source.path,
                line=block.line,
                records=block.records,
                num_rows=table.num_rows,
            )
        texts = [column.chunk(0) for column in table.columns]
        if body.quotes_mean_text and body.dialect.quote:
            texts = _with_quoted_marks(block, body, wanted, texts)
        return [exactly_typed(column) for column in texts] if typed else texts
    except pa.ArrowInvalid:
        require_utf8(body.source.path, block.data, block.offset, block.line)
        raise InputError(
            "table.line-records-cannot-read",
            "{path}, from line {line}: the records cannot be read",
            path=body.source.path,
            line=block.line,
        ) from None


def _with_quoted_marks(
    block: _Block, body: CsvFile, wanted: list[str], texts: list[pa.Array]
) -> list[pa.Array]:
    """Words for missing values that stand in quotes, marked as text; few columns have any."""
    marks = pa.array(MARKS)
    doubtful = [
        name
        for name, column in zip(wanted, texts, strict=True)
        if pc.any(pc.is_in(column.dictionary, marks)).as_py()
    ]
    if not doubtful:
        return texts
    again = _convert(block.data, body.names, body.dialect, body.skip_blank_lines, doubtful, ("", *MARKS))
    marked = {}
    for name in doubtful:
        column = texts[wanted.index(name)].cast(pa.string())
        quoted = pc.and_(pc.is_in(column, marks), pc.is_valid(again.column(name).chunk(0)))
        named = pc.binary_join_element_wise(QUOTED_MARK, column, "")
        marked[name] = pc.if_else(quoted, named, column).dictionary_encode()
    return [marked.get(name, column) for name, column in zip(wanted, texts, strict=True)]


def _convert(
    data: bytes,
    names: list[str],
    dialect: Dialect,
    skip_blank_lines: bool,
    wanted: list[str] | None = None,
    missing: Sequence[str] = ("",),
    quotes_mean_text: bool = True,
) -> pa.Table:
    """Whole records as columns of text, in one piece."""
    return pa.csv.read_csv(
        pa.BufferReader(data),
        read_options=pa.csv.ReadOptions(column_names=names, block_size=len(data) + 1, use_threads=False),
        parse_options=pa.csv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char=dialect.quote or False,
            ignore_empty_lines=skip_blank_lines,
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, TEXT),
            include_columns=wanted,
            null_values=list(missing),
            strings_can_be_null=True,
            quoted_strings_can_be_null=not quotes_mean_text,
        ),
    )
