"""Which columns belong together: those that tell most about each other.

The measure is the mean-square contingency coefficient of two columns, 0 where they are independent and 1
where each value of one goes with one value of the other. Columns are clustered around medoids: each belongs
to the medoid that it is most correlated with.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.table import Column
from tarnkappe.table.encoding import Codes

MOST_VALUES = 20
"""Columns of numbers with more values are compared by ranges with about equally many rows."""

Matrix = npt.NDArray[np.float64]


def correlations(columns: Sequence[Column]) -> Matrix:
    """The mean-square contingency coefficient of every pair of columns."""
    codes = [_coarse(column) for column in columns]
    matrix = np.eye(len(columns))
    for i, j in itertools.combinations(range(len(columns)), 2):
        matrix[i, j] = matrix[j, i] = contingency(codes[i], codes[j])
    return matrix


def contingency(one: Codes, other: Codes) -> float:
    """The mean-square contingency coefficient of two columns of codes.

    >>> a = np.array([0, 0, 1, 1], np.int32)
    >>> contingency(a, 1 - a), contingency(a, np.array([0, 1, 0, 1], np.int32))
    (1.0, 0.0)
    """
    ours, theirs = int(one.max(initial=0)) + 1, int(other.max(initial=0)) + 1
    joint = np.bincount(one.astype(np.int64) * theirs + other, minlength=ours * theirs) / max(len(one), 1)
    table = joint.reshape(ours, theirs)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    occurs = expected > 0
    present = min(int(occurs.any(axis=1).sum()), int(occurs.any(axis=0).sum()))
    if present < 2:
        return 0.0
    return float(((table - expected)[occurs] ** 2 / expected[occurs]).sum() / (present - 1))


def cluster(matrix: Matrix, number: int) -> list[list[int]]:
    """Columns in so many clusters, each around a medoid (partitioning around medoids).

    Medoids are chosen one by one, then exchanged while that brings the columns nearer to them.

    >>> cluster(np.array([[1, 0.9, 0], [0.9, 1, 0.1], [0, 0.1, 1]]), 2)
    [[0, 1], [2]]
    """
    distances, columns = 1 - matrix, range(len(matrix))
    medoids: list[int] = []
    while len(medoids) < min(number, len(matrix)):
        rest = [column for column in columns if column not in medoids]
        medoids.append(min(rest, key=lambda column: _cost(distances, [*medoids, column])))
    while True:
        exchanges = [
            [column if m == medoid else m for m in medoids]
            for medoid in medoids
            for column in columns
            if column not in medoids
        ]
        best = min(exchanges, key=lambda chosen: _cost(distances, chosen), default=medoids)
        if _cost(distances, best) >= _cost(distances, medoids) - 1e-12:
            break
        medoids = best
    nearest = np.argmin(distances[:, medoids], axis=1)
    nearest[medoids] = np.arange(len(medoids))  # a column may be as near to another medoid as to itself
    found = [np.flatnonzero(nearest == place).tolist() for place in range(len(medoids))]
    return sorted(found)


def _cost(distances: Matrix, medoids: Sequence[int]) -> float:
    return float(distances[:, list(medoids)].min(axis=1).sum())


def _coarse(column: Column) -> Codes:
    """The codes of a column, or of ranges of it, where there are too many numbers."""
    if column.numbers is None or column.cardinality <= MOST_VALUES:
        return column.codes
    below = np.cumsum(column.counts()) - column.counts()
    ranges = (below * MOST_VALUES // len(column.codes)).astype(np.int32)
    return np.unique(ranges, return_inverse=True)[1].astype(np.int32)[column.codes]
