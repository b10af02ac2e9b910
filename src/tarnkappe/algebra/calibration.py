"""How likely a cell must be noised to reach an epsilon of local differential privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from tarnkappe.algebra.noise import NoiseDistribution, Static
from tarnkappe.errors import ParameterError

_STEPS = 10**9
_MOST_EPSILON = 20
"""Beyond it the probability would round to nothing; nobody should call that private either."""


def probability_for(distribution: Static, epsilon: Fraction) -> Fraction:
    """The least probability, in steps of a billionth, whose epsilon is not above the one asked for.

    From ε = ln(1 + (1-p)/(p·q)) with q the least chance of a value follows p = 1/(1 + (e^ε - 1)·q). It is
    rounded up, from a lower bound of e^ε, so that the promise is kept and not nearly kept.

    >>> plus_minus = Static({"+": Fraction("0.85"), "-": Fraction("0.15")})
    >>> round(float(probability_for(plus_minus, Fraction("2.037"))), 3)
    0.5
    """
    if not 0 < epsilon <= _MOST_EPSILON:
        raise ParameterError(
            "algebra.epsilon-randomization-must-above-0",
            "The epsilon of a randomization must be above 0 and at most {most_epsilon}.",
            most_epsilon=_MOST_EPSILON,
        )
    least = min(distribution.probabilities.values())
    with localcontext(prec=50, rounding=ROUND_FLOOR):
        exponential = (Decimal(epsilon.numerator) / epsilon.denominator).exp().next_minus()
    probability = 1 / (1 + (Fraction(exponential) - 1) * least)
    return min(Fraction(math.ceil(probability * _STEPS), _STEPS), Fraction(1))


def calibrated(noise: Mapping[str, NoiseDistribution]) -> Callable[[str, Fraction], Fraction]:
    """For columns with these distributions: the probability that reaches an epsilon in a column."""

    def probability_of(column: str, epsilon: Fraction) -> Fraction:
        distribution = noise.get(column)
        if not isinstance(distribution, Static):
            known = "depends on the old value" if distribution else "is not known"
            raise ParameterError(
                "algebra.noise-no-epsilon-follows",
                "The noise of '{column}' {known}, so no epsilon follows; give a probability.",
                column=column,
                known=known,
            )
        return probability_for(distribution, epsilon)

    return probability_of
