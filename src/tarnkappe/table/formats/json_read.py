"""Reading JSON: one object a line, or one array of objects.

Text stays text here, also where it looks like a date or a number: JSON itself says what is a number.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from tarnkappe.errors import InputError, Reason
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import OpenFile
from tarnkappe.table.formats.exact_types import TEXT, compact, concatenated
from tarnkappe.table.formats.names import check_names, chosen_names
from tarnkappe.table.formats.unicode import Chunks, Encoding, line_breaks, require_utf8, utf8_chunks
from tarnkappe.table.parallel import in_order

EXACT_INTEGERS = 2**53
"""Beyond this, a double cannot tell all whole numbers apart."""

Block = tuple[bytes, int, int]
"""Whole lines, and the offset and the line at which they begin."""


def read_json(
    source: OpenFile, *, columns: Sequence[str] | None = None, progress: Progress | None = None
) -> pa.Table:
    """Read objects as rows; a name that an object lacks is a missing value."""
    chunks, offset = utf8_chunks(source, Encoding(stated=True))
    first, last = next(chunks)
    whole = itertools.chain([(first, last)], chunks)
    if first.lstrip()[:1] == b"[":
        table = _read_array(source.path, b"".join(chunk for chunk, _ in whole), offset)
    else:
        table = _read_lines(source, _blocks(whole, offset), progress)
    if not table.num_rows:
        raise InputError("table.no-rows", "{path}: there are no rows", path=source.path)
    names = check_names(table.column_names, str(source.path))
    return table.select(chosen_names(names, columns, str(source.path)))


def _blocks(chunks: Chunks, offset: int) -> Iterator[Block]:
    rest, line = b"", 1
    for chunk, last in chunks:
        data = rest + chunk
        end = len(data) if last else data.rfind(b"\n") + 1
        if end:
            yield data[:end], offset, line
        rest = data[end:]
        offset, line = offset + end, line + line_breaks(data[:end])


def _read_lines(source: OpenFile, blocks: Iterator[Block], progress: Progress | None) -> pa.Table:
    tables = []
    for table in in_order(lambda block: _parse(source.path, *block), blocks):
        tables.append(table)
        if progress:
            progress("reading", source.position, source.size)
    names = dict.fromkeys(name for table in tables for name in table.column_names)
    return pa.table({name: _joined(source.path, name, tables) for name in names})


def _parse(path: Path, data: bytes, offset: int, line: int) -> pa.Table:
    require_utf8(path, data, offset, line)
    try:
        table = _convert(data, {})
        as_text = {field.name: pa.string() for field in table.schema if pa.types.is_timestamp(field.type)}
        table = _convert(data, as_text).select(table.column_names) if as_text else table
        _refuse_rounded(path, data, table)
    except json.JSONDecodeError:
        raise InputError.because(_reason(path, data, "", line)) from None
    except pa.ArrowInvalid as error:
        raise InputError.because(_reason(path, data, str(error), line)) from None
    return compact(table)


def _convert(data: bytes, kinds: dict[str, pa.DataType]) -> pa.Table:
    return pa.json.read_json(
        pa.BufferReader(data),
        read_options=pa.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pa.json.ParseOptions(explicit_schema=pa.schema(list(kinds.items()))),
    )


def _refuse_rounded(path: Path, data: bytes, table: pa.Table) -> None:
    """The parser rounds whole numbers that are too large, and so could take two people for one."""
    floats = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    large = [name for name in floats if (pc.max(pc.abs(table.column(name))).as_py() or 0) >= EXACT_INTEGERS]
    if not large:
        return
    for line in data.splitlines():
        row = json.loads(line) if line.strip() else {}
        for name in large:
            value = row.get(name)
            if isinstance(value, int) and abs(value) > EXACT_INTEGERS:
                raise InputError(
                    "table.column-holds-whole-numbers-too",
                    "{path}: the column '{name}' holds whole numbers that are too large to be kept exactly:"
                    " put them in quotes",
                    path=path,
                    name=name,
                )


def _reason(path: Path, data: bytes, message: str, first_line: int) -> Reason:
    """What is wrong, without the parser's own words, which may show data."""
    row = re.search(r"in row (\d+)$", message)
    lines = [number for number, text in enumerate(data.split(b"\n"), first_line) if text.strip()]
    line = lines[min(int(row[1]), len(lines) - 1)] if row else 0
    where = Reason("table.path-line-line", "{path}, line {line}", path=path, line=line) if row else str(path)
    changed = re.search(r"Column\(/([^)]*)\) changed from (\w+) to (\w+)", message)
    twice = re.search(r"Column\(/([^)]*)\) was specified twice", message)
    if changed:
        name, one, other = changed.groups()
        return Reason(
            "table.json-read-column-changes",
            "{where}: the column '{name}' changes from {one} to {other}",
            where=where,
            name=name,
            one=one,
            other=other,
        )
    if twice:
        name = twice[1]
        return Reason(
            "table.column-occurs-twice-object",
            "{where}: the column '{name}' occurs twice in one object",
            where=where,
            name=name,
        )
    return Reason(
        "table.not-valid-json-object", "{where}: this is not valid JSON with one object a line", where=where
    )


def _joined(path: Path, name: str, tables: list[pa.Table]) -> pa.ChunkedArray:
    parts = [
        table.column(name) if name in table.column_names else pa.chunked_array([pa.nulls(table.num_rows)])
        for table in tables
    ]
    try:
        return concatenated(parts)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        kinds = " to ".join(dict.fromkeys(_kind(part.type) for part in parts))
        raise InputError(
            "table.column-changes",
            "{path}: the column '{name}' changes from {kinds}",
            path=path,
            name=name,
            kinds=kinds,
        ) from None


def _kind(kind: pa.DataType) -> str:
    if kind == TEXT:
        return "string"
    return "number" if pa.types.is_integer(kind) or pa.types.is_floating(kind) else str(kind)


def _read_array(path: Path, data: bytes, offset: int) -> pa.Table:
    require_utf8(path, data, offset, 1)
    try:
        rows = json.loads(data, object_pairs_hook=_Object)
    except json.JSONDecodeError as error:
        raise InputError(
            "table.line-column-not-valid",
            "{path}, line {lineno}, column {colno}: this is not valid JSON",
            path=path,
            lineno=error.lineno,
            colno=error.colno,
        ) from None
    except RecursionError:
        raise InputError(
            "table.values-nested-too-deeply", "{path}: the values are nested too deeply", path=path
        ) from None
    for number, row in enumerate(rows, 1):
        if not isinstance(row, _Object):
            raise InputError(
                "table.row-array-objects-expected",
                "{path}, row {number}: an array of objects is expected, this is none",
                path=path,
                number=number,
            )
        if row.repeated is not None:
            raise InputError(
                "table.row-column-occurs-twice",
                "{path}, row {number}: the column '{repeated}' occurs twice in one object",
                path=path,
                number=number,
                repeated=row.repeated,
            )
    names = dict.fromkeys(name for row in rows for name in row)
    return compact(pa.table({name: _column(path, name, rows) for name in names}))


class _Object(dict[str, Any]):
    """An object that knows whether it named something twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated: str | None = None
        if len(self) < len(pairs):
            names = [name for name, _ in pairs]
            self.repeated = next(name for name in names if names.count(name) > 1)


def _column(path: Path, name: str, rows: list[_Object]) -> pa.Array:
    try:
        return pa.array([row.get(name) for row in rows])
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        raise InputError(
            "table.column-changes-type-holds",
            "{path}: the column '{name}' changes its type, or holds whole numbers that are too large to be "
            "kept exactly: put them in quotes",
            path=path,
            name=name,
        ) from None
    except UnicodeEncodeError:
        raise InputError(
            "table.column-holds-half-character",
            "{path}: the column '{name}' holds half a character (a lone surrogate)",
            path=path,
            name=name,
        ) from None
