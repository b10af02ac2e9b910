"""Kinds of values: those that the package computes with, those that become such, and those that it leaves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

MOST_DIGITS = 38
"""Decimals of so many digits are known everywhere; longer ones stay whole as text."""
NANOSECONDS = 1_000_000_000


def value_kind(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a column, whether it has a dictionary or not."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_bytes(kind: pa.DataType) -> bool:
    """Whether values are raw bytes, in whichever of their layouts."""
    kind = value_kind(kind)
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def is_plain(kind: pa.DataType) -> bool:
    """Whether values can be compared, generalized and written: neither raw bytes nor nested.

    >>> is_plain(pa.int64()), is_plain(pa.binary()), is_plain(pa.list_(pa.int64()))
    (True, False, False)
    """
    return not is_bytes(kind) and not pa.types.is_nested(value_kind(kind))


def plain_names(schema: pa.Schema, names: Iterable[str] | None = None) -> list[str]:
    """Those of some columns, or of all, that hold plain values."""
    return [name for name in (schema.names if names is None else names) if is_plain(schema.field(name).type)]


def in_known_kinds(data: pa.Table) -> pa.Table:
    """The same values in types that everything can compute with; what has none becomes text.

    >>> in_known_kinds(pa.table({"x": pa.array([1.5], pa.float16())})).schema.field("x").type
    DataType(float)
    """
    came = data.columns
    columns = [_known(column) for column in came]
    if all(new is old for new, old in zip(columns, came, strict=True)):
        return data
    return pa.table(columns, data.column_names).replace_schema_metadata(data.schema.metadata)


def _known(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        values = pa.chunked_array([chunk.dictionary for chunk in column.chunks], kind.value_type)
        return column if _known(values) is values else _known(column.cast(kind.value_type))
    if isinstance(kind, pa.BaseExtensionType):
        return _without_extension(column)
    if pa.types.is_run_end_encoded(kind):
        chunks = [pc.run_end_decode(chunk) for chunk in column.chunks]
        return _known(pa.chunked_array(chunks, kind.value_type))
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_decimal(kind) and (not pa.types.is_decimal128(kind) or kind.scale < 0):
        return _known_decimals(column)
    if pa.types.is_interval(kind):
        return _as_text(column, _duration)
    if pa.types.is_string_view(kind):
        return column.cast(pa.string())
    return column


def _without_extension(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if isinstance(column.type, pa.UuidType):
        return _as_text(column, str)
    if isinstance(column.type, pa.Bool8Type):
        return column.cast(pa.bool_())
    storage = column.type.storage_type
    return _known(pa.chunked_array([chunk.storage for chunk in column.chunks], storage))


def _known_decimals(column: pa.ChunkedArray) -> pa.ChunkedArray:
    digits = column.type.precision - min(column.type.scale, 0)
    scale = max(column.type.scale, 0)
    try:
        if column.type.scale < 0:
            return pa.chunked_array([column.to_pylist()], pa.decimal128(min(digits, MOST_DIGITS), scale))
        return column.cast(pa.decimal128(min(digits, MOST_DIGITS), scale))
    except pa.ArrowInvalid:
        return _as_text(column, lambda value: f"{value:f}")


def _as_text(column: pa.ChunkedArray, shown: Any) -> pa.ChunkedArray:
    texts = [None if value is None else shown(value) for value in column.to_pylist()]
    return pa.chunked_array([texts], pa.string())


def _duration(value: pa.MonthDayNano) -> str:
    """Months, days and seconds as ISO 8601 writes them.

    >>> _duration(pa.MonthDayNano([1, 2, 3_500_000_000]))
    'P1M2DT3.5S'
    """
    whole, rest = divmod(abs(value.nanoseconds), NANOSECONDS)
    seconds = f"{'-' if value.nanoseconds < 0 else ''}{whole}.{rest:09d}".rstrip("0").rstrip(".")
    return f"P{value.months}M{value.days}DT{seconds}S"
