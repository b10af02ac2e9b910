"""Precision on cells: how far up its hierarchy each released cell is, wherever its column is elsewhere."""

from __future__ import annotations

import numpy as np

from tarnkappe.loss.remembered import remembered
from tarnkappe.loss.share import Extent, ShareLoss
from tarnkappe.table import Column, Tuples


@remembered
def climbed_extent(tuples: Tuples, name: str, level: int) -> Extent:
    """How many levels up each value is, in whole numbers."""
    column = tuples.columns[name]
    if column.levels is None:
        return Extent(np.zeros(column.cardinality, dtype=np.int64), 0, 0)
    if column.levels.climbed is None:
        climbed = np.full(column.cardinality, level, dtype=np.int64)
        return Extent(climbed, level * tuples.num_rows, column.levels.height)
    climbed = column.levels.climbed[level]
    total = int((tuples.label_counts(name, 0) * climbed).sum())
    return Extent(climbed, total, int(column.levels.climbed[-1].max(initial=0)))


class PrecisionCells(ShareLoss):
    """The mean over all cells of h / highest level, h being the level of the cell (Sweeney 2002).

    This is 1 - Prec, cell by cell, so it also measures releases in which the cells of a column are at
    different levels; a suppressed cell counts 1. Where each column has one level it is `precision`.

    Otherwise h is read from the written word: the lowest level on which the hierarchy has this word for the
    value. A word that is not in the hierarchy, as an interval around some rows, counts as the lowest level on
    which the value is hidden among at least as many, and `*` as the highest. A hierarchy that has one
    word on two levels is so charged for the lower one, other than by `precision`.

    A generalization has no cell at a lower level, so monotonicity and bound are those of `ShareLoss`.
    """

    name = "precision-cells"
    cites = ("sweeney2002achieving",)

    def extent(self, tuples: Tuples, column: Column, level: int) -> Extent:
        return climbed_extent(tuples, column.name, level)
