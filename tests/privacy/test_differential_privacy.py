"""Differential privacy by sampling: the bounds in exact arithmetic, and the promise itself on small inputs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.privacy import DifferentialPrivacy
from tarnkappe.privacy.differential_privacy import tail_bound
from tests.privacy.tables import weighted

SETTINGS = [(1, 0.4), (0.5, 0.2), (1, 0.01), (2, 1e-3), (0.1, 1e-4), (math.log(3), 1e-6)]


def exact_tail(n: int, rate: Fraction, above: Fraction) -> Fraction:
    """P(Binomial(n, rate) > above), in fractions."""
    p, q = rate.numerator, rate.denominator
    chances = (math.comb(n, j) * p**j * (q - p) ** (n - j) for j in range(math.floor(above) + 1, n + 1))
    return Fraction(sum(chances), q**n)


def exp_minus(x: Fraction) -> Fraction:
    """The exponential series, to 30 digits."""
    return sum(((-x) ** n / math.factorial(n) for n in range(60)), Fraction(0)).limit_denominator(10**30)


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_the_bound_is_that_of_exact_arithmetic(epsilon: float, delta: float) -> None:
    """The largest term is among the first ones, so the first 60 are enough."""
    model = DifferentialPrivacy(epsilon, delta)
    rate = Fraction(model.sampling_rate)
    g = 1 - (1 - rate) * exp_minus(Fraction(epsilon))
    for k in {1, min(model.k, 20)}:
        first = max(1, math.ceil(k / g - 1))
        exact = float(max(exact_tail(n, rate, g * n) for n in range(first, first + 60)))
        computed = tail_bound(epsilon, model.sampling_rate, k)
        assert computed >= exact, "rounded to the side of more privacy"
        assert computed == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_k_is_the_smallest_that_is_enough(epsilon: float, delta: float) -> None:
    model = DifferentialPrivacy(epsilon, delta)
    rate = model.sampling_rate
    assert rate <= 1 - math.exp(-epsilon)
    assert tail_bound(epsilon, rate, model.k) <= delta
    assert model.k == 1 or tail_bound(epsilon, rate, model.k - 1) > delta
    bounds = [tail_bound(epsilon, rate, k) for k in range(1, model.k + 1)]
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0.4), (0.5, 0.2), (1, 0.01), (2, 0.001)])
def test_no_row_makes_an_outcome_much_more_likely(epsilon: float, delta: float) -> None:
    """The definition of differential privacy, for one class: all that is seen is its number of drawn rows.

    The set of outcomes with the largest excess is that of all outcomes which are more than e^epsilon times
    as likely, so their excess must not be above delta, in both directions.
    """
    model = DifferentialPrivacy(epsilon, delta)
    rate, factor = model.sampling_rate, math.exp(epsilon)
    for rows in range(1, 4 * model.k + 20):
        with_row, without = (seen(n, rate, model.k) for n in (rows, rows - 1))
        for left, right in ((with_row, without), (without, with_row)):
            excess = sum(max(0.0, p - factor * right.get(j, 0.0)) for j, p in left.items())
            assert excess <= delta


def seen(rows: int, rate: float, k: int) -> dict[int, float]:
    """What is seen of a class, with probabilities; below k it is nothing."""
    outcomes: dict[int, float] = {}
    for j in range(rows + 1):
        visible = j if j >= k else 0
        chance = math.comb(rows, j) * rate**j * (1 - rate) ** (rows - j)
        outcomes[visible] = outcomes.get(visible, 0.0) + chance
    return outcomes


def test_rows_are_drawn_with_the_sampling_rate() -> None:
    model = DifferentialPrivacy(1, 0.01)
    drawn = model.draw(200_000)
    assert drawn.mean() == pytest.approx(model.sampling_rate, abs=0.01)
    assert not np.array_equal(drawn, model.draw(200_000))
    assert np.array_equal(model.draw(100, seed=1), model.draw(100, seed=1))


def test_what_would_break_the_promise_is_refused() -> None:
    model = DifferentialPrivacy(1, 0.4)
    table = weighted({"age": ["1", "2"], "disease": ["x", "y"]}, [5, 5])
    model.check(table, ["age", "disease"])
    with pytest.raises(ParameterError, match="'disease' would be released as it is"):
        model.check(table, ["age"])
    with pytest.raises(ParameterError, match="larger than the table"):
        DifferentialPrivacy(1, 1e-9).check(table, ["age", "disease"])
    for epsilon, delta in ((0, 0.1), (1, 0), (1, 1), (math.inf, 0.1)):
        with pytest.raises(ParameterError):
            DifferentialPrivacy(epsilon, delta)
