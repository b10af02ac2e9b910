"""Twins of k-anonymity, distinct and entropy diversity."""

from __future__ import annotations

import math
from fractions import Fraction

from tests.privacy.twins.registry import counts, divisions, twin


@twin("k-anonymity")
def k_anonymity(model, members, everyone, population, example):
    return len(members), len(members) >= model.k


@twin("distinct-diversity")
def distinct_diversity(model, members, everyone, population, example):
    value = min(len(counts(model, part)) for part in divisions(model, members))
    return value, value >= model.l


@twin("entropy-diversity")
def entropy_diversity(model, members, everyone, population, example):
    values, good = [], []
    for part in divisions(model, members):
        numbers = counts(model, part).values()
        total = sum(numbers)
        values.append(math.exp(-sum(n / total * math.log(n / total) for n in numbers)))
        # e^H >= l  <=>  N^N >= l^N * prod n^n, in whole numbers
        good.append(total**total >= Fraction(str(model.l)) ** total * math.prod(n**n for n in numbers))
    return min(values), all(good)
