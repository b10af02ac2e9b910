"""The categories of sensitive columns in a release, some cells of which may be suppressed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import SUPPRESSED, Column, Levels, Tuples


def with_levels(tuples: Tuples, hierarchies: Mapping[str, Hierarchy]) -> Tuples:
    """The same tuples, some columns with their hierarchies; a column that is suppressed needs none."""
    shown = {n: h for n, h in hierarchies.items() if tuples.columns[n].labels != (SUPPRESSED,)}
    return tuples.with_levels({name: _levels(h, tuples.columns[name]) for name, h in shown.items()})


def _levels(hierarchy: Hierarchy, column: Column) -> Levels:
    """The generalization of a column; suppressed cells, which count nowhere, need no line of their own."""
    if SUPPRESSED not in column.labels or SUPPRESSED in hierarchy.values:
        return hierarchy.encode(column)
    star = column.labels.index(SUPPRESSED)
    values = pa.concat_arrays([column.values[:star], column.values[star + 1 :]])
    levels = hierarchy.encode(Column(column.name, np.arange(len(values), dtype=np.int32), values))
    # They are filed under the categories of any other value, so that every category has one parent.
    maps = [np.insert(codes, star, codes[0]) for codes in levels.maps[1:]]
    return Levels(
        (np.arange(column.cardinality, dtype=np.int32), *maps),
        (column.labels, *levels.labels[1:]),
        (np.ones(column.cardinality, np.int64), *levels.leaves[1:]),
    )
