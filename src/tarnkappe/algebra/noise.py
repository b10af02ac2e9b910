"""What a randomized cell is replaced by: the noise distribution that belongs to a column.

A *static* distribution is the same for all old values, a *dynamic* one depends on the old value. The
difference decides rules: noise that is drawn twice from a static distribution is noise drawn once with
a higher probability (the last draw decides), while a dynamic one spreads further with every draw.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tarnkappe.errors import ParameterError

Draw = Mapping[Hashable, Fraction]


class NoiseDistribution(ABC):
    """The values that a noised cell may take, with exact probabilities."""

    is_static: bool

    @abstractmethod
    def drawn(self, old: Hashable) -> Draw:
        """The distribution of the new value, given the old one."""

    def outcomes(self, old: Hashable, probability: Fraction) -> Draw:
        """The distribution of the cell after it was noised with a probability.

        >>> coin = Static({"yes": Fraction(1, 2), "no": Fraction(1, 2)})
        >>> {value: str(p) for value, p in coin.outcomes("yes", Fraction(1, 2)).items()}
        {'yes': '3/4', 'no': '1/4'}
        """
        result = {old: 1 - probability}
        for new, chance in self.drawn(old).items():
            result[new] = result.get(new, Fraction(0)) + probability * chance
        return {value: chance for value, chance in result.items() if chance}


@dataclass(frozen=True)
class Static(NoiseDistribution):
    """The same distribution for every old value: Warner's randomized response."""

    probabilities: Draw
    is_static = True

    def __post_init__(self) -> None:
        _check(self.probabilities)

    def drawn(self, old: Hashable) -> Draw:
        return self.probabilities

    def epsilon(self, probability: Fraction) -> float:
        """The local differential privacy of a cell noised with this probability: ln(1 + (1-p)/(p·min q)).

        No noise is no privacy (infinity); values outside the distribution would have none either, so the
        distribution must give every value of the column a chance.

        >>> round(Static({"+": Fraction("0.85"), "-": Fraction("0.15")}).epsilon(Fraction(1, 2)), 3)
        2.037
        """
        if probability == 0:
            return math.inf
        least = min(self.probabilities.values())
        return math.log1p(float((1 - probability) / (probability * least)))


@dataclass(frozen=True)
class Dynamic(NoiseDistribution):
    """A distribution for each old value. With bounded support it has no finite epsilon."""

    kernel: Mapping[Hashable, Draw]
    is_static = False

    def __post_init__(self) -> None:
        for probabilities in self.kernel.values():
            _check(probabilities)

    def drawn(self, old: Hashable) -> Draw:
        if old not in self.kernel:
            raise ParameterError(
                "algebra.dynamic-noise-distribution-no-entry",
                "the dynamic noise distribution has no entry for a value of its column",
            )
        return self.kernel[old]


def _check(probabilities: Draw) -> None:
    if any(chance <= 0 for chance in probabilities.values()) or sum(probabilities.values()) != 1:
        raise ParameterError(
            "algebra.probabilities-noise-distribution-must-positive",
            "the probabilities of a noise distribution must be positive and add up to 1",
        )
