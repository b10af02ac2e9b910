"""Non-uniform entropy: how many bits it takes to get the original values back from the generalized ones."""

from __future__ import annotations

import dataclasses

import numpy as np

from tarnkappe.loss.measure import Aggregate, ColumnLoss, PerColumn
from tarnkappe.table import State, Tuples


def entropy_of_column(tuples: Tuples, name: str, level: int) -> float:
    """The bits lost by bringing one column to a level; all rows count, suppressed or not.

    Under full-domain generalization only the frequencies of the values before and after matter, so
    this is computed once per column and level and never looks at a row again.
    """
    cache: dict[tuple[str, int], float] = tuples.__dict__.setdefault("_entropy_of_column", {})
    if (name, level) not in cache:
        column = tuples.columns[name]
        before = tuples.label_counts(name, 0).astype(np.float64)
        after = tuples.label_counts(name, level).astype(np.float64)
        if column.levels is not None and level > 0:
            after = after[column.levels.maps[level]]
        occurs = before > 0
        cache[name, level] = float((before[occurs] * np.log2(after[occurs] / before[occurs])).sum())
    return cache[name, level]


@dataclasses.dataclass(frozen=True)
class Entropy(ColumnLoss):
    """Non-uniform entropy over all rows, suppression left out of account (De Waal and Willenborg 1999)."""

    name = "entropy"
    considers_suppression = False
    default_aggregate = Aggregate.SUM

    def by_column(self, state: State) -> PerColumn:
        classes = state.classes
        return np.array(
            [
                entropy_of_column(classes.tuples, column.name, level)
                for column, level in zip(classes.quasi_identifiers, classes.levels, strict=True)
            ]
        )

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return True

    def lower_bound(self, state: State) -> float:
        return self(state)
