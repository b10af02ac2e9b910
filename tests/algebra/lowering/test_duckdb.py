"""Random plans on DuckDB: the same bag of rows as the definition gives, and with a key, the same as the twin."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.nodes import Plan
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.errors import ColumnError, HierarchyError, NoSolutionError, ParameterError, TarnkappeError
from tests.algebra.lowering.small_worlds import (
    ALL,
    ANONYMIZING,
    CATALOG,
    DETERMINISTIC,
    KEYS,
    WORLDS,
    as_tables,
    bag,
    bag_of,
    random_plans,
    whole,
)
from tests.algebra.lowering.twin import Twin

REFUSALS = (NoSolutionError, HierarchyError, ColumnError, ParameterError)
"""What is refused by us; an engine that fails by itself is another error."""


@pytest.fixture(scope="module")
def backends() -> Iterator[list[Backend]]:
    found = [connect(as_tables(world)) for world in WORLDS]
    yield found
    for backend in found:
        backend.close()


@settings(max_examples=60)
@given(random_plans(DETERMINISTIC), st.integers(0, len(WORLDS) - 1))
def test_deterministic_plans_mean_the_same_to_the_engine(
    backends: list[Backend], plan: Plan, number: int
) -> None:
    try:
        ((rows, _),) = evaluate(plan, WORLDS[number])
    except TarnkappeError:
        with pytest.raises(REFUSALS):
            backends[number].execute(whole(plan), CATALOG)
        return
    assert bag_of(backends[number].execute(whole(plan), CATALOG)) == bag(plan.columns, rows)


@settings(max_examples=80)
@given(
    random_plans([*ALL, *ANONYMIZING, *ANONYMIZING]), st.integers(0, len(WORLDS) - 1), st.sampled_from(KEYS)
)
def test_random_plans_draw_what_their_key_says(
    backends: list[Backend], plan: Plan, number: int, key: bytes
) -> None:
    try:
        rows = Twin(WORLDS[number], key).rows(plan)
    except TarnkappeError:
        with pytest.raises(REFUSALS):
            backends[number].execute(whole(plan), CATALOG, key=key)
        return
    found = backends[number].execute(whole(plan), CATALOG, key=key)
    assert bag_of(found) == bag(plan.columns, (row for _, row in rows))
