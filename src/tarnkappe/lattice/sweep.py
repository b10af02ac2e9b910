"""Searching for the border of a monotone criterion with few tests, led by a forecast.

What fails excludes everything below it, so one test may settle thousands of nodes, if it is made at the right
node: high enough to exclude much, low enough to fail. A forecast of the suppressed rows tells where that is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tarnkappe.lattice.forecast import Forecast
from tarnkappe.lattice.space import CHECKED, CLOSED, FAILED, FOUND, Facts, Indices
from tarnkappe.loss.grid import Grid
from tarnkappe.native import compiled

if TYPE_CHECKING:
    from tarnkappe.lattice.auto import Hunt

MARGIN = 0.1
"""By so much the logarithm of the suppressed rows must exceed the limit for a node to be taken as failing."""


class Sweep:
    """A search that ends when no node is left that could satisfy and be better than the best found."""

    def __init__(self, hunt: Hunt) -> None:
        self._hunt = hunt
        self._forecast = Forecast(hunt.problem)
        self._border = math.log(hunt.problem.limit + 0.75)

    def search(self) -> None:
        """Test what is foretold to satisfy, and what lies above it, or else what excludes most by failing."""
        hunt, space = self._hunt, self._hunt.space
        while True:
            index = choose(
                space.known,
                space.bounds,
                hunt.best.ceiling,
                self._forecast.over_nodes(),
                self._border,
                space.shape,
                space.strides,
            )
            if index < 0:
                return
            found = hunt.test(index)
            self._forecast.learn(found.evaluation.node, found.suppressed_about)
            if space.known[index] & FOUND:
                hunt.visit_above(index)


@compiled
def choose(
    known: Facts,
    bounds: Grid,
    ceiling: float,
    foretold: Grid,
    border: float,
    shape: Indices,
    strides: Indices,
) -> int:
    """The node to be tested next, or -1 if none is open.

    Of the open nodes that are foretold to satisfy, it is the one with the least bound. If there are none, it
    is a node, hopeful or not, that is foretold to fail and has many open nodes below it.
    """
    below = np.zeros(len(known), np.float32)
    best, nearest = -1, -1
    for index in range(len(known)):
        if known[index] & CLOSED or bounds[index] > ceiling:
            continue
        below[index] = 1
        if foretold[index] <= border and (best < 0 or bounds[index] < bounds[best]):
            best = index
        if nearest < 0 or foretold[index] > foretold[nearest]:
            nearest = index
    if best >= 0 or nearest < 0:
        return best
    add_below(below, shape, strides)
    score = 0.0
    for index in range(len(known)):
        if below[index] == 0 or known[index] & (CHECKED | FOUND | FAILED):
            continue
        above_border = foretold[index] - border
        if above_border > MARGIN and below[index] * min(1.0, 0.5 + above_border) > score:
            best, score = index, below[index] * min(1.0, 0.5 + above_border)
    return best if best >= 0 else nearest


@compiled
def add_below(counts: npt.NDArray[np.float32], shape: Indices, strides: Indices) -> None:
    """Make each number the sum of those of the node and of everything below it."""
    for axis in range(len(shape)):
        stride, block = strides[axis], strides[axis] * shape[axis]
        for start in range(0, len(counts), block):
            for low in range(start, start + block - stride, stride):
                for place in range(low, low + stride):  # side by side, so that many are added at once
                    counts[place + stride] += counts[place]
