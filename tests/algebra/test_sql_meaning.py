"""A query means what a database says that it means: plans, evaluated by their definition, against DuckDB."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import duckdb
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.expressions import Literal
from tarnkappe.algebra.nodes import Join, Plan
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.sql.printing import plan_sql
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.algebra.world import World
from tests.algebra.random_plans import plans

TABLES = {"r": ("a", "b", "c"), "s": ("a", "b", "c"), "t": ("c", "d")}
CELLS = ["u", "v", "w", None]
OPERATORS = ("projection", "selection", "rename", "union", "intersection", "difference", "join", "theta-join")
SIZES = ({"r": 0, "s": 2, "t": 1}, {"r": 4, "s": 5, "t": 3}, {"r": 12, "s": 9, "t": 6})

Data = dict[str, list[tuple[Any, ...]]]


def drawn(seed: int) -> Data:
    """Small tables with repeated rows and missing values."""
    draw = random.Random(seed)
    return {
        name: [tuple(draw.choice(CELLS) for _ in columns) for _ in range(SIZES[seed][name])]
        for name, columns in TABLES.items()
    }


DATA = [drawn(seed) for seed in range(len(SIZES))]


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    """A database with a schema for each of the data sets."""
    database = duckdb.connect(config={"threads": 1})
    for number, data in enumerate(DATA):
        database.execute(f"CREATE SCHEMA d{number}; USE d{number}")
        for name, columns in TABLES.items():
            database.execute(f"CREATE TABLE {name} ({', '.join(f'{c} VARCHAR' for c in columns)})")
            for row in data[name]:
                database.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", row)
    return database


def ask(database: duckdb.DuckDBPyConnection, text: str, number: int) -> Counter[frozenset[tuple[str, Any]]]:
    """The bag of rows, each a set of (column, cell), which the database gives for a query."""
    result = database.execute(f"USE d{number}; {text}")
    columns = [column[0] for column in result.description]
    return Counter(frozenset(zip(columns, row, strict=True)) for row in result.fetchall())


def mean(plan: Plan, data: Data) -> Counter[frozenset[tuple[str, Any]]]:
    """The same bag by the definition of the operators."""
    result = evaluate(plan, World({name: tuple(rows) for name, rows in data.items()}))
    ((rows, _),) = result
    return Counter(frozenset(zip(result.columns, row, strict=True)) for row in rows)


def runs_on_duckdb(plan: Plan) -> bool:
    """DuckDB has natural joins only on common columns, and matches by name only in unions."""
    return not any(isinstance(node, Join) and not node.on for node in plan.walk()) and not any(
        phrase in plan_sql(plan) for phrase in ("INTERSECT ALL BY NAME", "EXCEPT ALL BY NAME")
    )


@settings(max_examples=100)
@given(plans(TABLES, 3, st.sampled_from(CELLS).map(Literal), OPERATORS), st.integers(0, len(DATA) - 1))
def test_printed_plans_mean_the_same_to_a_database(
    database: duckdb.DuckDBPyConnection, plan: Plan, number: int
) -> None:
    assume(runs_on_duckdb(plan))
    assert ask(database, plan_sql(plan), number) == mean(plan, DATA[number])


QUERIES = [
    "SELECT a, c FROM r WHERE b <> 'u' OR b IS NULL",
    "SELECT DISTINCT b FROM r WHERE NOT a IN ('u', NULL)",
    "SELECT a AS b, b AS a FROM r",
    "SELECT r.a, d FROM r JOIN t ON r.c = t.c AND d > a",
    "SELECT a, d FROM r JOIN t ON t.c = r.c WHERE t.c >= 'v'",
    "SELECT x.a, y.d FROM r AS x NATURAL JOIN t AS y",
    "SELECT a, e FROM r CROSS JOIN (SELECT d AS e FROM t)",
    "SELECT a, e FROM r, (SELECT d AS e FROM t WHERE d = 'u')",
    "SELECT a, e FROM r JOIN (SELECT d AS e FROM t) ON a < e",
    "SELECT a, b FROM r UNION SELECT a, b FROM s",
    "SELECT a, b FROM r UNION ALL SELECT a, b FROM s",
    "SELECT a FROM r INTERSECT SELECT a FROM s",
    "SELECT a FROM r INTERSECT ALL SELECT a FROM s",
    "SELECT a FROM r EXCEPT SELECT a FROM s",
    "SELECT a FROM r EXCEPT ALL SELECT a FROM s",
    "SELECT a FROM r UNION ALL (SELECT a FROM s INTERSECT SELECT b AS a FROM s)",
    "SELECT a FROM r UNION ALL SELECT a FROM s EXCEPT ALL SELECT c AS a FROM t",
    "SELECT b, count(*) AS n, count(a) AS m, min(c) AS least FROM r GROUP BY b",
    "SELECT count(*) AS n, max(a) AS most FROM r WHERE c = 'u'",
    "SELECT b FROM r GROUP BY b, c HAVING c IS NOT NULL",
    "SELECT b, count(*) AS n FROM r GROUP BY b HAVING n > 1",
    "WITH x AS (SELECT a, c FROM r), r AS (SELECT c, d AS b FROM t) SELECT * FROM x NATURAL JOIN r",
    "SELECT * FROM (SELECT a AS x, b FROM r) AS q NATURAL JOIN (SELECT b, c AS y FROM s) AS p WHERE q.b <> p.y",
    "SELECT a FROM r WHERE NOT a = 'u' AND b = 'v' OR c LIKE '_'",
    "SELECT a FROM r WHERE a BETWEEN 'u' AND b",
    "SELECT a FROM (r NATURAL JOIN t)",
]


@pytest.mark.parametrize("text", QUERIES)
def test_queries_mean_the_same_to_us_and_to_a_database(
    database: duckdb.DuckDBPyConnection, text: str
) -> None:
    query = read_sql(text, TABLES)
    for number, data in enumerate(DATA):
        assert ask(database, text, number) == mean(query.plan, data)
    assert query.columns == tuple(column[0] for column in database.execute(text).description)
