"""Reading CSV: in blocks of whole records, on all cores, every column as text first."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.csv

from tarnkappe.errors import InputError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import Source
from tarnkappe.table.formats.csv_dialect import SAMPLE, Dialect, find_dialect, refuse_malformed
from tarnkappe.table.formats.csv_records import find_records
from tarnkappe.table.formats.exact_types import TEXT, exactly_typed, joined
from tarnkappe.table.formats.names import check_names, chosen_names
from tarnkappe.table.formats.unicode import Chunks, line_breaks, require_utf8, utf8_chunks
from tarnkappe.table.parallel import in_order

LONGEST_RECORD = 2**26


@dataclasses.dataclass(frozen=True)
class _Body:
    """The records of a file after its header, and where in the file they begin."""

    source: Source
    dialect: Dialect
    names: list[str]
    chunks: Chunks
    offset: int
    line: int

    @property
    def skip_blank_lines(self) -> bool:
        """Whether an empty line means nothing; in a single column it is a missing value."""
        return len(self.names) > 1


@dataclasses.dataclass(frozen=True)
class _Block:
    """Some whole records, and where in the file they begin."""

    data: bytes
    offset: int
    line: int
    records: int


def read_csv(
    source: Source,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Read a CSV file; an empty field is a missing value, a quoted empty one is an empty text.

    Empty lines mean nothing, save in a file with a single column, where they are missing values.
    Columns become numbers, booleans, dates or times only where that loses nothing (see
    `exact_types`). What does not fit is refused with the line, and never with the content.
    """
    body = _open_body(source, delimiter, encoding, quote)
    wanted = chosen_names(body.names, columns, str(source.path))
    columns_in_blocks: list[list[pa.Array]] = [[] for _ in wanted]
    for arrays in in_order(lambda block: _parse(block, body, wanted), _blocks(body)):
        for blocks, array in zip(columns_in_blocks, arrays, strict=True):
            blocks.append(array)
        if progress:
            progress("reading", source.position, source.size)
    if not columns_in_blocks[0]:
        raise InputError(f"{source.path}: the file has a header but no rows")
    return pa.table(dict(zip(wanted, in_order(joined, columns_in_blocks), strict=True)))


def text_blocks(
    source: Source, *, delimiter: str | None = None, encoding: str | None = None, quote: str | None = None
) -> tuple[list[str], Iterator[list[pa.Array]]]:
    """The names of the columns, and the columns of one block of records after another, all of text.

    For who cannot hold the file in memory. What is text and what could be a number is seen only at its
    end: `exactly_typed` tells it from the distinct values.
    """
    body = _open_body(source, delimiter, encoding, quote)
    return body.names, in_order(lambda block: _parse(block, body, body.names, typed=False), _blocks(body))


def _open_body(source: Source, delimiter: str | None, encoding: str | None, quote: str | None) -> _Body:
    chunks, offset = utf8_chunks(source, encoding)
    first, last = next(chunks)
    sample = first[:SAMPLE]
    complete = last and len(sample) == len(first)
    dialect = find_dialect(source.path, sample, complete, delimiter=delimiter, quote=quote)
    found = find_records(sample, dialect.delimiter, dialect.quote, complete=complete)
    if not found.records:
        refuse_malformed(source.path, found, 1, 1, dialect)
        raise InputError(f"{source.path}: there is no header line in the first {SAMPLE:,} bytes")
    header = first[: found.first_end]
    require_utf8(source.path, header, offset, 1)
    return _Body(
        source=source,
        dialect=dialect,
        names=_header_names(source, header, found.first_fields, dialect),
        chunks=itertools.chain([(first[found.first_end :], last)], chunks),
        offset=offset + found.first_end,
        line=1 + line_breaks(header),
    )


def _header_names(source: Source, header: bytes, fields: int, dialect: Dialect) -> list[str]:
    record = _convert(header, [str(place) for place in range(fields)], dialect, skip_blank_lines=True)
    return check_names([column[0].as_py() or "" for column in record.columns], str(source.path))


def _blocks(body: _Body) -> Iterator[_Block]:
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
        refuse_malformed(body.source.path, found, line, len(body.names), body.dialect)
        if found.records:
            yield _Block(data[: found.end], offset, line, found.records)
        rest = data[found.end :]
        offset, line = offset + found.end, line + found.lines
        if len(rest) > LONGEST_RECORD:
            raise InputError(
                f"{body.source.path}, line {line}: a record of over {LONGEST_RECORD:,} bytes begins: "
                f"is a quote opened and never closed?{body.dialect.hint}"
            )


def _parse(block: _Block, body: _Body, wanted: list[str], *, typed: bool = True) -> list[pa.Array]:
    try:
        table = _convert(block.data, body.names, body.dialect, body.skip_blank_lines, wanted)
        assert table.num_rows == block.records, "the CSV parser and the CSV grammar disagree"
        texts = [column.chunk(0) for column in table.columns]
        return [exactly_typed(column) for column in texts] if typed else texts
    except pa.ArrowInvalid:
        require_utf8(body.source.path, block.data, block.offset, block.line)
        raise InputError(f"{body.source.path}, from line {block.line}: the records cannot be read") from None


def _convert(
    data: bytes,
    names: list[str],
    dialect: Dialect,
    skip_blank_lines: bool,
    wanted: list[str] | None = None,
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
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
