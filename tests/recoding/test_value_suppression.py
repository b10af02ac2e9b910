"""The method 'value-suppression': values are shown in all rows or in none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.lattice import SearchProblem
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model, satisfied
from tarnkappe.recoding import Recoding, ValueSuppression, recoded
from tarnkappe.recoding.value_suppression import Disclosure
from tests.random_tables import Example, build_tuples, examples

TRIED: list[Model] = [
    MODELS.create("k-anonymity", {"k": 2}),
    MODELS.create("distinct-diversity", {"column": "disease", "l": 2}),
    MODELS.create("equal-closeness", {"column": "disease", "t": 0.4}),
]
LOSSES_TRIED: list[Loss] = [
    LOSSES.create("loss", {}),
    LOSSES.create("entropy", {}),
    LOSSES.create("aecs", {}),
]


def worth(problem: SearchProblem, shown: set[tuple[str, str]]) -> float:
    """What a release loses that shows these values of these columns; infinite if it breaks a promise."""
    own = Disclosure(problem)
    for column in problem.columns:
        for code, label in enumerate(column.labels):
            if (column.name, label) in shown:
                own.levels[column.name][code] = 0
    written = {c.name: own.written(c.name, c) for c in problem.columns}
    everyone = np.ones(problem.tuples.num_tuples, dtype=bool)
    found = recoded(problem.tuples, Recoding(written, everyone), problem.models, problem.distributions)
    return problem.loss(found.state) if satisfied(found.state, problem.models, problem.limit) else math.inf


def greedily(problem: SearchProblem) -> set[tuple[str, str]]:
    """The slow way: of all values, always the one that gains most."""
    counts = {
        (c.name, label): int(problem.tuples.counts[c.codes == code].sum())
        for c in problem.columns
        for code, label in enumerate(c.labels)
    }
    shown: set[tuple[str, str]] = set()
    while True:
        now = worth(problem, shown)
        gains = {each: now - worth(problem, shown | {each}) for each in counts if each not in shown}
        good = {each: gain for each, gain in gains.items() if gain > 1e-9 * max(1.0, abs(now))}
        if not good:
            return shown
        most = max(good.values())
        shown.add(min((each for each in good if good[each] > most - 1e-12), key=lambda e: (-counts[e], e)))


def disclosed(problem: SearchProblem) -> tuple[Disclosure, set[tuple[str, str]]]:
    run = Disclosure(problem)
    run.disclose()
    return run, {
        (c.name, c.labels[code]) for c in problem.columns for code in np.flatnonzero(run.levels[c.name] == 0)
    }


@given(example=examples(min_rows=2, max_rows=10), data=st.data(), share=st.sampled_from([0.0, 0.25]))
@settings(max_examples=settings().max_examples // 4)
def test_what_is_shown_keeps_the_promise_and_no_value_more_can_be_shown(
    example: Example, data: st.DataObject, share: float
) -> None:
    model, loss = data.draw(st.sampled_from(TRIED)), data.draw(st.sampled_from(LOSSES_TRIED))
    try:
        problem = SearchProblem(example.tuples, example.quasi_identifiers, (model,), loss, share)
    except (ParameterError, ColumnError):
        return
    if math.isinf(worth(problem, set())):
        with pytest.raises(NoSolutionError, match="not even with all values hidden"):
            ValueSuppression().recode(problem.tuples, problem)
        return
    run, shown = disclosed(problem)
    assert run.loss == pytest.approx(worth(problem, shown))
    for column in problem.columns:
        for label in column.labels:
            more = worth(problem, shown | {(column.name, label)})
            assert more >= run.loss - 1e-8 * max(1.0, abs(run.loss))


@given(example=examples(min_rows=2, max_rows=9))
@settings(max_examples=settings().max_examples // 8)
def test_with_precision_and_k_anonymity_it_is_the_slow_greedy_choice(example: Example) -> None:
    """There a value gains the same whatever else is shown, so what was found earlier stays true."""
    model = MODELS.create("k-anonymity", {"k": 2})
    try:
        problem = SearchProblem(
            example.tuples, example.quasi_identifiers, (model,), LOSSES.create("precision-cells", {})
        )
    except (ParameterError, ColumnError):
        return
    if not math.isinf(worth(problem, set())):
        assert disclosed(problem)[1] == greedily(problem)


PEOPLE = [{"town": town} for town in ["Ulm"] * 5 + ["Bonn"] * 4 + ["Kiel"] + ["Jena"]]
TOWNS = {"town": [dict.fromkeys(["Ulm", "Bonn", "Kiel", "Jena"], "*")]}


def problem_of(k: int) -> SearchProblem:
    return SearchProblem(
        build_tuples(PEOPLE, TOWNS),
        ("town",),
        (MODELS.create("k-anonymity", {"k": k}),),
        LOSSES.create("loss", {}),
    )


def test_rare_values_are_hidden_and_the_others_stay_exact() -> None:
    """One level for the column would hide every town."""
    problem = problem_of(2)
    recoding = ValueSuppression().recode(problem.tuples, problem)
    written = recoding.written["town"].rows(0, problem.tuples.num_tuples).to_pylist()
    assert sorted(set(written)) == ["*", "Bonn", "Ulm"]
    assert recoding.steps[0].startswith("values shown: town 2 of 4")


def test_where_all_rows_are_needed_everything_is_hidden() -> None:
    problem = problem_of(11)
    written = ValueSuppression().recode(problem.tuples, problem).written["town"]
    assert set(written.rows(0, problem.tuples.num_tuples).to_pylist()) == {"*"}
