"""Local recoding: every pass, the whole, and its loss, compared with plain Python."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.errors import ParameterError
from tarnkappe.lattice import SEARCHES, Exhaustive, SearchProblem
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import DistinctDiversity, EqualCloseness, KAnonymity, Model, protect
from tarnkappe.recoding import LocalRecoding, local_search, local_state
from tarnkappe.recoding.written import split
from tests.adult import COLUMNS, adult_tuples
from tests.random_tables import DISEASE_LEVELS, Example, build_tuples, examples
from tests.recoding import twins

AUTO = SEARCHES.create("auto", {})


def problem_of(
    example: Example, models: tuple[Model, ...], loss: str = "loss", limit: float = 0.0
) -> SearchProblem:
    return SearchProblem(example.tuples, example.quasi_identifiers, models, LOSSES.create(loss, {}), limit)


@given(example=examples(min_rows=3), data=st.data(), k=st.integers(1, 4))
@settings(max_examples=80)
def test_what_passes_make_of_a_table_is_what_plain_python_makes_of_it(
    example: Example, data: st.DataObject, k: int
) -> None:
    nodes = data.draw(st.lists(st.sampled_from(list(example.nodes())), min_size=1, max_size=4))
    if k > len(example.rows):
        return
    problem = problem_of(example, (KAnonymity(k),), limit=1.0)
    state = local_state(problem, nodes)
    written = twins.recoded(example, nodes, lambda rows: len(rows) >= k)
    expected = {labels: written.count(labels) for labels in {*written} - {None}}
    found = {
        tuple(state.classes.labels(int(i)).values()): int(state.classes.sizes[i])
        for i in np.flatnonzero(state.kept)
    }
    assert found == expected
    assert state.suppressed_rows == written.count(None)
    for name, twin in (
        ("loss", twins.leaf_loss),
        ("precision-cells", twins.precision_cells),
        ("entropy", twins.entropy),
        ("entropy-suppression-aware", twins.entropy),
        ("discernibility", twins.discernibility),
    ):
        assert LOSSES.create(name, {})(state) == pytest.approx(float(twin(example, written))), name


@given(example=examples(min_rows=4), limit=st.sampled_from([0.0, 0.2, 1.0]), k=st.integers(2, 3))
@settings(max_examples=60)
def test_it_never_loses_more_than_the_single_optimal_node(example: Example, limit: float, k: int) -> None:
    problem = problem_of(example, (KAnonymity(k),), "loss", limit)
    single = AUTO.run(problem).best
    found = LocalRecoding(AUTO).run(problem)
    assert (found.best is None) == (single is None)
    if found.best is not None and single is not None:
        assert found.best.loss <= single.loss + 1e-9
        assert found.best.suppressed <= problem.limit
        assert not found.optimal


@given(example=examples(min_rows=4), data=st.data())
@settings(max_examples=60)
def test_later_passes_are_compared_with_the_distribution_of_the_whole_input(
    example: Example, data: st.DataObject
) -> None:
    """A pass that took the distribution of its own rows would find everything close to itself."""
    model = EqualCloseness("disease", 0.3)
    nodes = data.draw(st.lists(st.sampled_from(list(example.nodes())), min_size=2, max_size=3))
    totals = [row["disease"] for row in example.rows]

    def close(rows: list[dict[str, object]]) -> bool:
        own = [row["disease"] for row in rows]
        shares = ((own.count(v) / len(own), totals.count(v) / len(totals)) for v in set(totals))
        return sum(abs(p - q) for p, q in shares) / 2 <= 0.3 + 1e-12

    parts = split(example.tuples, example.quasi_identifiers, nodes, [model])
    kept = int(example.tuples.counts[parts >= 0].sum())
    assert kept == sum(labels is not None for labels in twins.recoded(example, nodes, close))


def test_a_table_of_its_own_would_pass_what_the_whole_input_forbids() -> None:
    """Ten healthy rows are kept; the two sick ones left would be 'as all others' among themselves."""
    rows = [
        {"a": int(i >= 10), "disease": "flu" if i >= 10 else "cold", "treatment": "A", "income": 0}
        for i in range(12)
    ]
    maps = {"a": [dict.fromkeys([0, 1], "*")]}
    example = Example(rows, None, maps, build_tuples(rows, {**maps, "disease": DISEASE_LEVELS}))
    model = EqualCloseness("disease", 0.2)
    parts = split(example.tuples, ("a",), [(0,), (0,), (0,)], [model])
    assert sorted(set(parts.tolist())) == [-1, 0]
    left = example.tuples.part(parts == -1)
    alone = dataclasses.replace(left, reference=None).classes(("a",), (0,), model.distributions)
    assert protect(alone, [model]).num_kept == 1  # the mistake that must not be made


def test_rows_that_two_passes_write_alike_are_one_class() -> None:
    """The label 'x' stands on two levels: 'b' is written as it is in pass 1, 'a' and 'c' in pass 2."""
    rows = [{"a": value, "disease": "flu", "treatment": "A", "income": 0} for value in ["x", "x", "p", "q"]]
    maps = {"a": [{"x": "x", "p": "x", "q": "x"}]}
    example = Example(rows, None, maps, build_tuples(rows, {**maps, "disease": DISEASE_LEVELS}))
    problem = problem_of(example, (KAnonymity(2),), limit=1.0)
    state = local_state(problem, [(0,), (1,)])
    assert state.classes.sizes[state.kept].tolist() == [4]
    assert problem.loss(state) == 1.0  # a reader cannot tell the value x from the label x


def test_a_merged_class_that_breaks_a_promise_is_not_released() -> None:
    """Distances of a personalized guard, or of numbers, do not survive merging: then the union is judged."""
    from tarnkappe.privacy import EpsilonMAnonymity

    rows = [
        {"a": a, "disease": "flu", "treatment": "A", "income": income}
        for a, income in [("x", 0), ("x", 2), ("p", 1), ("q", 9)]
    ]
    maps = {"a": [{"x": "x", "p": "x", "q": "x"}]}
    example = Example(rows, None, maps, build_tuples(rows, {**maps, "disease": DISEASE_LEVELS}))
    model = EpsilonMAnonymity("income", 1, 2)
    problem = problem_of(example, (model,), limit=1.0)
    parts = split(example.tuples, ("a",), [(0,), (1,)], [model])
    assert (parts >= 0).all(), "each pass by itself keeps the promise"
    assert not local_state(problem, [(0,), (1,)]).kept.any()


@given(example=examples(min_rows=2), data=st.data())
@settings(max_examples=60)
def test_precision_on_cells_is_precision_where_a_column_has_one_level(
    example: Example, data: st.DataObject
) -> None:
    """By the levels of a node always; by the written words, if a value has another word on each level."""
    node = data.draw(st.sampled_from(list(example.nodes())))
    cells, levels = (LOSSES.create(name, {}) for name in ("precision-cells", "precision"))
    problem = problem_of(example, (KAnonymity(1),))
    state = protect(problem.classes(node), (KAnonymity(1),))
    assert cells(state) == pytest.approx(levels(state))
    words = [
        [twins.label(example, name, value, level) for level in range(len(maps) + 1)]
        for name, maps in example.maps.items()
        for value in maps[0]
    ]
    if all(len({*own}) == len(own) for own in words):
        assert cells(local_state(problem, [node])) == pytest.approx(levels(state))


def test_precision_on_cells_tells_a_cell_at_a_lower_level_from_its_column() -> None:
    """Two of five cells are exact, two half way up and one is suppressed: (0 + 0 + 1/2 + 1/2 + 1) / 5."""
    maps = {"a": [{0: "x", 1: "y", 2: "y", 3: "z"}, dict.fromkeys(range(4), "*")]}
    rows = [{"a": value, "disease": "flu", "treatment": "A", "income": 0} for value in (0, 0, 1, 2, 3)]
    example = Example(rows, None, maps, build_tuples(rows, {**maps, "disease": DISEASE_LEVELS}))
    state = local_state(problem_of(example, (KAnonymity(2),), limit=1.0), [(0,), (1,)])
    assert LOSSES.create("precision-cells", {})(state) == pytest.approx(2 / 5)


def test_losses_that_have_no_meaning_at_several_levels_are_refused() -> None:
    example = Example([], None, {}, build_tuples([{"a": 1}, {"a": 1}], {"a": [{1: "*"}]}))
    for name in ("height", "precision", "normalized-entropy", "kl-divergence"):
        problem = SearchProblem(example.tuples, ("a",), (KAnonymity(2),), LOSSES.create(name, {}))
        with pytest.raises(ParameterError, match="at several levels at once"):
            LocalRecoding(AUTO).run(problem)
    for allowance in (0.0, 1.5, -0.1):
        with pytest.raises(ParameterError, match="share of its rows above 0"):
            LocalRecoding(AUTO, allowance)


def test_differential_privacy_does_not_allow_levels_chosen_by_the_data() -> None:
    from tarnkappe.privacy import DifferentialPrivacy

    with pytest.raises(ParameterError, match="chooses levels by looking at the data"):
        local_search(AUTO, True, [DifferentialPrivacy(1, 0.1)])


class Impatient(Exhaustive):
    """A search that the user interrupts the third time it is run."""

    runs = 0

    def search(self, traversal: Traversal) -> None:
        Impatient.runs += 1
        if Impatient.runs == 3:
            raise KeyboardInterrupt
        super().search(traversal)


@pytest.fixture
def grouped() -> SearchProblem:
    """Thirty rows: five values, of which one is rare."""
    values = [i % 4 for i in range(28)] + [4, 4]
    rows = [{"a": value, "disease": "flu", "treatment": "A", "income": 0} for value in values]
    maps = {"a": [{v: str(v // 3) for v in range(5)}, dict.fromkeys(range(5), "*")]}
    example = Example(rows, None, maps, build_tuples(rows, {**maps, "disease": DISEASE_LEVELS}))
    return problem_of(example, (KAnonymity(7),))


def test_an_interruption_ends_it_with_the_best_found_so_far(grouped: SearchProblem) -> None:
    Impatient.runs = 0
    stopped = LocalRecoding(Impatient()).run(grouped)
    assert stopped.stopped == "interrupted"
    single = AUTO.run(grouped).best
    assert stopped.best is not None
    assert single is not None
    assert stopped.passes == (single.node,)
    Impatient.runs = 2
    with pytest.raises(KeyboardInterrupt):
        LocalRecoding(Impatient()).run(grouped)


def test_when_time_is_up_no_further_pass_is_begun(grouped: SearchProblem) -> None:
    hurried = LocalRecoding(SEARCHES.create("exhaustive", {"seconds": 1e-9})).run(grouped)
    assert hurried.stopped == "out of time"
    assert hurried.checked <= 1


def test_adult_is_recoded_without_losing_a_row(adult: Path) -> None:
    """k = 5: no row suppressed, less loss than the single optimal node, verified pass by pass."""
    table = tarnkappe.read(adult / "adult.csv").with_roles(quasi_identifiers=COLUMNS)
    options: dict[str, Any] = {
        "privacy": [KAnonymity(5)],
        "hierarchies": {name: str(adult / f"adult_hierarchy_{name}.csv") for name in COLUMNS},
        "loss": "loss",
        "suppression_limit": 0.05,
    }
    single = tarnkappe.anonymize(table, **options)
    local = tarnkappe.anonymize(table, **options, local_recoding=0.2)
    assert local.suppressed == 0
    assert local.release.num_rows == table.num_rows == sum(each.rows for each in local.passes)
    assert local.loss == pytest.approx(0.177489, abs=1e-6)
    assert local.loss < 0.66 * single.loss
    weighed = sum(each.rows * each.loss for each in local.passes) / table.num_rows
    assert local.loss == pytest.approx(weighed)  # no two passes write alike here
    assert all(found.value >= 5 for each in local.passes for found in each.verified)
    assert local.verified[0].value >= 5


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["loss", "entropy", "discernibility"])
@pytest.mark.parametrize("limit", [0.0, 0.05])
def test_adult_is_better_recoded_locally_by_any_loss(adult: Path, loss: str, limit: float) -> None:
    models = (KAnonymity(5), DistinctDiversity("occupation", 3))
    names = tuple(name for name in COLUMNS if name != "occupation")
    problem = SearchProblem(adult_tuples(adult), names, models, LOSSES.create(loss, {}), limit)
    single, found = AUTO.run(problem).best, LocalRecoding(AUTO).run(problem)
    assert single is not None
    assert found.best is not None
    assert found.best.suppressed == 0
    assert found.best.loss < single.loss
