"""The whole lattice: every node as a slow twin sees it, its neighbours, filters, and choosing any node."""

from __future__ import annotations

import math
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.lattice import Exhaustive, LatticeView, SearchProblem, choose, explore
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.table import Table
from tarnkappe.table.row_tuples import row_tuples
from tests.adult import read_rows, read_tuples
from tests.conftest import FIXTURES
from tests.lattice.test_battery import COMBINATIONS, SIMPLE_LOSSES
from tests.random_tables import Example, build_levels, examples

LOCAL = FIXTURES / "local"
QUASI_IDENTIFIERS = ("age", "sex", "zip")
PUBLISHED = read_rows(LOCAL / "lattice.csv")


def running_example(limit: float = 0.0) -> SearchProblem:
    names = (*QUASI_IDENTIFIERS, "diagnosis")
    tuples = read_tuples(LOCAL / "running-example.csv", {n: LOCAL / f"hierarchy_{n}.csv" for n in names})
    models = (MODELS.create("k-anonymity", {"k": 2}),)
    return SearchProblem(tuples, QUASI_IDENTIFIERS, models, LOSSES.create("entropy", {}), limit)


@pytest.fixture(scope="module")
def view() -> LatticeView:
    return explore(running_example())


def test_all_36_nodes_of_the_running_example_are_classified_as_published(view: LatticeView) -> None:
    assert len(view) == 36
    for row in PUBLISHED:
        found = view[{name: int(row[name]) for name in QUASI_IDENTIFIERS}]
        assert found.satisfied == (row["two_anonymous"] == "yes"), row
        assert found.loss == pytest.approx(float(row["entropy"]), abs=5e-5), row
    assert len(view.where(satisfied=True)) == 12
    assert view.best is not None
    assert view.best.node == (1, 0, 3)


@given(examples(min_rows=2, max_rows=10), st.data(), st.sampled_from([0.0, 0.25, 0.5]))
@settings(max_examples=60)
def test_every_node_is_what_a_single_test_finds(example: Example, data: st.DataObject, share: float) -> None:
    models = data.draw(st.sampled_from(COMBINATIONS))
    loss = data.draw(st.sampled_from(SIMPLE_LOSSES))
    heights = {name: len(example.maps[name]) for name in example.quasi_identifiers}
    first = example.quasi_identifiers[0]
    least = data.draw(st.integers(0, heights[first]))
    limits = {first: (least, heights[first])}
    try:
        problem = SearchProblem(example.tuples, example.quasi_identifiers, tuple(models), loss, share, limits)
    except ParameterError:
        reject()
    view = explore(problem)
    assert sorted(found.node for found in view) == sorted(problem.nodes())
    assert all(sum(a.node) <= sum(b.node) for a, b in pairwise(view))
    for found in view:
        alone = problem.evaluate(found.node)
        assert (found.satisfied, found.suppressed, found.classes) == (
            alone.satisfied,
            alone.suppressed,
            alone.classes,
        )
        assert found.loss == pytest.approx(alone.loss) or math.isinf(found.loss)
        assert not found.satisfied or math.isfinite(found.loss)
    best = Exhaustive().run(problem).best
    assert (view.best is None) == (best is None)
    assert best is None or (view.best is not None and view.best.node == best.node)


def test_filters_narrow_and_combine(view: LatticeView) -> None:
    assert {found.node for found in view.where(levels={"sex": 1, "zip": (2, 3)})} == {
        (age, 1, zipped) for age in range(3) for zipped in (2, 3)
    }
    cheap = view.where(satisfied=True, loss_at_most=40)
    assert {f.node for f in cheap} == {f.node for f in view if f.satisfied and f.loss <= 40}
    unspoiled = view.where(suppressed_at_most=0)
    assert {f.node for f in unspoiled} == {f.node for f in view if f.suppressed == 0}
    assert len(view.where(satisfied=False).where(satisfied=True)) == 0
    assert view.where(satisfied=False).best is None
    assert (1, 0, 3) in cheap
    assert (2, 1, 5) not in cheap
    with pytest.raises(ColumnError, match="'town' is no quasi-identifier"):
        view.where(levels={"town": 1})


def test_neighbours_differ_by_one_level_of_one_column(view: LatticeView) -> None:
    assert [f.node for f in view.successors((1, 0, 3))] == [(2, 0, 3), (1, 1, 3), (1, 0, 4)]
    assert [f.node for f in view.predecessors({"age": 1, "sex": 0, "zip": 3})] == [(0, 0, 3), (1, 0, 2)]
    assert view.predecessors((0, 0, 0)) == []
    assert view.successors((2, 1, 5)) == []
    good = view.where(satisfied=True)
    assert all(found.satisfied for found in good.predecessors((1, 0, 4)))
    with pytest.raises(ParameterError, match="filtered out"):
        good[0, 0, 0]


def test_the_table_of_nodes_has_one_row_a_node(view: LatticeView) -> None:
    table = view.to_arrow()
    assert table.column_names == [
        "level_age", "level_sex", "level_zip", "satisfied", "loss", "suppressed", "classes",
    ]  # fmt: skip
    names = ("satisfied", "loss", "suppressed", "classes")
    by_node = {(r["level_age"], r["level_sex"], r["level_zip"]): r for r in table.to_pylist()}
    assert by_node == {
        f.node: dict(zip(("level_age", "level_sex", "level_zip"), f.node, strict=True))
        | dict(zip(names, (f.satisfied, f.loss, f.suppressed, f.classes), strict=True))
        for f in view
    }


def test_a_node_that_nothing_helps_has_no_loss() -> None:
    """A least share of released people breaks where a class of the population has none of them."""
    population = pa.table({"age": ["1", "2", "3", "4"]})
    maps = [{"1": "1-2", "2": "1-2", "3": "3-4", "4": "3-4"}, dict.fromkeys("1234", "*")]
    table = Table(pa.table({"age": ["1", "3"]}))
    rows = row_tuples(table, ["age"], population=Table(population))
    rows = rows.with_levels({"age": build_levels(rows.columns["age"], maps)})
    presence = MODELS.create("delta-presence", {"minimum": 0.2, "maximum": 0.6})
    problem = SearchProblem(rows.distinct(), ("age",), (presence,), LOSSES.create("height", {}), 1.0)
    view = explore(problem)
    assert view.to_arrow().column("loss").to_pylist() == [None, 1.0, 2.0]
    assert [found.satisfied for found in view] == [False, True, True]
    with pytest.raises(NoSolutionError, match="suppressing rows does not help here"):
        choose(problem, (0,))


def test_any_satisfying_node_can_be_chosen_and_no_other() -> None:
    problem = running_example(limit=0.3)
    view = explore(problem)
    for found in view:
        if found.satisfied:
            chosen = choose(problem, found.node, view.best.loss if view.best else None)
            assert chosen.best == problem.evaluate(found.node)
            assert chosen.optimal == (view.best is not None and found.loss == pytest.approx(view.best.loss))
        else:
            with pytest.raises(
                NoSolutionError, match="rows would have to be suppressed, but at most 2 may be"
            ):
                choose(problem, found.node)


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ({"age": 1}, "no level is given for sex, zip"),
        ({"age": 1, "sex": 0, "zip": 9}, "level 9 of 'zip' is impossible: it may be from 0 to 5"),
        ((1, 0), "a node has one level for each of age, sex, zip"),
        ({"age": 1, "sex": 0, "zip": 1, "town": 1}, "'town' is no quasi-identifier"),
    ],
)
def test_what_is_no_node_is_refused(levels: object, words: str) -> None:
    with pytest.raises((ParameterError, ColumnError), match=words):
        choose(running_example(), levels)  # type: ignore[arg-type]


def test_a_lattice_too_large_to_look_at_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(explore.__globals__, "MAX_NODES", 35)
    with pytest.raises(ParameterError, match="36 combinations of levels, more than the 35"):
        explore(running_example())


def test_a_view_prints_what_it_holds(view: LatticeView) -> None:
    assert "36 of 36 nodes; 12 keep k-anonymity(k=2)" in repr(view)
    assert "best: age 1, sex 0, zip 3; entropy 28" in repr(view)
    assert "36 of 36" not in repr(view.where(satisfied=True))


def test_progress_reaches_the_number_of_nodes() -> None:
    told: list[tuple[str, int, int]] = []
    explore(running_example(), lambda what, done, total, note="": told.append((what, done, total)))
    assert told == [("classifying", 32, 36)]
