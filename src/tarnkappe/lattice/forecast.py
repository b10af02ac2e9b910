"""How many rows nodes would suppress, foretold from the tests made so far.

The logarithm of the suppressed rows falls with every level, by about as much in each part of the lattice, so
a sum of one term for each level of each column tells it well after a few tests. A forecast only decides what
is tested next; nothing is concluded from it.
"""

from __future__ import annotations

import math

import numpy as np

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Problem
from tarnkappe.loss.grid import Grid
from tarnkappe.native import compiled

DOUBT = 5.0
"""How much a level may differ from what its number of labels lets one expect, as a variance."""

NO_ROW = 0.5
"""What is taken for no row, of which there is no logarithm."""


class Forecast:
    """A ridge regression that takes one test after the other.

    Without any test it says that everything is suppressed where nothing is generalized, and nothing where
    everything is; in between the number of labels decides.
    """

    def __init__(self, problem: Problem) -> None:
        self._low: Node = tuple(levels[0] for levels in problem.level_ranges)
        self._lengths = np.array([len(levels) for levels in problem.level_ranges])
        self._starts = np.concatenate([[0], np.cumsum(self._lengths)])
        labels = [
            math.log(column.levels.distinct(level))
            for column, levels in zip(problem.columns, problem.level_ranges, strict=True)
            if column.levels is not None
            for level in levels
        ]
        self._labels = np.array(labels)
        most = sum(self._labels[start] for start in self._starts[:-1].tolist())
        size = 2 + len(labels)
        self._spread = np.diag(np.concatenate([[1e3, 1e3], np.full(len(labels), DOUBT)]))
        self._terms = np.zeros(size)
        for share, rows in ((1.0, problem.tuples.num_rows), (0.0, NO_ROW)):
            features = np.zeros(size)
            features[0], features[1] = 1.0, share * most
            take(self._terms, self._spread, features, math.log(rows))

    def learn(self, node: Node, suppressed: float) -> None:
        """Take note of a test."""
        features = np.zeros(len(self._terms))
        features[0] = 1.0
        for start, level, low in zip(self._starts.tolist(), node, self._low, strict=False):
            place = start + level - low
            features[1] += self._labels[place]
            features[2 + place] = 1.0
        take(self._terms, self._spread, features, math.log(max(suppressed, NO_ROW)))

    def by_level(self) -> tuple[float, Grid]:
        """What is foretold, the logarithm of the suppressed rows: a constant and a term for each level."""
        return self._terms[0], self._terms[2:] + self._terms[1] * self._labels


@compiled
def take(terms: Grid, spread: Grid, features: Grid, value: float) -> None:
    """Correct the terms by one more observation (recursive least squares, of variance 1)."""
    size = len(terms)
    direction = np.zeros(size)
    certain, miss = 1.0, value
    for row in range(size):
        for column in range(size):
            direction[row] += spread[row, column] * features[column]
        certain += features[row] * direction[row]
        miss -= features[row] * terms[row]
    for row in range(size):
        terms[row] += direction[row] * miss / certain
        for column in range(size):
            spread[row, column] -= direction[row] * direction[column] / certain
