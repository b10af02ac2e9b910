"""Loss with the geometric mean over the columns."""

from __future__ import annotations

from tarnkappe.loss.aggregate import AggregateFunction
from tarnkappe.loss.leaf_loss import LeafLoss


class LossGeometricMean(LeafLoss):
    """The loss of each column as in `loss`, then the geometric mean of 1 + loss, minus 1.

    It prefers little loss in many columns to all the loss in a few less than the arithmetic mean does.
    Monotonicity and bound are those of `loss`, since the geometric mean grows with every column.
    """

    name = "loss-geometric-mean"
    cites = ("iyengar2002",)
    default_aggregate = AggregateFunction.GEOMETRIC_MEAN
