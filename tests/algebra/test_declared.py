"""What is declared of relations is verified in the data before a rewrite relies on it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.facts import Declaration
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.lowering.declared import require
from tarnkappe.algebra.noise import Static
from tarnkappe.algebra.session import QueryResult, QuerySession
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy

AGES = Hierarchy.from_rows(
    [["31", "30-39", "*"], ["34", "30-39", "*"], ["52", "50-59", "*"], ["57", "50-59", "*"]]
)
KEY = frozenset({"id"})
JOINED = "SELECT age, blood FROM generalize((SELECT age, blood FROM people NATURAL JOIN labor), k => 2, by => [age])"
SLICED = "SELECT * FROM slice((SELECT age, blood FROM people NATURAL JOIN labor), groups => [[age], [blood]])"
NOISED = "SELECT age, blood FROM randomize((SELECT age, blood FROM people NATURAL JOIN labor), probability => {blood: 1})"


def tables(people: Sequence[Any], labor: Sequence[Any]) -> dict[str, pa.Table]:
    ages = ["31", "34", "52", "57", "31", "34"][: len(people)]
    return {
        "people": pa.table({"id": pa.array(people, pa.int64()), "age": ages}),
        "labor": pa.table({"id": pa.array(labor, pa.int64()), "blood": ["A"] * len(labor)}),
    }


def catalog(backend: Backend, **more: Any) -> Catalog:
    declared: dict[str, Any] = {
        "keys": {"people": [KEY], "labor": [KEY]},
        "inclusions": [("people", "labor", KEY), ("labor", "people", KEY)],
        **more,
    }
    return Catalog(backend.relations, {"age": AGES}, **declared)


def answered(data: dict[str, Any], query: str = JOINED, **more: Any) -> QueryResult:
    mode = more.pop("mode", "strict")
    rules = more.pop("rules", None)
    with connect(data) as backend:
        return QuerySession(backend, catalog(backend, **more), mode=mode, rules=rules).sql(query)


def test_true_declarations_are_relied_on() -> None:
    result = answered(tables([1, 2, 3, 4], [4, 3, 2, 1]), mode="explicit", rules=["G17"])
    assert [step.rule for step in result.explanation.rewriting.steps] == ["G17"]
    told = [str(declaration) for declaration in result.explanation.relies_on]
    assert "'id' is a key of 'people'" in told
    assert "every 'id' of 'labor' is in 'people'" in told
    assert "declared, and verified before it runs: 'id' is a key of 'labor'" in str(result.explanation)


@pytest.mark.parametrize(
    ("people", "labor", "message"),
    [
        ([1, 2, 3, None], [1, 2, 3, None], "'id' is missing in some rows, so it is no key"),
        ([1, 2, 3, 3], [1, 2, 3, 4], "some rows agree in 'id', so it is no key"),
        ([1, 2, 3, 4], [1, 2, 3, 3], "some rows agree in 'id', so it is no key"),
        ([1, 2, 3, 9], [1, 2, 3, 4], "no partner in 'labor' that agrees in 'id'"),
        ([1, 2, 3, 4], [1, 2, 3, 4, 5], "no partner in 'people' that agrees in 'id'"),
    ],
)
@pytest.mark.parametrize(("query", "rule"), [(JOINED, "G17"), (SLICED, "S9")])
def test_a_false_declaration_is_an_error_before_there_is_an_answer(
    people: list[Any], labor: list[Any], message: str, query: str, rule: str
) -> None:
    with pytest.raises(ParameterError) as raised:
        answered(tables(people, labor), query, mode="explicit", rules=[rule])
    assert message in str(raised.value)
    assert "9" not in str(raised.value), "no value is quoted"


def test_a_false_declaration_that_no_rewrite_uses_harms_nobody() -> None:
    data = tables([1, 2, 3, None], [1, 2, 3, 3])
    assert answered(data, "SELECT age FROM people").table.num_rows == 4
    assert answered(data, mode="explicit", rules=["S1"]).explanation.relies_on == ()


def test_a_key_without_which_noise_is_not_moved_is_verified() -> None:
    noise = {"blood": Static({"A": Fraction(1, 2), "B": Fraction(1, 2)})}
    with pytest.raises(ParameterError, match="it is no key"):
        answered(tables([1, 2, 2, 4], [1, 2, 3, 4]), NOISED, noise=noise, mode="explicit", rules=["D13"])


def test_a_changed_file_is_verified_again(tmp_path: Path) -> None:
    data = {}
    for name, rows in tables([1, 2, 3, 4], [1, 2, 3, 4]).items():
        data[name] = tmp_path / f"{name}.parquet"
        pq.write_table(rows, data[name])
    with connect(data) as backend:
        session = QuerySession(backend, catalog(backend), mode="explicit", rules=["G17"])
        assert session.sql(JOINED).table.num_rows == 4
        pq.write_table(tables([1, 2, 3, 3], [1])["people"], data["people"])
        with pytest.raises(ParameterError, match="no key"):
            session.sql(JOINED)


@pytest.mark.parametrize(
    ("declaration", "holds"),
    [
        (Declaration("not_null", "people", frozenset({"age"})), True),
        (Declaration("not_null", "people", KEY), False),
        (Declaration("least_rows", "people", number=4), True),
        (Declaration("least_rows", "people", number=5), False),
        (Declaration("ordered_like", "people", KEY, "same"), True),
        (Declaration("ordered_like", "people", KEY, "turned"), False),
        (Declaration("ordered_like", "people", KEY, "shorter"), False),
        (Declaration("within", "shorter", KEY, "people"), True),
        (Declaration("within", "people", KEY, "same"), False),
        (Declaration("key", "shorter", KEY), True),
        (Declaration("key", "people", frozenset({"id", "age"})), False),
    ],
    ids=str,
)
def test_every_kind_of_declaration_can_be_verified(declaration: Declaration, holds: bool) -> None:
    ids = {"same": [1, 2, 3, None], "turned": [2, 1, 3, None], "shorter": [1, 2, 3]}
    more = {name: pa.table({"id": pa.array(cells, pa.int64())}) for name, cells in ids.items()}
    with connect({**tables([1, 2, 3, None], [1]), **more}) as backend, backend.site() as site:
        if holds:
            require(declaration, site)
        else:
            with pytest.raises(ParameterError, match="correct the data or leave the declaration out"):
                require(declaration, site)
