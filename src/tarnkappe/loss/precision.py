"""Precision: how far up its hierarchy each cell was brought, suppressed cells all the way."""

from __future__ import annotations

import dataclasses

from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.loss.precision_star import share_of_height
from tarnkappe.table import Column, State, Tuples


@dataclasses.dataclass(frozen=True)
class Precision(ColumnLoss):
    """The mean over all cells of level / highest level (Sweeney 2002), every suppressed cell counting 1.

    This is 1 - PM, PM being the precision. A column with x = level / highest level loses

        ((m - u) x + u) / m  =  x + (1 - x) u / m.

    Monotone only without suppression, where x is all: with it, a higher level may save more rows from
    suppression than it costs in levels.

    Lower bound: `precision-star`. Since x <= 1, the loss of a column is at least x, and a generalization
    has no smaller x.
    """

    name = "precision"
    considers_suppression = True

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        return share_of_height(column, level)

    def by_column(self, state: State) -> list[float]:
        rows, suppressed = state.classes.num_rows, state.suppressed_rows
        return [((rows - suppressed) * share + suppressed) / rows for share in super().by_column(state)]

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression
