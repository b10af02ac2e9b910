"""The method 'exact-suppression': levels and suppressed classes that together lose least."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tarnkappe import anonymize
from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.lattice import SearchProblem
from tarnkappe.lattice.suppression_choice import best_choice
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import (
    AverageRisk,
    DistinctDiversity,
    KAnonymity,
    Model,
    PopulationUniqueness,
    SampleUniqueness,
)
from tarnkappe.privacy.evaluate import satisfied
from tarnkappe.recoding import ExactSuppression, recoded
from tarnkappe.table import Classes, ClassState, Role, Table
from tests.lattice.test_suppression_choice import least_of_all
from tests.random_tables import Example, examples

MODELS_TRIED: list[list[Model]] = [
    [AverageRisk("1/3")],
    [AverageRisk("2/5")],
    [SampleUniqueness("1/4")],
    [AverageRisk("1/2"), SampleUniqueness("1/5")],
    [AverageRisk("1/3"), DistinctDiversity("disease", 2)],
    [KAnonymity(2)],
]
LOSSES_TRIED: list[Loss] = [
    LOSSES.create("loss", {}),
    LOSSES.create("loss", {"weights": {"a": 3.0}, "aggregate": "sum", "coding_model": 0.7}),
    LOSSES.create("interval-loss", {}),
    LOSSES.create("discernibility", {}),
]


def problem_of(example: Example, models: list[Model], loss: Loss, share: float) -> SearchProblem:
    try:
        return SearchProblem(example.tuples, example.quasi_identifiers, tuple(models), loss, share)
    except ParameterError:
        reject()


@given(
    example=examples(min_rows=3, max_rows=9),
    models=st.sampled_from(MODELS_TRIED),
    loss=st.sampled_from(LOSSES_TRIED),
    share=st.sampled_from([0.25, 0.5, 1.0]),
)
@settings(max_examples=settings().max_examples // 2, deadline=None)
def test_no_levels_with_any_choice_of_classes_lose_less(
    example: Example, models: list[Model], loss: Loss, share: float
) -> None:
    problem = problem_of(example, models, loss, share)
    least = least_of_all(problem)
    try:
        found = ExactSuppression().recode(problem.tuples, problem)
    except NoSolutionError:
        assert math.isinf(least)
        return
    assert found.optimal
    released = recoded(problem.tuples, found, problem.models, problem.distributions).state
    assert satisfied(released, problem.models, problem.limit)
    assert problem.loss(released) == pytest.approx(least)


def by_brute_force(problem: SearchProblem, classes: Classes) -> float:
    """The least loss of all subsets of classes that keep every promise."""
    parts = [part for model in problem.models for part in model.parts]
    least = math.inf
    for choice in itertools.product((True, False), repeat=classes.num_classes):
        kept = np.array(choice, dtype=bool)
        state = ClassState(classes, kept)
        good = all(np.array_equal(part.keep(classes, kept), kept) for part in parts)
        if good and state.suppressed_rows <= problem.limit:
            least = min(least, problem.loss(state))
    return least


def by_capacity(sizes: list[int], worth: list[float], share: tuple[int, int]) -> float:
    """The most that can be kept of classes under an average risk a/b, without a limit: a dynamic program.

    Large classes bring capacity, small ones take b - a n of it.
    """
    a, b = share
    weights = [b - a * n for n in sizes]
    capacity = sum(-w for w in weights if w <= 0)
    most = {0: sum(v for v, w in zip(worth, weights, strict=True) if w <= 0)}
    for value, weight in zip(worth, weights, strict=True):
        if weight > 0:
            more = {used + weight: got + value for used, got in most.items() if used + weight <= capacity}
            for used, got in more.items():
                most[used] = max(most.get(used, -math.inf), got)
    return max(most.values())


@given(
    example=examples(min_rows=3, max_rows=12),
    models=st.sampled_from(MODELS_TRIED),
    loss=st.sampled_from(LOSSES_TRIED),
    share=st.sampled_from([0.25, 0.5, 1.0]),
    data=st.data(),
)
@settings(max_examples=settings().max_examples, deadline=None)
def test_the_choice_is_that_of_brute_force_and_of_a_dynamic_program(
    example: Example, models: list[Model], loss: Loss, share: float, data: st.DataObject
) -> None:
    problem = problem_of(example, models, loss, share)
    classes = problem.classes(data.draw(st.sampled_from(list(problem.nodes()))))
    if classes.num_classes > 10:
        reject()
    kept, least = best_choice(problem, classes), by_brute_force(problem, classes)
    if kept is None:
        assert math.isinf(least)
        return
    found = problem.loss(ClassState(classes, kept))
    assert found == pytest.approx(least)
    if models == [AverageRisk("2/5")] and share == 1.0:
        charges = loss.charges(classes)
        assert charges is not None
        most = by_capacity(classes.sizes.tolist(), charges.tolist(), (2, 5))
        everything = loss(ClassState(classes, np.ones(classes.num_classes, bool)))
        assert everything + charges.sum() - most == pytest.approx(found)


@pytest.mark.parametrize("loss", [each for kind in LOSSES for each in kind.examples()], ids=str)
@given(example=examples(min_rows=2, max_rows=9), data=st.data())
@settings(max_examples=10, deadline=None)
def test_charges_add_up_to_what_suppression_adds(loss: Loss, example: Example, data: st.DataObject) -> None:
    problem = problem_of(example, [KAnonymity(1)], loss, 1.0)
    classes = problem.classes(data.draw(st.sampled_from(list(problem.nodes()))))
    charges = loss.charges(classes)
    if charges is None:
        return
    assert (charges >= -1e-12).all()
    number = classes.num_classes
    chosen = data.draw(st.lists(st.booleans(), min_size=number, max_size=number))
    kept = np.array(chosen, dtype=bool) & classes.released
    everything = loss(ClassState(classes, classes.released.copy()))
    assert loss(ClassState(classes, kept)) == pytest.approx(everything + charges[~kept].sum())


def pair_or_single() -> tuple[Table, dict[str, Hierarchy]]:
    """At level 1 classes of 1, 2, 8 and 8 rows, of which the pair loses 0.9 a row and the others nothing."""
    hierarchy = [[each, each, "*"] for each in ("a", "d", "e")] + [[f"b{n}", "rest", "*"] for n in range(28)]
    rows = ["a", "b0", "b1", *["d"] * 8, *["e"] * 8]
    table = Table(pa.table({"x": rows})).with_roles({"x": Role.QUASI_IDENTIFIER})
    return table, {"x": Hierarchy.from_rows(hierarchy)}


def test_suppressing_a_pair_may_lose_less_than_suppressing_a_single_row() -> None:
    """4 classes of 19 rows are too many for a risk of 1/5; without the row or without the pair it holds."""
    table, hierarchies = pair_or_single()
    limits: dict[str, Any] = {"levels": {"x": 1}, "suppression_limit": 0.2, "shuffle": False, "loss": "loss"}
    usual, exact = (
        anonymize(table, privacy=[AverageRisk("1/5")], hierarchies=hierarchies, algorithm=name, **limits)
        for name in ("auto", "exact-suppression")
    )
    assert usual.solution.best is not None
    assert exact.solution.best is not None
    assert usual.solution.best.loss == pytest.approx((1 + 1.8) / 19)
    assert exact.solution.best.loss == pytest.approx(2 / 19)
    assert exact.release.data["x"].to_pylist() == ["a", *["d"] * 8, *["e"] * 8]
    assert exact.solution.proof == "proven optimal"
    assert "others may lose less" in usual.solution.proof


@pytest.mark.parametrize(
    ("model", "loss", "why"),
    [
        (PopulationUniqueness("1/100", "zayatz", sampling_fraction=0.5), "loss", "is not known"),
        (AverageRisk("1/5"), "entropy", "does not add up over classes"),
        (AverageRisk(0.123456789), "loss", "fraction of small numbers"),
    ],
    ids=str,
)
def test_what_is_no_sum_of_whole_numbers_is_refused(model: Model, loss: str, why: str) -> None:
    table, hierarchies = pair_or_single()
    with pytest.raises(ParameterError, match=why):
        anonymize(
            table,
            privacy=[model],
            hierarchies=hierarchies,
            loss=loss,
            suppression_limit=0.2,
            algorithm="exact-suppression",
        )
