"""Discernibility of the released rows only.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from tarnkappe.loss.measure import Loss
from tarnkappe.native import compiled
from tarnkappe.table import ClassState
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


@compiled
def sum_of_kept_squares(sizes: Counts, kept: Mask) -> int:
    """The sum of |E|² over the kept classes."""
    # As `sum_of_squares`, exact in whole numbers. The mask is asked in the loop: an array of the kept sizes
    # would be allocated at every node for nothing.
    total = 0
    for index in range(len(sizes)):
        if kept[index]:
            total += sizes[index] * sizes[index]
    return total


class DiscernibilityStarReleased(Loss):
    """The sum of |E|² over the kept classes; suppressed rows cost nothing.

    Monotone without suppression, and with it if the criterion is monotone: the classes that contain a kept
    row are unions of kept classes and others, and (a + b)² >= a² + b²; at least as many classes as these
    are kept, and no smaller ones. With another criterion a kept class may become a suppressed one on the
    way up and its cost disappear.

    No lower bound is known but 0, which is reached when everything is suppressed.
    """

    name = "discernibility-star-released"
    cites = ("bayardo2005",)
    considers_suppression = False

    @property
    def measures_cells(self) -> bool:
        return True

    @property
    def suppression_may_pay(self) -> bool:
        return True

    def __call__(self, state: ClassState) -> float:
        return float(sum_of_kept_squares(state.classes.sizes, state.kept))

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return criterion_monotone or not suppression
