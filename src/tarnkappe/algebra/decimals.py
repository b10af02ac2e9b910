"""Decimal numbers in files of text: `9.50` is a number in a query, and `01067` is none.

Files of text are read so that every cell keeps its very characters, which a binary number would lose for
9.50. In a query such a column would be compared as text, and 100.00 would come before 20. So it becomes a
decimal with as many digits after the point as the longest cell has; nothing but trailing zeros is added.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

DECIMAL = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
"""As people write numbers: no zeros in front, no exponent, no sign but a minus."""

MOST_DIGITS = 38


def with_decimals(table: pa.Table) -> pa.Table:
    """The table with columns of decimal numbers as such; all others are as they were.

    >>> text = pa.table({"price": pa.array(["9.50", None, "100.00"]), "plz": ["01067", "18055", "18057"]})
    >>> [str(kind) for kind in with_decimals(text).schema.types]
    ['decimal128(5, 2)', 'string']
    """
    for place, field in enumerate(table.schema):
        values = _decimals(table.column(place))
        if values is not None:
            table = table.set_column(place, field.name, values)
    return table


def _decimals(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    is_dictionary = pa.types.is_dictionary(column.type)
    if not pa.types.is_string(column.type.value_type if is_dictionary else column.type):
        return None
    texts = column.cast(pa.string()) if is_dictionary else column
    distinct = pc.drop_null(pc.unique(texts))
    if not len(distinct) or not pc.all(pc.match_substring_regex(distinct, DECIMAL)).as_py():
        return None
    point = pc.find_substring(distinct, ".")
    length = pc.utf8_length(distinct)
    whole = pc.max(pc.if_else(pc.less(point, 0), length, point)).as_py()
    scale = pc.max(pc.if_else(pc.less(point, 0), 0, pc.subtract(pc.subtract(length, point), 1))).as_py()
    if whole + scale > MOST_DIGITS:
        return None
    return pc.cast(texts, pa.decimal128(whole + scale, scale))
