"""Writing CSV and JSON lines, in UTF-8."""

from __future__ import annotations

import codecs
import dataclasses
import json
import re
from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.csv_header import NUMBERING
from tarnkappe.table.formats.rendering import (
    Render,
    interleaved,
    pieces,
    plain_schema,
    refuse_kinds,
    rendered,
    with_point,
)
from tarnkappe.table.spelling.marks import MARKS
from tarnkappe.table.spelling.quantities import is_quantity

NEEDS_QUOTES = r"""^$|^['\x{feff}]|^\s|\s$|[\x00-\x1f\\",;|]|^(?:""" + "|".join(map(re.escape, MARKS)) + ")$"
"""Fields to be quoted: the empty text and words that without quotes would be missing, and everything that a
reader could take for a delimiter, a quote, an end of line, an end of data or a byte order mark. That
all usual delimiters are quoted, not only the one in use, leaves no doubt which one that is."""

NUMBER = r"^-?[0-9]+(?:[.,][0-9]+)+$"

FORMULA = r"^[=+\-@]"
"""Text that a spreadsheet program would take for a formula."""


@dataclasses.dataclass(frozen=True)
class CsvStyle:
    """How a CSV file is written.

    Attributes:
        delimiter: between fields.
        line_end: behind every row.
        mark: whether it begins with a byte order mark, by which spreadsheet programs know UTF-8.
        missing: of some columns, how a missing value is written; elsewhere it is an empty field.
        decimal_comma: whether plain numbers are written with a decimal comma.
        guard_formulas: whether an apostrophe keeps text from being taken for a formula.
        bare_numbers: whether numbers with commas stand without quotes, as in the file that was read.
    """

    delimiter: str = ","
    line_end: str = "\n"
    mark: bool = False
    missing: Mapping[str, str] = dataclasses.field(default_factory=dict)
    decimal_comma: bool = False
    guard_formulas: bool = False
    bare_numbers: bool = False


def csv_blocks(
    table: pa.Table, style: CsvStyle, progress: Progress | None = None, *, header: bool = True
) -> Iterator[memoryview]:
    """A table as CSV; a missing value is an empty field or its column's word, an empty text is quoted."""
    refuse_kinds(table.schema, "CSV")
    names = table.column_names
    needs_quotes = f"{NEEDS_QUOTES}|{re.escape(style.delimiter)}"
    between = ["", *[style.delimiter] * (len(names) - 1), style.line_end]
    if style.mark:
        yield memoryview(codecs.BOM_UTF8)
    if header:
        fields = [_name_field(name, place, needs_quotes) for place, name in enumerate(names)]
        yield interleaved(between, fields)
    renders = [_csv_fields(field.type, style, needs_quotes) for field in plain_schema(table.schema)]
    for piece in pieces(table, progress):
        columns = [
            rendered(piece, name, render, style.missing.get(name, ""))
            for name, render in zip(names, renders, strict=True)
        ]
        yield interleaved(between, columns)


def _name_field(name: str, place: int, needs_quotes: str) -> pa.Array:
    """The name of a column; one that could be taken for a number or for none stands in quotes."""
    doubtful = is_quantity(name) or (place == 0 and name.strip().lower() in NUMBERING)
    return quoted_fields("", pa.array([name]), "" if doubtful else needs_quotes).cast(pa.large_string())


def _csv_fields(kind: pa.DataType, style: CsvStyle, needs_quotes: str) -> Render:
    is_number = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)

    def fields(name: str, texts: pa.Array) -> pa.Array:
        if style.decimal_comma and is_number:
            texts = pc.replace_substring(texts, ".", ",")
        if style.guard_formulas and is_text:
            guarded = pc.binary_join_element_wise("'", texts, "")
            texts = pc.if_else(_is_formula(texts), guarded, texts)
        bare = NUMBER if style.bare_numbers and style.delimiter != "," else None
        return quoted_fields(name, texts, needs_quotes, bare)

    return fields


def _is_formula(texts: pa.Array) -> pa.Array:
    """Which texts a spreadsheet program would compute; a negative number is none."""
    number = pc.match_substring_regex(texts, r"^-[0-9]+(?:[.,][0-9]+)*$")
    return pc.and_(pc.match_substring_regex(texts, FORMULA), pc.invert(number))


def quoted_fields(
    name: str, texts: pa.Array, needs_quotes: str = NEEDS_QUOTES, bare: str | None = None
) -> pa.Array:
    """Texts as fields of CSV, quoted where they must be.

    >>> quoted_fields("", pa.array(["01234", "", "x;y", 'a "b" c'])).to_pylist()
    ['01234', '""', '"x;y"', '"a ""b"" c"']
    """
    if pc.any(pc.match_substring(texts, "\0")).as_py():
        raise ColumnError(
            "table.column-holds-nul-byte",
            "the column '{name}' holds a NUL byte: it cannot be written as text",
            name=name,
        )
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
    needed = pc.match_substring_regex(texts, needs_quotes)
    if bare is not None:
        needed = pc.and_(needed, pc.invert(pc.match_substring_regex(texts, bare)))
    return pc.if_else(needed, quoted, texts)


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
