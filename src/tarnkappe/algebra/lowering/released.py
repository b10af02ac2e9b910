"""The order in which rows leave the house: a random one, or the one that was asked for.

The stored order of rows would link two releases of the same table row by row, and would show where the
buckets of slicing end. So rows are shuffled before they are sorted, and rows that an order leaves equal stay
shuffled.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.recoding.randomness import Chance


def in_public_order(table: pa.Table, order: Sequence[tuple[str, bool]], chance: Chance | None) -> pa.Table:
    """The rows shuffled, and then sorted by columns, each with whether it descends. Missing values are least.

    >>> table = pa.table({"a": [2, None, 1]})
    >>> in_public_order(table, [("a", True)], Chance()).column("a").to_pylist()
    [2, 1, None]
    """
    if chance is not None and table.num_rows > 1:
        table = table.take(pa.array(chance.order(table.num_rows)))
    for column, descends in reversed(order):
        cells = table.column(column)
        values = pa.table({"missing": cells.is_null(), "cell": cells})
        first, then = ("ascending", "descending") if descends else ("descending", "ascending")
        table = table.take(pc.sort_indices(values, sort_keys=[("missing", first), ("cell", then)]))
    return table
