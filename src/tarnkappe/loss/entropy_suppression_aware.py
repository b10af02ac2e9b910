"""Non-uniform entropy that charges for suppressed rows.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np

from tarnkappe.loss.aggregate import AggregateFunction
from tarnkappe.loss.entropy import entropy_of_column
from tarnkappe.loss.factor import FACTOR, prices
from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.loss.remembered import remembered
from tarnkappe.loss.side import smaller_side
from tarnkappe.native import compiled
from tarnkappe.schema import Share, param
from tarnkappe.table import ClassState, Column, Tuples
from tarnkappe.table.grouping import Codes, Counts


class EntropySuppressionAware(ColumnLoss, kw_only=True):
    """NMNUEM: `entropy` of all rows, plus what it costs to bring the suppressed rows from there to the top.

    With Y the share of the suppressed rows that have the same generalized value in a column, a suppressed
    cell costs log2 1/Y more. A single suppressed class costs nothing more, since its rows are alike.

    Monotone only without suppression, where it is `entropy`: with it, a step in one column may save
    suppressed rows and with them what they cost in all other columns.

    Lower bound: `entropy`, since Y <= 1, so log2 1/Y >= 0, and `entropy` is monotone.

    Below a state: where s rows are suppressed, t of them with a certain label, a column is charged
    s log2 s - the sum over the labels of t log2 t. Lower levels divide labels, which lowers that sum. One
    more suppressed row adds d(s) - d(t) with d(x) = (x + 1) log2 (x + 1) - x log2 x, which is not negative,
    since d grows and s >= t. So at lower levels no less is charged.

    With a `factor` f, what generalization costs is multiplied by min(1, 2 - 2f) and what suppression costs by
    min(1, 2f), which changes nothing of the above.
    """

    name = "entropy-suppression-aware"
    cites = ("dewaal1999",)
    considers_suppression = True
    default_aggregate = AggregateFunction.SUM

    factor: Annotated[Share | None, param(FACTOR, kind="share")] = None

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (*super().examples(), cls(factor=0.25), cls(factor=0.75))

    @property
    def measures_cells(self) -> bool:
        return True

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        _, of_generalization = prices(self.factor)
        return of_generalization * entropy_of_column(tuples, column.name, level)

    def by_column(self, state: ClassState) -> list[float]:
        losses = super().by_column(state)
        if state.suppressed_rows == 0:
            return losses
        classes, side = state.classes, smaller_side(state)
        of_suppression, _ = prices(self.factor)
        for index, (column, level) in enumerate(zip(classes.quasi_identifiers, classes.levels, strict=True)):
            in_all = classes.tuples.label_counts(column.name, level)
            if len(in_all) > 1:
                labels = labels_of_values(classes.tuples, column.name, level)
                bits = _bits_of_suppressed(labels, in_all, column.codes, *side)
                losses[index] += of_suppression * bits
        return losses

    @property
    def charge_grows_downward(self) -> bool:
        return True

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression


@remembered
def labels_of_values(tuples: Tuples, name: str, level: int) -> Codes:
    """The label of each value of a column at a level; without a hierarchy, the value itself."""
    column = tuples.columns[name]
    if column.levels is None:
        return np.arange(column.cardinality, dtype=np.int32)
    return column.levels.maps[level]


@compiled
def _bits_of_suppressed(
    labels: Codes, in_all: Counts, codes: Codes, is_kept: bool, representatives: Counts, sizes: Counts
) -> float:
    # Counts labels of one side of the classes, the smaller one, and takes them from all rows if that side is
    # kept: the result is the same and the walk shorter. A label that no suppressed row has must be passed
    # over, since its logarithm is infinite. Classes and labels in time, one count for each label in memory.
    counts = np.zeros(len(in_all), np.int64)
    for index in range(len(sizes)):
        counts[labels[codes[representatives[index]]]] += sizes[index]
    if is_kept:
        counts = in_all - counts
    suppressed = counts.sum()
    bits = 0.0
    for count in counts:
        if count > 0:
            bits += count * np.log2(suppressed / count)
    return bits
