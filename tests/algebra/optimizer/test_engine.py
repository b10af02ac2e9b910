"""Rewritten plans on DuckDB, on tables with missing values: the same rows, or one of the results that may come."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import assume, given, settings

from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.nodes import Plan, Slicing
from tarnkappe.algebra.optimizer import rewrite
from tarnkappe.algebra.promises import promises
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.statistics import RelationStatistics
from tarnkappe.errors import TarnkappeError
from tests.algebra.lowering.small_worlds import (
    CATALOG,
    DETERMINISTIC,
    WORLDS,
    as_tables,
    bag,
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


@settings(max_examples=40)
@given(random_plans(["projection", "selection", "union", "generalization", "slicing", "slicing"]))
def test_strict_rewriting_returns_a_result_that_may_come(backend: Backend, plan: Plan) -> None:
    assume(any(isinstance(node, Slicing) for node in plan.walk()))
    assume(sum(1 for node in plan.walk() if isinstance(node, Slicing)) <= 2)
    assume(runs(plan))
    rewriting = rewrite(plan, "strict", FACTS, STATISTICS, parallelism=2)
    found = bag_of(backend.execute(whole(rewriting.plan), CATALOG))
    assert found in [bag(plan.columns, rows) for rows, _ in evaluate(plan, WORLD)]


@settings(max_examples=25)
@given(random_plans(["projection", "union", "generalization", "generalization", "selection"]))
def test_relaxed_rewriting_releases_what_was_promised(backend: Backend, plan: Plan) -> None:
    """The attacker counts the released rows that share his victim's values."""
    assume(promises(plan))
    assume(runs(plan))
    rewriting = rewrite(plan, "relaxed", FACTS, STATISTICS, parallelism=4)
    released = backend.execute(whole(rewriting.plan), CATALOG)
    for promise in promises(plan):
        shown = released.select(sorted(promise.columns))
        assert all(times >= promise.k for times in bag_of(shown).values())
