"""Twins of the models on numbers."""

from __future__ import annotations

from fractions import Fraction

from tests.privacy.twins.groups import conjunction
from tests.privacy.twins.registry import divisions, twin


def numbers(model, members):
    return [Fraction(str(row[model.column])) for row in members if row[model.column] is not None]


@twin("value-range")
def value_range(model, members, everyone, population, example):
    ranges = [max(x) - min(x) for x in (numbers(model, part) for part in divisions(model, members))]
    return min(ranges), min(ranges) >= Fraction(str(model.e))


@twin("squared-error-diversity")
def squared_error_diversity(model, members, everyone, population, example):
    errors = []
    for part in divisions(model, members):
        own = numbers(model, part)
        mean = sum(own) / len(own)
        errors.append(sum((x - mean) ** 2 for x in own))
    return min(errors), min(errors) >= Fraction(str(model.error))


@twin("epsilon-m-anonymity")
def epsilon_m_anonymity(model, members, everyone, population, example):
    epsilon, worst = Fraction(str(model.epsilon)), Fraction(0)
    for part in divisions(model, members):
        own = numbers(model, part)
        for x in own:
            reach = epsilon * abs(x) if model.relative else epsilon
            worst = max(worst, Fraction(sum(abs(x - y) <= reach for y in own), len(own)))
    return worst, worst <= 1 / Fraction(str(model.m))


@twin("k-e-anonymity")
def k_e_anonymity(model, members, everyone, population, example):
    own = numbers(model, members)
    return conjunction(len(set(own)) >= model.k, max(own) - min(own) >= Fraction(str(model.e)))
