"""How many rows nodes would suppress, foretold from the tests made so far.

The logarithm of the suppressed rows falls with every level, by about as much in each part of the lattice, so
a sum of one term for each level of each column tells it well after a few tests. A forecast only decides what
is tested next; nothing is concluded from it.

Explained in docs/explanation/searches.md.
"""

from __future__ import annotations

import math

import numpy as np

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import SearchProblem
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

    Attributes:
        terms: a constant, the weight of the number of labels, and a term for each level of each column.
        spread: how uncertain these are together, as a matrix of covariances.
        labels: the logarithm of the number of labels at each level of each column.
        starts: where the levels of each column begin.
    """

    def __init__(self, problem: SearchProblem) -> None:
        self._low: Node = tuple(levels[0] for levels in problem.level_ranges)
        self._lengths = np.array([len(levels) for levels in problem.level_ranges])
        self.starts = np.concatenate([[0], np.cumsum(self._lengths)])
        labels = [
            math.log(column.levels.distinct(level))
            for column, levels in zip(problem.columns, problem.level_ranges, strict=True)
            if column.levels is not None
            for level in levels
        ]
        self.labels = np.array(labels)
        most = sum(self.labels[start] for start in self.starts[:-1].tolist())
        size = 2 + len(labels)
        self.spread = np.diag(np.concatenate([[1e3, 1e3], np.full(len(labels), DOUBT)]))
        self.terms = np.zeros(size)
        for share, rows in ((1.0, problem.tuples.num_rows), (0.0, NO_ROW)):
            features = np.zeros(size)
            features[0], features[1] = 1.0, share * most
            take(self.terms, self.spread, features, math.log(rows))

    def learn(self, node: Node, suppressed: float) -> None:
        """Take note of a test."""
        features = np.zeros(len(self.terms))
        features[0] = 1.0
        for start, level, low in zip(self.starts.tolist(), node, self._low, strict=False):
            place = start + level - low
            features[1] += self.labels[place]
            features[2 + place] = 1.0
        take(self.terms, self.spread, features, math.log(max(suppressed, NO_ROW)))

    def by_level(self) -> tuple[float, Grid]:
        """What is foretold, the logarithm of the suppressed rows: a constant and a term for each level."""
        return self.terms[0], self.terms[2:] + self.terms[1] * self.labels


@compiled
def take(terms: Grid, spread: Grid, features: Grid, value: float) -> None:
    """Correct the terms by one more observation (recursive least squares, of variance 1)."""
    # The standard update: gain from the old `spread`, then the terms, then `spread` less what is now certain.
    # `direction` must be whole before anything is written. Terms squared in time, which is below a hundred
    # here.
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
