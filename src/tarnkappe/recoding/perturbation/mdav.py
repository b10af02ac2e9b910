"""Micro-aggregation of numbers: rows that are near each other get their mean (MDAV)."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import ParameterError
from tarnkappe.recoding.perturbation.perturbation import NumberPerturbation, Numbers, require_numbers
from tarnkappe.schema import Rows, param

MOST_ROWS = 200_000
"""The method compares every row with every group."""


class MicroAggregation(NumberPerturbation, kw_only=True):
    """Rows become groups of at least k that are near each other in all columns together, and each gets the
    means of its group (MDAV; Domingo-Ferrer and Torra 2005, https://doi.org/10.1007/s10618-005-0007-5).

    Distances are measured in standard deviations. While 3 k rows are left: the row farthest from the mean of
    all and its k - 1 nearest are a group, then the row farthest from that one and its k - 1 nearest. Of the
    last rows, 2 k or more make two groups, fewer one. Of equally far ones the first row counts. So k rows at
    least have the same values in these columns; nothing is said of any other column. Whole numbers get
    rounded means.
    """

    name = "micro-aggregation"
    cites = ("domingo2005",)

    k: Annotated[Rows, param("rows that every group has at least", unit="rows", start=3)] = 3

    @classmethod
    def examples(cls, *columns: str) -> tuple[Self, ...]:
        """Instances for the common tests."""
        return (cls(columns=columns), cls(columns=columns, k=5))

    def change(self, values: Numbers, generator: np.random.Generator) -> Numbers:
        """Means in the place of values."""
        del generator
        require_numbers(values, self.columns)
        if len(values) > MOST_ROWS:
            raise ParameterError(
                "recoding.micro-aggregation-takes-most-rows",
                "micro-aggregation takes at most {most_rows:,} rows, not {values:,}",
                most_rows=MOST_ROWS,
                values=len(values),
            )
        if len(values) < self.k:
            raise ParameterError(
                "recoding.k-larger-table-rows",
                "k = {k} is larger than the table, which has {values} {values:row|rows}",
                k=self.k,
                values=len(values),
            )
        spread = values.std(axis=0)
        changed = values.copy()
        for group in groups_of(values / np.where(spread > 0, spread, 1.0), self.k):
            changed[group] = values[group].mean(axis=0)
        return changed


def groups_of(points: Numbers, k: int) -> list[npt.NDArray[np.int64]]:
    """The groups of MDAV, each as its rows."""
    left = np.arange(len(points))
    groups = []
    while len(left) >= 3 * k:
        first = left[np.argmax(_distances(points[left], points[left].mean(axis=0)))]
        group, left = _take_nearest(points, left, first, k)
        groups.append(group)
        second = left[np.argmax(_distances(points[left], points[first]))]
        group, left = _take_nearest(points, left, second, k)
        groups.append(group)
    if len(left) >= 2 * k:
        first = left[np.argmax(_distances(points[left], points[left].mean(axis=0)))]
        group, left = _take_nearest(points, left, first, k)
        groups.append(group)
    groups.append(left)
    return groups


def _take_nearest(
    points: Numbers, left: npt.NDArray[np.int64], middle: np.int64, k: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    nearest = np.argsort(_distances(points[left], points[middle]), kind="stable")[:k]
    taken = np.zeros(len(left), bool)
    taken[nearest] = True
    return left[taken], left[~taken]


def _distances(points: Numbers, middle: Numbers) -> Numbers:
    return np.asarray(((points - middle) ** 2).sum(axis=1))
