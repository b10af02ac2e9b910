"""Best-first search: exact when it ends, and at every moment honest about how far it is."""

from __future__ import annotations

import math
import random
from typing import ClassVar

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.lattice import BestFirst, Exhaustive, SearchProblem, Solution
from tarnkappe.lattice.problem import TIE
from tarnkappe.lattice.projections import Projections, terms_of
from tarnkappe.lattice.search_run import Attempt
from tarnkappe.lattice.tested_nodes import Notebook
from tarnkappe.loss import LOSSES, AggregateFunction, Loss
from tarnkappe.privacy import MODELS, Model
from tests.random_tables import Example, build_tuples, examples

ALL_LOSSES: list[Loss] = [loss for kind in LOSSES for loss in kind.examples()]
ALL_MODELS: list[Model] = [model for kind in MODELS for model in kind.examples()]


class Logged(Attempt):
    """An attempt that notes every bound it ever states."""

    stated: ClassVar[list[float]] = []

    def raise_bound(self, bound: float | None) -> None:
        super().raise_bound(bound)
        if self.bound is not None:
            self.stated.append(self.bound)


class LoggedBestFirst(BestFirst):
    state = Logged


@st.composite
def problems(draw: st.DrawFn, *, max_rows: int = 10) -> SearchProblem:
    """Any table, models, loss, suppression limit and level limits."""
    example: Example = draw(examples(min_rows=2, max_rows=max_rows, with_population=True))
    models = tuple(draw(st.lists(st.sampled_from(ALL_MODELS), min_size=1, max_size=2)))
    limits = {}
    for name, height in zip(example.quasi_identifiers, example.heights, strict=True):
        if draw(st.integers(0, 4)) == 0:
            least = draw(st.integers(0, height))
            limits[name] = (least, draw(st.integers(least, height)))
    try:
        return SearchProblem(
            example.tuples,
            example.quasi_identifiers,
            models,
            draw(st.sampled_from(ALL_LOSSES)),
            draw(st.sampled_from([0.0, 0.2, 0.4, 1.0])),
            limits,
        )
    except (ParameterError, ColumnError):  # the table cannot meet the models, or has no such column
        reject()


def least_loss(problem: SearchProblem) -> float:
    best = Exhaustive().run(problem).best
    return math.inf if best is None else best.loss


def is_no_more(smaller: float, larger: float) -> bool:
    return smaller <= larger + TIE * max(1.0, abs(larger))


@given(problem=problems(), parts=st.sampled_from([2, 3, 50_000]), patience=st.integers(0, 3))
@settings(max_examples=settings().max_examples)
def test_without_limits_it_equals_exhaustive_search(
    problem: SearchProblem, parts: int, patience: int
) -> None:
    found = BestFirst(seconds=None, projection_nodes=parts, patience=patience).run(problem)
    truth = Exhaustive().run(problem)
    assert found.optimal_levels
    assert found.stopped == ""
    assert found.levels == truth.levels
    if found.best is not None and truth.best is not None:
        assert found.best.loss == pytest.approx(truth.best.loss)
        assert found.bound == (found.best.loss if found.optimal else None)


@given(problem=problems(), parts=st.sampled_from([2, 3, 50_000]), seed=st.integers(0, 5))
@settings(max_examples=settings().max_examples // 2)
def test_no_bound_is_ever_above_the_optimum_and_none_is_below_the_one_before(
    problem: SearchProblem, parts: int, seed: int
) -> None:
    Logged.stated.clear()
    LoggedBestFirst(seconds=None, projection_nodes=parts, patience=1, seed=seed).run(problem)
    assert Logged.stated == sorted(Logged.stated)
    optimum = least_loss(problem)
    assert all(is_no_more(bound, optimum) for bound in Logged.stated)


@given(problem=problems(), tests=st.integers(1, 12), parts=st.sampled_from([2, 50_000]))
@settings(max_examples=settings().max_examples // 2)
def test_stopped_early_the_result_satisfies_and_the_bound_holds(
    problem: SearchProblem, tests: int, parts: int
) -> None:
    search = BestFirst(seconds=None, max_tests=tests, projection_nodes=parts, patience=2)
    found, optimum = search.run(problem), least_loss(problem)
    assert found.checked <= tests
    if found.bound is not None:
        assert is_no_more(found.bound, optimum)
    if found.best is not None:
        assert problem.evaluate(found.best.node).satisfied
        assert is_no_more(optimum, found.best.loss)
        if found.optimal:
            assert found.best.loss == pytest.approx(optimum)


@given(problem=problems(), parts=st.sampled_from([2, 3, 10]), data=st.data())
@settings(max_examples=settings().max_examples // 3)
def test_projections_never_promise_more_than_the_best_node_of_a_box(
    problem: SearchProblem, parts: int, data: st.DataObject
) -> None:
    notebook = Notebook(Attempt(problem))
    terms = terms_of(problem)
    if terms is None or not notebook.can_exclude:
        reject()
    projections = Projections(notebook, terms, parts)
    enough = data.draw(st.integers(0, 30))
    projections.exclude(lambda: len(notebook.attempt.tests) >= enough)
    low = tuple(data.draw(st.sampled_from(levels)) for levels in problem.level_ranges)
    high = tuple(
        data.draw(st.integers(least, levels[-1]))
        for least, levels in zip(low, problem.level_ranges, strict=True)
    )
    least = projections.least(low, high)
    inside = [
        problem.evaluate(node)
        for node in problem.nodes()
        if all(a <= b <= c for a, b, c in zip(low, node, high, strict=True))
    ]
    best = min((each.loss for each in inside if each.satisfied), default=math.inf)
    assert is_no_more(projections.bound(least), best)


@given(problem=problems())
@settings(max_examples=settings().max_examples // 4)
def test_terms_sum_to_the_bound_from_the_levels(problem: SearchProblem) -> None:
    terms = terms_of(problem)
    if terms is None:
        reject()
    for node in problem.nodes():
        added = math.fsum(terms.by_column[i][level] for i, level in enumerate(node))
        bound = problem.loss.lower_bound_at(problem.tuples, problem.columns, node)
        assert terms.total(added) == pytest.approx(bound)


def test_which_losses_are_sums_over_the_columns() -> None:
    rows = [{"a": 0, "b": 0}, {"a": 1, "b": 1}]
    maps = {name: [dict.fromkeys((0, 1), "*")] for name in ("a", "b")}
    tuples, models = build_tuples(rows, maps), (MODELS.create("k-anonymity", {"k": 2}),)

    def separates(loss: Loss) -> bool:
        return terms_of(SearchProblem(tuples, ("a", "b"), models, loss)) is not None

    assert separates(LOSSES.create("entropy", {"weights": {"a": 2.0}}))
    assert separates(LOSSES.create("loss-geometric-mean", {}))
    assert not separates(LOSSES.create("loss", {"aggregate": AggregateFunction.MAXIMUM}))
    assert not separates(LOSSES.create("discernibility", {}))


def many_twins(columns: int, k: int = 2) -> SearchProblem:
    """Rows in groups of k that differ in every column."""
    rows = [{f"q{i:02}": row // k for i in range(columns)} for row in range(4 * k)]
    maps = {f"q{i:02}": [dict.fromkeys(range(4), "*")] for i in range(columns)}
    models = (MODELS.create("k-anonymity", {"k": k}),)
    return SearchProblem(build_tuples(rows, maps), tuple(maps), models, LOSSES.create("height", {}))


def test_a_lattice_of_any_size_is_searched() -> None:
    problem = many_twins(60)
    assert problem.num_nodes == 2**60
    found = BestFirst(seconds=20).run(problem)
    assert found.optimal
    assert found.levels == (0,) * 60


def test_the_time_limit_ends_the_search_with_the_best_found() -> None:
    found = BestFirst(seconds=0.3).run(hard_problem())
    assert found.stopped == "out of time"
    assert found.best is not None
    assert found.best.satisfied
    assert not found.optimal
    assert found.bound is not None
    assert found.bound < found.best.loss


def test_open_boxes_are_limited() -> None:
    found = BestFirst(seconds=None, max_boxes=5, patience=0).run(hard_problem())
    assert found.stopped == "more than 5 boxes open"
    assert found.best is not None


def hard_problem() -> SearchProblem:
    draw = random.Random(1)
    rows = [{f"q{i:02}": draw.randrange(5) for i in range(24)} for _ in range(60)]
    halves = {0: "low", 1: "low", 2: "low", 3: "high", 4: "high"}
    maps = {f"q{i:02}": [halves, dict.fromkeys(range(5), "*")] for i in range(24)}
    models = (MODELS.create("k-anonymity", {"k": 4}),)
    return SearchProblem(build_tuples(rows, maps), tuple(maps), models, LOSSES.create("entropy", {}), 0.1)


def test_the_same_seed_and_number_of_tests_give_the_same_result_whatever_the_order_of_the_columns() -> None:
    problem = hard_problem()
    names = problem.quasi_identifiers
    turned = SearchProblem(
        problem.tuples, names[::-1], problem.models, problem.loss, problem.suppression_limit
    )

    def levels(of: SearchProblem, seed: int) -> dict[str, int]:
        found: Solution = BestFirst(seconds=None, max_tests=800, seed=seed).run(of)
        assert found.levels is not None
        return dict(zip(of.quasi_identifiers, found.levels, strict=True))

    assert levels(problem, 3) == levels(problem, 3) == levels(turned, 3)


@pytest.mark.parametrize(
    "parameters", [{"max_tests": 0}, {"projection_nodes": 1}, {"patience": -1}, {"seed": 0.5}, {"seconds": 0}]
)
def test_impossible_parameters_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=r"best-first: \w+: .* is needed"):
        BestFirst(**parameters)
