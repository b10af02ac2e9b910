"""Statements printed for other engines: they run on DuckDB when they are read back, and give our answers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import sqlglot

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import connect
from tarnkappe.algebra.lowering.dialects import DIALECTS, PLACEHOLDER, written
from tarnkappe.algebra.person_paths import HIDDEN, PersonPath
from tarnkappe.algebra.session import QuerySession
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy

PLZ = Hierarchy.from_rows(
    [*([plz, "1805*", "*"] for plz in ("18055", "18057", "18059")), [None, "none", "*"]]
)
TABLES = {
    "people": pa.table(
        {
            "pid": [1, 2, 3, 4, 5, 6, 7],
            "plz": ["18055", "18055", "18057", "18059", None, None, "18057"],
            "age": [30, 31, 31, None, 40, 40, 52],
            "d": ["a", "b", "a", "b", "a", "b", "a"],
        }
    ),
    "codes": pa.table({"d": ["a", "b", "c"], "chapter": ["J", "B", "Z"]}),
}
QUERIES = {
    "select": "SELECT plz, age FROM people WHERE age >= 31 AND d <> 'b' ORDER BY age DESC, plz",
    "generalize": "SELECT plz, d FROM generalize(people, k => 2, by => [plz])",
    "join": "SELECT plz, chapter FROM generalize(people, k => 2, by => [plz]) JOIN codes USING (d)",
    "group": "SELECT plz, count(*) AS n FROM generalize(people, k => 2, by => [plz]) GROUP BY plz",
    "except": "SELECT d FROM people EXCEPT ALL SELECT d FROM codes",
    "intersect": "SELECT d FROM people INTERSECT ALL SELECT d FROM codes",
    "union": "SELECT d FROM people UNION ALL SELECT d FROM codes",
    "distinct": "SELECT DISTINCT d FROM people",
}


def session(backend: Any, **catalog: Any) -> QuerySession:
    return QuerySession(backend, Catalog(backend.relations, {"plz": PLZ}, **catalog))


def bag(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    return Counter(rows)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_printed_runs_when_it_is_read_back(dialect: str) -> None:
    with connect(TABLES) as backend, duckdb.connect() as engine:
        for name, table in TABLES.items():
            engine.register("given", table)
            engine.execute(f"CREATE TABLE {name} AS FROM given")
        asked = session(backend)
        for text in QUERIES.values():
            expected = asked.sql(text).table
            statements = asked.printed(asked.read(text), dialect)
            for statement in statements:
                (own,) = sqlglot.transpile(statement.sql, read=dialect, write="duckdb")
                if statement.purpose.startswith("levels of plz"):
                    engine.execute(own)
                    table = own.partition("TABLE ")[2].split()[0]
                    lines = [(plz, PLZ.label(plz, 1)) for plz in ("18055", "18057", "18059", None)]
                    engine.executemany(f"INSERT INTO {table} VALUES (?, ?)", lines)
                    continue
                found = engine.execute(own).fetchall()
                if statement.purpose == "the answer":
                    rows = [tuple(row.values()) for row in expected.to_pylist()]
                    assert bag(found) == bag(rows), (dialect, text, own)
                    assert "ORDER BY" not in text or found == rows, "missing values are the least"
                if statement.purpose.startswith("verification"):
                    assert found == [(2,)], "the smallest class is that of the missing postcodes"
            for statement in statements:
                if statement.purpose.startswith("levels"):
                    (own,) = sqlglot.transpile(statement.sql, read=dialect, write="duckdb")
                    engine.execute(f"DROP TABLE {own.partition('TABLE ')[2].split()[0]}")


def test_bigquery_and_snowflake_get_no_set_operation_that_they_lack() -> None:
    with connect(TABLES) as backend:
        asked = session(backend)
        for name in ("except", "intersect"):
            for dialect in DIALECTS:
                text = " ".join(each.sql for each in asked.printed(asked.read(QUERIES[name]), dialect))
                assert (f"{name.upper()} ALL" in text) == (dialect not in ("bigquery", "snowflake")), text


def test_a_hash_has_the_form_of_its_engine() -> None:
    forms = {
        "duckdb": "SHA256(x)",
        "postgres": "ENCODE(SHA256(CONVERT_TO(x, 'UTF8')), 'hex')",
        "spark": "SHA2(x, 256)",
        "snowflake": "SHA2(x, 256)",
        "trino": "LOWER(TO_HEX(SHA256(TO_UTF8(x))))",
        "bigquery": "TO_HEX(SHA256(x))",
    }
    for dialect, form in forms.items():
        assert form in " ".join(written("SELECT sha256(x) AS h FROM t", dialect).split())


def test_people_are_counted_and_secrets_and_people_stay_out_of_the_answer() -> None:
    with connect(TABLES) as backend:
        asked = session(backend, persons={"people": PersonPath("pid")})
        text = "SELECT plz FROM generalize(bound(people, rows => 1), k => 2, by => [plz])"
        statements = asked.printed(asked.read(text), "trino")
        whole = " ".join(each.sql for each in statements)
        assert PLACEHOLDER in whole
        (answer,) = [each.sql for each in statements if each.purpose == "the answer"]
        (top,) = [sqlglot.parse_one(answer, read="trino").named_selects]
        assert top == ["plz"]
        assert HIDDEN not in top
        assert "fewest people" in statements[-1].purpose
        assert "DISTINCT" in statements[-1].sql


def test_what_cannot_be_printed_is_said() -> None:
    with connect(TABLES) as backend:
        asked = session(backend)
        for text in (
            "SELECT * FROM slice(people, groups => [[pid, plz], [age, d]])",
            "SELECT plz FROM generalize(people, k => 2, l => {d: 2}, by => [plz])",
        ):
            with pytest.raises(ParameterError, match="cannot be printed"):
                asked.printed(asked.read(text), "trino")
        with pytest.raises(ParameterError, match="no dialect 'oracle'"):
            asked.printed(asked.read(QUERIES["select"]), "oracle")
