"""Discernibility without suppression: from how many rows each row cannot be told apart.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tarnkappe.loss.class_size import most_classes, most_classes_at
from tarnkappe.loss.grid import Grid, over_levels
from tarnkappe.loss.measure import Loss
from tarnkappe.loss.parts import Divisible, parts_below
from tarnkappe.loss.remembered import remembered
from tarnkappe.native import compiled
from tarnkappe.table import ClassState, Column, Tuples
from tarnkappe.table.grouping import Counts


@compiled
def sum_of_squares(sizes: Counts) -> int:
    """The sum of |E|² over all classes."""
    # Whole numbers of 64 bits, exact for up to three billion rows; a float would round from 2**53 on, and two
    # nodes that lose the same would be told apart. One pass, whatever the order of the classes.
    total = 0
    for size in sizes:
        total += size * size
    return total


@remembered
def entropy_of_labels(tuples: Tuples, name: str, level: int) -> float:
    """The entropy of the labels of a column at a level over all rows, in bits."""
    counts = tuples.label_counts(name, level)
    shares = counts[counts > 0] / max(tuples.num_rows, 1)
    return float(-(shares * np.log2(shares)).sum())


def least_sum_of_squares(tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
    """Below this no sum of |E|² over all classes falls at these levels or above.

    It is the greater of two bounds. By the inequality of Cauchy and Schwarz, C classes of m rows in all have
    a sum of at least m² / C, and C is no more than `most_classes`. And it is at least m² / 2^H, with H the
    sum of the entropies of the columns: the entropy of the classes is at most H, and that of their sizes of
    order 2, which is log2 of m² / the sum, is no greater than the entropy. Generalization lowers H.
    """
    bits = math.fsum(
        entropy_of_labels(tuples, column.name, level) for column, level in zip(columns, levels, strict=True)
    )
    least = max(1 / most_classes(tuples, columns, levels), math.exp2(-bits))
    return tuples.num_rows**2 * least


def least_sums_of_squares(tuples: Tuples, columns: Sequence[Column], levels: Sequence[range]) -> Grid:
    """`least_sum_of_squares` for every combination of some levels."""
    bits = [
        [entropy_of_labels(tuples, column.name, level) for level in chosen]
        for column, chosen in zip(columns, levels, strict=True)
    ]
    least = np.maximum(1 / most_classes_at(tuples, columns, levels), np.exp2(-over_levels(np.add, bits)))
    return tuples.num_rows**2 * least


class DiscernibilityStar(Loss):
    """DM* = the sum of |E|² over all classes, as if none were suppressed.

    It is m for untouched data without duplicates and m² when all rows look the same.

    Always monotone, and its own lower bound: classes merge under generalization, and (a + b)² >= a² + b².
    From the levels alone see `least_sum_of_squares`.

    Below a state: each class falls into at most R parts, whose squares have a sum of at least |E|² / R
    (`Divisible.least_charge`, with k = 1).
    """

    name = "discernibility-star"
    cites = ("bayardo2005",)
    considers_suppression = False

    @property
    def measures_cells(self) -> bool:
        return True

    def __call__(self, state: ClassState) -> float:
        return float(sum_of_squares(state.classes.sizes))

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return True

    def lower_bound(self, state: ClassState, *, least_size: int = 1) -> float:
        del least_size
        return self(state)

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        return least_sum_of_squares(tuples, columns, levels)

    def lower_bounds(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[range]) -> Grid:
        return least_sums_of_squares(tuples, columns, levels)

    def lower_bounds_below(self, state: ClassState, levels: Sequence[range], *, least_size: int = 1) -> Grid:
        del least_size
        classes = state.classes
        every = Divisible.of(classes.sizes, classes.released, 1)
        return every.least_charge(parts_below(state, levels), 1)
