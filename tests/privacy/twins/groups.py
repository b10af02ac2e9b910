"""Twins of the models on values in classes and groups: (X,Y), confidence, subsets, and their composites."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

from tests.privacy.twins.registry import counts, divisions, twin


def group_of(members, everyone, names):
    """Everybody who agrees with a class in some columns."""
    return [row for row in everyone if all(row[name] == members[0][name] for name in names)]


def label(value):
    return "(missing)" if value is None else str(value)


def shares(rows, columns):
    values = Counter(tuple(label(row[name]) for name in columns) for row in rows)
    return {value: Fraction(n, len(rows)) for value, n in values.items()}


def share_of(rows, column, value):
    return Fraction(sum(label(row[column]) == value for row in rows), len(rows))


@twin("x-y-anonymity")
def x_y_anonymity(model, members, everyone, population, example):
    rows = group_of(members, everyone, model.x or example.quasi_identifiers)
    value = len(shares(rows, model.y))
    return value, value >= model.k


def others_of(members, column, m):
    """The rows that each coalition of at most m values of a column leaves, if it leaves any."""
    insiders = {row[column] for row in members}
    for size in range(m + 1):
        for gone in combinations(insiders, size):
            left = [row for row in members if row[column] not in gone]
            if left:
                yield left


@twin("m-privacy")
def m_privacy(model, members, everyone, population, example):
    value = min(len(left) for left in others_of(members, model.insider, model.m))
    return value, value >= model.k


@twin("m-private-diversity")
def m_private_diversity(model, members, everyone, population, example):
    value = min(
        len({row[model.column] for row in left}) for left in others_of(members, model.insider, model.m)
    )
    return value, value >= model.l


@twin("x-y-linkability")
def x_y_linkability(model, members, everyone, population, example):
    rows = group_of(members, everyone, model.x or example.quasi_identifiers)
    value = max(shares(rows, model.y).values())
    return value, value <= Fraction(str(model.p))


@twin("confidence-bounding")
def confidence_bounding(model, members, everyone, population, example):
    rows = group_of(members, everyone, model.quasi_identifiers or example.quasi_identifiers)
    value = max(share_of(rows, model.column, v) - Fraction(str(b)) for v, b in model.templates.items())
    return value, value <= 0


@twin("n-t-closeness")
def n_t_closeness(model, members, everyone, population, example):
    """The distance from each group around a class, the columns in which it agrees taken one set at a time."""
    own, names = shares(members, [model.column]), example.quasi_identifiers
    distances = []
    for known in range(len(names) + 1):
        for chosen in combinations(names, known):
            rows = group_of(members, everyone, chosen)
            if len(rows) >= model.n:
                whole = shares(rows, [model.column])
                gaps = [abs(own.get(value, 0) - whole.get(value, 0)) for value in {*own, *whole}]
                distances.append(sum(gaps) / 2)
    least = min(distances, default=float("inf"))
    return least, least <= Fraction(str(model.t))


@twin("value-closeness")
def value_closeness(model, members, everyone, population, example):
    missed = []
    for part in divisions(model, members):
        for value, (lower, upper) in model.bounds.items():
            share = share_of(part, model.column, value)
            missed += [Fraction(str(lower)) - share, share - Fraction(str(upper))]
    return max(missed), max(missed) <= 0


@twin("personalized-anonymity")
def personalized_anonymity(model, members, everyone, population, example):
    tree = {
        "lung": {"flu", "cold"},
        "stomach": {"ulcer", "gastritis"},
        "unknown": {None},
        "*": {"flu", "cold", "ulcer", "gastritis", None},
    }
    worst = Fraction(0)
    for person in members:
        node = model.nodes[person[model.guard]]
        if node:
            below = tree.get(node, {node})
            worst = max(worst, Fraction(sum(row[model.column] in below for row in members), len(members)))
    return worst, worst <= Fraction(str(model.p))


def groups_by_subsets(model, members, everyone, example):
    """What attackers see who know any l of the quasi-identifiers.

    Those who know fewer see unions of these groups; `test_subsets` proves that they need no look.
    """
    names = example.quasi_identifiers
    for chosen in combinations(names, min(model.l, len(names))):
        yield group_of(members, everyone, chosen)


@twin("subset-anonymity")
def subset_anonymity(model, members, everyone, population, example):
    value = min(len(rows) for rows in groups_by_subsets(model, members, everyone, example))
    return value, value >= model.k


@twin("subset-confidence")
def subset_confidence(model, members, everyone, population, example):
    value = max(
        max(share_of(rows, model.column, v) for v in model.values)
        if model.values
        else max(shares(rows, [model.column]).values())
        for rows in groups_by_subsets(model, members, everyone, example)
    )
    return value, value <= Fraction(str(model.c))


def conjunction(*conditions):
    """What a composite model measures is how many of its conditions hold."""
    return sum(conditions), all(conditions)


@twin("p-sensitive-k-anonymity")
def p_sensitive_k_anonymity(model, members, everyone, population, example):
    return conjunction(len(members) >= model.k, len(counts(model, members)) >= model.p)


@twin("alpha-k-anonymity")
def alpha_k_anonymity(model, members, everyone, population, example):
    largest = max(shares(members, [model.column]).values())
    return conjunction(len(members) >= model.k, largest <= Fraction(str(model.alpha)))


@twin("multi-relational-k-anonymity")
def multi_relational_k_anonymity(model, members, everyone, population, example):
    return conjunction(len({row[model.person] for row in members}) >= model.k)


@twin("x-y-privacy")
def x_y_privacy(model, members, everyone, population, example):
    found = shares(group_of(members, everyone, model.x or example.quasi_identifiers), model.y)
    return conjunction(len(found) >= model.k, max(found.values()) <= Fraction(str(model.p)))


@twin("lkc-privacy")
def lkc_privacy(model, members, everyone, population, example):
    groups = list(groups_by_subsets(model, members, everyone, example))
    values = model.values or {label(row[model.column]) for row in everyone}
    return conjunction(
        all(len(rows) >= model.k for rows in groups),
        all(
            share_of(rows, model.column, value) <= Fraction(str(model.c))
            for rows in groups
            for value in values
        ),
    )
