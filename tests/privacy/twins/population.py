"""Twins of the models that compare with a population."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import factorial

from tests.privacy.twins.diversity import exact
from tests.privacy.twins.registry import twin


def reached(mean, n):
    """The probability that a Poisson number that is not 0 is n or more, with 40 digits."""
    with localcontext(prec=40):
        mean = Decimal(mean.numerator) / Decimal(mean.denominator)
        below = sum(mean**i / factorial(i) for i in range(1, n)) / (mean.exp() - 1)
        return Fraction(1 - below)


@twin("delta-presence")
def delta_presence(model, members, everyone, population, example):
    share = Fraction(len(members), len(population))
    return share, exact(model.minimum) <= share <= exact(model.maximum)


@twin("population-coverage")
def population_coverage(model, members, everyone, population, example):
    return len(members), len(members) >= 1


@twin("k-map")
def k_map(model, members, everyone, population, example):
    if model.sampling_fraction is None:
        return len(population), len(population) >= model.k
    if model.significance is not None:
        n = len(members)
        return n, n >= model.k or reached(model.k * exact(model.sampling_fraction), n) <= exact(
            model.significance
        )
    expected = len(members) / exact(model.sampling_fraction)
    return expected, expected >= model.k
