"""Precision: how far up its hierarchy each cell was brought, suppressed cells all the way."""

from __future__ import annotations

import numpy as np

from tarnkappe.loss.coding import CodedLoss
from tarnkappe.loss.measure import Charges
from tarnkappe.loss.precision_star import share_of_height
from tarnkappe.table import Classes, ClassState, Column, Tuples


class Precision(CodedLoss):
    """The mean over all cells of level / highest level (Sweeney 2002), every suppressed cell counting 1.

    This is 1 - PM, PM being the precision. A column with x = level / highest level loses

        ((m - u) x + u) / m  =  x + (1 - x) u / m,

    which is what `CodedLoss` says of a share x; the coding model may set other prices. A generalization has
    no smaller x, so monotonicity and bound are those of `CodedLoss`.
    """

    name = "precision"
    cites = ("sweeney2002achieving",)

    def mean_share(self, tuples: Tuples, column: Column, level: int, most: float = 1.0) -> float:
        return min(share_of_height(column, level), most)

    def class_shares(self, classes: Classes) -> list[Charges] | None:
        shares = zip(classes.quasi_identifiers, classes.levels, strict=True)
        return [np.full(classes.num_classes, share_of_height(column, level)) for column, level in shares]

    def kept_shares(self, state: ClassState) -> list[float]:
        classes = state.classes
        kept = classes.num_rows - state.suppressed_rows
        shares = zip(classes.quasi_identifiers, classes.levels, strict=True)
        return [kept * share_of_height(column, level) for column, level in shares]
