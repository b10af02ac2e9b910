"""What is done differently with many classes changes nothing but the effort."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import (
    AutoSearch,
    EvaluationSettings,
    Exhaustive,
    Flash,
    FlashTwoPhase,
    SearchProblem,
    exhaustive,
    groups,
)
from tarnkappe.lattice.checker import Checker
from tarnkappe.lattice.forecast import Forecast
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tests.lattice.test_battery import COMBINATIONS
from tests.random_tables import Example, examples

EVERYTHING_IS_MANY = EvaluationSettings(many_classes=1, snapshot_share=1.0, stepping_stones=True)
K2 = (MODELS.create("k-anonymity", {"k": 2}),)


@pytest.fixture(autouse=True, scope="module")
def _few_at_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "CLASSES_AT_ONCE", 2)
        yield


@given(example=examples(min_rows=2), data=st.data(), share=st.sampled_from([0.0, 0.1, 0.3, 0.6]))
@settings(max_examples=settings().max_examples // 2)
def test_the_optimum_is_that_of_the_exhaustive_search(
    example: Example, data: st.DataObject, share: float
) -> None:
    models = data.draw(st.sampled_from(COMBINATIONS))
    loss = data.draw(st.sampled_from([loss for kind in LOSSES for loss in kind.examples()]))
    try:
        problem = SearchProblem(example.tuples, example.quasi_identifiers, tuple(models), loss, share)
        found = AutoSearch(effort=EVERYTHING_IS_MANY).run(problem)
    except ParameterError:
        reject()
    assert found.levels == Exhaustive().run(problem).levels
    assert found.best is None or found.optimal_levels


@given(
    example=examples(min_rows=2, with_population=True),
    data=st.data(),
    effort=st.builds(
        EvaluationSettings,
        projection=st.booleans(),
        roll_up=st.booleans(),
        snapshots=st.sampled_from([0, 1, 3, 200]),
        snapshot_share=st.sampled_from([0.0, 0.2, 1.0]),
        stepping_stones=st.booleans(),
        many_classes=st.sampled_from([1, 5, 100_000]),
    ),
)
@settings(max_examples=settings().max_examples // 2)
def test_what_is_reused_does_not_change_the_outcome(
    example: Example, data: st.DataObject, effort: EvaluationSettings
) -> None:
    """Projection, roll-up and history, each switched on or off; models carry distributions and a population."""
    models = data.draw(st.sampled_from(COMBINATIONS))
    kind = data.draw(st.sampled_from([AutoSearch, Flash, FlashTwoPhase]))
    loss = LOSSES.create("discernibility", {})
    try:
        problem = SearchProblem(example.tuples, example.quasi_identifiers, tuple(models), loss, 0.3)
    except ParameterError:
        reject()
    try:
        found = kind(effort=effort).run(problem)
    except ParameterError:  # a search that is not made for it
        reject()
    assert found.best == Exhaustive().run(problem).best


@given(example=examples(min_rows=2), data=st.data(), share=st.sampled_from([0.0, 0.1, 0.3]))
def test_a_node_that_is_rejected_from_some_classes_fails(
    example: Example, data: st.DataObject, share: float
) -> None:
    problem = SearchProblem(
        example.tuples, example.quasi_identifiers, K2, LOSSES.create("entropy", {}), share
    )
    node = data.draw(st.sampled_from(list(example.nodes())))
    found, whole = Checker(problem, effort=EVERYTHING_IS_MANY).check(node), problem.evaluate(node)
    assert found.evaluation.satisfied == whole.satisfied
    assert found.evaluation.suppressed <= whole.suppressed
    if found.estimate is None:
        assert found.suppressed_about == whole.suppressed
    else:
        assert found.evaluation.suppressed > problem.limit


@given(example=examples(min_rows=2), data=st.data())
def test_a_forecast_is_the_ridge_regression_of_all_tests(example: Example, data: st.DataObject) -> None:
    """The twin solves the normal equations anew, with the two assumptions as observations."""
    problem = SearchProblem(example.tuples, example.quasi_identifiers, K2, LOSSES.create("entropy", {}), 0.1)
    nodes = list(example.nodes())
    tested = data.draw(st.lists(st.tuples(st.sampled_from(nodes), st.integers(0, 50)), max_size=6))
    forecast = Forecast(problem)
    for node, suppressed in tested:
        forecast.learn(node, suppressed)
    columns = [column.levels for column in problem.columns if column.levels is not None]

    def features(node: tuple[int, ...]) -> list[float]:
        labels = sum(math.log(own.distinct(level)) for own, level in zip(columns, node, strict=True))
        return [1.0, labels] + [
            float(level == own_level)
            for own, level in zip(columns, node, strict=True)
            for own_level in range(own.height + 1)
        ]

    width = len(features(nodes[0]))
    ends = [[1.0, features(nodes[0])[1], *[0.0] * (width - 2)], [1.0, 0.0, *[0.0] * (width - 2)]]
    values = [math.log(problem.tuples.num_rows), math.log(0.5)]
    seen = np.array(ends + [features(node) for node, _ in tested])
    values += [math.log(max(suppressed, 0.5)) for _, suppressed in tested]
    penalty = np.diag([1e-3, 1e-3] + [1 / 5.0] * (width - 2))
    terms = np.linalg.solve(seen.T @ seen + penalty, seen.T @ np.array(values))
    expected = [float(np.dot(features(node), terms)) for node in nodes]
    constant, by_level = forecast.by_level()
    starts = list(itertools.accumulate((own.height + 1 for own in columns), initial=0))
    foretold = [
        constant + sum(by_level[start + level] for start, level in zip(starts, node, strict=False))
        for node in nodes
    ]
    assert foretold == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(example=examples(min_rows=2), share=st.sampled_from([0.0, 0.3]))
@settings(max_examples=settings().max_examples // 4)
def test_threads_test_every_node_once(example: Example, share: float) -> None:
    problem = SearchProblem(
        example.tuples, example.quasi_identifiers, K2, LOSSES.create("entropy", {}), share
    )
    alone = Exhaustive().run(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exhaustive, "WORTH_A_THREAD", 0)
        patch.setattr("os.cpu_count", lambda: 3)
        together = Exhaustive().run(problem)
    assert together.best == alone.best
    assert together.checked == alone.checked == problem.num_nodes
