"""Estimates: unbiased, and their intervals hold as often as they say, by drawing again and again and by counting."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from random import Random

import numpy as np
import pytest

from tarnkappe.gate.estimate import SurplusDraw, _even
from tarnkappe.gate.surplus import Coins


def draws(labels: list[str], size: int, independent: bool, runs: int, seed: int = 1):
    """The surplus, drawn as the gate draws it."""
    coins = Coins(Random(seed))
    for _ in range(runs):
        draw = coins.independent if independent else coins.multiset
        yield Counter(labels[one] for one in draw(list(range(len(labels))), size))


@pytest.mark.parametrize(("size", "labels"), [(0, 3), (3, 2), (4, 3), (5, 4), (3, 6)])
def test_how_likely_a_number_is_in_a_multiset_is_counted_out(size: int, labels: int) -> None:
    every = list(itertools.combinations_with_replacement(range(labels), size))
    plain = Counter(one.count(0) for one in every)
    assert _even(size, labels).tolist() == pytest.approx([plain[j] / len(every) for j in range(size + 1)])
    for j in range(size + 1):
        assert plain[j] == math.comb(size - j + labels - 2, labels - 2)


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(("people", "labels", "size"), [(2000, 20, 200), (30, 5, 10), (8, 3, 3)])
def test_counts_sums_and_means_are_unbiased_and_intervals_hold(
    people: int, labels: int, size: int, independent: bool
) -> None:
    names = [f"v{n}" for n in range(labels)]
    numbers = {name: float(n * n) for n, name in enumerate(names)}
    real = Counter({names[0]: people // 100, names[1]: people - people // 100})
    draw = SurplusDraw(people, size, size, frozenset(names), independent)
    total = sum(numbers[name] * often for name, often in real.items())
    runs, held = 1000, Counter[str]()
    found: dict[str, list[float]] = {"rare": [], "common": [], "sum": [], "mean": []}
    for surplus in draws(names, size, independent, runs):
        shown = real + surplus
        mean = draw.mean(shown, numbers)
        assert mean is not None
        estimates = {
            "rare": (draw.count(shown, names[0]), real[names[0]]),
            "common": (draw.count(shown, names[1]), real[names[1]]),
            "sum": (draw.sum(shown, numbers), total),
            "mean": (mean, total / people),
        }
        for what, (estimate, true) in estimates.items():
            found[what].append(estimate.value - true)
            held[what] += estimate.low - 1e-9 <= true <= estimate.high + 1e-9
    for what, errors in found.items():
        assert abs(np.mean(errors)) <= 4 * np.std(errors) / math.sqrt(runs) + 1e-9, what
        assert held[what] >= (0.935 if what in ("sum", "mean") else 0.94) * runs, what


@pytest.mark.parametrize("independent", [False, True])
def test_intervals_hold_for_answers_that_grew(independent: bool) -> None:
    """The worst growth: all values beyond the floor are of the label that is asked for, or none is."""
    names = [f"v{n}" for n in range(6)]
    real = Counter({"v0": 5, "v1": 35})
    for grown in ("v0", "v3"):
        held = 0
        for surplus in draws(names, 20, independent, 600, seed=3):
            shown = real + surplus + Counter({grown: 9})
            estimate = SurplusDraw(40, 29, 20, frozenset(names), independent).count(shown, "v0")
            held += estimate.low <= 5 <= estimate.high
        assert held >= 0.95 * 600


def test_a_rare_value_is_not_drowned() -> None:
    """2,000 people, 20 of them with a value, 20 labels: rows show a hundred or more, the estimate is near."""
    names = [f"v{n}" for n in range(20)]
    real = Counter({"v0": 20, "v1": 1980})
    errors = [
        SurplusDraw(2000, 200, 200, frozenset(names), True).count(real + surplus, "v0").value - 20
        for surplus in draws(names, 200, True, 400)
    ]
    assert sum(abs(error) <= 10 for error in errors) >= 0.95 * 400


def test_an_estimate_is_not_cut_off_but_its_interval_is() -> None:
    names = frozenset("abcd")
    draw = SurplusDraw(3, 8, 8, names, True)
    estimate = draw.count({"a": 0, "b": 11}, "a")
    assert estimate.value == -2
    assert (estimate.low, estimate.high) == (0.0, 0.0)
    assert draw.count({"b": 11}, "z").high == 0, "nobody of the answer can have it"


def test_a_mean_of_those_who_have_a_number() -> None:
    draw = SurplusDraw(100, 0, 0, frozenset({"1", "3", "(other)"}), True)
    mean = draw.mean({"1": 30, "3": 30, "(other)": 40}, {"1": 1.0, "3": 3.0})
    assert mean is not None
    assert (mean.value, mean.low, mean.high) == (2.0, 2.0, 2.0)
    assert draw.mean({"(other)": 100}, {"1": 1.0, "3": 3.0}) is None
