"""People are counted along joins, unions and foreign keys: what rows say, and what people say."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.counting_people import counted
from tarnkappe.algebra.expressions import ColumnRef, ComparisonPredicate, Literal
from tarnkappe.algebra.generalizing import best_levels_of_people
from tarnkappe.algebra.lowering import connect
from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    Plan,
    Projection,
    Relation,
    Rename,
    RowBound,
    Selection,
    SlicingNode,
    Union,
)
from tarnkappe.algebra.noise import Static
from tarnkappe.algebra.noisy.stability import reach
from tarnkappe.algebra.person_paths import HIDDEN, PersonPath
from tarnkappe.algebra.persons import behind
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.session import QueryResult, QuerySession
from tarnkappe.algebra.world import World
from tarnkappe.errors import NoSolutionError, ParameterError, QueryError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.catalog_file import CatalogFile
from tarnkappe.state import Store
from tarnkappe.state.budgets import Budgets

PLZ = Hierarchy.from_rows([[plz, "1805*", "*"] for plz in ("18055", "18057", "18059")])


def asked(query: str, tables: dict[str, pa.Table], persons: dict[str, Any], **options: Any) -> QueryResult:
    more = {name: options.pop(name) for name in ("noise", "bucket", "public") if name in options}
    with connect(tables) as backend:
        catalog = Catalog(backend.relations, {"plz": PLZ}, persons=persons, **more)
        return QuerySession(backend, catalog, **options).sql(query)


def people_of(shown: QueryResult, tables: dict[str, pa.Table]) -> Counter[str]:
    """The different people of every class, recounted from an answer that shows them."""
    pairs = {(row["plz"], row["pid"]) for row in shown.table.to_pylist()}
    return Counter(plz for plz, pid in pairs if pid is not None)


# ------------------------------------------------------------------ worked examples

FOUR = {"t": pa.table({"pid": [1, 2, 3, 4], "plz": ["18055", "18055", "18057", "18059"]})}
TWICE = "SELECT plz, pid FROM generalize((SELECT * FROM t UNION ALL SELECT * FROM t), k => 2, by => [plz])"
VISITS = {"v": pa.table({"pid": [1] * 5 + [2, 3, 4], "plz": ["18055"] * 5 + ["18057"] * 3})}
MORE = {"v": pa.table({"pid": [1] * 5 + [2, 3, 4, 5, 6, 7], "plz": ["18055"] * 5 + ["18057"] * 6})}
SEEN = "SELECT plz, pid FROM generalize(v, k => 3, by => [plz])"


@pytest.mark.parametrize(("query", "tables", "name"), [(TWICE, FOUR, "t"), (SEEN, VISITS, "v")])
def test_one_person_with_many_rows_is_no_crowd(query: str, tables: dict[str, pa.Table], name: str) -> None:
    """Of rows, the lowest level would do (classes 4, 2, 2 and 5, 3); of people it does not."""
    rows = asked(query, tables, {})
    assert "18055" in rows.table.column("plz").to_pylist()
    people = asked(query, tables, {name: "pid"})
    assert set(people.table.column("plz").to_pylist()) == {"1805*"}
    assert people_of(people, tables) == {"1805*": 4}
    (kept,) = people.verified
    assert (kept.people, kept.measured) == (True, 4)
    assert people.table.num_rows == 8


def test_noise_of_cells_is_paid_for_every_row_of_a_person(tmp_path: Path) -> None:
    rh = Static({"+": Fraction("0.85"), "-": Fraction("0.15")})
    table = {"v": pa.table({"pid": [1, 1, 2], "rh": ["+", "-", "+"]})}
    costs = []
    for rows in (1, 5):
        store = Budgets(Store.open(str(tmp_path / f"{rows}.db")))
        store.grant("ann", "patient", Fraction(100))
        persons = {"v": PersonPath("pid", space="patient", rows=rows)}
        query = "SELECT rh FROM randomize(v, probability => {rh: 0.5})"
        with connect(table) as backend:
            session = QuerySession(
                backend,
                Catalog(backend.relations, noise={"rh": rh}, persons=persons),
                user="ann",
                budgets=store,
            )
            costs.append(float(session.explain(query).costs["patient"]))
    assert costs == pytest.approx([2.0369, 10.1844], abs=1e-4)


def test_buckets_hold_people_and_not_rows() -> None:
    plan = SlicingNode(Relation("v", ("pid", "plz")), (("pid",), ("plz",)))
    scaled = counted(plan, {"v": PersonPath("pid", rows=3)}, 2)
    assert isinstance(scaled, SlicingNode)
    assert scaled.bucket == 6
    assert counted(plan, {}, 2) == plan


# ------------------------------------------------------------------ who a row is of


def test_the_person_of_a_row_is_found_over_two_tables() -> None:
    tables = {
        "cases": pa.table({"case_id": [10, 11, 12, 13], "pid": [1, 1, 2, 3]}),
        "visits": pa.table({"case_id": [10, 11, 12, 13], "plz": ["18055", "18055", "18057", "18057"]}),
    }
    persons = {
        "cases": PersonPath("pid", space="patient"),
        "visits": PersonPath(through="case_id", to="cases"),
    }
    result = asked("SELECT plz FROM generalize(visits, k => 2, by => [plz])", tables, persons)
    assert set(result.table.column("plz").to_pylist()) == {"1805*"}, "two cases of one person are one person"
    assert result.verified[0].measured == 3
    twice = {**tables, "cases": pa.table({"case_id": [10, 10, 12, 13], "pid": [1, 4, 2, 3]})}
    with pytest.raises(ParameterError, match="some rows agree in 'case_id', so it is no key"):
        asked("SELECT plz FROM generalize(visits, k => 2, by => [plz])", twice, persons)


def test_rows_of_nobody_do_not_help() -> None:
    tables = {
        "t": pa.table({"pid": [1, 2, None, None, 3], "plz": ["18055", "18055", "18057", "18057", "18057"]})
    }
    query = "SELECT plz, pid FROM generalize(t, k => 2, by => [plz])"
    result = asked(query, tables, {"t": "pid"})
    assert people_of(result, tables) == {"1805*": 3}
    with pytest.raises(NoSolutionError, match="needs at least 4 people; there are 3"):
        asked(query.replace("k => 2", "k => 4"), tables, {"t": "pid"})


def test_the_hidden_column_can_neither_be_named_nor_seen() -> None:
    for text in (f'SELECT "{HIDDEN}" FROM t', f'SELECT upper("{HIDDEN}") AS x FROM t'):
        with pytest.raises(QueryError):
            asked(text, FOUR, {"t": "pid"})
    result = asked("SELECT * FROM generalize(t, k => 2, by => [plz])", FOUR, {"t": "pid"})
    assert result.table.column_names == ["pid", "plz"]
    assert HIDDEN not in str(result.explanation) + str(result.as_dict())


@pytest.mark.parametrize(
    ("below", "message"),
    [
        ("(SELECT DISTINCT plz FROM t)", "generalize before DISTINCT"),
        ("(SELECT plz, max(pid) AS m FROM t GROUP BY plz)", "group by the column that tells them apart"),
        ("(SELECT plz, p2 FROM t CROSS JOIN (SELECT pid AS p2 FROM t))", "pairs the rows of two people"),
        ("(SELECT plz FROM t EXCEPT ALL SELECT plz FROM t)", "show it on both sides"),
        ("(SELECT plz FROM t UNION ALL SELECT plz FROM wards)", "declare `person` of both tables"),
        ("(SELECT plz, pid FROM slice(t, groups => [[plz], [pid]]))", "slice last"),
    ],
)
def test_what_leaves_no_person_behind_a_row_is_refused_by_its_operator(below: str, message: str) -> None:
    tables = {**FOUR, "wards": pa.table({"plz": ["18055"]})}
    with pytest.raises(ParameterError, match=message):
        asked(f"SELECT plz FROM generalize({below}, k => 2, by => [plz])", tables, {"t": "pid"})


def test_who_is_counted_is_not_generalized() -> None:
    with pytest.raises(ParameterError, match="tells people apart and cannot be generalized"):
        asked("SELECT plz FROM generalize(t, k => 2, by => [plz, pid])", FOUR, {"t": "pid"})


def test_a_bound_that_is_not_true_is_refused_before_any_answer() -> None:
    persons = {"v": PersonPath("pid", rows=4)}
    query = "SELECT * FROM slice(v, groups => [[pid], [plz]])"
    with pytest.raises(ParameterError, match="`rows_per_person`, but somebody has more than 4 rows"):
        asked(query, VISITS, persons)
    assert asked(query, MORE, {"v": PersonPath("pid", rows=5)}).table.num_rows == 11


def test_tables_of_one_space_share_a_budget(tmp_path: Path) -> None:
    budgets = Budgets(Store.open(str(tmp_path / "b.db")))
    budgets.grant("ann", "patient", Fraction(1))
    persons = {"t": PersonPath("pid", space="patient"), "v": PersonPath("pid", space="patient", rows=5)}
    tables = {**FOUR, **VISITS}
    options: dict[str, Any] = {"user": "ann", "budgets": budgets}
    asked("SELECT noisy_count(epsilon => 0.6) AS n FROM t", tables, persons, **options)
    with pytest.raises(Exception, match="does not suffice"):
        asked("SELECT noisy_count(epsilon => 0.6) AS n FROM v", tables, persons, **options)


def test_catalog_files_say_who_people_are() -> None:
    content = {
        "relations": {
            "patients": {"columns": ["pid"], "person": {"space": "patient", "column": "pid"}},
            "visits": {
                "columns": ["pid"],
                "person": {"through": "pid", "to": "patients"},
                "rows_per_person": 5,
            },
            "icd": {"columns": ["code"], "public": True},
        }
    }
    declared = CatalogFile.from_dict(content).declarations
    assert declared.persons == {
        "patients": PersonPath("pid", space="patient"),
        "visits": PersonPath(through="pid", to="patients", rows=5),
    }
    assert declared.public == {"icd"}


# ------------------------------------------------------------------ the key, and bounds on rows

LADDER = World({}, {c: Hierarchy.from_rows([[f"{c}1", f"{c}*"], [f"{c}2", f"{c}*"]]) for c in "ac"})


def test_a_number_of_people_would_not_choose_the_least_general_levels() -> None:
    """Squares of people fall when classes with common people merge: 8, and lifted 4. Of pairs they do not."""
    pairs = {(("a1",), "p"), (("a1",), "q"), (("a2",), "p"), (("a2",), "q")}
    assert best_levels_of_people(pairs, [LADDER.ladder("a")], 2) == (0,)


def test_levels_do_not_depend_on_how_often_a_person_occurs() -> None:
    """Counted by rows, the two ways of joining choose different columns; by pairs they cannot."""
    rows = [("a1", "c1", 1, "p"), ("a1", "c2", 1, "q"), ("a2", "c1", 2, "q"), ("a2", "c2", 2, "p")]
    early = {((a, c), u) for a, c, _, u in rows}
    late = {((a, c), u) for a, c, n, u in rows for m in (1, 1, 2) if n == m}
    assert early == late
    ladders = [LADDER.ladder("a"), LADDER.ladder("c")]
    assert best_levels_of_people(early, ladders, 2) == best_levels_of_people(late, ladders, 2)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["18055", "18057", "18059"]), st.sampled_from([1, 2, 3, 4, None])),
        min_size=1,
        max_size=9,
    ),
    st.integers(2, 3),
)
def test_an_engine_counts_people_as_the_definition_does(rows: list[tuple[str, int | None]], k: int) -> None:
    plan = Generalization(Relation("t", ("plz", "pid", HIDDEN)), ("plz",), k, HIDDEN)
    told = tuple((plz, pid, pid) for plz, pid in rows)
    world = World({"t": told}, {"plz": PLZ})
    try:
        (expected,) = evaluate(plan, world).probabilities
    except NoSolutionError:
        expected = None
    table = pa.table({"plz": [r[0] for r in rows], "pid": pa.array([r[1] for r in rows], pa.int64())})
    query = f"SELECT plz, pid FROM generalize(t, k => {k}, by => [plz])"
    if expected is None:
        with pytest.raises(NoSolutionError):
            asked(query, {"t": table}, {"t": "pid"})
        return
    result = asked(query, {"t": table}, {"t": "pid"})
    shown = Counter((row["plz"], row["pid"]) for row in result.table.to_pylist())
    assert shown == Counter((row[0], row[1]) for row in expected)
    assert min(people_of(result, {}).values()) >= k


T = Relation("t", ("pid", "a"))
S = Relation("s", ("pid", "b"))
PUBLIC = Relation("r", ("b", "c"))
SMALL: dict[str, Plan] = {
    "selection": Selection(T, ComparisonPredicate("=", ColumnRef("a"), Literal(1))),
    "projection": Projection(T, ("a",)),
    "distinct": Projection(T, ("a",), distinct=True),
    "renaming": Rename(T, (("a", "x"),)),
    "union": Union(T, T),
    "intersection": Intersection(T, T),
    "difference": Difference(T, Selection(T, ComparisonPredicate("=", ColumnRef("a"), Literal(1)))),
    "join on the person": Join(T, S),
    "join with a public key": Join(S, PUBLIC),
    "one row for each person": Grouping(T, ("pid",), (Aggregate("count", None, "n"),)),
    "several rows for each": Grouping(T, ("pid", "a"), (Aggregate("count", None, "n"),)),
    "union of joins": Union(Projection(Join(T, S), ("pid", "a")), T),
}


@pytest.mark.parametrize("name", SMALL)
def test_nobody_has_more_rows_than_the_bound(name: str) -> None:
    """On all tables of up to three rows in which nobody has more than two."""
    plan = SMALL[name]
    persons = {"t": PersonPath("pid", rows=2), "s": PersonPath("pid", rows=2)}
    people = behind(plan, persons)
    assert people is not None
    assert people.most is not None
    greatest = 0
    cells = list(itertools.product((1, 2), (1, 2)))
    for size in range(4):
        for rows in itertools.combinations_with_replacement(cells, size):
            if max(Counter(pid for pid, _ in rows).values(), default=0) > 2:
                continue
            whole = tuple((*row, row[0]) for row in rows)
            world = World({"t": whole, "s": whole, "r": ((1, 1), (2, 1))})
            carried = counted(plan, persons, 2, carry=name != "distinct") if name != "distinct" else None
            if (
                carried is None
            ):  # a row of a distinct projection has no person; a change moves at most so many
                continue
            (found,) = evaluate(carried, world).probabilities
            who = carried.columns.index(HIDDEN)
            greatest = max(greatest, *Counter(row[who] for row in found).values(), 0)
    assert greatest <= people.most


def test_the_order_of_rows_is_hidden_also_where_a_rewrite_leaves_no_operator() -> None:
    """What is not shown need not be generalized; the order of rows would link it all the same."""
    table = {"t": pa.table({"pid": list(range(40)), "plz": ["18055"] * 40})}
    query = "SELECT pid FROM generalize(t, k => 2, by => [plz])"
    orders = [asked(query, table, {}).table.column("pid").to_pylist() for _ in range(2)]
    assert all(sorted(order) == list(range(40)) for order in orders)
    assert orders[0] != list(range(40)) != orders[1]
    raw = asked("SELECT pid FROM t", table, {}).table.column("pid").to_pylist()
    assert raw == list(range(40)), "raw rows are not worth a shuffle"


def test_a_bound_keeps_so_many_rows_of_each_person() -> None:
    table = {"v": pa.table({"pid": [1] * 5 + [2, 2, 3, None], "n": list(range(9))})}
    query = "SELECT pid, n FROM bound(v, rows => 2)"
    seen = set()
    for _ in range(12):
        found = asked(query, table, {"v": PersonPath("pid", rows=5)}).table.to_pylist()
        assert Counter(row["pid"] for row in found) == {1: 2, 2: 2, 3: 1}
        assert all(row["n"] == 7 for row in found if row["pid"] == 3)
        seen.add(frozenset(row["n"] for row in found if row["pid"] == 1))
    assert len(seen) > 1, "which rows stay is drawn"
    with pytest.raises(ParameterError, match="declare `person`"):
        asked(query, table, {})


def test_noise_above_a_bound_is_scaled_to_it(tmp_path: Path) -> None:
    plan = RowBound(Relation("v", ("pid", "plz")), 2)
    assert reach(plan, {"v": PersonPath("pid", rows=50)}) == {"v": 2}
    budgets = Budgets(Store.open(str(tmp_path / "b.db")))
    budgets.grant("ann", "v", Fraction(1))
    query = "SELECT noisy_count(epsilon => 1) AS n FROM bound(v, rows => 2)"
    assert asked(query, VISITS, {"v": "pid"}, user="ann", budgets=budgets).table.num_rows == 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT plz FROM generalize(generalize(t, k => 2, by => [plz]), k => 3, by => [plz])",
        "SELECT plz FROM slice((SELECT plz FROM generalize(t, k => 2, by => [plz])), groups => [[plz]])",
        "SELECT plz, pid FROM slice((SELECT * FROM generalize(t, k => 2, by => [plz])), groups => [[plz], [pid]])",
    ],
)
def test_operators_above_operators_still_know_the_people(query: str) -> None:
    result = asked(query, FOUR, {"t": "pid"})
    assert set(result.table.column("plz").to_pylist()) == {"1805*"}
    assert not [warning for warning in result.explanation.warnings if warning.kind == "several-rows"]


def test_noise_above_a_generalization_is_refused() -> None:
    query = "SELECT noisy_count(epsilon => 1) AS n FROM generalize(t, k => 2, by => [plz])"
    with pytest.raises(ParameterError, match="levels of a generalization depend on all rows"):
        asked(query, FOUR, {"t": "pid"})
