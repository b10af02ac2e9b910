"""Losses that count into how many groups the rows still fall.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from tarnkappe.loss.grid import Grid, over_levels
from tarnkappe.loss.measure import Loss
from tarnkappe.loss.parts import Divisible, parts_below
from tarnkappe.native import compiled
from tarnkappe.table import Classes, ClassState, Column, Tuples
from tarnkappe.table.classes import num_labels
from tarnkappe.table.grouping import Counts


def num_released(classes: Classes) -> int:
    """How many classes have rows to release, before any is suppressed."""
    return int(np.count_nonzero(classes.sizes))


def most_classes(tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> int:
    """How many classes there can be at these levels or above: no more than combinations of labels or rows.

    A generalization merges labels, so it has no more combinations of them.
    """
    combinations = 1
    for column, level in zip(columns, levels, strict=True):
        combinations *= num_labels(column, level)
    return min(combinations, tuples.num_rows)


def most_classes_at(tuples: Tuples, columns: Sequence[Column], levels: Sequence[range]) -> Grid:
    """`most_classes` for every combination of some levels."""
    labels = [[num_labels(c, level) for level in chosen] for c, chosen in zip(columns, levels, strict=True)]
    return np.minimum(over_levels(np.multiply, labels), tuples.num_rows)


@compiled
def most_groups(sizes: Counts, least_size: int) -> int:
    """How many groups a generalization has at most, where no class of fewer rows is kept."""
    # Small classes may merge into new groups, but every such group takes at least `least_size` of their rows;
    # one more group is that of the suppressed rows. Merging never makes more groups than there are classes.
    # Empty classes of a state are not counted. One pass and no memory, since it is asked at every node.
    large, rows, classes = 0, 0, 0
    for size in sizes:
        classes += size > 0
        large += size >= least_size
        rows += size if size < least_size else 0
    return min(classes, large + rows // least_size + 1)


class ClassSizeLoss(Loss):
    """Rows per group, m / (groups x the size that is needed); infinite without a group.

    Monotone only without suppression, where generalization merges groups: with it, two suppressed
    classes may merge into one that is kept.

    Lower bound: m / (the most groups that a generalization can have x the size that is needed). It has no
    more groups than the state has classes. Where no class of fewer than k rows is kept, every kept class of
    a generalization contains a class of at least k rows or is made of smaller ones only, which with r
    rows in all yield r / k such classes at most; the suppressed rows may be one group more. From the levels
    alone there are no more classes than combinations of labels.

    Below a state: a class of which rows are kept falls into at most R parts (`parts_below`), and at most
    |E| / k of them have k rows. The sum of the lesser of both over these classes, and one for the suppressed
    rows, is the most groups that there can be.
    """

    considers_suppression = True

    @property
    def measures_cells(self) -> bool:
        return True

    @property
    @abstractmethod
    def needed_size(self) -> float:
        """The size that a class must have, by which the average is divided."""

    @abstractmethod
    def groups(self, state: ClassState) -> float:
        """Into how many groups the rows fall; never more than there are classes with rows."""

    def counted(self, groups: Any) -> Any:
        """What some groups, one of which may be that of the suppressed rows, count at most."""
        return groups

    def __call__(self, state: ClassState) -> float:
        return self._average(state.classes.num_rows, self.groups(state))

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression

    def lower_bound(self, state: ClassState, *, least_size: int = 1) -> float:
        return self._average(
            state.classes.num_rows, self.counted(most_groups(state.classes.sizes, least_size))
        )

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        return self._average(tuples.num_rows, self.counted(most_classes(tuples, columns, levels)))

    def lower_bounds(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[range]) -> Grid:
        groups = self.counted(most_classes_at(tuples, columns, levels))
        return np.asarray(tuples.num_rows / (groups * self.needed_size))

    def lower_bounds_below(self, state: ClassState, levels: Sequence[range], *, least_size: int = 1) -> Grid:
        divisible = Divisible.of(state.classes.sizes, state.kept, least_size)
        groups = self.counted(divisible.most_classes(parts_below(state, levels)) + 1)
        return np.asarray(state.classes.num_rows / (groups * self.needed_size))

    def _average(self, rows: int, groups: float) -> float:
        return rows / (groups * self.needed_size) if groups else float("inf")
