"""Ten thousand random plans over tables in which every column lacks values, rewritten and run on three engines.

No row of an answer may differ from what the plan as written means, by the slow reading of `semantics`. The plans
draw nothing at random, so that there is one right answer. DuckDB runs all of them, PostgreSQL a fifth and Spark,
which takes a second for each, a hundredth; `TARN_PLANS=500` runs fewer.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.nodes import Grouping, Join, Plan, Relation, ThetaJoin
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.session import QuerySession
from tarnkappe.algebra.world import World
from tarnkappe.errors import NoSolutionError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import write
from tests.algebra.lowering.small_worlds import (
    DETERMINISTIC,
    TABLES,
    TALL,
    WORLDS,
    as_tables,
    bag,
    bag_of,
    random_plans,
    whole,
)

PLANS = int(os.environ.get("TARN_PLANS", "10000"))
MOST_ROWS = 2_000
"""Of a join, so that its slow reading ends."""


class OneForAll(dict[str, Hierarchy]):
    """The same hierarchy by every name, since plans rename as they like."""

    def __missing__(self, name: str) -> Hierarchy:
        return TALL

    def __contains__(self, name: object) -> bool:
        return True


RELATIONS = {name: (*rows, (None,) * len(TABLES[name])) for name, rows in WORLDS[2].relations.items()}
WORLD = World(RELATIONS, OneForAll(), {}, bucket=2)
COLUMNS = {column for columns in TABLES.values() for column in columns}
CATALOG = Catalog(TABLES, dict.fromkeys(COLUMNS, TALL), {}, bucket=2)


def most_rows(plan: Plan) -> int:
    if isinstance(plan, Relation):
        return len(WORLD.rows(plan.name))
    rows = [most_rows(child) for child in plan.children]
    return math.prod(rows) if isinstance(plan, Join | ThetaJoin) else sum(rows)


@st.composite
def deterministic(draw: st.DrawFn) -> Plan:
    """A plan of any operators without chance, maybe grouped in the end."""
    plan = draw(random_plans(DETERMINISTIC))
    assume(most_rows(plan) <= MOST_ROWS)
    if not draw(st.booleans()):
        return plan
    by = tuple(draw(st.lists(st.sampled_from(plan.columns), unique=True)))
    counted = draw(st.sampled_from([None, *plan.columns]))
    name = next(name for name in ("n", "n2", "n3") if name not in plan.schema)
    return Grouping(plan, by, (Aggregate("count", counted, name),))


def agrees(backend: Backend, plan: Plan, mode: str) -> None:
    try:
        (expected, _), *others = evaluate(plan, WORLD)
    except NoSolutionError:  # a rewriting may have left out the generalization that has too few rows
        return
    assert not others
    answer = QuerySession(backend, CATALOG, mode=mode).run(whole(plan)).table
    assert bag_of(answer) == bag(plan.columns, expected)


def test_every_column_lacks_values() -> None:
    for name, columns in TABLES.items():
        for place, column in enumerate(columns):
            assert any(row[place] is None for row in WORLD.rows(name)), (name, column)


def many(share: int) -> Any:
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(
        max_examples=max(PLANS // share, 1), phases=[Phase.generate], suppress_health_check=checks
    )


@settings(max_examples=25)
@given(plan=deterministic())
def test_a_few_plans_on_duckdb(plan: Plan) -> None:
    with connect(as_tables(WORLD)) as backend:
        agrees(backend, plan, "strict")


@pytest.mark.slow
def test_ten_thousand_plans_on_duckdb() -> None:
    with connect(as_tables(WORLD)) as backend:

        @many(1)
        @given(plan=deterministic())
        def run(plan: Plan) -> None:
            agrees(backend, plan, "strict")

        run()


@pytest.mark.slow
def test_many_plans_on_postgresql(postgres: str) -> None:
    for name, table in as_tables(WORLD).items():
        write(table, postgres, table=name, replace=True)
    with connect(postgres) as backend:

        @many(5)
        @given(plan=deterministic())
        def run(plan: Plan) -> None:
            agrees(backend, plan, "strict")

        run()


@pytest.mark.slow
def test_many_plans_on_spark(spark: None, tmp_path: Path) -> None:
    for name, table in as_tables(WORLD).items():
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
    with connect(f"spark:{tmp_path}") as backend:

        @many(100)
        @given(plan=deterministic())
        def run(plan: Plan) -> None:
            agrees(backend, plan, "strict")

        run()
