"""Twins of the models that compare with a population."""

from __future__ import annotations

from fractions import Fraction

from tests.privacy.twins.diversity import exact
from tests.privacy.twins.registry import twin


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
    expected = len(members) / exact(model.sampling_fraction)
    return expected, expected >= model.k
