"""Loss: which share of its domain each cell may stand for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from tarnkappe.loss.factor import FACTOR, prices
from tarnkappe.loss.leaves import Leaves, leaves_by_value, num_leaves
from tarnkappe.loss.measure import Charges
from tarnkappe.loss.remembered import remembered
from tarnkappe.loss.share import Extent, ShareLoss
from tarnkappe.schema import Problem, Share, param, rule
from tarnkappe.table import Classes, ClassState, Column, Tuples


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

    A `factor` f replaces the coding model, as ARX defines it. With s = min(1, 2f), g = min(1, 2 - 2f), D
    leaves of a column and L of them under a label, the column loses

        [g x sum of L over kept cells + sum of L + s (D - L) over suppressed ones - g m] / [m (D - g)],

    and nothing where D = g. A suppressed cell costs no less than a kept one, whatever f is, since
    L + s (D - L) >= g L. What it costs more, s D - (s + g - 1) L, is not negative and falls with L, since
    s + g >= 1: no less is charged at lower levels, and the loss with all rows kept is the lower bound.
    """

    name = "loss"
    cites = ("iyengar2002",)

    leaves: Annotated[
        Leaves, param("whether all values of the hierarchy are leaves, or only those that occur in the data")
    ] = Leaves.HIERARCHY

    factor: Annotated[Share | None, param(FACTOR, kind="share")] = None

    def rules(self) -> Iterator[Problem]:
        """There is one price of suppression."""
        if self.factor is not None and self.coding_model != 0.5:
            yield rule("loss.factor", "factor and coding_model exclude each other", "factor")

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        own = (cls(leaves=Leaves.DATA), cls(factor=0.25), cls(factor=0.8, leaves=Leaves.DATA))
        return (*super().examples(), *own)

    @property
    def measures_cells(self) -> bool:
        return self.leaves is Leaves.HIERARCHY

    def extent(self, tuples: Tuples, column: Column, level: int) -> Extent:
        return leaf_extent(tuples, column.name, level, self.leaves)

    @property
    def may_prefer_suppression(self) -> bool:
        return self.factor is None and super().may_prefer_suppression

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        if self.factor is None:
            return super().of_column(tuples, column, level)
        _, total, whole = self.extent(tuples, column, level)
        _, g = prices(self.factor)
        rows = tuples.num_rows
        return g * total / (rows * (whole + 1 - g)) if whole + 1 > g else 0.0

    def class_shares(self, classes: Classes) -> list[Charges] | None:
        """A factor charges the leaves of suppressed rows, too."""
        return None if self.factor is not None else super().class_shares(classes)

    def by_column(self, state: ClassState) -> list[float]:
        if self.factor is None or state.suppressed_rows == 0:
            return super().by_column(state)
        s, g = prices(self.factor)
        classes, gone = state.classes, state.suppressed_rows
        losses = []
        columns = zip(classes.quasi_identifiers, classes.levels, self.kept_shares(state), strict=True)
        for column, level, kept in columns:
            _, total, whole = self.extent(classes.tuples, column, level)
            if whole + 1 <= g:
                losses.append(0.0)
                continue
            hidden = total - kept * whole  # by the suppressed cells, at these levels
            added = s * (gone * whole - hidden) + (1 - g) * (hidden + gone)
            losses.append((g * total + added) / (classes.num_rows * (whole + 1 - g)))
        return losses
