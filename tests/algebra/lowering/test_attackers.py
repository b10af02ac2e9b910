"""Attackers who look at what is around an answer: its order, the server's log, its errors, a moving table.

- The *linker* has two releases of the same table, or knows the stored order, and joins them by row number.
- The *log reader* sees every statement that a server receives; with the secrets he would undo all noise.
- The *prober* provokes errors to make them quote cells.
- The *writer* changes a table while it is counted, so that the levels fit other rows than are released.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.lowering.keyed import Randomness
from tarnkappe.algebra.noise import Dynamic, Static
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import write

ROWS = 200
NAMES = [f"patient-{n}" for n in range(ROWS)]
TABLE = pa.table(
    {"name": NAMES, "alter": [str(20 + n % 30) for n in range(ROWS)], "hiv": ["no", "yes"] * (ROWS // 2)}
)
AGES = Hierarchy.from_rows([[str(n), f"{n // 10}0s", "*"] for n in range(20, 50)])
COIN = Static({"yes": Fraction(1, 2), "no": Fraction(1, 2)})
QUERY = """SELECT alter, hiv FROM slice(randomize(generalize(patients, k => 10, by => [alter]),
           probability => {hiv: 0.5}), groups => [[name, alter], [hiv]])"""


def catalog(backend: Backend, **others: Any) -> Catalog:
    known = {"hierarchies": {"alter": AGES}, "noise": {"hiv": COIN}} | others
    return Catalog({"patients": backend.relations["patients"]}, **known)


@pytest.fixture
def server(postgres: str) -> Iterator[str]:
    write(TABLE, postgres, table="patients", replace=True)
    yield postgres
    with psycopg.connect(postgres) as connection:
        connection.execute("DROP TABLE patients")


def test_the_linker_finds_no_order_in_an_answer() -> None:
    with connect({"patients": TABLE}) as backend:
        query = read_sql("SELECT name FROM patients", backend.relations)
        orders = [tuple(backend.execute(query, catalog(backend)).column(0).to_pylist()) for _ in range(2)]
    assert all(set(order) == set(NAMES) for order in orders)
    places = [sum(a == b for a, b in zip(NAMES, order, strict=True)) for order in orders]
    assert max(places) < 12  # a fair shuffle leaves one row in place on average
    assert sum(a == b for a, b in zip(*orders, strict=True)) < 12


def test_the_linker_finds_no_order_among_equals_of_a_sorted_answer() -> None:
    with connect({"patients": TABLE}) as backend:
        query = read_sql("SELECT hiv, name FROM patients ORDER BY hiv", backend.relations)
        found = backend.execute(query, catalog(backend)).to_pylist()
    assert [row["hiv"] for row in found] == ["no"] * (ROWS // 2) + ["yes"] * (ROWS // 2)
    assert sum(row["name"] == name for row, name in zip(found, NAMES[::2] + NAMES[1::2], strict=True)) < 12


@contextmanager
def server_log() -> Iterator[list[str]]:
    """Every text that a server gets to see as a statement."""
    seen: list[str] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        seen.append(f"{statement} {parameters}")

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


def test_the_log_reader_learns_neither_secrets_nor_cells(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets: list[str] = []
    real = Randomness.secret

    def noted(self: Randomness, path: tuple[int, ...], purpose: str) -> str:
        secrets.append(real(self, path, purpose))
        return secrets[-1]

    monkeypatch.setattr(Randomness, "secret", noted)
    with connect(server) as backend, server_log() as log:
        found = backend.execute(read_sql(QUERY, backend.relations), catalog(backend))
    assert found.num_rows == ROWS
    assert len(secrets) >= 3
    text = "\n".join(log)
    assert "sha256" in text.lower()
    assert not [secret for secret in secrets if secret in text]
    assert not [name for name in NAMES if name in text]


def test_the_prober_gets_no_cell_out_of_an_error(server: str) -> None:
    unknown = Dynamic({"20": {"21": Fraction(1)}})
    text = "SELECT * FROM randomize(patients, probability => {alter: 0.5})"
    for place in (server, {"patients": TABLE}):
        with connect(place) as backend, pytest.raises(ParameterError) as refused:
            backend.execute(read_sql(text, backend.relations), catalog(backend, noise={"alter": unknown}))
        assert "no entry for a value" in str(refused.value)
        assert not any(str(age) in str(refused.value) for age in range(22, 50))
        assert refused.value.__cause__ is None


def test_the_prober_cannot_leave_a_value_unhidden_under_a_promise(server: str) -> None:
    """A value outside the distribution would come out as itself, or not at all: no epsilon describes that."""
    narrow = Static({"no": Fraction(1)})
    text = "SELECT hiv FROM randomize(patients, probability => {hiv: 0.5})"
    for place in (server, {"patients": TABLE}):
        with connect(place) as backend:
            query = read_sql(text, backend.relations)
            with pytest.raises(ParameterError, match="lacks a value"):
                backend.execute(query, catalog(backend, noise={"hiv": narrow}), promised=True)
            assert backend.execute(query, catalog(backend), promised=True).num_rows == ROWS


def test_the_writer_does_not_change_what_a_query_sees(server: str) -> None:
    with connect(server) as backend, backend.site() as site:
        before = site.fetch(site.relation("patients", numbered=True).table)
        with psycopg.connect(server) as writer:
            writer.execute("DELETE FROM patients WHERE alter < '40'")
            writer.execute("UPDATE patients SET name = 'x'")
        after = site.fetch(site.relation("patients", numbered=True).table)
        assert sorted(after.column("c0").to_pylist()) == sorted(before.column("c0").to_pylist())
        assert sorted(after.column("i0").to_pylist()) == list(range(ROWS))


def test_a_server_keeps_nothing_of_a_query(server: str) -> None:
    with connect(server) as backend:
        backend.execute(read_sql(QUERY, backend.relations), catalog(backend))
    with psycopg.connect(server) as connection:
        left = connection.execute("SELECT relname FROM pg_class WHERE relname LIKE 'tarnkappe%'").fetchall()
    assert left == []


def test_texts_compare_by_code_points_whatever_the_language_of_the_server(server: str) -> None:
    """In most languages 'a' < 'B'; by code points, as in Python, DuckDB and Spark, it is not."""
    table = pa.table({"w": ["a", "B", "ä", "Z", "z", "\\", "%"]})
    write(table, server, table="words", replace=True)
    queries = [
        "SELECT w FROM words WHERE w < 'a'",
        "SELECT min(w) AS w FROM words",
        "SELECT w FROM words WHERE w LIKE '\\'",
        "SELECT w FROM words WHERE w LIKE '\\%'",
    ]
    for text in queries:
        answers = []
        for place in (server, {"words": table}):
            with connect(place) as backend:
                known = Catalog({"words": ("w",)})
                answers.append(
                    sorted(backend.execute(read_sql(text, known.relations), known).column("w").to_pylist())
                )
        assert answers[0] == answers[1], text
    with psycopg.connect(server) as connection:
        connection.execute("DROP TABLE words")
