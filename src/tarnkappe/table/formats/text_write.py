"""Writing CSV and JSON lines, in UTF-8."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.rendering import Render, interleaved, pieces, refuse_kinds, rendered, with_point

NEEDS_QUOTES = r"""^$|^['\x{feff}]|^\s|\s$|[\x00-\x1f\\",;|]"""
"""Fields to be quoted: the empty text (without quotes it would be missing) and everything that a
reader could take for a delimiter, a quote, an end of line, an end of data or a byte order mark. That
all usual delimiters are quoted, not only the one in use, leaves no doubt which one that is."""


def csv_blocks(
    table: pa.Table, delimiter: str, progress: Progress | None = None, *, header: bool = True
) -> Iterator[memoryview]:
    """A table as CSV; a missing value is an empty field, an empty text a quoted one."""
    refuse_kinds(table.schema, "CSV")
    names = table.column_names
    csv_fields = partial(quoted_fields, needs_quotes=f"{NEEDS_QUOTES}|{re.escape(delimiter)}")
    between = ["", *[delimiter] * (len(names) - 1), "\n"]
    if header:
        fields = [csv_fields("", pa.array([name])).cast(pa.large_string()) for name in names]
        yield interleaved(between, fields)
    for piece in pieces(table, progress):
        yield interleaved(between, [rendered(piece, name, csv_fields, "") for name in names])


def quoted_fields(name: str, texts: pa.Array, needs_quotes: str = NEEDS_QUOTES) -> pa.Array:
    """Texts as fields of CSV, quoted where they must be.

    >>> quoted_fields("", pa.array(["01234", "", "x;y", 'a "b" c'])).to_pylist()
    ['01234', '""', '"x;y"', '"a ""b"" c"']
    """
    if pc.any(pc.match_substring(texts, "\0")).as_py():
        raise ColumnError(f"the column '{name}' holds a NUL byte: it cannot be written as text")
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
    return pc.if_else(pc.match_substring_regex(texts, needs_quotes), quoted, texts)


def json_blocks(table: pa.Table, progress: Progress | None = None) -> Iterator[memoryview]:
    """A table as JSON, one object a line; a missing value is null."""
    refuse_kinds(table.schema, "JSON")
    names = [json.dumps(name, ensure_ascii=False) + ":" for name in table.column_names]
    between = ["{" + names[0], *("," + name for name in names[1:]), "}\n"]
    for piece in pieces(table, progress):
        fields = [rendered(piece, field.name, _json_fields(field.type), "null") for field in piece.schema]
        yield interleaved(between, fields)


def _json_fields(kind: pa.DataType) -> Render:
    if pa.types.is_floating(kind):
        return with_point
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return lambda _, texts: texts
    return lambda _, texts: pa.array(
        [json.dumps(text, ensure_ascii=False) for text in texts.to_pylist()], pa.string()
    )
