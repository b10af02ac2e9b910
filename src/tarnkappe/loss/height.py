"""Height: how many generalization steps were taken in all."""

from __future__ import annotations

from tarnkappe.loss.aggregate import AggregateFunction
from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.table import Column, Tuples


class Height(ColumnLoss):
    """The sum of the levels. Simple, with many ties; tall hierarchies weigh more than flat ones.

    Always monotone, and its own lower bound: a generalization has no lower level in any column.
    """

    name = "height"
    cites = ("samarati2001",)
    data_independent = True
    considers_suppression = False
    default_aggregate = AggregateFunction.SUM

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        return float(level)

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return True
