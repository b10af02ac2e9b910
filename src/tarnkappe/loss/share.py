"""Losses in which every cell loses a share of its domain.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.loss.coding import CodedLoss
from tarnkappe.loss.measure import Charges
from tarnkappe.loss.side import smaller_side
from tarnkappe.native import compiled
from tarnkappe.table import Classes, ClassState, Column, Tuples
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


class ShareLoss(CodedLoss):
    """The mean over all cells of the share of the domain that the cell hides; a suppressed cell hides all.

    A column loses (sum over its kept cells of share + u) / m, so between 0 and 1; the coding model may
    set other prices. A label hides no less than the labels under it, so monotonicity and bound are those
    of `CodedLoss`.
    """

    @property
    def measures_cells(self) -> bool:
        return True

    @abstractmethod
    def extent(self, tuples: Tuples, column: Column, level: int) -> Extent:
        """What the cells of a column lose at a level."""

    def mean_share(self, tuples: Tuples, column: Column, level: int, most: float = 1.0) -> float:
        of_value, total, whole = self.extent(tuples, column, level)
        if whole == 0:
            return 0.0
        if most < 1:
            total = float((tuples.label_counts(column.name, 0) * np.minimum(of_value, most * whole)).sum())
        return total / (tuples.num_rows * whole)

    def class_shares(self, classes: Classes) -> list[Charges] | None:
        """All cells of a class have one label."""
        shares = []
        for column, level in zip(classes.quasi_identifiers, classes.levels, strict=True):
            of_value, _, whole = self.extent(classes.tuples, column, level)
            share = of_value[column.codes[classes.representatives]] / whole if whole else 0.0
            shares.append(np.broadcast_to(np.asarray(share, np.float64), classes.num_classes))
        return shares

    def kept_shares(self, state: ClassState) -> list[float]:
        classes, side = state.classes, smaller_side(state)
        shares = []
        for column, level in zip(classes.quasi_identifiers, classes.levels, strict=True):
            of_value, total, whole = self.extent(classes.tuples, column, level)
            if whole == 0:
                shares.append(0.0)
                continue
            part = _sum_over_classes(of_value, column.codes, side.representatives, side.sizes) if total else 0
            shares.append((part if side.is_kept else max(total - part, 0)) / whole)
        return shares


@compiled
def _sum_over_classes(of_value: Extents, codes: Codes, representatives: Counts, sizes: Counts) -> float:
    # A column whose extents are whole numbers is summed exactly, so equal losses are equal; hence the type of
    # the first extent and not 0.0. A class is looked up by its representative, whose label all its rows have.
    total: float = 0 * of_value[0]  # whole numbers stay whole
    for index in range(len(sizes)):
        total += sizes[index] * of_value[codes[representatives[index]]]
    return total
