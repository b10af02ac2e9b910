"""Genetic search: a heuristic that keeps the promises, reproducibly, and knows a bound."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import Exhaustive, Genetic, SearchProblem
from tests.lattice.test_best_first import hard_problem, is_no_more, many_twins, problems


@given(problem=problems(), seed=st.integers(0, 3), tests=st.sampled_from([1, 3, 10, None]))
@settings(max_examples=settings().max_examples // 2)
def test_it_never_returns_a_node_that_does_not_satisfy_nor_a_bound_above_the_optimum(
    problem: SearchProblem, seed: int, tests: int | None
) -> None:
    found = Genetic(seconds=None, max_tests=tests, population=6, patience=3, seed=seed).run(problem)
    truth = Exhaustive().run(problem).best
    if found.best is not None:
        assert problem.evaluate(found.best.node).satisfied
        assert truth is not None
        assert is_no_more(truth.loss, found.best.loss)
    if truth is not None and found.bound is not None:
        assert is_no_more(found.bound, truth.loss)


def test_a_seed_reproduces_the_search_whatever_the_order_of_the_columns() -> None:
    problem = hard_problem()
    names = problem.quasi_identifiers
    turned = SearchProblem(
        problem.tuples, names[::-1], problem.models, problem.loss, problem.suppression_limit
    )
    search = Genetic(seconds=None, max_tests=2000, seed=7)
    first, again, other = search.run(problem), search.run(problem), search.run(turned)
    assert first == again
    assert first.best is not None
    assert other.best is not None
    assert first.best.node == other.best.node[::-1]
    assert not first.optimal
    assert first.bound is not None
    assert 0 < first.bound < first.best.loss
    assert "at most" in first.proof


def test_it_gets_better_with_more_tests() -> None:
    losses = []
    for tests in (100, 3000):
        found = Genetic(seconds=None, max_tests=tests).run(hard_problem()).best
        assert found is not None
        losses.append(found.loss)
    assert losses[1] < losses[0]


def test_it_ends_when_nothing_better_is_found() -> None:
    found = Genetic(seconds=None, patience=2).run(many_twins(3))
    assert found.stopped == ""
    assert found.levels == (0, 0, 0)
    assert found.optimal  # the bound shows it


@pytest.mark.parametrize("parameters", [{"population": 1}, {"patience": 0}, {"seed": -1}])
def test_impossible_parameters_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match=r"genetic: \w+: .* is needed"):
        Genetic(**parameters)
