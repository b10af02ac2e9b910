"""From the input table to the rows that may leave the house."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.table import Column, Table

Rows = npt.NDArray[np.int64]


def generalized(column: Column, level: int) -> pa.Array:
    """A column at a level: its own values at level 0, labels above."""
    codes = pa.array(column.codes, pa.int32())
    if level == 0 or column.levels is None:
        return column.values.take(codes)
    labels = pa.array(column.levels.labels[level], pa.string())
    return labels.take(pa.array(column.levels.maps[level][column.codes], pa.int32()))


def release_table(table: Table, recoded: Mapping[str, pa.Array], rows: Rows) -> Table:
    """The chosen rows in the chosen order, without identifiers and without columns that have no role.

    Args:
        table: the input.
        recoded: its quasi-identifiers as they are written, row by row.
        rows: the rows to release, in the order of the release.
    """
    chosen = pa.array(rows)
    names = table.published
    data = {name: recoded.get(name, plain(table.data.column(name))).take(chosen) for name in names}
    return Table(pa.table(data), {name: table.roles[name] for name in names})


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without its dictionary: a dictionary would tell values of rows that are not released."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def random_order(num_rows: int, seed: int | None = None) -> Rows:
    """A random permutation: from the operating system's randomness, or from a seed for tests."""
    if seed is not None:
        return np.random.default_rng(seed).permutation(num_rows)
    keys = np.frombuffer(os.urandom(8 * num_rows), dtype=np.uint64)
    return np.argsort(keys).astype(np.int64)
