"""Losses that count into how many groups the rows still fall."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from tarnkappe.loss.measure import Loss
from tarnkappe.table import Classes, Column, State, Tuples
from tarnkappe.table.classes import num_labels


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


@dataclasses.dataclass(frozen=True)
class ClassSizeLoss(Loss):
    """Rows per group, m / (groups x the size that is needed); infinite without a group.

    Monotone only without suppression, where generalization merges groups: with it, two suppressed
    classes may merge into one that is kept.

    Lower bound: m / (all classes of the state, suppressed or not, x the size that is needed), for there
    are no more groups than classes and a generalization has no more classes. From the levels alone there
    are no more classes than combinations of labels.
    """

    considers_suppression = True

    @property
    @abstractmethod
    def needed_size(self) -> float:
        """The size that a class must have, by which the average is divided."""

    @abstractmethod
    def groups(self, state: State) -> int:
        """Into how many groups the rows fall; never more than there are classes with rows."""

    def __call__(self, state: State) -> float:
        return self._average(state.classes.num_rows, self.groups(state))

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression

    def lower_bound(self, state: State) -> float:
        return self._average(state.classes.num_rows, num_released(state.classes))

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        return self._average(tuples.num_rows, most_classes(tuples, columns, levels))

    def _average(self, rows: int, groups: int) -> float:
        return rows / (groups * self.needed_size) if groups else float("inf")
