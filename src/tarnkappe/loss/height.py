"""Height: how many generalization steps were taken in all."""

from __future__ import annotations

import dataclasses

import numpy as np

from tarnkappe.loss.measure import Aggregate, ColumnLoss, PerColumn
from tarnkappe.table import State


@dataclasses.dataclass(frozen=True)
class Height(ColumnLoss):
    """The sum of the levels. Simple, with many ties; tall hierarchies weigh more than flat ones."""

    name = "height"
    data_independent = True
    considers_suppression = False
    default_aggregate = Aggregate.SUM

    def by_column(self, state: State) -> PerColumn:
        return np.array(state.classes.levels, dtype=np.float64)

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return True

    def lower_bound(self, state: State) -> float:
        return self(state)
