"""Scores by ARX's definitions, on examples that were computed by hand."""

from __future__ import annotations

import math

import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import SEARCHES, SearchProblem
from tarnkappe.loss import (
    LOSSES,
    AggregateFunction,
    LeafLoss,
    LossGeometricMean,
    PublisherPayout,
    StaticLoss,
    Weighting,
)
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import ClassState
from tests.random_tables import build_tuples

PAIRS = {0: "x", 1: "x", 2: "y", 3: "y"}
ROWS = [{"a": value} for value in (0, 0, 0, 0, 1, 1, 1, 1, 2, 2)]
TUPLES = build_tuples(ROWS, {"a": [PAIRS, dict.fromkeys(PAIRS, "*")]})


def two_suppressed() -> ClassState:
    """Ten rows at a level with two of four leaves under every label; the class of two rows is suppressed."""
    classes = TUPLES.classes(("a",), (1,))
    return ClassState(classes, classes.sizes > 2)


@pytest.mark.parametrize(
    ("factor", "score"), [(0.0, 0.333333), (0.25, 0.4), (0.5, 0.466667), (0.75, 0.314286), (1.0, 0.2)]
)
def test_loss_with_a_factor(factor: float, score: float) -> None:
    """Before it is normalized, 8 g x 2 + 2 (2 + s 2), from 10 g to 40: at 0.75, (8 + 8 - 5) / 35."""
    assert LeafLoss(factor=factor)(two_suppressed()) == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize(
    ("factor", "score"), [(0.25, 10 / 1.5), (0.5, 10 / 2), (0.75, 10 / 1.5), (1.0, 10.0)]
)
def test_average_class_size_with_a_factor(factor: float, score: float) -> None:
    """One kept class and the suppressed rows: 10 / (s + g)."""
    assert LOSSES.create("aecs", {"factor": factor})(two_suppressed()) == pytest.approx(score)


@pytest.mark.parametrize(
    ("factor", "of_suppression", "of_generalization"), [(0.25, 0.5, 1.0), (0.75, 1.0, 0.5)]
)
def test_entropy_with_a_factor(factor: float, of_suppression: float, of_generalization: float) -> None:
    classes = TUPLES.classes(("a",), (0,))
    state = ClassState(classes, classes.sizes > 4)
    loss = LOSSES.create("entropy-suppression-aware", {"factor": factor})
    bits = 4 * math.log2(10 / 4) * 2 + 2 * math.log2(10 / 2)  # all rows are suppressed, none generalized
    assert loss(state) == pytest.approx(of_suppression * bits)
    generalized = ClassState(TUPLES.classes(("a",), (1,)), classes.sizes[:2] > 0)
    assert loss(generalized) == pytest.approx(of_generalization * 8)


def test_payout_of_one_class() -> None:
    """Five rows with half of the information lost: an attack pays 300 / 5 - 4, a row 600 - 60."""
    five = build_tuples(
        [{"a": value} for value in (0, 0, 1, 1, 1)], {"a": [PAIRS, dict.fromkeys(PAIRS, "*")]}
    )
    classes = five.classes(("a",), (1,))
    assert PublisherPayout()(ClassState(classes, classes.released)) == pytest.approx(3300)
    assert PublisherPayout()(ClassState(classes, ~classes.released)) == pytest.approx(6000)
    assert PublisherPayout(adversary_cost=60.0)(ClassState(classes, classes.released)) == pytest.approx(3000)


def test_weights_as_factors_and_as_shares() -> None:
    values, weights = [0.2, 0.6], [1.0, 0.5]
    assert AggregateFunction.GEOMETRIC_MEAN.of_multiplied(values, weights) == pytest.approx(
        math.sqrt(1.2 * 1.3) - 1
    )
    assert AggregateFunction.GEOMETRIC_MEAN.of(values, weights) == pytest.approx(0.320771, abs=1e-6)
    assert AggregateFunction.MEAN.of_multiplied(values, weights) == pytest.approx(0.25)
    assert AggregateFunction.MEAN.of(values, weights) == pytest.approx(0.5 / 1.5)


@pytest.mark.parametrize("weights", [{"a": 4.0, "b": 2.0}, {"a": 1.0, "b": 0.5}])
def test_factors_are_divided_by_the_greatest(weights: dict[str, float]) -> None:
    rows = [{"a": n % 4, "b": n % 3} for n in range(12)]
    maps = {"a": [PAIRS, dict.fromkeys(PAIRS, "*")], "b": [dict.fromkeys(range(3), "*")]}
    classes = build_tuples(rows, maps).classes(("a", "b"), (1, 1))
    loss = LossGeometricMean(weights=weights, weighting=Weighting.FACTOR)
    assert loss(ClassState(classes, classes.released)) == pytest.approx(
        math.sqrt((1 + 1 / 3) * (1 + 0.5)) - 1
    )
    nothing = LossGeometricMean(weights={"a": 0, "b": 0}, weighting=Weighting.FACTOR)
    plain = LossGeometricMean()
    assert nothing(ClassState(classes, classes.released)) == pytest.approx(
        plain(ClassState(classes, classes.released))
    )


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("loss", {"factor": 0.1}),
        ("loss", {"factor": 0.9, "aggregate": "geometric-mean"}),
        ("loss", {"weights": {"a": 0.3}, "weighting": "factor", "aggregate": "geometric-mean"}),
        ("aecs", {"factor": 0.2}),
        ("aecs", {"factor": 0.9}),
        ("entropy-suppression-aware", {"factor": 0.2}),
        ("entropy-based", {"factor": 0.3}),
        ("publisher-payout", {"publisher_benefit": 100.0, "adversary_cost": 90.0}),
        ("static", {"losses": {"a": [0.0, 0.1, 3.0]}}),
    ],
)
def test_searches_find_the_same_optimum(name: str, parameters: dict[str, object]) -> None:
    rows = [{"a": n * n % 4, "b": n % 3} for n in range(17)]
    maps = {"a": [PAIRS, dict.fromkeys(PAIRS, "*")], "b": [dict.fromkeys(range(3), "*")]}
    tuples = build_tuples(rows, maps)
    problem = SearchProblem(tuples, ("a", "b"), (KAnonymity(3),), LOSSES.create(name, parameters), 0.3)
    found = [SEARCHES.create(each, {}).run(problem).best for each in ("exhaustive", "auto")]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].node == found[1].node
    assert found[0].loss == pytest.approx(found[1].loss)


def test_what_contradicts_itself_is_refused() -> None:
    with pytest.raises(ParameterError, match="exclude each other"):
        LeafLoss(factor=0.25, coding_model=0.75)
    with pytest.raises(ParameterError, match="fall from one level to the next"):
        StaticLoss(losses={"a": (0.0, 2.0, 1.0)})
    with pytest.raises(ParameterError, match="has the levels 0 to 2, not 2"):
        StaticLoss(losses={"a": (0.0, 2.0)}).check(TUPLES, ("a",))
    with pytest.raises(ParameterError, match="no quasi-identifier 'z'"):
        StaticLoss(losses={"z": (0.0,)}).check(TUPLES, ("a",))
