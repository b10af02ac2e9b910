"""Twins of delta-disclosure and the beta-likenesses."""

from __future__ import annotations

import math

from tests.privacy.twins.closeness import shares
from tests.privacy.twins.diversity import exact
from tests.privacy.twins.registry import divisions, twin


@twin("delta-disclosure")
def delta_disclosure(model, members, everyone, population, example):
    table, values = shares(model, everyone), []
    for part in divisions(model, members):
        p = shares(model, part)
        values += [abs(math.log(p[s] / table[s])) if s in p else math.inf for s in table]
    return max(values), max(values) < model.delta


def gains(model, members, everyone):
    """The share of each value in the table, and its gain in each division that has more of it."""
    table = shares(model, everyone)
    return [
        (table[s], (q - table[s]) / table[s])
        for part in divisions(model, members)
        for s, q in shares(model, part).items()
        if q >= table[s]
    ]


@twin("basic-beta-likeness")
def basic_beta_likeness(model, members, everyone, population, example):
    value = max(gain for _, gain in gains(model, members, everyone))
    return value, value <= exact(model.beta)


@twin("enhanced-beta-likeness")
def enhanced_beta_likeness(model, members, everyone, population, example):
    """Gains of exactly -ln p occur for p = 1 only."""
    gained = gains(model, members, everyone)
    value = max(gain for _, gain in gained) if all(gain <= -math.log(p) for p, gain in gained) else math.inf
    return value, value <= exact(model.beta)
