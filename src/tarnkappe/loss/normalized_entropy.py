"""Normalized entropy: which share of the bits of each column is lost."""

from __future__ import annotations

import numpy as np

from tarnkappe.loss.entropy import entropy_of_column
from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.loss.remembered import remembered
from tarnkappe.table import Column, Tuples


@remembered
def entropy_in_all(tuples: Tuples, name: str) -> float:
    """The bits that the values of a column hold, all of which are lost when they become one."""
    counts = tuples.label_counts(name, 0)
    occurring = counts[counts > 0].astype(np.float64)
    return float((occurring * np.log2(tuples.num_rows / occurring)).sum())


class NormalizedEntropy(ColumnLoss):
    """The mean over the columns of non-uniform entropy / its maximum, suppression left out of account.

    The maximum of a column is m times the entropy of its values in the input, which is what is lost when
    all values become one. So every column loses between 0 and 1 and columns with many values do not
    outweigh the others; a column that has one value only loses nothing.

    Always monotone, and its own lower bound, as `entropy` is: the maximum does not depend on the levels.
    """

    name = "normalized-entropy"
    cites = ("dewaal1999",)
    considers_suppression = False

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        in_all = entropy_in_all(tuples, column.name)
        return entropy_of_column(tuples, column.name, level) / in_all if in_all else 0.0

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return True
