"""Rewritten plans without chance on DuckDB, on tables with missing values: the very same rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import assume, given, settings

from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.nodes import Plan
from tarnkappe.algebra.optimizer import rewrite
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.statistics import RelationStatistics
from tarnkappe.errors import TarnkappeError
from tests.algebra.lowering.small_worlds import (
    CATALOG,
    DETERMINISTIC,
    WORLDS,
    as_tables,
    bag_of,
    random_plans,
    whole,
)

WORLD = WORLDS[1]
STATISTICS = {name: RelationStatistics(len(rows)) for name, rows in WORLD.relations.items()}
FACTS = CATALOG.facts(STATISTICS)


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    with connect(as_tables(WORLD)) as found:
        yield found


def runs(plan: Plan) -> bool:
    try:
        evaluate(plan, WORLD)
    except TarnkappeError:
        return False
    return True


@settings(max_examples=40)
@given(random_plans([*DETERMINISTIC, "generalization"]))
def test_strict_rewriting_returns_the_same_rows(backend: Backend, plan: Plan) -> None:
    assume(runs(plan))
    rewriting = rewrite(plan, "strict", FACTS, STATISTICS, parallelism=2)
    assert bag_of(backend.execute(whole(rewriting.plan), CATALOG)) == bag_of(
        backend.execute(whole(plan), CATALOG)
    )
