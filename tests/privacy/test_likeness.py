"""delta-disclosure and the beta-likenesses beyond what the battery checks."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.privacy import (
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    KAnonymity,
    protect,
    satisfied,
)
from tests.privacy.tables import blocks, classes_of, holding, measured


def test_a_value_that_a_class_lacks_is_disclosed() -> None:
    tuples = blocks({"x": {"a": 2, "b": 2}, "y": {"a": 2, "b": 1, "c": 1}})
    model = DeltaDisclosure("disease", 1e6)
    assert measured(tuples, model)["x"] == math.inf
    assert holding(tuples, model) == {"x": False, "y": True}


def test_changes_are_measured_in_both_directions() -> None:
    tuples = blocks({"x": {"a": 3, "b": 1}, "y": {"a": 1, "b": 3}})
    assert measured(tuples, DeltaDisclosure("disease", 1))["x"] == pytest.approx(math.log(2))
    assert not holding(tuples, DeltaDisclosure("disease", 0.6931471805599453))["x"]
    assert holding(tuples, DeltaDisclosure("disease", 0.6931471805599454))["x"]


def test_delta_disclosure_is_not_monotone_with_suppression() -> None:
    """The second class is suppressed on the left; merged with the first, it spoils it."""
    maps = [{"1": "1-2", "2": "1-2", "3": "3"}]
    tuples = blocks(
        {"1": {"a": 2, "b": 1}, "2": {"a": 1}, "3": {"a": 4, "b": 6}}, hierarchies={"block": maps}
    )
    model = DeltaDisclosure("disease", 0.5)
    states = [protect(classes_of(tuples, model, level=level), [model]) for level in (0, 1)]
    assert [satisfied(state, [model], 1) for state in states] == [True, False]


def test_every_class_must_have_the_rarest_value() -> None:
    tuples = blocks({"x": {"a": 10, "b": 80, "c": 10}})
    implied = DeltaDisclosure("disease", 1).sub_criteria(tuples)
    assert DistinctDiversity("disease", 3) in implied
    assert KAnonymity(math.floor(10 / math.e) + 1) in implied


def test_a_gain_of_exactly_beta_passes() -> None:
    tuples = blocks({"x": {"a": 11, "b": 9}, "y": {"a": 9, "b": 11}})
    assert measured(tuples, BasicBetaLikeness("disease", 1))["x"] == pytest.approx(0.1)
    assert holding(tuples, BasicBetaLikeness("disease", 0.1))["x"]
    assert not holding(tuples, BasicBetaLikeness("disease", 0.09999999999999999))["x"]


def test_the_enhanced_form_keeps_a_frequent_value_from_filling_a_class() -> None:
    tuples = blocks({"x": {"a": 6}, "y": {"a": 3, "b": 3}})
    assert holding(tuples, BasicBetaLikeness("disease", 1)) == {"x": True, "y": True}
    assert holding(tuples, EnhancedBetaLikeness("disease", 1))["x"] is False
    assert measured(tuples, EnhancedBetaLikeness("disease", 1))["x"] == math.inf
    certain = blocks({"x": {"a": 1}, "y": {"a": 2}})
    assert holding(certain, EnhancedBetaLikeness("disease", 1)) == {"x": True, "y": True}


@pytest.mark.parametrize("model", [BasicBetaLikeness, EnhancedBetaLikeness])
@pytest.mark.parametrize("beta", [0.1, 0.5, 1, 3])
@pytest.mark.parametrize("totals", [(1, 1), (5, 3, 2), (6, 1, 1), (1, 1, 1, 1, 1), (20, 1)])
def test_the_implied_size_is_the_smallest_that_any_class_can_have(
    model: Any, beta: float, totals: tuple[int, ...]
) -> None:
    """Grow a class row by row with the values that stay below their bound: the smallest full one."""
    found = model("disease", beta)
    (implied,) = found.sub_criteria(blocks({"x": {f"d{i}": n for i, n in enumerate(totals)}})) or (
        KAnonymity(1),
    )
    shares = [n / sum(totals) for n in totals]
    most = [(1 + (min(beta, -math.log(p)) if model is EnhancedBetaLikeness else beta)) * p for p in shares]

    def possible(size: int) -> bool:
        return sum(math.floor(min(size, size * m) + 1e-7) for m in most) >= size

    assert possible(implied.k)
    assert not any(possible(size) for size in range(1, implied.k))


@pytest.mark.parametrize("model", [DeltaDisclosure, BasicBetaLikeness, EnhancedBetaLikeness])
@pytest.mark.parametrize("bound", [0, -1, math.inf, "1"])
def test_impossible_bounds_are_refused(model: Any, bound: Any) -> None:
    with pytest.raises(ParameterError, match=r"(delta|beta): a (finite )?number (above 0 )?is needed, not "):
        model("disease", bound)
