"""The order in which rows leave the house: a random one, or the one that was asked for.

The stored order of rows would link two releases of the same table row by row, and would show where the
buckets of slicing end. So rows are shuffled before they are sorted, and rows that an order leaves equal stay
shuffled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from tarnkappe.recoding.randomness import Chance

MOST_CODES = 65_536
"""Different texts of a column that is kept as codes; with more, a dictionary costs as much as the texts."""


def in_public_order(table: pa.Table, order: Sequence[tuple[str, bool]], chance: Chance | None) -> pa.Table:
    """The rows shuffled, and then sorted by columns, each with whether it descends. Missing values are least.

    >>> from tarnkappe.recoding.randomness import Chance
    >>> table = pa.table({"a": [2, None, 1]})
    >>> in_public_order(table, [("a", True)], Chance()).column("a").to_pylist()
    [2, 1, None]
    """
    if chance is not None and table.num_rows > 1:
        # Codes are moved: to gather five million texts takes eight times as long.
        table = coded(table).combine_chunks().take(pa.array(chance.order(table.num_rows)))
    for column, descends in reversed(order):
        cells = table.column(column)
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        values = pa.table({"missing": cells.is_null(), "cell": cells})
        first, then = ("ascending", "descending") if descends else ("descending", "ascending")
        table = table.take(pc.sort_indices(values, sort_keys=[("missing", first), ("cell", then)]))
    return table


def coded(table: pa.Table) -> pa.Table:
    """The rows with texts as dictionaries, where they have few different values.

    >>> coded(pa.table({"a": ["x", "y", "x"]})).column("a").chunk(0).indices.to_pylist()
    [0, 1, 0]
    """
    for place, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            codes = column.unify_dictionaries()
        elif pa.types.is_string(column.type) and _repeats(column):
            codes = column.dictionary_encode()
        else:
            continue
        if not codes.num_chunks or len(codes.chunk(0).dictionary) <= MOST_CODES:
            table = table.set_column(place, table.column_names[place], codes)
    return table


def _repeats(column: pa.ChunkedArray) -> bool:
    """Whether the first rows say that a column has few different values: to encode others is in vain."""
    first = column.slice(0, MOST_CODES)
    return bool(pc.count_distinct(first).as_py() <= max(len(first) // 4, 256))


def decoded(table: pa.Table) -> pa.Table:
    """The rows with all texts as they are."""
    for place, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            table = table.set_column(place, table.column_names[place], column.cast(column.type.value_type))
    return table
