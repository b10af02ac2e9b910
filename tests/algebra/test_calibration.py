"""From an epsilon to a probability: the promise is kept, and no more noise is made than it needs."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.algebra.calibration import calibrated, probability_for
from tarnkappe.algebra.noise import Dynamic, Static
from tarnkappe.errors import ParameterError
from tests.algebra.blood import GENOTYPES, RHESUS_NOISE


def static(least: Fraction) -> Static:
    return Static({"rare": least, "common": 1 - least})


@given(st.fractions("0.001", 20), st.fractions("0.001", "0.5"))
def test_the_probability_is_the_least_that_reaches_the_epsilon(epsilon: Fraction, least: Fraction) -> None:
    distribution = static(least)
    probability = probability_for(distribution, epsilon)
    assert 0 < probability <= 1
    assert distribution.epsilon(probability) <= float(epsilon) * (1 + 1e-12)
    less = probability - Fraction(1, 10**9)
    assert less <= 0 or distribution.epsilon(less) > float(epsilon) * (1 - 1e-12)


@given(st.fractions("0.001", 20), st.fractions("0.001", "0.5"))
def test_no_cell_tells_more_than_the_epsilon_allows(epsilon: Fraction, least: Fraction) -> None:
    """The definition itself: for every answer, the ratio of its chances given two old values."""
    distribution = static(least)
    probability = probability_for(distribution, epsilon)
    given_value = {old: distribution.outcomes(old, probability) for old in ("rare", "common")}
    for answer in ("rare", "common"):
        chances = [outcomes[answer] for outcomes in given_value.values()]
        assert max(chances) <= min(chances) * Fraction(math.exp(epsilon)) * (1 + Fraction(1, 10**12))


def test_the_epsilons_of_the_blood_donations() -> None:
    assert float(probability_for(GENOTYPES, Fraction("5.673"))) == pytest.approx(0.33, abs=1e-3)
    assert float(probability_for(RHESUS_NOISE, Fraction("2.037"))) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("epsilon", [0, -1, 21])
def test_epsilons_out_of_range_are_refused(epsilon: int) -> None:
    with pytest.raises(ParameterError, match="above 0 and at most 20"):
        probability_for(RHESUS_NOISE, Fraction(epsilon))


def test_noise_without_an_epsilon() -> None:
    probability_of = calibrated({"A": Dynamic({}), "C": RHESUS_NOISE})
    assert probability_of("C", Fraction(1)) == probability_for(RHESUS_NOISE, Fraction(1))
    with pytest.raises(ParameterError, match="The noise of 'A' depends on the old value"):
        probability_of("A", Fraction(1))
    with pytest.raises(ParameterError, match="The noise of 'B' is not known"):
        probability_of("B", Fraction(1))
