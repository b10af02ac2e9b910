"""Exact comparisons of numbers with logarithms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.privacy.exact import decimal, less_than, sign_of_logarithms, sql_ratio


@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 60)), min_size=1, max_size=5))
def test_signs_of_logarithms_are_those_of_whole_numbers(terms: list[tuple[int, int]]) -> None:
    product = math.prod(Fraction(argument) ** coefficient for coefficient, argument in terms)
    assert sign_of_logarithms(terms) == (product > 1) - (product < 1)


def test_factors_that_cancel_out_are_found_without_their_powers() -> None:
    rows = 10**12
    assert sign_of_logarithms([(rows, 12), (-2 * rows, 2), (-rows, 3)]) == 0
    assert sign_of_logarithms([(Fraction(1, 3), 8 * 10**30), (-1, 2 * 10**10)]) == 0
    assert sign_of_logarithms([(rows, rows + 1), (-rows, rows)]) == 1


def test_a_constant_is_compared_with_logarithms_to_any_precision() -> None:
    nearly_ln_2 = Fraction("0.6931471805599453094172321214581765680755001343602552541206800094")
    assert sign_of_logarithms([(1, 2)], -nearly_ln_2) == 1
    assert sign_of_logarithms([(1, 2)], -nearly_ln_2 - Fraction(1, 10**64)) == -1


def test_numbers_are_read_as_written() -> None:
    assert decimal(0.1) == Fraction(1, 10)
    assert sql_ratio(0.25) == ("1::HUGEINT", "4::HUGEINT")


def test_a_tie_is_not_less() -> None:
    measured = np.array([0.5, 1.0, 1.0 + 1e-12, 2.0, np.inf])
    assert less_than(measured, 1.0, lambda index: index == 2).tolist() == [True, False, True, False, False]


def test_a_share_of_a_third_is_no_decimal() -> None:
    with pytest.raises(ValueError, match="Invalid literal"):
        decimal("a third")
