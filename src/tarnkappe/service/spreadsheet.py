"""Against formulas: a cell that a spreadsheet program would run instead of show gets an apostrophe.

Whoever writes `=HYPERLINK(...)` into a field of a form would otherwise have it run by who opens the release.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.table.formats.rendering import plain, together

FORMULA = r"^[\s\x00]*[=+\-@＝＋－＠]|^[\t\r\n]"
NUMBER = r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?%?$"
"""What begins with a sign and is a number is no formula."""


def neutral(table: pa.Table) -> pa.Table:
    """The same table, in which no text and no column name begins as a formula does.

    >>> neutral(pa.table({"a": ["=1+1", "-5", "ok"], "b": [-1, 2, 3]})).to_pydict()
    {'a': ["'=1+1", '-5', 'ok'], 'b': [-1, 2, 3]}
    """
    rows = plain(table)
    columns = [_texts(column) if _is_text(column.type) else column for column in rows.columns]
    names = _texts(pa.chunked_array([pa.array(rows.column_names, pa.string())])).to_pylist()
    return pa.Table.from_arrays(columns, names)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    texts = column.cast(pa.large_string())
    risky = pc.and_not(pc.match_substring_regex(texts, FORMULA), pc.match_substring_regex(texts, NUMBER))
    return pc.if_else(risky, together("'", texts), texts)
