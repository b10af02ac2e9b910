"""Plans on real PostgreSQL and real Spark: the same key gives the same rows as the twin, and so as DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.nodes import Plan
from tarnkappe.algebra.noise import Static
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.errors import TarnkappeError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import write
from tests.algebra.lowering.small_worlds import (
    ALL,
    ANONYMIZING,
    CATALOG,
    KEYS,
    WORLDS,
    as_tables,
    bag,
    bag_of,
    random_plans,
    whole,
)
from tests.algebra.lowering.test_duckdb import REFUSALS
from tests.algebra.lowering.twin import Twin

NUMBER = 2
PLANS = random_plans([*ALL, *ANONYMIZING, *ANONYMIZING])


@pytest.fixture(scope="module")
def postgresql(postgres: str) -> Iterator[Backend]:
    for name, table in as_tables(WORLDS[NUMBER]).items():
        write(table, postgres, table=name, replace=True)
    with connect(postgres) as backend:
        yield backend
    with psycopg.connect(postgres) as connection:
        connection.execute("DROP TABLE r, s, t")


@pytest.fixture(scope="module")
def sparkling(spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """Relations in Parquet files, one of them a folder of three."""
    folder = tmp_path_factory.mktemp("relations")
    for name, table in as_tables(WORLDS[NUMBER]).items():
        if name != "r":
            pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
            continue
        (folder / "r").mkdir()
        for n, start in enumerate((0, 5, 6)):
            part = table.slice(start, (5, 1, len(table))[n])
            pyarrow.parquet.write_table(part, folder / "r" / f"part-{n}.parquet")
    with connect(f"spark:{folder}") as backend:
        yield backend


PEOPLE = pa.table(
    {
        "alter": pa.array([21, 22, 34, 35, None, 58], pa.int32()),
        "word": ["a", "B", "ä", "\\", None, "it's 100%"],
        "real": [0.5, -1.25, None, 3.0, 2.5, 1e300],
        "price": pa.array(
            [None, *map(Decimal, ("1.25", "-0.50", "9.99", "3.00", "0.01"))], pa.decimal128(9, 2)
        ),
        "day": [date(2024, 2, 29), None, *[date(1969, 12, day) for day in (1, 2, 3, 31)]],
        "yes": [True, False, None, True, True, False],
    }
)
AGES = Hierarchy.from_rows([[str(n), f"{n // 20}", "*"] for n in range(20, 60)] + [[None, "?", "*"]])
SAME = [
    "SELECT * FROM people",
    "SELECT alter, word FROM generalize(people, k => 2, by => [alter])",
    "SELECT * FROM slice(people, groups => [[alter, word], [real, price], [day, yes]])",
    "SELECT alter FROM randomize(people, probability => {alter: 1/2})",
    "SELECT yes, count(*) AS n, sum(alter) AS s, min(word) AS w, max(day) AS d FROM people GROUP BY yes",
    "SELECT sum(price) AS s, avg(alter) AS m, quantile(alter, 0.25) AS q, avg(price) AS p FROM people",
    "SELECT word FROM people WHERE word < 'a' OR word LIKE '\\'",
    "SELECT word FROM people WHERE word LIKE '%''s 100%' OR real > 2.75 OR day < DATE '1969-12-03'",
    "SELECT alter FROM people WHERE NOT (alter IN (21, NULL)) OR yes = FALSE",
    "SELECT alter, word FROM people WHERE price >= 1.25 EXCEPT ALL SELECT alter, word FROM people WHERE yes = TRUE",
    "SELECT DISTINCT yes FROM people UNION ALL SELECT yes FROM people",
    """SELECT alter, noisy_count(*, epsilon => 1000000000000) AS n,
       noisy_sum(real, epsilon => 1000000000000, lower => 0, upper => 4) AS s,
       noisy_mean(alter, epsilon => 1000000000000, lower => 20, upper => 40) AS m FROM people GROUP BY alter""",
    "SELECT noisy_quantile(alter, at => 1/2, epsilon => 1000000000000, lower => 30, upper => 40) AS q FROM people",
]
"""With a key, the same answers everywhere."""


def answers(backend: Backend) -> dict[str, Counter[frozenset[tuple[str, Any]]]]:
    relations = {"people": tuple(PEOPLE.column_names)}
    noise = {"alter": Static({20: Fraction(1, 3), 59: Fraction(1, 3), None: Fraction(1, 3)})}
    catalog = Catalog(relations, {"alter": AGES}, noise)
    return {
        text: Counter(
            frozenset((k, round(v, 6) if isinstance(v, float | Decimal) else v) for k, v in row.items())
            for row in backend.execute(read_sql(text, relations), catalog, key=KEYS[1]).to_pylist()
        )
        for text in SAME
    }


@pytest.fixture(scope="module")
def expected() -> dict[str, Counter[frozenset[tuple[str, Any]]]]:
    with connect({"people": PEOPLE}) as backend:
        return answers(backend)


def holds(backend: Backend, plan: Plan, key: bytes) -> None:
    try:
        rows = Twin(WORLDS[NUMBER], key).rows(plan)
    except TarnkappeError:
        with pytest.raises(REFUSALS):
            backend.execute(whole(plan), CATALOG, key=key)
        return
    assert bag_of(backend.execute(whole(plan), CATALOG, key=key)) == bag(
        plan.columns, (row for _, row in rows)
    )


@settings(max_examples=20)
@given(PLANS, st.sampled_from(KEYS))
def test_the_same_key_gives_the_same_rows_on_postgresql(postgresql: Backend, plan: Plan, key: bytes) -> None:
    holds(postgresql, plan, key)


@pytest.mark.slow
@settings(max_examples=8, phases=[Phase.generate])
@given(PLANS, st.sampled_from(KEYS))
def test_the_same_key_gives_the_same_rows_on_spark(sparkling: Backend, plan: Plan, key: bytes) -> None:
    holds(sparkling, plan, key)


def test_every_type_gives_the_same_answers_on_postgresql(
    postgres: str, expected: dict[str, Counter[frozenset[tuple[str, Any]]]]
) -> None:
    write(PEOPLE, postgres, table="people", replace=True)
    with connect(postgres) as backend:
        assert answers(backend) == expected
        assert backend.statistics("people").rows == len(PEOPLE)
    with psycopg.connect(postgres) as connection:
        connection.execute("DROP TABLE people")


def test_a_partitioned_table_is_one_relation_with_rows_numbered_through(postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE visits (a int) PARTITION BY RANGE (a)")
        for low in (0, 10):
            connection.execute(
                f"CREATE TABLE visits_{low} PARTITION OF visits FOR VALUES FROM ({low}) TO ({low + 10})"
            )
        connection.execute("INSERT INTO visits SELECT * FROM generate_series(0, 19)")
    with connect(postgres) as backend, backend.site() as site:
        assert [name for name in backend.relations if name.startswith("visits")] == ["visits"]
        rows = site.fetch(site.relation("visits", numbered=True).table)
        assert sorted(rows.column("i0").to_pylist()) == list(range(20))
    with psycopg.connect(postgres) as connection:
        connection.execute("DROP TABLE visits")


@pytest.mark.slow
def test_every_type_gives_the_same_answers_on_spark(
    spark: None, tmp_path: Path, expected: dict[str, Counter[frozenset[tuple[str, Any]]]]
) -> None:
    pyarrow.parquet.write_table(PEOPLE, tmp_path / "people.parquet")
    with connect(f"spark:{tmp_path}") as backend:
        assert answers(backend) == expected
        assert backend.statistics("people").rows == len(PEOPLE)
