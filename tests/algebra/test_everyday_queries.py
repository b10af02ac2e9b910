"""Everyday SQL on one's own tables: all of it is answered, counts people, and warns where it must."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.nodes import PostProcessing
from tarnkappe.algebra.noisy.stability import reach
from tarnkappe.algebra.session import QuerySession
from tarnkappe.state import Store
from tarnkappe.state.budgets import Budgets
from tests.algebra.everyday import PERSONS, QUERIES, catalog, tables, written


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    with connect(tables()) as backend:
        yield backend


@pytest.fixture(scope="module")
def session(backend: Backend, tmp_path_factory: pytest.TempPathFactory) -> QuerySession:
    budgets = Budgets(Store.open(str(Path(tmp_path_factory.mktemp("budgets")) / "budgets.db")))
    budgets.grant("ann", "patient", Fraction(100))
    return QuerySession(backend, catalog(backend), user="ann", budgets=budgets)


@pytest.mark.parametrize("query", QUERIES, ids=[str(n) for n in range(1, len(QUERIES) + 1)])
def test_an_everyday_query_is_answered_as_the_fixture_says(
    query: dict[str, Any], session: QuerySession
) -> None:
    text = written(query["sql"])
    result = session.sql(text)
    plan = result.explanation.rewriting.original
    assert isinstance(plan, PostProcessing) == (query["advisory"] == "P")
    told = [str(warning) for warning in result.explanation.warnings]
    if "warns" in query:
        assert any(query["warns"] in line for line in told), told
    if query.get("silent"):
        assert told == []
    if query.get("persons"):
        assert result.verified
        assert all(kept.people for kept in result.verified)
    if "classes" in query:
        shown = result.table.column("plz").to_pylist()
        assert set(shown) == set(query["classes"])
        assert min(query["classes"].values()) == min(kept.measured or 0 for kept in result.verified)
    if "scaled" in query:
        grouping = next(node for node in plan.walk() if any(a.noise for a in getattr(node, "aggregates", ())))
        assert set(reach(grouping.children[0], PERSONS).values()) == {query["scaled"]}


def test_the_answers_are_those_of_the_engine_itself(session: QuerySession) -> None:
    """Post-processing is SQL over the protected rows: computed apart from them, it gives the same."""
    rows = session.sql(written("SELECT plz, diagnosis, cost FROM G(plz, age)")).table.to_pylist()
    flu = session.sql(written(QUERIES[7]["sql"])).table.to_pylist()
    assert sorted((row["plz"], row["flu"]) for row in flu) == sorted(
        (row["plz"], int(row["diagnosis"] == "flu")) for row in rows
    )
    gross = session.sql(written(QUERIES[9]["sql"])).table.to_pylist()
    assert sorted(round(float(row["gross"]), 6) for row in gross) == sorted(
        round(r["cost"] * 1.19, 6) for r in rows
    )
    first = session.sql(written(QUERIES[10]["sql"])).table.column("diagnosis").to_pylist()
    assert first == sorted(row["diagnosis"] for row in rows)[:3]
    chapters = session.sql(written(QUERIES[11]["sql"])).table.to_pylist()
    known = dict(zip(*tables()["icd"].to_pydict().values(), strict=True))
    assert all(known[row["diagnosis"]] == row["chapter"] for row in chapters)
    assert len(chapters) == len(rows)
    assert session.sql(written(QUERIES[13]["sql"])).table.to_pydict() == {"n": [3]}
