"""Unbiased estimates from an answer that is the sum of sets (`label_sets`), with intervals.

Let an answer have n people, and let D be the labels. Whoever has another label than v has v in the set with
the probability c = (k - 1) / (|D| - 1), each by himself. If N people have v, the answer shows it N + B times,
where B is binomial with n - N and c. So (P(v) - n c) / (1 - c) is an unbiased estimate of N, and an interval
has every N for which P(v) would be no surprise: it is found by halving, since P(v) grows with N.

For numbers x, the sum over the set of somebody with a is x(a) + c (X - x(a)) on average, where X is the sum
over all labels, which gives the estimate of a sum; its variance is at most n times that of the worst label.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy import stats

from tarnkappe.gate.estimate import LEVEL, IntervalEstimate, mean_of


@dataclasses.dataclass(frozen=True)
class SetDraw:
    """What is public about the sets of an answer.

    Attributes:
        people: how many people are in the answer.
        k: how many labels each set has.
        labels: all labels.

    >>> draw = SetDraw(people=2_000, k=5, labels=frozenset(map(str, range(20))))
    >>> round(draw.count({"1": 437}, "1").value, 1)
    20.2
    """

    people: int
    k: int
    labels: frozenset[str]

    @property
    def size(self) -> int:
        """How many values the answer has beyond those of its people."""
        return (self.k - 1) * self.people

    @property
    def _by_chance(self) -> float:
        return (self.k - 1) / (len(self.labels) - 1) if len(self.labels) > 1 else 0.0

    def count(self, shown: Mapping[str, int], label: str) -> IntervalEstimate:
        """How many people have a label, from how often the answer shows each."""
        often, c, n = shown.get(label, 0), self._by_chance, self.people
        if c >= 1:  # everybody's set has every label: nothing is told
            return IntervalEstimate(n / len(self.labels), 0.0, float(n))
        tail = (1 - LEVEL) / 2
        low = _first(n, lambda holders: bool(stats.binom.sf(often - holders - 1, n - holders, c) >= tail))
        high = n - _first(n, lambda left: bool(stats.binom.cdf(often - n + left, left, c) >= tail))
        return IntervalEstimate((often - n * c) / (1 - c), float(low), float(max(low, high)))

    def sum(self, shown: Mapping[str, int], numbers: Mapping[str, float]) -> IntervalEstimate:
        """The sum of the numbers of all people; a label without a number adds nothing."""
        x = np.array([numbers.get(label, 0.0) for label in sorted(self.labels)], dtype=np.float64)
        c, n = self._by_chance, self.people
        if c >= 1:
            low, high = n * float(x.min()), n * float(x.max())
            return IntervalEstimate(n * float(x.mean()), low, high)
        told = sum(numbers.get(label, 0.0) * often for label, often in shown.items())
        value = (told - n * c * float(x.sum())) / (1 - c)
        spread = float(stats.norm.ppf((1 + LEVEL) / 2)) * math.sqrt(n * self._variance(x)) / (1 - c)
        return IntervalEstimate(value, value - spread, value + spread)

    def mean(self, shown: Mapping[str, int], numbers: Mapping[str, float]) -> IntervalEstimate | None:
        """The mean of the numbers of those who have one; None if that may be nobody."""
        return mean_of(self, shown, numbers)

    def _variance(self, x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        """Of the sum over the other labels of one set, for the label for which it is largest."""
        others = len(x) - 1
        if others < 2:
            return 0.0
        spread = max(float(np.delete(x, place).var()) for place in range(len(x)))
        return (self.k - 1) * spread * (others - self.k + 1) / (others - 1)


def _first(most: int, holds: Callable[[int], bool]) -> int:
    """The least number up to a most from which on something holds."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
