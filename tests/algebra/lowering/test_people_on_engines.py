"""People, paths, bounds and SQL above the protection on real PostgreSQL and real Spark: as on DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.person_paths import PersonPath
from tarnkappe.algebra.session import QuerySession
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import write

PLZ = Hierarchy.from_rows([[plz, "1805*", "*"] for plz in ("18055", "18057", "18059")])
TABLES = {
    "cases": pa.table({"case_id": [10, 11, 12, 13, 14], "pid": [1, 1, 2, 3, None]}),
    "stays": pa.table(
        {"case_id": [10, 10, 11, 12, 13, 14, 99], "plz": ["18055"] * 4 + ["18057"] * 2 + ["18059"]}
    ),
    "icd": pa.table({"code": ["18055", "1805*", "*"], "chapter": ["J", "B", "Z"]}),
}
PERSONS = {
    "cases": PersonPath("pid", space="patient", rows=2),
    "stays": PersonPath(through="case_id", to="cases", rows=3),
}


@pytest.fixture(scope="module", params=["duckdb", "postgresql", "spark"])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    if request.param == "duckdb":
        with connect(TABLES) as backend:
            yield backend
    elif request.param == "postgresql":
        address = request.getfixturevalue("postgres")
        for name, table in TABLES.items():
            write(table, address, table=name, replace=True)
        with connect(address) as backend:
            yield backend
        with psycopg.connect(address) as connection:
            connection.execute("DROP TABLE cases, stays, icd")
    else:
        request.getfixturevalue("spark")
        folder: Path = tmp_path_factory.mktemp("relations")
        for name, table in TABLES.items():
            pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
        with connect(f"spark:{folder}") as backend:
            yield backend


def session(backend: Backend, persons: dict[str, Any]) -> QuerySession:
    catalog = Catalog(backend.relations, {"plz": PLZ}, persons=persons, public=frozenset({"icd"}))
    return QuerySession(backend, catalog)


def test_people_are_counted_along_a_foreign_key(backend: Backend) -> None:
    """At the lowest level 18055 has persons 1 and 2, 18057 has 3 and nobody, 18059 nobody."""
    result = session(backend, PERSONS).sql("SELECT plz FROM generalize(stays, k => 2, by => [plz])")
    assert Counter(result.table.column("plz").to_pylist()) == {"1805*": 7}
    (kept,) = result.verified
    assert (kept.people, kept.measured) == (True, 3)


def test_sql_above_the_protection_gives_the_same(backend: Backend) -> None:
    query = (
        "SELECT i.chapter, CASE WHEN count(*) > 5 THEN 'many' ELSE 'few' END AS n, count(DISTINCT p.plz) AS d "
        "FROM generalize(stays, k => 2, by => [plz]) p LEFT JOIN icd i ON p.plz = i.code GROUP BY i.chapter"
    )
    result = session(backend, PERSONS).sql(query)
    assert result.table.to_pylist() == [{"chapter": "B", "n": "many", "d": 1}]
    assert result.verified[0].people


def test_a_bound_keeps_rows_of_each_person(backend: Backend) -> None:
    found = session(backend, PERSONS).sql("SELECT case_id, plz FROM bound(stays, rows => 1)").table
    owners = {10: 1, 11: 1, 12: 2, 13: 3}
    assert sorted(owners[row["case_id"]] for row in found.to_pylist()) == [1, 2, 3]


def test_more_rows_of_a_person_than_declared_are_refused(backend: Backend) -> None:
    few = {**PERSONS, "cases": PersonPath("pid", space="patient")}
    with pytest.raises(ParameterError, match=r"is missing in some rows|several rows of one person"):
        session(backend, few).sql("SELECT * FROM slice(cases, groups => [[case_id], [pid]])")
