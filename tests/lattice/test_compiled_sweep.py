"""The compiled search against the one in Python: the same tests in the same order, the same result."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.lattice import AutoSearch, EvaluationSettings, Exhaustive, SearchProblem
from tarnkappe.lattice.auto import Hunt
from tarnkappe.lattice.border_search import Sweep
from tarnkappe.lattice.compiled_sweep import CompiledSweep
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import DistinctDiversity, KAnonymity
from tarnkappe.schema import replace
from tarnkappe.table import ClassState
from tests.lattice.random_problems import random_problem

LOSSES_WITH_KERNELS: tuple[Loss, ...] = tuple(
    LOSSES.create(name, parameters)
    for name, parameters in (
        ("aecs", {}),
        ("aecs-released", {"p": 2}),
        ("normalized-class-size", {"k": 3}),
        ("discernibility", {}),
        ("discernibility-star", {}),
        ("entropy", {}),
        ("height", {}),
        ("precision-star", {"aggregate": "maximum"}),
        ("precision", {}),
        ("precision", {"coding_model": 0.8}),
        ("loss", {}),
        ("loss", {"weights": {"q0": 2.5}}),
        ("loss", {"aggregate": "maximum"}),
        ("loss", {"leaves": "data", "aggregate": "sum"}),
        ("loss-geometric-mean", {"weights": {"q0": 0.5}}),
        ("entropy-suppression-aware", {}),
        ("entropy-suppression-aware", {"aggregate": "geometric-mean"}),
    )
)
LIMITS = (0.0, 0.05, 0.2, 0.5, 1.0)


def hunt(problem: SearchProblem, effort: EvaluationSettings | None = None) -> Hunt:
    begun = Hunt(problem, lower_bounds=True, effort=effort or AutoSearch().effort)
    begun.begin()
    begun.next_look = 10**9  # a sweep to its end
    return begun


def small(seed: int, loss: Loss, limit: float, k: int, limited: bool) -> SearchProblem:
    drawn = random_problem(seed, 1, limited=limited, loss=loss)
    k = min(k, drawn.tuples.num_rows)
    return dataclasses.replace(drawn, models=(KAnonymity(k), KAnonymity(2)), suppression_limit=limit)


@given(
    seed=st.integers(0, 2**32 - 1),
    loss=st.sampled_from(LOSSES_WITH_KERNELS),
    limit=st.sampled_from(LIMITS),
    k=st.integers(2, 8),
    limited=st.booleans(),
)
@settings(max_examples=200)
def test_it_makes_the_same_tests_and_finds_the_same(
    seed: int, loss: Loss, limit: float, k: int, limited: bool
) -> None:
    problem = small(seed, loss, limit, k, limited)
    slow, fast = hunt(problem), hunt(problem)
    Sweep(slow).search()
    compiled = CompiledSweep.of(fast)
    assert compiled is not None
    compiled.search()
    assert fast.tests == slow.tests
    assert fast.checker.counters.checked == len(fast.tests)
    assert np.array_equal(fast.space.known, slow.space.known)
    assert fast.space.least == pytest.approx(slow.space.least, rel=1e-9)
    assert fast.space.bounds == pytest.approx(slow.space.bounds, rel=1e-9)
    one, other = fast.best.evaluation, slow.best.evaluation
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert dataclasses.replace(one, loss=0) == dataclasses.replace(other, loss=0)
        assert one.loss == pytest.approx(other.loss, rel=1e-12)
    truth = Exhaustive().run(problem).best
    assert (one and one.node) == (truth and truth.node)


@given(seed=st.integers(0, 2**32 - 1), loss=st.sampled_from(LOSSES_WITH_KERNELS))
@settings(max_examples=30)
def test_a_small_arena_changes_what_tests_cost_and_nothing_else(seed: int, loss: Loss) -> None:
    problem = small(seed, loss, 0.2, 3, limited=False)
    wide, narrow = hunt(problem), hunt(problem, replace(AutoSearch().effort, megabytes=0.0005))
    for each in (wide, narrow):
        compiled = CompiledSweep.of(each)
        assert compiled is not None
        compiled.search()
    assert narrow.tests == wide.tests
    assert narrow.best.evaluation == wide.best.evaluation
    assert narrow.checker.counters.groups >= wide.checker.counters.groups


class Own(type(LOSSES.create("loss", {}))):  # type: ignore[misc]
    """A loss that a user has written: ten times another one."""

    name = "own"

    def __call__(self, state: ClassState) -> float:
        return 10 * float(super().__call__(state))


def test_what_has_no_kernel_is_left_to_the_search_in_python() -> None:
    problem = small(5, LOSSES.create("loss", {}), 0.2, 3, limited=False)
    assert CompiledSweep.of(hunt(problem)) is not None
    for other in (
        dataclasses.replace(problem, loss=Own()),
        dataclasses.replace(problem, loss=LOSSES.create("loss", {"coding_model": 0.2})),
        dataclasses.replace(problem, loss=LOSSES.create("ambiguity", {})),
        dataclasses.replace(problem, models=(KAnonymity(2), DistinctDiversity("disease", 2))),
    ):
        assert CompiledSweep.of(hunt(other)) is None
    without_roll_up = replace(AutoSearch().effort, roll_up=False)
    assert CompiledSweep.of(hunt(problem, without_roll_up)) is None
