"""Rows as text, put together by Arrow: every distinct value of a piece of a table is rendered once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError
from tarnkappe.table.encoding import Progress, as_text

PIECE = 2**16
"""So many rows are rendered at a time."""

WITHOUT_TEXT = (
    pa.types.is_nested,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
    pa.types.is_duration,
    pa.types.is_interval,
)

Render = Callable[[str, pa.Array], pa.Array]
"""Makes fields of the texts of a column; its name is for what must be refused."""


def pieces(table: pa.Table, progress: Progress | None, rows: int = PIECE) -> Iterator[pa.Table]:
    """A table in pieces, each without dictionaries.

    A dictionary may hold values that no row has any more, such as those of suppressed rows. Nothing
    of it may get into what is written.
    """
    for start in range(0, table.num_rows, rows):
        yield plain(table.slice(start, rows))
        if progress:
            progress("writing", min(start + rows, table.num_rows), table.num_rows)


def plain(table: pa.Table) -> pa.Table:
    """The same table without dictionaries and without metadata."""
    return table.cast(plain_schema(table.schema))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns without dictionaries and without metadata."""
    return pa.schema(
        [
            (field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
            for field in schema
        ]
    )


def refuse_kinds(schema: pa.Schema, form: str) -> None:
    """Refuse columns whose values have no form as text from which they could be read again."""
    for field in plain_schema(schema):
        if any(is_refused(field.type) for is_refused in WITHOUT_TEXT):
            raise ColumnError(
                "table.column-holds-values-cannot-hold",
                "the column '{field}' holds {type} values: {form} cannot hold them",
                field=field.name,
                type=field.type,
                form=form,
            )


def rendered(piece: pa.Table, name: str, render: Render, missing: str) -> pa.Array:
    """One column of a piece as text, with something for missing values."""
    column = piece.column(name).combine_chunks()
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    encoded = column.dictionary_encode()
    fields = render(name, as_text(encoded.dictionary)).cast(pa.large_string())
    return fields.take(encoded.indices).fill_null(missing)


def with_point(name: str, texts: pa.Array) -> pa.Array:
    """Floating point numbers, with a point even where they are whole, so that they are read as such.

    >>> with_point("weight", pa.array(["80", "79.5", "1e-7"])).to_pylist()
    ['80.0', '79.5', '1e-7']
    """
    if pc.any(pc.match_substring_regex(texts, "[nN]")).as_py():
        raise ColumnError(
            "table.column-holds-nan-infinity",
            "the column '{name}' holds NaN or infinity: the format has no such numbers",
            name=name,
        )
    whole = pc.match_substring_regex(texts, r"^-?\d+$")
    return pc.if_else(whole, pc.binary_join_element_wise(texts, ".0", ""), texts)


def interleaved(between: Sequence[str | pa.Array], columns: Sequence[pa.Array]) -> memoryview:
    """The rows of some columns with text before, between and behind them, one after the other."""
    parts = [between[0]]
    for column, text in zip(columns, between[1:], strict=True):
        parts += [column, text]
    rows = together(*parts)
    end = pc.sum(pc.binary_length(rows)).as_py()
    return memoryview(rows.buffers()[2])[:end]


def together(*parts: str | pa.Array) -> pa.Array:
    """Texts put together, row by row; a plain text is the same in every row."""
    return pc.binary_join_element_wise(*map(_large, parts), _large(""))


def _large(text: str | pa.Array) -> pa.Array | pa.Scalar:
    """Text with offsets of 64 bits, so that no piece is too long."""
    return pa.scalar(text, pa.large_string()) if isinstance(text, str) else text.cast(pa.large_string())
