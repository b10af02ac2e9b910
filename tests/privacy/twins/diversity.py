"""Twins of the recursive diversities, as the literature writes them."""

from __future__ import annotations

import math
from fractions import Fraction

from tests.privacy.twins.registry import counts, divisions, twin


def exact(number: float) -> Fraction:
    return Fraction(str(number))


def odds(left: int, right: int) -> float | Fraction:
    return Fraction(left, right) if right else math.inf


def between(r: list[int], first: int, last: int) -> int:
    """r_first + ... + r_last, counted from 1."""
    return sum(r[first - 1 : last])


@twin("recursive-diversity")
def recursive_diversity(model, members, everyone, population, example):
    values, good = [], []
    for part in divisions(model, members):
        r = sorted(counts(model, part).values(), reverse=True)
        tail = sum(r[model.l - 1 :])
        values.append(odds(r[0], tail))
        good.append(len(r) >= model.l and r[0] < exact(model.c) * tail)
    return max(values), all(good)


@twin("positive-disclosure-recursive-diversity")
def positive_disclosure_recursive_diversity(model, members, everyone, population, example):
    """Let the most frequent value that is not harmless be the y-th most frequent."""
    values, good = [], []
    for part in divisions(model, members):
        ordered = counts(model, part).most_common()
        r = [n for _, n in ordered]
        harmful = [place for place, (value, _) in enumerate(ordered, 1) if str(value) not in model.harmless]
        if not harmful:
            values.append(0)
            continue
        y, m = harmful[0], len(r)
        if y <= model.l - 1:
            rest = between(r, model.l, m)
        else:
            rest = between(r, model.l - 1, y - 1) + between(r, y + 1, m)
        values.append(odds(r[y - 1], rest))
        good.append(r[y - 1] < exact(model.c) * rest)
    return max(values), all(good)


@twin("negative-disclosure-recursive-diversity")
def negative_disclosure_recursive_diversity(model, members, everyone, population, example):
    shares = [
        Fraction(100 * counts(model, part)[value], len(part))
        for part in divisions(model, members)
        for value in model.must_not_be_excluded
    ]
    positive = positive_disclosure_recursive_diversity(model.positive, members, everyone, population, example)
    return min(shares), min(shares) >= exact(model.c2) and positive[1]
