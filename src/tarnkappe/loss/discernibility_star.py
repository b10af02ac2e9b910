"""Discernibility without suppression: from how many rows each row cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence

from tarnkappe.loss.class_size import most_classes, most_classes_at
from tarnkappe.loss.grid import Grid
from tarnkappe.loss.measure import Loss
from tarnkappe.native import compiled
from tarnkappe.table import Column, State, Tuples
from tarnkappe.table.grouping import Counts


@compiled
def sum_of_squares(sizes: Counts) -> int:
    """The sum of |E|² over all classes."""
    total = 0
    for size in sizes:
        total += size * size
    return total


def least_sum_of_squares(tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
    """Below this no sum of |E|² over all classes falls at these levels or above.

    By the inequality of Cauchy and Schwarz, C classes of m rows in all have a sum of at least m² / C,
    and C is no more than `most_classes`.
    """
    return tuples.num_rows**2 / most_classes(tuples, columns, levels)


class DiscernibilityStar(Loss):
    """DM* = the sum of |E|² over all classes, as if none were suppressed.

    It is m for untouched data without duplicates and m² when all rows look the same.

    Always monotone, and its own lower bound: classes merge under generalization, and (a + b)² >= a² + b².
    From the levels alone see `least_sum_of_squares`.
    """

    name = "discernibility-star"
    considers_suppression = False

    @property
    def measures_cells(self) -> bool:
        return True

    def __call__(self, state: State) -> float:
        return float(sum_of_squares(state.classes.sizes))

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return True

    def lower_bound(self, state: State, *, least_size: int = 1) -> float:
        del least_size
        return self(state)

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        return least_sum_of_squares(tuples, columns, levels)

    def lower_bounds(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[range]) -> Grid:
        return tuples.num_rows**2 / most_classes_at(tuples, columns, levels)
