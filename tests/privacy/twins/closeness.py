"""Twins of t-closeness: the distances as the literature writes them, in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

from tests.privacy.twins.diversity import exact
from tests.privacy.twins.registry import counts, divisions, twin
from tests.random_tables import DISEASE_LEVELS


def shares(model, rows):
    return {value: Fraction(n, len(rows)) for value, n in counts(model, rows).items()}


def equal_distance(p, q):
    return sum((abs(p.get(v, 0) - q.get(v, 0)) for v in {*p, *q}), Fraction(0)) / 2


def ordered_distance(p, q):
    """1 / (m - 1) times the sum of the absolute differences up to each position."""
    order = sorted(q, key=lambda v: (v is None, v))
    work = sum(abs(sum(p.get(v, 0) - q[v] for v in order[: i + 1])) for i in range(len(order)))
    return Fraction(work) / max(len(order) - 1, 1)


def hierarchical_distance(p, q, levels):
    """The sum, over inner nodes of height h, of h / H x min(surplus, deficit) of the children."""
    extra = {value: p.get(value, 0) - q[value] for value in q}
    label_of = {value: value for value in q}
    distance = Fraction(0)
    for height, level in enumerate(levels, 1):
        children: dict = {}
        for value, label in label_of.items():
            children.setdefault(level[value], {})[label] = extra[label]
        for child_extra in children.values():
            pos = sum(e for e in child_extra.values() if e > 0)
            neg = -sum(e for e in child_extra.values() if e < 0)
            distance += Fraction(height, len(levels)) * min(pos, neg)
        # labels of different levels are kept apart
        extra = {(height, label): sum(child.values()) for label, child in children.items()}
        label_of = {value: (height, level[value]) for value in q}
    return distance


def t_closeness(model, members, everyone, distance):
    q = shares(model, everyone)
    value = max(distance(shares(model, part), q) for part in divisions(model, members))
    return value, value <= exact(model.t)


@twin("equal-closeness")
def equal_closeness(model, members, everyone, population, example):
    return t_closeness(model, members, everyone, equal_distance)


@twin("variational-closeness")
def variational_closeness(model, members, everyone, population, example):
    return t_closeness(model, members, everyone, equal_distance)


@twin("ordered-closeness")
def ordered_closeness(model, members, everyone, population, example):
    return t_closeness(model, members, everyone, ordered_distance)


@twin("hierarchical-closeness")
def hierarchical_closeness(model, members, everyone, population, example):
    def distance(p, q):
        return hierarchical_distance(p, q, DISEASE_LEVELS)

    return t_closeness(model, members, everyone, distance)


@twin("kullback-leibler-closeness")
def kullback_leibler_closeness(model, members, everyone, population, example):
    p = shares(model, everyone)
    entropy = sum(-float(s) * math.log(s) for s in p.values())
    values, good = [], []
    for part in divisions(model, members):
        q = shares(model, part)
        value = sum(float(p[v]) * abs(math.log(p[v] / q[v])) for v in q) / entropy if entropy else 0
        values.append(value)
        good.append(powers(p, q) <= powers_of_entropy(p, exact(model.t)))
    return max(values), all(good)


def powers(p, q):
    """e to the sum, to the power of the rows: every term is the logarithm of a fraction."""
    rows = math.lcm(*(s.denominator for s in p.values())) * 10
    return math.prod(max(p[v] / q[v], q[v] / p[v]) ** int(rows * p[v]) for v in q)


def powers_of_entropy(p, t):
    rows = math.lcm(*(s.denominator for s in p.values())) * 10
    return math.prod((1 / s) ** int(rows * s * t) for s in p.values())
