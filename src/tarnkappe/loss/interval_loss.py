"""Interval loss: how wide the interval is that a number was generalized to."""

from __future__ import annotations

import numpy as np

from tarnkappe.loss.leaf_loss import leaf_extent
from tarnkappe.loss.leaves import Leaves
from tarnkappe.loss.remembered import remembered
from tarnkappe.loss.share import Extent, ShareLoss
from tarnkappe.table import Column, Tuples


@remembered
def interval_extent(tuples: Tuples, name: str, level: int) -> Extent:
    """The width of the interval under each label; where there are no numbers, the leaves it hides."""
    levels = tuples.columns[name].levels
    if levels is None or levels.bounds is None:
        return leaf_extent(tuples, name, level, Leaves.HIERARCHY)
    widths = np.nan_to_num(levels.bounds[level][:, 1] - levels.bounds[level][:, 0])[levels.maps[level]]
    numbers = levels.bounds[-1][~np.isnan(levels.bounds[-1]).any(axis=1)]
    whole = float(numbers[:, 1].max() - numbers[:, 0].min()) if len(numbers) else 0.0
    return Extent(widths, float((tuples.label_counts(name, 0) * widths).sum()), whole)


class IntervalLoss(ShareLoss):
    """The loss metric for numbers: the mean over all cells of

        (greatest - least number under the label) / (greatest - least number of the hierarchy),

    a suppressed cell counting 1. Columns without numbers are measured by leaves, as in `loss`; a missing
    value has no width of its own. Intervals nest as labels do, so a label is no narrower than the labels
    under it: monotonicity and bound are those of `ShareLoss`.
    """

    name = "interval-loss"
    cites = ("iyengar2002",)

    def extent(self, tuples: Tuples, column: Column, level: int) -> Extent:
        return interval_extent(tuples, column.name, level)
