"""Loss: which share of its domain each cell may stand for."""

from __future__ import annotations

import dataclasses
from typing import Self

from tarnkappe.errors import ParameterError
from tarnkappe.loss.leaves import Leaves, leaves_by_value, num_leaves
from tarnkappe.loss.remembered import remembered
from tarnkappe.loss.share import Extent, ShareLoss
from tarnkappe.table import Column, Tuples


@remembered
def leaf_extent(tuples: Tuples, name: str, level: int, counted: Leaves) -> Extent:
    """The leaves that each label hides beyond the one that is true, in whole numbers."""
    hidden = leaves_by_value(tuples, name, level, counted) - 1
    total = int((tuples.label_counts(name, 0) * hidden).sum())
    return Extent(hidden, total, num_leaves(tuples, name, counted) - 1)


@dataclasses.dataclass(frozen=True)
class LeafLoss(ShareLoss):
    """The loss metric LM (Iyengar 2002): the mean over all cells of

        (leaves under the label - 1) / (leaves of the hierarchy - 1),

    a suppressed cell counting 1. It is 0 for untouched data and 1 when nothing is left. A column with
    one leaf loses nothing unless the row is suppressed. For monotonicity and bound see `ShareLoss`.

    Attributes:
        leaves: whether all values of the hierarchy are leaves, or only those that occur in the data.
    """

    name = "loss"

    leaves: Leaves = dataclasses.field(default=Leaves.HIERARCHY, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            object.__setattr__(self, "leaves", Leaves(self.leaves))
        except ValueError:
            known = " or ".join(Leaves)
            raise ParameterError(f"{self.name}: unknown leaves '{self.leaves}': use {known}") from None

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (*super().examples(), cls(leaves=Leaves.DATA))

    @property
    def measures_cells(self) -> bool:
        return self.leaves is Leaves.HIERARCHY

    def extent(self, tuples: Tuples, column: Column, level: int) -> Extent:
        return leaf_extent(tuples, column.name, level, self.leaves)
