"""DBeaver and other programs with the JDBC driver of PostgreSQL: every statement is parsed, bound and executed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.string import StrDumperVarchar

from tests.gate.server.gates import DISEASES, Running

FILE = Path(__file__).with_name("jdbc_queries.sql")


def statements() -> list[tuple[str, list[Any]]]:
    found = []
    for block in FILE.read_text(encoding="utf-8").split("\n;"):
        lines = [line for line in block.strip().splitlines() if not line.startswith("--")]
        given = [line.removeprefix("-- values: ") for line in block.splitlines() if "-- values: " in line]
        if lines:
            found.append(("\n".join(lines), json.loads(given[-1]) if given and given[-1][0] == "[" else []))
    return found


@pytest.fixture
def driver(small: Running) -> Iterator[psycopg.Connection[Any]]:
    """A connection that behaves as the driver does: named statements, `$1`, and texts as varchar."""
    with small.connect(cursor_factory=psycopg.RawCursor) as connection:
        connection.adapters.register_dumper(str, StrDumperVarchar)
        yield connection


@pytest.mark.parametrize(("statement", "values"), statements(), ids=range(len(statements())))
@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_what_the_driver_sends_is_answered(
    driver: psycopg.Connection[Any], statement: str, values: list[Any], binary: bool
) -> None:
    for _ in range(2):  # the second time the statement is only bound
        answer = driver.execute(statement, values, prepare=True, binary=binary)
        if answer.description:
            answer.fetchall()


def test_the_types_of_arrays_and_the_reserved_words_are_known(driver: psycopg.Connection[Any]) -> None:
    arrays = "SELECT typname FROM pg_type WHERE typinput = 'pg_catalog.array_in'::regproc AND typname LIKE $1"
    assert driver.execute(arrays, ["%int4"]).fetchall() == [("_int4",)]
    words = (
        "SELECT word FROM pg_get_keywords() WHERE word <> ALL ('{all,when,window,with}'::text[]) ORDER BY 1"
    )
    assert driver.execute(words).fetchall()[-2:] == [("variadic",), ("where",)]
    with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="malformed array"):
        driver.execute("SELECT 1 FROM pg_type WHERE typname = ANY ('{a,'::text[])")


def test_a_session_of_dbeaver_finds_the_table_and_reads_it(driver: psycopg.Connection[Any]) -> None:
    for statement, values in statements():
        driver.execute(statement, values, prepare=True)
    (oid,) = driver.execute(
        "SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1", ["public"]
    ).fetchone()  # type: ignore[misc]
    tables = driver.execute(
        "SELECT c.oid, c.relname FROM pg_catalog.pg_class c WHERE c.relnamespace = $1 AND c.relkind = $2",
        [oid, "r"],
    ).fetchall()
    assert [name for _, name in tables] == ["patients"]
    columns = driver.execute(
        "SELECT a.attname, t.typname FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t "
        "ON t.oid = a.atttypid WHERE a.attrelid = $1 AND a.attnum > 0 ORDER BY a.attnum",
        [tables[0][0]],
    ).fetchall()
    assert [name for name, _ in columns] == ["age", "zip", "sex", "disease"]
    driver.execute("BEGIN", prepare=True)
    rows = driver.execute(
        "SELECT p.* FROM public.patients p WHERE p.age BETWEEN $1 AND $2 LIMIT 200", [18, 60]
    ).fetchall()
    driver.execute("COMMIT", prepare=True)
    assert rows
    assert {row[3] for row in rows} <= {*DISEASES, "(other)"}
