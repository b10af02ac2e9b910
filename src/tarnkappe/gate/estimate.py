"""Unbiased estimates from an answer that has surplus values, with intervals.

The rule of the surplus is public (`surplus`), so everybody can work out what it adds on average, and how
far it may be from that. Let an answer have n people and m surplus values, drawn from the labels L; P(v) is
how often it shows v, s(v) how often v was drawn.

- *even*: every multiset of m labels is equally likely. s(v) has the mean m / |L|, and s(v) = j in
  C(m - j + |L| - 2, |L| - 2) of C(m + |L| - 1, |L| - 1) cases.
- *independent*: every value is drawn by itself. s(v) is binomial with m and 1 / |L|.

So P(v) - m / |L| is an unbiased estimate of the number of people with v, and the quantiles of s(v) give an
interval. A sum over labels with numbers x(v) is estimated in the same way; it has the variance
m Var(x) if values are drawn one by one and m Var(x) (m + |L|) / (|L| + 1) if multisets are, where Var(x) is
that of a label drawn from L.

An answer may have grown: then some of its values were not drawn, but put in, and nobody may know which.
They are at most as many as it has beyond the floor, e. Every interval is wider by what e values of any
label could change, so it holds for answers that grew as well.

Everything here follows from what the answer shows and from the policy: it tells nothing more.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np
from scipy import stats

LEVEL = 0.95
"""How often an interval holds, at least."""
LARGE = 10_000
"""From how many surplus values on a normal distribution is near enough."""


@dataclasses.dataclass(frozen=True)
class IntervalEstimate:
    """An estimate, and the ends of its interval."""

    value: float
    low: float
    high: float


class PublicDraw(Protocol):
    """What is public about how an answer was drawn, from which figures of its people are estimated."""

    @property
    def people(self) -> int:
        """How many people are in the answer."""

    @property
    def size(self) -> int:
        """How many values it has beyond theirs."""

    @property
    def labels(self) -> frozenset[str]:
        """The labels that can be in it."""

    def count(self, shown: Mapping[str, int], label: str) -> IntervalEstimate:
        """How many people have a label, from how often the answer shows each."""

    def sum(self, shown: Mapping[str, int], numbers: Mapping[str, float]) -> IntervalEstimate:
        """The sum of the numbers of all people; a label without a number adds nothing."""

    def mean(self, shown: Mapping[str, int], numbers: Mapping[str, float]) -> IntervalEstimate | None:
        """The mean of the numbers of those who have one; None if that may be nobody."""


def mean_of(
    draw: PublicDraw, shown: Mapping[str, int], numbers: Mapping[str, float]
) -> IntervalEstimate | None:
    """The mean of the numbers of those who have one, from estimated sums; None if that may be nobody.

    If every label has a number, everybody has one, which is exact. Otherwise those who have one are estimated
    as well, and the interval is that of the sum of the differences to the mean.
    """
    present = {label: 1.0 for label in draw.labels if label in numbers}
    whole = len(present) == len(draw.labels)
    holders = draw.people if whole else draw.sum(shown, present).value
    if holders < 1:
        return None
    value = draw.sum(shown, numbers).value / holders
    centred = draw.sum(shown, {label: numbers[label] - value for label in present})
    return IntervalEstimate(value, value + centred.low / holders, value + centred.high / holders)


@dataclasses.dataclass(frozen=True)
class SurplusDraw:
    """What is public about the surplus of an answer.

    Attributes:
        people: how many people are in the answer.
        size: how many values it has beyond theirs.
        floor: how many it has at least, by the policy.
        labels: the labels that can be among them.
        independent: whether each was drawn by itself, or the multiset as a whole.

    >>> labels = frozenset(map(str, range(20)))
    >>> draw = SurplusDraw(people=2_000, size=500, floor=500, labels=labels, independent=True)
    >>> draw.count({"1": 45}, "1")
    IntervalEstimate(value=20.0, low=10.0, high=29.0)
    """

    people: int
    size: int
    floor: int
    labels: frozenset[str]
    independent: bool

    @property
    def beyond(self) -> int:
        """How many values can have been put in by growth, at most."""
        return max(0, self.size - self.floor)

    def count(self, shown: Mapping[str, int], label: str) -> IntervalEstimate:
        """How many people have a label, from how often the answer shows each."""
        if label not in self.labels:
            return IntervalEstimate(0.0, 0.0, 0.0)
        often, number = shown.get(label, 0), len(self.labels)
        least, most = self._quantiles()
        low = often - most - self.beyond
        high = often - least + self.beyond / number
        return self._clipped(often - self.size / number, low, high)

    def sum(self, shown: Mapping[str, int], numbers: Mapping[str, float]) -> IntervalEstimate:
        """The sum of the numbers of all people; a label without a number adds nothing."""
        x = np.array([numbers.get(label, 0.0) for label in self.labels], dtype=np.float64)
        if not len(x):
            return IntervalEstimate(0.0, 0.0, 0.0)
        mean = float(x.mean())
        value = sum(numbers.get(label, 0.0) * often for label, often in shown.items()) - self.size * mean
        spread = self._deviations() * math.sqrt(self.size * float(x.var()))
        if not self.independent:
            spread *= math.sqrt((self.size + len(x)) / (len(x) + 1))
        low = value - spread - self.beyond * (float(x.max()) - mean)
        return IntervalEstimate(value, low, value + spread + self.beyond * (mean - float(x.min())))

    def mean(self, shown: Mapping[str, int], numbers: Mapping[str, float]) -> IntervalEstimate | None:
        """The mean of the numbers of those who have one; None if that may be nobody."""
        return mean_of(self, shown, numbers)

    def _clipped(self, value: float, low: float, high: float) -> IntervalEstimate:
        """The ends within what is possible. The estimate stays as it is: cut off, it would have a bias."""
        most = float(self.people)
        return IntervalEstimate(value, min(max(0.0, low), most), max(0.0, min(high, most)))

    def _quantiles(self) -> tuple[float, float]:
        """Between which numbers the surplus of one label is, as often as the level says."""
        size, number = self.size, len(self.labels)
        if number == 1:
            return float(size), float(size)
        tail = (1 - LEVEL) / 2
        if size > LARGE:
            variance = size * (number - 1) / number**2
            if not self.independent:
                variance *= (size + number) / (number + 1)
            around = self._deviations() * math.sqrt(variance)
            return size / number - around, size / number + around
        if self.independent:
            return float(stats.binom.ppf(tail, size, 1 / number)), float(
                stats.binom.ppf(1 - tail, size, 1 / number)
            )
        below = np.cumsum(_even(size, number))
        return float(np.searchsorted(below, tail)), float(np.searchsorted(below, 1 - tail))

    @staticmethod
    def _deviations() -> float:
        return float(stats.norm.ppf((1 + LEVEL) / 2))


def _even(size: int, labels: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How likely each number of one label is in a multiset of a size.

    Each is (m - j) / (m - j + |L| - 2) times as likely as the one before it.
    """
    chance = np.empty(size + 1)
    chance[0] = (labels - 1) / (size + labels - 1)
    for j in range(size):
        chance[j + 1] = chance[j] * (size - j) / (size - j + labels - 2) if labels > 2 else chance[j]
    return chance
