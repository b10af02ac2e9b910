"""Discernibility: from how many rows each row cannot be told apart, suppressed rows from none at all.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.loss.discernibility_star import least_sum_of_squares, least_sums_of_squares
from tarnkappe.loss.discernibility_star_released import sum_of_kept_squares
from tarnkappe.loss.grid import Grid
from tarnkappe.loss.measure import Charges, Loss
from tarnkappe.loss.parts import Divisible, parts_below
from tarnkappe.native import compiled
from tarnkappe.table import Classes, ClassState, Column, Tuples
from tarnkappe.table.grouping import Counts


class Discernibility(Loss):
    """DM = the sum of |E|² over the kept classes + m u (Bayardo and Agrawal 2005).

    Each kept row is charged the size of its class, each suppressed row the size of the table. It is m
    for untouched data without duplicates and m² when all rows look the same or are suppressed.

    Monotone only without suppression, where it is `discernibility-star`: with it, a suppressed class may
    merge into a kept one, which is charged less.

    Lower bound: what the rows are charged while every class is kept, but never less than the size k below
    which no class is kept, that is the sum over all classes of |E| max(|E|, k). A generalization keeps a row
    in a class that is no smaller, and has at least k rows, or it suppresses the row and charges m. From the
    levels alone see `least_sum_of_squares`: a row is charged m or the size of its class, and m is no less.

    Below a state: a row that is suppressed in the state is suppressed there and charged m. Any other is
    charged the size of its part of its class, or m, which is no less, and never less than k
    (`Divisible.least_charge`).
    """

    name = "discernibility"
    cites = ("bayardo2005",)
    considers_suppression = True

    @property
    def measures_cells(self) -> bool:
        return True

    @property
    def charge_grows_downward(self) -> bool:
        return True

    def __call__(self, state: ClassState) -> float:
        charged = sum_of_kept_squares(state.classes.sizes, state.kept)
        return float(charged + state.suppressed_rows * state.classes.num_rows)

    def charges(self, classes: Classes) -> Charges | None:
        """Rows that are suppressed are charged the size of the table instead of that of their class."""
        sizes = classes.sizes.astype(np.float64)
        return sizes * (classes.num_rows - sizes)

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression

    def lower_bound(self, state: ClassState, *, least_size: int = 1) -> float:
        return float(least_charged(state.classes.sizes, min(least_size, state.classes.num_rows)))

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        return least_sum_of_squares(tuples, columns, levels)

    def lower_bounds(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[range]) -> Grid:
        return least_sums_of_squares(tuples, columns, levels)

    def lower_bounds_below(self, state: ClassState, levels: Sequence[range], *, least_size: int = 1) -> Grid:
        rows = state.classes.num_rows
        k = min(least_size, rows)
        charge = Divisible.of(state.classes.sizes, state.kept, k).least_charge(parts_below(state, levels), k)
        return charge + float(rows * state.suppressed_rows)


@compiled
def least_charged(sizes: Counts, least_size: int) -> int:
    """The sum over all classes of |E| max(|E|, k)."""
    # A class below k is suppressed or merged: either way each of its rows is charged at least k. Whole
    # numbers of 64 bits: exact for up to three billion rows, so ties between nodes stay ties.
    total = 0
    for size in sizes:
        total += size * max(size, least_size)
    return total
