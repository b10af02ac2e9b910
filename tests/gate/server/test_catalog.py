"""The made-up catalog answers what real clients ask, and knows nothing that the policy does not tell."""

from __future__ import annotations

import time
from pathlib import Path

import psycopg
import pytest

from tarnkappe.gate.server.catalog import Catalog
from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.catalog_reader import CatalogQuery, catalog_tables
from tarnkappe.gate.sql.errors import StatementError
from tarnkappe.gate.sql.reader import read
from tarnkappe.gate.sql.view import View, ViewColumn
from tests.gate.server.gates import DISEASES, Running

QUERIES = Path(__file__).with_name("catalog_queries.sql").read_text(encoding="utf-8")
VIEW = View("patients", (ViewColumn("age", types.INTEGER, types.INTEGER),))


def queries() -> list[str]:
    lines = [line for line in QUERIES.splitlines() if not line.startswith("--")]
    return [text.strip() for text in "\n".join(lines).split("\n;") if text.strip()]


@pytest.mark.parametrize("query", queries(), ids=range(len(queries())))
def test_what_clients_ask_is_answered(small: Running, query: str) -> None:
    with small.connect() as connection:
        answer = connection.execute(query)
        assert answer.description
        answer.fetchall()


def test_the_table_and_its_columns_are_all_there_is(small: Running) -> None:
    with small.connect() as connection:
        tables = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
        columns = connection.execute(
            "SELECT attname FROM pg_attribute WHERE attnum > 0 ORDER BY attnum"
        ).fetchall()
        rows = connection.execute("SELECT reltuples, relpages FROM pg_class").fetchall()
    assert tables == [("patients",)]
    assert [name for (name,) in columns] == ["age", "zip", "sex", "disease"]
    assert rows == [(-1.0, 0)]  # not even how many people there are


def test_nothing_of_the_data_the_users_or_the_machine_is_in_it(small: Running) -> None:
    with small.connect() as connection:
        everything = ""
        for schema, name in catalog_tables():
            everything += repr(connection.execute(f"SELECT * FROM {schema}.{name}").fetchall())
    for secret in (*DISEASES, "person-1", "10104", "bob", "patients.parquet", "/tmp", "'id'", "duckdb"):
        assert secret not in everything


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_type c, pg_type d, pg_type e, pg_type f, pg_type g, pg_type h",
        "SELECT sum(n) FROM generate_series(1, 100000000000) AS s(n)",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    ],
)
def test_a_query_that_takes_long_is_stopped(monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    monkeypatch.setattr("tarnkappe.gate.server.catalog.LONGEST_SECONDS", 0.3)
    catalog = Catalog(VIEW, {})
    statement = read(query, VIEW)
    assert isinstance(statement, CatalogQuery)
    began = time.monotonic()
    with pytest.raises(StatementError):
        catalog.look("ann", 1).answer(statement, ())
    assert time.monotonic() - began < 20
    catalog.close()


def test_one_session_does_not_see_the_name_of_another(small: Running) -> None:
    with small.connect() as one, psycopg.connect(small.url("bob")) as other:
        assert one.execute("SELECT current_user").fetchone() == ("ann",)
        assert other.execute("SELECT current_user, session_user").fetchone() == ("bob", "bob")
        assert one.execute("SELECT current_user").fetchone() == ("ann",)
