"""Entropy with each cell weighed by the share of its value."""

from __future__ import annotations

import numpy as np

from tarnkappe.loss.aggregate import AggregateFunction
from tarnkappe.loss.entropy import counts_before_and_after
from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.loss.remembered import remembered
from tarnkappe.table import Column, Tuples


@remembered
def uniform_entropy_of_column(tuples: Tuples, name: str, level: int) -> float:
    """The sum of X log2 1/X over the cells of a column at a level."""
    before, after = counts_before_and_after(tuples, name, level)
    share = before / after
    return float((before * share * -np.log2(share)).sum())


@remembered
def least_uniform_entropy(tuples: Tuples, name: str, level: int) -> float:
    """The least sum of a column at this level or above."""
    levels = tuples.columns[name].levels
    height = 0 if levels is None else levels.height
    return min(uniform_entropy_of_column(tuples, name, above) for above in range(level, height + 1))


class EntropyUniform(ColumnLoss):
    """EM = the sum over all cells of X log2 1/X, suppression left out of account.

    X is the share of the rows with the same generalized value that have the same original value. EM is
    0 for untouched data and at most 0.531 m n, since X log2 1/X <= log2(e) / e. It is offered for
    comparison with published figures; `entropy` is the better measure.

    Never monotone: as X falls below 1 / e, X log2 1/X falls too. Among eight different values, halves
    of four cost 4 and one group of eight costs 3.

    Lower bound: for each column, the least that it loses at its level or any higher one. Every
    generalization has one of these levels in that column, and suppression does not matter.
    """

    name = "entropy-uniform"
    cites = ("gionis2009",)
    considers_suppression = False
    default_aggregate = AggregateFunction.SUM

    @property
    def measures_cells(self) -> bool:
        return True

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        return uniform_entropy_of_column(tuples, column.name, level)

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return False

    def bound_of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        return least_uniform_entropy(tuples, column.name, level)
