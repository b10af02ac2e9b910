"""Types for text: a column of text becomes numbers or dates only where nothing is lost by it.

The test is exact: turned back into text (as `as_text` does, so as hierarchies and releases show the
values), every distinct value must give the very characters it had. Postcodes like 01234 therefore
stay text, and so does every column with one value like +5, 1e5 or 12.50.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.table.encoding import as_text, with_one_dictionary

TEXT = pa.dictionary(pa.int32(), pa.string())
"""How columns of text are kept: each distinct value once, and where it occurs."""

TYPES = (
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.date32(),
    pa.timestamp("s"),
    pa.timestamp("ms"),
    pa.timestamp("us"),
    pa.timestamp("ns"),
)
"""The types that are tried, in this order."""

GLANCE = 64
"""So many values are tried first, since most columns of text show at once that they are text."""


def exactly_typed(column: pa.DictionaryArray) -> pa.Array:
    """Text as numbers, booleans, dates or times where converting back gives the same text, else as it is.

    >>> exactly_typed(pa.array(["1", None, "30"]).dictionary_encode()).to_pylist()
    [1, None, 30]
    >>> exactly_typed(pa.array(["01234", "1"]).dictionary_encode()).to_pylist()
    ['01234', '1']
    """
    values = typed_values(column.dictionary)
    return column if values is None else values.take(column.indices)


def typed_values(distinct: pa.StringArray) -> pa.Array | None:
    """Distinct texts as values of the first type that reproduces all of them, or None."""
    if len(distinct) == 0:
        return None
    for kind in TYPES:
        if _converted(distinct.slice(0, GLANCE), kind) is not None:
            values = _converted(distinct, kind)
            if values is not None:
                return values
    return None


def _converted(texts: pa.StringArray, kind: pa.DataType) -> pa.Array | None:
    try:
        values = pc.cast(texts, kind)
    except pa.ArrowInvalid:
        return None
    if pa.types.is_floating(kind) and not pc.all(pc.is_finite(values)).as_py():
        return None  # "nan" and "inf" are words before they are numbers
    return values if as_text(values).equals(texts) else None


def joined(blocks: Sequence[pa.Array]) -> pa.ChunkedArray:
    """One column from blocks that `exactly_typed` looked at one by one.

    Where they came out with different types, they are turned back into text, which loses nothing,
    and looked at as a whole.
    """
    kinds = {block.type for block in blocks if block.null_count < len(block)}
    if len(kinds) == 1 and TEXT not in kinds:
        (kind,) = kinds
        return pa.chunked_array(
            [block if block.type == kind else pa.nulls(len(block), kind) for block in blocks], kind
        )
    column = with_one_dictionary(pa.chunked_array([_text(block) for block in blocks], TEXT))
    if TEXT in kinds or column.num_chunks != 1:
        return column
    return pa.chunked_array([exactly_typed(column.chunk(0))])


def _text(block: pa.Array) -> pa.Array:
    return block if block.type == TEXT else as_text(block).dictionary_encode()


def compact(table: pa.Table) -> pa.Table:
    """The same table with every column of text kept by its distinct values."""
    return pa.table(
        {
            field.name: column.cast(pa.string()).dictionary_encode() if is_text(field.type) else column
            for field, column in zip(table.schema, table.columns, strict=True)
        }
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is plain text, in whichever of its layouts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def concatenated(parts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """One column from parts of kindred types; Arrow's type errors tell where they are not kindred."""
    tables = [pa.table({"": part}) for part in parts]
    column = pa.concat_tables(tables, promote_options="permissive").column(0)
    if pa.types.is_null(column.type):
        return column.cast(TEXT)
    return with_one_dictionary(column) if column.type == TEXT else column
