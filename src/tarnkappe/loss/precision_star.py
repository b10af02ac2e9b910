"""Precision by levels only: how far up its hierarchy each column was brought."""

from __future__ import annotations

from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.table import Column, Tuples


def share_of_height(column: Column, level: int) -> float:
    """How far up the hierarchy a level is, from 0 to 1; a column that cannot be generalized stays at 0."""
    height = 0 if column.levels is None else column.levels.height
    return level / height if height else 0.0


class PrecisionStar(ColumnLoss):
    """The mean over the columns of level / highest level, suppression left out of account.

    This is 1 - PM*, PM* being the simplified precision: 0 for untouched data, 1 at the top.

    Always monotone, and its own lower bound: a generalization has no lower level in any column.
    """

    name = "precision-star"
    cites = ("sweeney2002achieving",)
    data_independent = True
    considers_suppression = False

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        return share_of_height(column, level)

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return True
