"""k-Optimize finds what trying every value set finds, and its bound is never above that."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.lattice import SearchProblem
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, KAnonymity
from tarnkappe.recoding import KOptimize, Stochastic, k_optimize
from tarnkappe.recoding.deadline import Patience, patience
from tarnkappe.recoding.k_optimize import KOptimizeRun
from tarnkappe.recoding.labels import LabelReader
from tarnkappe.recoding.partitions import alphabet
from tarnkappe.recoding.set_enumeration import Incumbent, explore, new_stack
from tarnkappe.recoding.value_sets import ValueSets, value_sets
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import encode_column
from tarnkappe_bench.adult import read_adult
from tarnkappe_bench.k_optimize import adult_problem
from tests.adult import adult_tuples
from tests.conftest import FIXTURES
from tests.random_tables import build_levels, build_tuples
from tests.recoding.value_set_twins import cost, every_value_set, numbered, published_search, tree

F_T10 = json.loads((FIXTURES / "release-check" / "f-t10.json").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = [dict(zip(F_T10["columns"], row, strict=True)) for row in F_T10["rows"]]
ORDERS: dict[str, list[Any]] = F_T10["orders"]


def flat(orders: dict[str, list[Any]]) -> dict[str, list[dict[Any, str]]]:
    return {name: [dict.fromkeys(values, "*")] for name, values in orders.items()}


def problem_of(
    rows: list[dict[str, Any]],
    orders: dict[str, list[Any]],
    k: int,
    limit: int,
    loss: str = "discernibility",
    parameters: dict[str, Any] | None = None,
    **settings: Any,
) -> SearchProblem:
    tuples = build_tuples(rows, flat(orders))
    share = (limit + 0.5) / len(rows)  # a share is rounded down
    return SearchProblem(
        tuples,
        tuple(orders),
        (KAnonymity(k),),
        LOSSES.create(loss, parameters or {}),
        suppression_limit=min(1.0, share),
        **settings,
    )


def finished(sets: ValueSets) -> KOptimizeRun:
    search = KOptimizeRun(sets)
    assert search.run(Patience(None)) == ""
    return search


def found_by(problem: SearchProblem) -> tuple[int, tuple[int, ...]]:
    sets = value_sets(problem)
    search = finished(sets)
    assert search.head is not None
    assert search.bound == search.cost
    return search.cost, sets.alphabet.value_set(search.head)


# ------------------------------------------------------------------ the worked example


def test_values_are_numbered_consecutively() -> None:
    own = alphabet(problem_of(ROWS, ORDERS, 2, 0))
    assert own.size == 9
    assert own.value_set(own.free) == (2, 3, 4, 6, 8, 9)
    figure = {
        "Age": [10, 30, 40],
        "Gender": ["F", "M"],
        "Marital": ["Divorced", "Married", "Never", "Widowed"],
    }
    rows = [
        {"Age": a, "Gender": g, "Marital": m}
        for a in figure["Age"]
        for g in figure["Gender"]
        for m in figure["Marital"]
    ]
    marital = {"Married": "a", "Widowed": "a", "Divorced": "b", "Never": "b"}
    maps = {**flat(figure), "Marital": [marital, dict.fromkeys(marital, "*")]}
    problem = dataclasses.replace(problem_of(rows, figure, 2, 0), tuples=build_tuples(rows, maps))
    own = alphabet(problem)
    head = np.zeros(9, dtype=bool)
    head[[4, 7]] = True
    written = own.write(problem.tuples, head)
    assert own.value_set(own.free) == (2, 3, 5, 7, 8, 9)
    assert set(written["Age"].labels) == {"[10, 40]"}
    assert written["Gender"].labels == ("F", "M")
    assert written["Marital"].labels == ("a", "b"), "values lie as they stand under the hierarchy"


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("limit", [0, 2, 6])
def test_the_optimum_of_the_worked_example_is_18(k: int, limit: int) -> None:
    assert found_by(problem_of(ROWS, ORDERS, k, limit)) == (18, (3,))


def test_the_costs_of_the_worked_example() -> None:
    hill = value_sets(problem_of(ROWS, ORDERS, 2, 6)).hill
    costs = {}
    for numbers in ((), (3,), (6, 9)):
        head = np.zeros(9, dtype=bool)
        head[[number - 1 for number in numbers]] = True
        costs[numbers] = hill.standing(head).cost
    assert costs == {(): 36, (3,): 18, (6, 9): 20}
    assert len(list(every_value_set(ORDERS))) == 64


def test_the_worked_example_as_a_job() -> None:
    problem = problem_of(ROWS, ORDERS, 2, 0)
    found = KOptimize().recode(rows_of(ROWS, ORDERS), problem)
    assert found.optimal
    assert found.bound == 18
    assert found.written["Age"].labels == ("[25, 26]", "[27, 28]")
    assert found.written["Sex"].labels == ("*",)
    assert found.kept.all()
    assert "value set {3}" in found.steps


def rows_of(rows: list[dict[str, Any]], orders: dict[str, list[Any]]) -> Tuples:
    columns = [encode_column(name, pa.chunked_array([[row[name] for row in rows]])) for name in rows[0]]
    return Tuples.of_rows(
        c.with_levels(build_levels(c, flat(orders)[c.name])) if c.name in orders else c for c in columns
    )


# ------------------------------------------------------------------ the tree


def test_the_set_enumeration_tree_has_16_nodes_and_12_without_one_value() -> None:
    whole = tree([1, 2, 3, 4], {})
    assert len(whole) == 16
    assert whole[1, 3] == (4,)
    assert whole[2, 4] == ()
    assert len(tree([1, 2, 3, 4], {(1,): {3}})) == 12


def test_the_search_reaches_every_head_of_the_tree_when_nothing_can_be_excluded() -> None:
    """Four values that each halve two rows of their own: with k = 1 every value set is better than the last."""
    orders: dict[str, list[Any]] = {name: [0, 1] for name in "abcd"}
    rows = [dict(zip("abcd", map(int, f"{n:04b}"), strict=True)) for n in range(16)]
    sets = value_sets(problem_of(rows, orders, 1, 0))
    nodes, left = explore_once(sets, np.zeros(8, dtype=bool), sets.alphabet.free, 10**9)[:2]
    assert left == 0
    assert nodes <= 2 * 16 - 1, "a binary tree over the 16 value sets"


def test_an_empty_tail_does_not_exclude_the_head() -> None:
    """The negative form: where an empty tail counts as hopeless, the optimum is missed."""
    assert published_search(ROWS, ORDERS, 2, 0) == 18
    missed = [
        published_search(ROWS, {name: ORDERS[name]}, k, 0, empty_means_pruned=True)
        > published_search(ROWS, {name: ORDERS[name]}, k, 0)
        for name in ORDERS
        for k in (2, 3)
    ]
    assert any(missed)


# ------------------------------------------------------------------ brute force


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[str, list[Any]]]:
    names = ["a", "b", "c"][: draw(st.integers(1, 3))]
    domains = {name: list(range(draw(st.integers(1, 4)))) for name in names}
    row = st.fixed_dictionaries(
        {**{name: st.sampled_from(domains[name]) for name in names}, "label": st.sampled_from("xyz")}
    )
    rows = draw(st.lists(row, min_size=2, max_size=14))
    return rows, {name: sorted({row[name] for row in rows}) for name in names}


@given(table=tables(), k=st.integers(1, 4), limit=st.integers(0, 14), label=st.booleans())
def test_it_finds_what_trying_every_value_set_finds(table: Any, k: int, limit: int, label: bool) -> None:
    rows, orders = table
    assume(k <= len(rows))
    limit = min(limit, len(rows))
    loss = ("classification", {"column": "label"}) if label else ("discernibility", {})
    found, chosen = found_by(problem_of(rows, orders, k, limit, *loss))
    every = {
        frozenset(s): cost(rows, orders, s, k, limit, "label" if label else None)
        for s in every_value_set(orders)
    }
    assert found == min(every.values())
    values = numbered(orders)
    assert every[frozenset(values[number - 1] for number in chosen)] == found


@given(table=tables(), k=st.integers(1, 4), limit=st.integers(0, 14))
@settings(max_examples=30)
def test_it_agrees_with_the_published_search(table: Any, k: int, limit: int) -> None:
    rows, orders = table
    assume(k <= len(rows) and sum(map(len, orders.values())) <= 8)
    limit = min(limit, len(rows))
    assert found_by(problem_of(rows, orders, k, limit))[0] == published_search(rows, orders, k, limit)


def explore_once(sets: ValueSets, head: Any, tail: Any, budget: int) -> tuple[int, int, int, Any]:
    values = sets.alphabet.size
    best = Incumbent(np.array([np.iinfo(np.int64).max]), np.zeros(values, dtype=bool))
    room = np.empty((2 * values + 4, values), dtype=bool), np.empty((2 * values + 4, values), dtype=bool)
    bounds = np.empty(2 * values + 4, np.int64)
    hill = sets.hill
    stack = new_stack(hill.cells, values)
    nodes, left = explore(
        stack, hill.cells, head, tail, hill.numbering, hill.price, best, budget, *room, bounds
    )
    return nodes, left, int(best.cost[0]), bounds[:left]


@given(table=tables(), k=st.integers(1, 4), limit=st.integers(0, 14), work=st.integers(1, 3000))
@settings(max_examples=100)
def test_the_bound_is_never_above_the_optimum_however_early_it_stops(
    table: Any, k: int, limit: int, work: int
) -> None:
    rows, orders = table
    assume(k <= len(rows))
    limit = min(limit, len(rows))
    sets = value_sets(problem_of(rows, orders, k, limit))
    optimum = min(cost(rows, orders, s, k, limit) for s in every_value_set(orders))
    _, _, best, bounds = explore_once(sets, sets.alphabet.required, sets.alphabet.free, work)
    assert min([best, *bounds.tolist()]) <= optimum <= best


@given(table=tables(), k=st.integers(1, 4), limit=st.integers(0, 14), data=st.data())
@settings(max_examples=100)
def test_what_a_flip_costs_is_what_the_flipped_value_set_costs(
    table: Any, k: int, limit: int, data: st.DataObject
) -> None:
    rows, orders = table
    assume(k <= len(rows))
    label = data.draw(st.sampled_from([None, "label"]))
    loss = ("classification", {"column": "label"}) if label else ("discernibility", {})
    sets = value_sets(problem_of(rows, orders, k, min(limit, len(rows)), *loss))
    own, values = sets.alphabet, numbered(orders)
    head = own.free & np.array(data.draw(st.lists(st.booleans(), min_size=own.size, max_size=own.size)))
    flips = sets.hill.flips(head)
    for flipped in (-1, *np.flatnonzero(own.free).tolist()):
        other = head.copy()
        if flipped >= 0:
            other[flipped] = not other[flipped]
        chosen = {values[number] for number in np.flatnonzero(other)}
        assert flips.costs[flipped + 1] == cost(rows, orders, chosen, k, len(rows), label)


# ------------------------------------------------------------------ limits, stopping, refusals


def test_the_suppression_limit_is_kept() -> None:
    rows = [{"a": 0}] * 5 + [{"a": 1}] + [{"a": 2}] * 5
    orders: dict[str, list[Any]] = {"a": [0, 1, 2]}
    assert found_by(problem_of(rows, orders, 2, 0))[0] == 61
    assert found_by(problem_of(rows, orders, 2, 1))[0] == 61, (
        "to suppress a row would cost 61 too, and is not better"
    )
    assert found_by(problem_of(rows * 5, orders, 6, 5))[0] == 25 * 25 * 2 + 5 * 55


def test_a_least_level_makes_its_labels_the_smallest_intervals() -> None:
    rows = [{"age": age} for age in (20, 21, 22, 23, 30, 31) for _ in range(2)]
    maps = {"age": [{age: f"{age // 10}x" for age in range(20, 40)}, dict.fromkeys(range(20, 40), "*")]}
    tuples = build_tuples(rows, maps)
    problem = SearchProblem(
        tuples, ("age",), (KAnonymity(2),), LOSSES.create("discernibility", {}), level_limits={"age": (1, 2)}
    )
    found = KOptimize().recode(tuples, problem)
    assert sorted(found.written["age"].labels) == ["2x", "3x"], "no single age is written"
    free = KOptimize().recode(tuples, dataclasses.replace(problem, level_limits={}))
    assert sorted(free.written["age"].labels) == ["20", "21", "22", "23", "30", "31"]


def test_a_greatest_level_that_no_value_set_can_keep_is_no_solution() -> None:
    rows = [{"age": 20}, {"age": 21}, {"age": 30}]
    tuples = build_tuples(rows, {"age": [{20: "a", 21: "a", 30: "b"}, dict.fromkeys((20, 21, 30), "*")]})
    loss = LOSSES.create("discernibility", {})
    problem = SearchProblem(tuples, ("age",), (KAnonymity(2),), loss, level_limits={"age": (0, 1)})
    for method in (KOptimize(), Stochastic()):
        with pytest.raises(NoSolutionError, match="raise the greatest levels"):
            method.recode(tuples, problem)
    allowed = dataclasses.replace(problem, suppression_limit=0.4)
    found = KOptimize().recode(tuples, allowed)
    assert sorted(found.kept[tuples.columns["age"].codes].tolist()) == [False, True, True]


@pytest.mark.parametrize("method", [KOptimize(), Stochastic()])
def test_other_models_are_refused_and_the_error_names_methods_that_do_it(method: Any) -> None:
    table = tarnkappe.Table(pa.table({"a": [1, 1, 2, 2], "d": ["x", "y", "x", "y"]}))
    with pytest.raises(ParameterError, match="mondrian"):
        tarnkappe.anonymize(
            table.with_roles(quasi_identifiers=["a"], sensitive=["d"]),
            privacy=[MODELS.create("distinct-diversity", {"column": "d", "l": 2})],
            algorithm=method,
            loss="discernibility",
        )


def test_time_that_is_over_gives_the_best_so_far_with_its_bound(adult: Any) -> None:
    tuples = adult_tuples(adult)
    names = ("age", "education", "occupation", "sex")
    problem = SearchProblem(tuples, names, (KAnonymity(5),), LOSSES.create("discernibility", {}), 1.0)
    found = KOptimize(seconds=0.01).recode(tuples, problem)
    assert found.stopped == "out of time"
    assert not found.optimal
    assert found.bound is not None
    assert found.bound >= 0


def test_ctrl_c_gives_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = value_sets(problem_of(ROWS, ORDERS, 2, 0))
    search = KOptimizeRun(sets)
    start = search._start
    monkeypatch.setattr(search, "_start", lambda own: (start(own), os.kill(os.getpid(), signal.SIGINT)))
    with patience(None) as own:
        assert search.run(own) == "interrupted"
    assert search.cost == 18
    assert search.bound <= 18


def test_the_same_result_whatever_the_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    orders: dict[str, list[Any]] = {name: list(range(6)) for name in "abc"}
    rows = [{name: int(random.integers(0, 6)) for name in "abc"} for _ in range(80)]
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(k_optimize.os, "cpu_count", lambda cores=cores: cores)
        monkeypatch.setattr(k_optimize, "BUDGET", 2000)
        search = finished(value_sets(problem_of(rows, orders, 4, 10)))
        assert search.head is not None
        found.append((search.cost, search.nodes, search.head.tolist()))
    assert found[0] == found[1]


def test_words_of_intervals_mean_what_they_say() -> None:
    countries = {
        "Austria": "Europe",
        "Cuba": "America",
        "Haiti": "America",
        "Italy": "Europe",
        None: "unknown",
    }
    rows = [{"country": name} for name in countries]
    tuples = build_tuples(rows, {"country": [countries, dict.fromkeys(countries, "*")]})
    problem = SearchProblem(tuples, ("country",), (KAnonymity(1),), LOSSES.create("discernibility", {}))
    own = alphabet(problem)
    column = tuples.columns["country"]
    for head in ([0, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 1, 0, 0, 1], [0, 0, 0, 1, 0], [0, 1, 1, 1, 1]):
        written = own.write(tuples, np.array(head, dtype=bool))["country"]
        reader = LabelReader(column)
        for code, word in zip(column.codes.tolist(), written.codes.tolist(), strict=True):
            meaning = reader.meaning(written.labels[word])
            assert meaning is not None
            assert code in meaning
        assert len(set(written.labels)) == 1 + sum(head)


# ------------------------------------------------------------------ the stochastic competitor


@given(table=tables(), k=st.integers(1, 4), limit=st.integers(0, 14), seed=st.integers(0, 9))
@settings(max_examples=50)
def test_the_stochastic_competitor_never_beats_the_optimum_and_keeps_the_limit(
    table: Any, k: int, limit: int, seed: int
) -> None:
    rows, orders = table
    assume(k <= len(rows))
    limit = min(limit, len(rows))
    problem = problem_of(rows, orders, k, limit)
    best = min(cost(rows, orders, s, k, limit) for s in every_value_set(orders))
    sets, found = value_sets(problem), Stochastic(tries=2, seed=seed).recode(problem.tuples, problem)
    again = Stochastic(tries=2, seed=seed).recode(problem.tuples, problem)
    assert found.steps == again.steps
    chosen = next(step for step in found.steps if step.startswith("value set"))
    head = np.zeros(sets.alphabet.size, dtype=bool)
    head[[int(number) - 1 for number in chosen[11:-1].split(", ") if number]] = True
    standing = sets.hill.standing(head)
    assert standing.excess == 0
    assert standing.cost >= best
    assert not found.optimal


def test_the_stochastic_competitor_stops_by_itself_and_refuses_nonsense() -> None:
    problem = problem_of(ROWS, ORDERS, 2, 0)
    assert Stochastic(tries=3).recode(problem.tuples, problem).stopped == ""
    for parameters in ({"tries": 0}, {"seed": -1}, {"seconds": 0}):
        with pytest.raises(ParameterError):
            Stochastic(**parameters)


# ------------------------------------------------------------------ Adult


@pytest.mark.slow
@pytest.mark.parametrize(("k", "optimum"), [(1000, 45_794_344), (500, 29_189_884)])
def test_adult_coarse_without_suppression_is_proven_optimal(adult: Any, k: int, optimum: int) -> None:
    problem = adult_problem(read_adult(adult), k, 0, fine=False)
    assert found_by(problem)[0] == optimum
