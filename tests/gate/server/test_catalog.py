"""The made-up catalog answers what real clients ask, and knows nothing that the policy does not tell."""

from __future__ import annotations

import asyncio
import re
import resource
import sys
from pathlib import Path

import psycopg
import pytest

from tarnkappe.gate.server.catalog import SystemCatalog
from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.catalog_reader import CatalogQuery, catalog_tables
from tarnkappe.gate.sql.errors import StatementError
from tarnkappe.gate.sql.reader import read
from tarnkappe.gate.sql.view import TableView, ViewColumn
from tests.conftest import run_async
from tests.gate.server.gates import DISEASES, Running

QUERIES = Path(__file__).with_name("catalog_queries.sql").read_text(encoding="utf-8")
VIEW = TableView("patients", (ViewColumn("age", types.INTEGER, types.INTEGER),))


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


HOSTILE = {
    "a product of tables": "SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_type c, pg_type d, pg_type e, "
    "pg_type f, pg_type g, pg_type h",
    "a long series": "SELECT sum(n) FROM generate_series(1, 100000000000) AS s(n)",
    "a series in a cell": "SELECT generate_series(1, 100000000) FROM pg_class",
    "a series in every cell": "SELECT generate_series(1, 10000000) FROM pg_type",
    "the length of a series": "SELECT cardinality(array_agg(n)) FROM generate_series(1, 1000000000) AS s(n)",
    "endless recursion": "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "recursion that doubles": "WITH RECURSIVE r AS (SELECT 'a' AS n UNION ALL SELECT n || n FROM r) "
    "SELECT max(length(n)) FROM r",
    "a text of everything": "SELECT string_agg(a.typname || b.typname || c.typname, ',') "
    "FROM pg_type a, pg_type b, pg_type c, pg_type d",
    "an array of everything": "SELECT array_agg(a.oid) FROM pg_type a, pg_type b, pg_type c, pg_type d, pg_type e",
    "texts in texts": "SELECT replace(replace(replace(replace(replace(repeated, 'a', repeated), 'a', repeated), "
    "'a', repeated), 'a', repeated), 'a', repeated) FROM (SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' "
    "AS repeated) AS t",
    "sorting everything": "SELECT a.typname || b.typname FROM pg_type a, pg_type b, pg_type c, pg_type d, pg_type e "
    "ORDER BY 1 LIMIT 1",
    "grouping everything": "SELECT a.oid, b.oid, c.oid, d.oid, count(*) FROM pg_type a, pg_type b, pg_type c, "
    "pg_type d GROUP BY 1, 2, 3, 4",
    "many wide rows": "SELECT generate_series(1, 10000) FROM pg_type a, pg_type b",
}


@pytest.mark.parametrize("query", HOSTILE.values(), ids=HOSTILE)
def test_whatever_a_query_of_the_catalog_does_it_is_held_to_its_time_and_memory(
    monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr("tarnkappe.gate.server.catalog.LONGEST_SECONDS", 1.0)
    catalog = SystemCatalog(VIEW, {})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    statement = read(query, VIEW)
    assert isinstance(statement, CatalogQuery)
    answered = False
    try:
        _, rows, size = catalog.answer("ann", statement, {}, 1)
        answered = len(rows) <= 10_000 and size <= 8_000_000
    except StatementError as refused:
        answered = refused.sqlstate in ("53200", "57014")
    one = read("SELECT relname FROM pg_class", VIEW)
    assert isinstance(one, CatalogQuery)
    assert catalog.answer("bob", one, {}, 2)[1] == [("patients",)], "and it goes on"
    catalog.close()
    assert answered
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 150_000, "kilobytes of the gate itself"


def test_one_user_at_the_catalog_keeps_nobody_else_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many queries somebody sends, they take one process, and others have the next."""
    monkeypatch.setattr("tarnkappe.gate.server.catalog.LONGEST_SECONDS", 3.0)
    catalog = SystemCatalog(VIEW, {})
    endless, short = (read(HOSTILE["endless recursion"], VIEW), read("SELECT 1", VIEW))
    assert isinstance(endless, CatalogQuery)
    assert isinstance(short, CatalogQuery)

    async def all_at_once() -> int:
        greedy = [asyncio.ensure_future(catalog.look("eve", n).answer(endless, ())) for n in range(3)]
        await asyncio.sleep(0)
        await catalog.look("ann", 9).answer(short, ())
        done = sum(task.done() for task in greedy)
        await asyncio.gather(*greedy, return_exceptions=True)
        return done

    assert run_async(all_at_once()) < 3
    catalog.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_the_operating_system_holds_its_process_to_its_memory() -> None:
    catalog = SystemCatalog(VIEW, {})
    statement = read("SELECT 1", VIEW)
    assert isinstance(statement, CatalogQuery)
    catalog.answer("ann", statement, {}, 1)
    process = catalog._engines.queue[-1]._process
    assert process is not None
    limits = Path(f"/proc/{process.pid}/limits").read_text(encoding="ascii")
    catalog.close()
    assert re.search(rf"^Max data size +{256 * 2**20} +{256 * 2**20} ", limits, re.MULTILINE)
    assert re.search(r"^Max file size +0 +0 ", limits, re.MULTILINE)


def test_open_cursors_hold_no_more_than_they_may(small: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarnkappe.gate.server.conversation.MOST_KEPT", 1_000)
    with psycopg.connect(small.url()) as connection:
        for number in (1, 2):
            connection.execute(f"DECLARE c{number} CURSOR WITH HOLD FOR SELECT * FROM pg_type")
        connection.execute("FETCH 1 FROM c1")
        connection.commit()
        with pytest.raises(psycopg.errors.OutOfMemory, match="close some"):
            connection.execute("FETCH 1 FROM c2")
        connection.rollback()
        connection.execute("CLOSE c1")
        assert connection.execute("FETCH 1 FROM c2").fetchone()


def test_its_process_ends_with_whoever_started_it() -> None:
    """Also in the middle of a query, and also if nobody is left to kill it."""
    catalog = SystemCatalog(VIEW, {})
    statement = read("SELECT 1", VIEW)
    assert isinstance(statement, CatalogQuery)
    catalog.answer("ann", statement, {}, 1)
    engine = catalog._engines.queue[-1]
    process = engine._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(30) == 0
    catalog.close()


def test_one_session_does_not_see_the_name_of_another(small: Running) -> None:
    with small.connect() as one, psycopg.connect(small.url("bob")) as other:
        assert one.execute("SELECT current_user").fetchone() == ("ann",)
        assert other.execute("SELECT current_user, session_user").fetchone() == ("bob", "bob")
        assert one.execute("SELECT current_user").fetchone() == ("ann",)
