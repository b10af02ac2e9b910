"""Losses in which every cell loses a share of its domain."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.loss.side import smaller_side
from tarnkappe.native import compiled
from tarnkappe.table import Column, State, Tuples
from tarnkappe.table.grouping import Codes, Counts

Extents = npt.NDArray[np.int64] | npt.NDArray[np.float64]


class Extent(NamedTuple):
    """What the cells of one column at one level lose, all rows kept.

    Attributes:
        of_value: for each original value, how much of the domain its label hides.
        total: the sum over all rows.
        whole: what a suppressed cell loses; 0 if there is but one value, and so nothing to hide.
    """

    of_value: Extents
    total: float
    whole: float


@dataclasses.dataclass(frozen=True)
class ShareLoss(ColumnLoss):
    """The mean over all cells of the share of the domain that the cell hides; a suppressed cell hides all.

    A column loses (sum over its kept cells of share + u) / m, so between 0 and 1.

    Monotone only without suppression: a label hides no less than the labels under it, but with
    suppression a generalization may save rows that were charged in full.

    Lower bound: the loss while every row is kept. A cell that is suppressed loses 1, which is no less
    than what it loses when kept, and a generalization hides no less of any cell.
    """

    considers_suppression = True

    @abstractmethod
    def extent(self, tuples: Tuples, column: Column, level: int) -> Extent:
        """What the cells of a column lose at a level."""

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        extent = self.extent(tuples, column, level)
        return extent.total / (tuples.num_rows * extent.whole) if extent.whole else 0.0

    def by_column(self, state: State) -> list[float]:
        suppressed = state.suppressed_rows
        if suppressed == 0:
            return super().by_column(state)
        classes, rows, side = state.classes, state.classes.num_rows, smaller_side(state)
        losses = []
        for column, level in zip(classes.quasi_identifiers, classes.levels, strict=True):
            of_value, total, whole = self.extent(classes.tuples, column, level)
            if whole == 0:
                losses.append(suppressed / rows)
                continue
            part = _sum_over_classes(of_value, column.codes, side.representatives, side.sizes) if total else 0
            hidden = part if side.is_kept else max(total - part, 0)
            losses.append((hidden + suppressed * whole) / (rows * whole))
        return losses

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression


@compiled
def _sum_over_classes(of_value: Extents, codes: Codes, representatives: Counts, sizes: Counts) -> float:
    total: float = 0 * of_value[0]  # whole numbers stay whole
    for index in range(len(sizes)):
        total += sizes[index] * of_value[codes[representatives[index]]]
    return total
