"""One query over several engines: every part runs where its rows are, and the answer is that of one engine."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.lowering.duckdb import DuckDBSite
from tarnkappe.algebra.lowering.several import SeveralBackends
from tarnkappe.algebra.noise import Static
from tarnkappe.algebra.person_paths import PersonPath
from tarnkappe.algebra.session import QuerySession
from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import write

CODES = ("18055", "18057", "18059", "18106", "18107")
PLZ = Hierarchy.from_rows([[None, "none", "*"], *([p, f"{p[:4]}*", "*"] for p in CODES)])
AGE = Hierarchy.from_rows([[str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*"] for a in range(20, 60)])
UNIFORM = Static({"flu": Fraction(1, 2), "hiv": Fraction(1, 2)})
LADDERS = {"plz": PLZ, "age": AGE}
NORTH = pa.table(
    {
        "pid": [1, 2, 3, 4, 4],
        "plz": ["18055", "18055", "18057", "18106", None],
        "age": [21, 22, 23, 31, 31],
        "diagnosis": ["flu", "hiv", "flu", None, "flu"],
    }
)
SOUTH = pa.table(
    {
        "pid": [4, 5, 6, 7],
        "plz": ["18106", "18059", "18107", "18057"],
        "age": [31, 24, 39, 28],
        "diagnosis": ["flu", "flu", "hiv", "asthma"],
    }
)
CHAPTERS = pa.table({"diagnosis": ["flu", "hiv"], "chapter": ["J", "B"]})
UNITED = "(SELECT pid, plz, age, diagnosis FROM north UNION ALL SELECT pid, plz, age, diagnosis FROM south)"
QUERIES = (
    f"SELECT plz, age, diagnosis FROM generalize({UNITED}, k => 2, by => [plz, age])",
    f"SELECT plz, count(*) AS n FROM generalize({UNITED}, k => 3, by => [plz]) GROUP BY plz",
    f"SELECT diagnosis, count(*) AS n FROM {UNITED} u GROUP BY diagnosis",
    "SELECT pid, chapter FROM (SELECT pid, diagnosis FROM south) s NATURAL JOIN chapters",
    "SELECT plz, age FROM north WHERE age > 22",
    "SELECT diagnosis FROM north EXCEPT ALL SELECT diagnosis FROM south",
    "SELECT DISTINCT diagnosis FROM north INTERSECT ALL SELECT diagnosis FROM south",
    f"SELECT diagnosis FROM {UNITED} u WHERE plz IS NOT NULL ORDER BY diagnosis DESC",
)


def tables(north: pa.Table = NORTH, south: pa.Table = SOUTH) -> dict[str, pa.Table]:
    return {"north": north, "south": south, "chapters": CHAPTERS}


@contextmanager
def apart(north: pa.Table = NORTH, south: pa.Table = SOUTH) -> Iterator[Backend]:
    """Two engines of their own."""
    with ExitStack() as stack:
        first = stack.enter_context(connect({"north": north}))
        second = stack.enter_context(connect({"south": south, "chapters": CHAPTERS}))
        yield SeveralBackends({"a": first, "b": second})


def session(backend: Backend, **said: Any) -> QuerySession:
    return QuerySession(backend, Catalog(backend.relations, LADDERS, **said))


def bag(answer: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(answer.column(n).to_pylist() for n in sorted(answer.column_names)), strict=True))


@pytest.mark.parametrize("query", QUERIES)
def test_the_answer_is_that_of_one_engine(query: str) -> None:
    with apart() as several, connect(tables()) as one:
        assert bag(session(several).sql(query).table) == bag(session(one).sql(query).table)


CELLS = st.tuples(
    st.integers(1, 5),
    st.sampled_from(["18055", "18057", "18106", "18107", None]),
    st.integers(20, 49),
    st.sampled_from(["flu", "hiv"]),
)


def made(rows: list[tuple[Any, ...]]) -> pa.Table:
    kinds = {"pid": pa.int64(), "plz": pa.string(), "age": pa.int64(), "diagnosis": pa.string()}
    cells = list(zip(*rows, strict=True)) or [[]] * len(kinds)
    return pa.table({name: pa.array(column, kinds[name]) for name, column in zip(kinds, cells, strict=True)})


@settings(max_examples=15, deadline=None)
@given(
    north=st.lists(CELLS, max_size=8),
    south=st.lists(CELLS, max_size=8),
    k=st.integers(2, 4),
    people=st.booleans(),
)
def test_levels_are_chosen_for_all_parts_together(
    north: list[Any], south: list[Any], k: int, people: bool
) -> None:
    """Of rows and of people, some of whom have rows in both places; refused where one engine refuses."""
    who = PersonPath(column="pid", space="patient", rows=20)
    said = {"persons": {"north": who, "south": who}} if people else {}
    query = f"SELECT plz, age, diagnosis FROM generalize({UNITED}, k => {k}, by => [plz, age])"
    answers: list[Any] = []
    with apart(made(north), made(south)) as several, connect(tables(made(north), made(south))) as one:
        for backend in (several, one):
            try:
                answers.append(bag(session(backend, **said).sql(query).table))
            except NoSolutionError as error:
                answers.append(str(error))
    assert answers[0] == answers[1]


def test_no_raw_row_of_a_part_leaves_its_engine_where_a_union_is_generalized(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[pa.Table] = []
    fetch = DuckDBSite.fetch

    def watched(self: DuckDBSite, expression: Any, what: str = "querying") -> pa.Table:
        found = fetch(self, expression, what)
        seen.append(found)
        return found

    monkeypatch.setattr(DuckDBSite, "fetch", watched)
    with apart() as several:
        session(several).sql(QUERIES[0])
    raw = {row[1:] for table in (NORTH, SOUTH) for row in zip(*table.to_pydict().values(), strict=True)}
    for table in seen:
        assert not raw & set(zip(*table.to_pydict().values(), strict=True)), "a row with all its cells"
    assert any("n" in table.column_names for table in seen), "only combinations were told"


def test_parts_of_two_engines_run_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both wait for each other: one after the other they would wait for ever, and the barrier breaks."""
    meeting = threading.Barrier(2, timeout=20)
    fetch = DuckDBSite.fetch

    def met(self: DuckDBSite, expression: Any, what: str = "querying") -> pa.Table:
        if threading.current_thread() is not threading.main_thread():
            meeting.wait()
        return fetch(self, expression, what)

    with apart() as several:
        asking = session(several)
        monkeypatch.setattr(DuckDBSite, "fetch", met)
        answer = asking.sql(f"SELECT diagnosis FROM {UNITED} u")
        assert asking.explain("SELECT pid FROM north").rewriting.cost_after >= 0
    assert answer.table.num_rows == NORTH.num_rows + SOUTH.num_rows


def test_noise_is_drawn_where_the_rows_are_and_follows_the_key() -> None:
    query = f"SELECT diagnosis FROM randomize({UNITED}, probability => {{diagnosis: 0.9}})"
    noise = {"diagnosis": UNIFORM}
    answers = []
    with apart() as several:
        for key in (bytes(32), bytes(32), bytes([1] * 32)):
            catalog = Catalog(several.relations, LADDERS, noise)
            answers.append(bag(QuerySession(several, catalog, key=key).sql(query).table))
    assert answers[0] == answers[1] != answers[2]


def test_what_cannot_be_verified_across_two_places_is_refused() -> None:
    who = {
        "north": PersonPath(through="pid", to="south", space="p", rows=3),
        "south": PersonPath(column="pid", space="p"),
    }
    with apart() as several, pytest.raises(ParameterError, match="another database"):
        session(several, persons=who).sql(
            "SELECT plz FROM generalize((SELECT plz FROM north), k => 2, by => [plz])"
        )


def test_a_name_that_two_places_have_is_called_by_its_place() -> None:
    with connect({"t": NORTH}) as first, connect({"t": SOUTH}) as second:
        several = SeveralBackends({"a": first, "b": second})
        assert set(several.relations) == {"a.t", "b.t"}
        query = 'SELECT pid FROM "a.t" UNION ALL SELECT pid FROM "b.t"'
        assert session(several).sql(query).table.num_rows == 9


def test_postgresql_and_files_meet_in_one_query(postgres: str, tmp_path: Path) -> None:
    write(NORTH, postgres, table="north", replace=True)
    write(SOUTH, tmp_path / "south.parquet")
    write(CHAPTERS, tmp_path / "chapters.parquet")
    files = {name: tmp_path / f"{name}.parquet" for name in ("south", "chapters")}
    with connect([postgres, files]) as several, connect(tables()) as one:
        for query in QUERIES:
            assert bag(session(several).sql(query).table) == bag(session(one).sql(query).table), query
