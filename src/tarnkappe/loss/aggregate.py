"""How the losses of the columns become one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from tarnkappe.loss.grid import Grid, over_levels


class Weighting(StrEnum):
    """What the weights of columns are."""

    SHARE = "share"
    """A weight says how often a column counts among all."""
    FACTOR = "factor"
    """The loss of a column is multiplied by its weight, divided by the greatest of all (all 0: by 1)."""


class AggregateFunction(StrEnum):
    """How the losses of the columns become one number.

    Every aggregate grows with the loss of every column, so what is monotone or a lower bound column by
    column is so for the whole, whatever the weights. Sums are rounded once, so the order of the columns
    does not matter.
    """

    SUM = "sum"
    MEAN = "mean"
    GEOMETRIC_MEAN = "geometric-mean"
    """The geometric mean of 1 + x, minus 1; a column without loss does not hide the others."""
    MAXIMUM = "maximum"
    RANK = "rank"
    """The maximum; of nodes that have the same, the one whose next greatest loss is less, and so on."""

    def of(self, values: Sequence[float], weights: Sequence[float]) -> float:
        """The aggregate; a weight of 2 counts a column twice, a weight of 0 not at all.

        >>> AggregateFunction.MEAN.of([0.0, 1.0], [3.0, 1.0])
        0.25
        >>> AggregateFunction.GEOMETRIC_MEAN.of([0.0, 3.0], [1.0, 1.0])
        1.0
        """
        if self is AggregateFunction.SUM:
            return math.fsum(v * w for v, w in zip(values, weights, strict=True))
        if self in (AggregateFunction.MAXIMUM, AggregateFunction.RANK):
            return max((v * w for v, w in zip(values, weights, strict=True)), default=0.0)
        total = math.fsum(weights)
        if total == 0:
            return 0.0
        if self is AggregateFunction.MEAN:
            return math.fsum(v * w for v, w in zip(values, weights, strict=True)) / total
        return math.expm1(math.fsum(math.log1p(v) * w for v, w in zip(values, weights, strict=True)) / total)

    def of_multiplied(self, values: Sequence[float], factors: Sequence[float]) -> float:
        """The aggregate where each loss is multiplied by a factor and all columns count alike.

        >>> round(AggregateFunction.GEOMETRIC_MEAN.of_multiplied([0.2, 0.6], [1.0, 0.5]), 6)
        0.249
        """
        multiplied = [value * factor for value, factor in zip(values, factors, strict=True)]
        return self.of(multiplied, [1.0] * len(multiplied))

    def over_levels(self, values: Sequence[Sequence[float]], weights: Sequence[float]) -> Grid:
        """The aggregate of every combination of levels; the values of each column are given by level.

        >>> AggregateFunction.MEAN.over_levels([[0.0, 1.0], [0.0, 0.5]], [3.0, 1.0]).tolist()
        [[0.0, 0.125], [0.75, 0.875]]
        """
        scale = np.log1p if self is AggregateFunction.GEOMETRIC_MEAN else np.asarray
        weighted = [np.asarray(scale(v), np.float64) * w for v, w in zip(values, weights, strict=True)]
        if self in (AggregateFunction.MAXIMUM, AggregateFunction.RANK):
            return over_levels(np.maximum, weighted)
        total = over_levels(np.add, weighted)
        if self is AggregateFunction.SUM:
            return total
        mean = total / (math.fsum(weights) or 1.0)
        return np.expm1(mean) if self is AggregateFunction.GEOMETRIC_MEAN else mean
