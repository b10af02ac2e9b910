"""Parameters, aggregates and corner cases of the losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.loss import LOSSES, AggregateFunction, Classification, ColumnLoss, IntervalLoss, LeafLoss, Loss
from tarnkappe.table import SUPPRESSED, ClassState, Levels, Tuples
from tarnkappe.table.classes import release_everything
from tarnkappe.table.encoding import encode_column
from tests.random_tables import build_tuples

ROWS = [{"a": a, "b": b, "label": label} for a, b, label in [(0, 0, "x"), (1, 0, "y"), (2, 1, "x")]]
MAPS = {"a": [dict.fromkeys(range(3), "*")], "b": [dict.fromkeys(range(2), "*")]}


def state_of(
    tuples: Tuples, levels: tuple[int, ...], loss: Loss, kept: list[bool] | None = None
) -> ClassState:
    state = release_everything(tuples.classes(("a", "b"), levels, loss.distributions))
    return state if kept is None else ClassState(state.classes, np.array(kept))


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("loss", {"weights": {"a": -1}}, r"weights\.a: at least 0 is needed, not -1"),
        ("loss", {"weights": {"a": math.inf}}, r"weights\.a: a finite number is needed, not inf"),
        ("loss", {"weights": {"a": math.nan}}, r"weights\.a: a finite number is needed, not nan"),
        ("loss", {"weights": {"a": "much"}}, r"weights\.a: a number is needed, not 'much'"),
        (
            "loss",
            {"aggregate": "median"},
            r"aggregate: one of sum, mean, geometric-mean, maximum, rank is needed, not 'median': did you mean 'mean'\?",
        ),
        ("loss", {"leaves": "all"}, "leaves: one of hierarchy, data is needed, not 'all'"),
        ("aecs", {"p": 0}, "p: at least 1 is needed, not 0"),
        ("normalized-class-size", {"k": 1.5}, r"k: a whole number is needed, not 1\.5"),
        ("normalized-class-size", {}, "k: it is missing"),
        ("classification", {}, "column: it is missing"),
        ("losss", {}, "did you mean loss"),
    ],
)
def test_impossible_parameters_are_refused(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message.replace("(", r"\(")):
        LOSSES.create(name, parameters)


def test_a_weight_for_no_quasi_identifier_is_refused() -> None:
    loss = LeafLoss(weights={"age": 2})
    tuples = build_tuples(ROWS, MAPS)
    with pytest.raises(ParameterError, match="no quasi-identifier 'age' to weigh"):
        loss.check(tuples, ("a", "b"))
    with pytest.raises(ParameterError, match="no quasi-identifier 'age' to weigh"):
        loss(state_of(tuples, (0, 0), loss))


def test_a_label_that_the_table_lacks_is_refused() -> None:
    with pytest.raises(ColumnError, match="the table has no column 'income'"):
        Classification("income").check(build_tuples(ROWS, MAPS), ("a", "b"))


def test_names_are_enough_for_a_job_file() -> None:
    loss = LOSSES.create("loss", {"leaves": "data", "aggregate": "maximum"})
    assert loss.parameters == {"leaves": "data", "aggregate": "maximum", "coding_model": 0.5}
    assert str(loss) == "loss(aggregate=maximum, coding_model=0.5, leaves=data)"


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("sum", 4.0),
        ("mean", 1.0),
        ("geometric-mean", (4 * 2) ** (1 / 4) - 1),
        ("maximum", 3.0),
        ("rank", 3.0),
    ],
)
def test_aggregates_weigh_the_columns(aggregate: str, expected: float) -> None:
    assert AggregateFunction(aggregate).of([0.0, 3.0, 1.0], [2.0, 1.0, 1.0]) == pytest.approx(expected)


@pytest.mark.parametrize("aggregate", AggregateFunction)
def test_aggregates_of_nothing_are_nothing(aggregate: AggregateFunction) -> None:
    assert aggregate.of([], []) == 0
    assert aggregate.of([1.0, 2.0], [0.0, 0.0]) == 0


@pytest.mark.parametrize("aggregate", AggregateFunction)
def test_the_order_of_the_columns_does_not_matter(aggregate: AggregateFunction) -> None:
    values, weights = [0.1, 0.7, 1e-17, 0.3, 1 / 3], [1.0, 2.0, 1.0, 0.1, 3.0]
    assert aggregate.of(values, weights) == aggregate.of(values[::-1], weights[::-1])


def test_suppressed_cells_of_a_column_without_a_choice_count_in_full() -> None:
    """A column with one value hides nothing when kept, but a suppressed row is gone."""
    tuples = build_tuples([{**row, "b": 0} for row in ROWS], {"a": MAPS["a"], "b": [{0: "*"}]})
    for name in ("loss", "interval-loss", "precision"):
        loss = LOSSES[name]()
        assert isinstance(loss, ColumnLoss)
        assert loss.by_column(state_of(tuples, (0, 0), loss)) == [0, 0]
        assert loss.by_column(state_of(tuples, (0, 0), loss, [True, True, False])) == pytest.approx(
            [1 / 3, 1 / 3]
        )


def test_a_column_without_hierarchy_counts_its_own_values() -> None:
    columns = build_tuples(ROWS, {"a": MAPS["a"]})
    assert columns.columns["b"].levels is None
    for kind in LOSSES:
        for loss in kind.examples():
            if loss.distributions:
                continue
            with_hierarchy = state_of(build_tuples(ROWS, MAPS), (1, 0), loss, [True, False])
            plain = state_of(columns, (1, 0), loss, [True, False])
            assert loss(plain) == pytest.approx(loss(with_hierarchy)), loss
            assert loss.lower_bound(plain) == loss.lower_bound(with_hierarchy), loss


def test_missing_values_have_no_width() -> None:
    column = encode_column("a", pa.chunked_array([[10.0, 20.0, 40.0, None]]))
    levels = Levels(
        maps=tuple(np.array(codes, np.int32) for codes in ([0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0])),
        labels=(("10", "20", "40", "(missing)"), ("10-20", "40", "(missing)"), ("*",)),
        leaves=tuple(np.array(counts) for counts in ([1, 1, 1, 1], [2, 1, 1], [4])),
        bounds=(
            np.array([[10, 10], [20, 20], [40, 40], [np.nan, np.nan]]),
            np.array([[10, 20], [40, 40], [np.nan, np.nan]]),
            np.array([[10.0, 40.0]]),
        ),
    )
    tuples = Tuples.of_rows([column.with_levels(levels)])
    assert [IntervalLoss().of_column(tuples, tuples.columns["a"], level) for level in range(3)] == (
        pytest.approx([0, 2 * 10 / 30 / 4, 1])
    )


def test_more_combinations_than_a_number_can_hold_are_no_error() -> None:
    """A hundred columns of two thousand values, of which two occur."""
    names = [f"c{index}" for index in range(100)]
    maps = {name: [dict.fromkeys(range(2000), "*")] for name in names}
    tuples = build_tuples([dict.fromkeys(names, value) for value in (0, 1, 1)], maps)
    top = release_everything(tuples.classes(names, [1] * 100))
    bottom = tuples.classes(names, [0] * 100)
    assert LOSSES.create("ambiguity", {})(top) == math.inf
    assert LOSSES.create("ambiguity", {})(release_everything(bottom)) == 1
    bits = 100 * math.log2(2000) - (math.log2(3) - 2 / 3)
    assert LOSSES.create("kl-divergence", {})(top) == pytest.approx(bits)
    partly = LOSSES.create("kl-divergence", {})(ClassState(bottom, np.array([False, True])))
    assert partly == pytest.approx(100 * math.log2(2000) / 3)


def test_a_suppressed_label_cannot_be_predicted() -> None:
    rows = [{"a": 0, "b": 0, "label": label} for label in ["x", "x", SUPPRESSED, SUPPRESSED, SUPPRESSED]]
    loss = Classification("label")
    assert loss(state_of(build_tuples(rows, MAPS), (0, 0), loss)) == 3


@pytest.mark.parametrize("name", LOSSES.names)
def test_a_release_of_nothing_has_a_loss(name: str) -> None:
    parameters = {"classification": {"column": "label"}, "normalized-class-size": {"k": 2}}
    loss = LOSSES.create(name, parameters.get(name, {}))
    value = loss(state_of(build_tuples(ROWS, MAPS), (0, 0), loss, [False, False, False]))
    worst = {
        "precision": 1,
        "precision-cells": 1,
        "loss": 1,
        "loss-geometric-mean": 1,
        "interval-loss": 1,
        "aecs": 3,
        "aecs-released": math.inf,
        "normalized-class-size": math.inf,
        "discernibility": 9,
        "discernibility-star": 3,
        "classification": 3,
        "ambiguity": 6,
        "kl-divergence": math.log2(6 / 3),
        "entropy-based": 3,
        "publisher-payout": 3 * 1200,
        "entropy-suppression-aware": 3 * math.log2(3) + (2 * math.log2(3 / 2) + math.log2(3)),
    }
    assert value == pytest.approx(worst.get(name, 0))
