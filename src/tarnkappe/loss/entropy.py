"""Non-uniform entropy: how many bits it takes to get the original values back from the generalized ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tarnkappe.loss.aggregate import AggregateFunction
from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.loss.remembered import remembered
from tarnkappe.table import Column, Tuples


def counts_before_and_after(
    tuples: Tuples, name: str, level: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """For each value that occurs, in how many rows it does, and in how many its label at a level does."""
    before = tuples.label_counts(name, 0)
    after = tuples.label_counts(name, level)
    levels = tuples.columns[name].levels
    if levels is not None and level > 0:
        after = after[levels.maps[level]]
    occurs = before > 0
    return before[occurs].astype(np.float64), after[occurs].astype(np.float64)


@remembered
def entropy_of_column(tuples: Tuples, name: str, level: int) -> float:
    """The bits lost by bringing one column to a level; all rows count, suppressed or not."""
    before, after = counts_before_and_after(tuples, name, level)
    return float((before * np.log2(after / before)).sum())


class Entropy(ColumnLoss):
    """Non-uniform entropy NUEM (De Waal and Willenborg 1999), suppression left out of account.

    With X the share of the rows with the same generalized value that have the same original value, it
    is the sum over all cells of log2 1/X: 0 for untouched data, at most m n log2 m.

    Always monotone, and its own lower bound: generalization merges labels, so X never grows.
    """

    name = "entropy"
    cites = ("dewaal1999",)
    considers_suppression = False
    default_aggregate = AggregateFunction.SUM

    @property
    def measures_cells(self) -> bool:
        return True

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        return entropy_of_column(tuples, column.name, level)

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return True
