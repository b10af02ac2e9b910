"""Random plans, rewritten and run on real engines: what comes back could have come from the plan as written.

Each answer is looked up in the exact distribution of the plan as it was written. How often each comes is
shown elsewhere: the same key gives the rows of the twin (`test_duckdb`, `test_engines`), which draws as often
as it should (`test_twin`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.distribution import Rows, as_bag
from tarnkappe.algebra.expressions import Literal
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.nodes import Plan
from tarnkappe.algebra.noise import Dynamic
from tarnkappe.algebra.promises import promises
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.session import QueryResult, QuerySession
from tarnkappe.algebra.verification import smallest_class
from tarnkappe.algebra.world import World
from tarnkappe.table import write
from tests.algebra.lowering.small_worlds import COIN, HIERARCHIES, KEYS, STEPS, TABLES, as_tables, whole
from tests.algebra.optimizer.test_random_plans import MOST_CHOICES, OPERATORS, choices, result, small_plans

ON_ALL_LEVELS = Dynamic({**STEPS.kernel, **{label: {"u": Fraction(1)} for label in ("uv", "w-", "*")}})
WORLD = World(
    {
        "r": (("u", "v", "w"), ("u", "w", None), ("v", "u", "w")),
        "s": (("u", "v", "w"), ("w", "w", "u"), ("u", "w", "u")),
        "t": (("w", "u"), ("w", "v"), (None, "v")),
    },
    HIERARCHIES,
    dict.fromkeys(("a", "b", "select"), COIN) | {"alter": ON_ALL_LEVELS},
    bucket=2,
)
CATALOG = Catalog(TABLES, HIERARCHIES, WORLD.noise, bucket=2)
LITERALS = st.sampled_from(["u", "v", "w"]).map(Literal)
WITHOUT_RENAMING = [operator for operator in OPERATORS if operator != "rename"]
PARALLELISM = st.sampled_from([1, 4])


@st.composite
def rewritable(draw: st.DrawFn, mode: str) -> Plan:
    """Plans that can run, whose results can be listed, and that are rewritten."""
    plan = draw(small_plans(3, TABLES, LITERALS, WITHOUT_RENAMING))
    assume(choices(plan, WORLD) <= MOST_CHOICES)
    assume(QuerySession(None, CATALOG, mode=mode).explain(whole(plan)).rewriting.steps)
    assume(result(plan, WORLD) is not None)
    return plan


def run(backend: Backend, plan: Plan, mode: str, parallelism: int, key: bytes) -> QueryResult:
    return QuerySession(backend, CATALOG, mode=mode, parallelism=parallelism, key=key).run(whole(plan))


def rows(plan: Plan, answer: pa.Table) -> Rows:
    return as_bag(tuple(row[name] for name in plan.columns) for row in answer.to_pylist())


def is_possible(backend: Backend, plan: Plan, parallelism: int, key: bytes) -> None:
    answer = run(backend, plan, "strict", parallelism, key)
    assert answer.explanation.rewriting.kind.is_equal
    assert rows(plan, answer.table) in {as_bag(outcome) for outcome, _ in evaluate(plan, WORLD)}


def keeps_its_promises(backend: Backend, plan: Plan, parallelism: int, key: bytes) -> None:
    """The attacker counts the rows that share his victim's released values."""
    answer = run(backend, plan, "relaxed", parallelism, key)
    rewritten = answer.explanation.rewriting.plan
    assert rows(rewritten, answer.table) in {as_bag(outcome) for outcome, _ in evaluate(rewritten, WORLD)}
    for promise in promises(plan):
        degree = smallest_class(answer.table, promise.columns)
        assert degree is None or degree >= promise.k


@pytest.fixture(scope="module")
def in_duckdb() -> Iterator[Backend]:
    with connect(as_tables(WORLD)) as backend:
        yield backend


@pytest.fixture(scope="module")
def in_postgresql(postgres: str) -> Iterator[Backend]:
    for name, table in as_tables(WORLD).items():
        write(table, postgres, table=name, replace=True)
    with connect(postgres) as backend:
        yield backend
    with psycopg.connect(postgres) as connection:
        connection.execute("DROP TABLE r, s, t")


@pytest.fixture(scope="module")
def in_spark(spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    folder: Path = tmp_path_factory.mktemp("rewritten")
    for name, table in as_tables(WORLD).items():
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    with connect(f"spark:{folder}") as backend:
        yield backend


@settings(max_examples=25)
@given(rewritable("strict"), PARALLELISM, st.sampled_from(KEYS))
def test_strict_on_duckdb(in_duckdb: Backend, plan: Plan, parallelism: int, key: bytes) -> None:
    is_possible(in_duckdb, plan, parallelism, key)


@settings(max_examples=25)
@given(rewritable("relaxed"), PARALLELISM, st.sampled_from(KEYS))
def test_relaxed_on_duckdb(in_duckdb: Backend, plan: Plan, parallelism: int, key: bytes) -> None:
    keeps_its_promises(in_duckdb, plan, parallelism, key)


@settings(max_examples=8)
@given(rewritable("strict"), PARALLELISM, st.sampled_from(KEYS))
def test_strict_on_postgresql(in_postgresql: Backend, plan: Plan, parallelism: int, key: bytes) -> None:
    is_possible(in_postgresql, plan, parallelism, key)


@settings(max_examples=8)
@given(rewritable("relaxed"), PARALLELISM, st.sampled_from(KEYS))
def test_relaxed_on_postgresql(in_postgresql: Backend, plan: Plan, parallelism: int, key: bytes) -> None:
    keeps_its_promises(in_postgresql, plan, parallelism, key)


@pytest.mark.slow
@settings(max_examples=8, phases=[Phase.generate])
@given(rewritable("strict"), PARALLELISM, st.sampled_from(KEYS))
def test_strict_on_spark(in_spark: Backend, plan: Plan, parallelism: int, key: bytes) -> None:
    is_possible(in_spark, plan, parallelism, key)


@pytest.mark.slow
@settings(max_examples=8, phases=[Phase.generate])
@given(rewritable("relaxed"), PARALLELISM, st.sampled_from(KEYS))
def test_relaxed_on_spark(in_spark: Backend, plan: Plan, parallelism: int, key: bytes) -> None:
    keeps_its_promises(in_spark, plan, parallelism, key)
