"""Loss: which share of its domain each cell may stand for."""

from __future__ import annotations

from typing import Annotated, Self

from tarnkappe.loss.leaves import Leaves, leaves_by_value, num_leaves
from tarnkappe.loss.remembered import remembered
from tarnkappe.loss.share import Extent, ShareLoss
from tarnkappe.schema import param
from tarnkappe.table import Column, Tuples


@remembered
def leaf_extent(tuples: Tuples, name: str, level: int, counted: Leaves) -> Extent:
    """The leaves that each label hides beyond the one that is true, in whole numbers."""
    hidden = leaves_by_value(tuples, name, level, counted) - 1
    total = int((tuples.label_counts(name, 0) * hidden).sum())
    return Extent(hidden, total, num_leaves(tuples, name, counted) - 1)


class LeafLoss(ShareLoss, kw_only=True):
    """The loss metric LM (Iyengar 2002): the mean over all cells of

        (leaves under the label - 1) / (leaves of the hierarchy - 1),

    a suppressed cell counting 1. It is 0 for untouched data and 1 when nothing is left. A column with
    one leaf loses nothing unless the row is suppressed. For monotonicity and bound see `ShareLoss`.
    """

    name = "loss"

    leaves: Annotated[
        Leaves, param("whether all values of the hierarchy are leaves, or only those that occur in the data")
    ] = Leaves.HIERARCHY

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (*super().examples(), cls(leaves=Leaves.DATA))

    @property
    def measures_cells(self) -> bool:
        return self.leaves is Leaves.HIERARCHY

    def extent(self, tuples: Tuples, column: Column, level: int) -> Extent:
        return leaf_extent(tuples, column.name, level, self.leaves)
