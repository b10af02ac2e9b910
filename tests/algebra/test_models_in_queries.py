"""Generalization under models inside a query: the release of a job, verified where it ran."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.json_document import plan_json, read_json
from tarnkappe.algebra.lowering import connect, modelled
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import Relation
from tarnkappe.algebra.person_paths import PersonPath
from tarnkappe.algebra.session import QueryResult, QuerySession
from tarnkappe.algebra.sql.printing import plan_sql
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.errors import NoSolutionError, ParameterError, QueryError, VerificationError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import Table

PLZ = Hierarchy.from_rows([[f"180{n}", f"180{n}"[:4] + "*", "180**", "*"] for n in range(50, 70)])
AGE = Hierarchy.from_rows([[str(n), f"{n // 10 * 10}-{n // 10 * 10 + 9}", "*"] for n in range(20, 60)])
COLUMNS = ("plz", "age", "diagnosis")


def people(number: int, seed: int) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "pid": range(number),
            "plz": [f"180{draw.randrange(50, 70)}" for _ in range(number)],
            "age": [draw.randrange(20, 60) for _ in range(number)],
            "diagnosis": [draw.choice(["flu", "flu", "flu", "hiv", "asthma"]) for _ in range(number)],
        }
    )


def ask(table: pa.Table, arguments: str, **catalog: Any) -> QueryResult:
    with connect({"patients": table}) as backend:
        known = Catalog(backend.relations, {"plz": PLZ, "age": AGE}, **catalog)
        return QuerySession(backend, known).sql(
            f"SELECT plz, age, diagnosis FROM generalize(patients, {arguments}, by => [plz, age])"
        )


def bag(table: pa.Table) -> Counter[tuple[str, ...]]:
    return Counter(tuple(str(row[column]) for column in COLUMNS) for row in table.to_pylist())


DISTINCT = {"model": "distinct-diversity", "column": "diagnosis", "l": 2}
ENTROPY = {"model": "entropy-diversity", "column": "diagnosis", "l": 1.5}
RECURSIVE = {"model": "recursive-diversity", "column": "diagnosis", "c": 3, "l": 2}
CLOSE = {"model": "equal-closeness", "column": "diagnosis", "t": 0.3}


@pytest.mark.parametrize(
    ("arguments", "models", "options"),
    [
        ("k => 3, l => {diagnosis: 2}", [DISTINCT], {}),
        ("k => 3, l => {diagnosis: {entropy: 1.5}}", [ENTROPY], {}),
        ("k => 3, l => {diagnosis: {recursive: [3, 2]}}", [RECURSIVE], {}),
        ("k => 3, t => {diagnosis: 0.3}", [CLOSE], {}),
        ("k => 3, suppress => 0.2", [], {"suppression_limit": 0.2}),
        ("k => 3, suppress => 0.2, loss => 'loss'", [], {"suppression_limit": 0.2, "loss": "loss"}),
        (
            "k => 3, suppress => 0.2, suppression => 'cell'",
            [],
            {"suppression_limit": 0.2, "suppression": "cell"},
        ),
        (
            "k => 3, l => {diagnosis: 2}, t => {diagnosis: 0.3}, suppress => 0.1",
            [DISTINCT, CLOSE],
            {"suppression_limit": 0.1},
        ),
        ("k => 3, loss => 'loss', method => 'local'", [], {"loss": "loss", "local_recoding": True}),
    ],
)
def test_a_query_releases_what_a_job_does(
    arguments: str, models: list[Mapping[str, Any]], options: dict[str, Any]
) -> None:
    table = people(120, 7)
    result = ask(table, arguments)
    with_roles = Table(table.select(COLUMNS), {}).with_roles(
        quasi_identifiers=["age", "plz"], sensitive=["diagnosis"]
    )
    job = tarnkappe.anonymize(
        with_roles,
        privacy=[{"model": "k-anonymity", "k": 3}, *models],
        hierarchies={"plz": PLZ, "age": AGE},
        **{"loss": "discernibility", "algorithm": "auto", **options},
    )
    assert bag(result.table) == bag(job.release.data)
    assert [each.model.name for each in result.models] == ["k-anonymity", *(m["model"] for m in models)]
    assert all(each.holds for each in result.models)


def test_rows_that_meet_all_models_stay_as_they_are() -> None:
    table = pa.concat_tables([people(1, 1), people(1, 1), people(1, 1)])
    table = table.set_column(3, "diagnosis", pa.array(["flu", "hiv", "asthma"]))
    for more in ("l => {diagnosis: 3}", "suppress => 0.5", "t => {diagnosis: 0}", "method => 'local'"):
        loss = ", loss => 'loss'" if "local" in more else ""
        assert bag(ask(table, f"k => 3, {more}{loss}").table) == bag(table)


def test_missing_values_are_written_as_their_hierarchy_says() -> None:
    plz = Hierarchy.from_rows([["18055", "*"], [None, "*"]])
    table = pa.table({"plz": ["18055", None, "18055"], "d": ["a", "b", "c"]})
    with connect({"t": table}) as backend:
        session = QuerySession(backend, Catalog(backend.relations, {"plz": plz}))
        found = session.sql("SELECT plz, d FROM generalize(t, k => 2, l => {d: 2}, by => [plz])")
    assert Counter(found.table.column("plz").to_pylist()) == {"*": 3}


def test_what_no_levels_reach_is_said_and_nothing_is_shown() -> None:
    with pytest.raises(ParameterError, match="ask for less"):
        ask(people(20, 3), "k => 3, l => {diagnosis: 9}")
    with pytest.raises(NoSolutionError, match="at least 3 rows"):
        ask(people(2, 3), "k => 3, l => {diagnosis: 2}")


def test_a_table_of_levels_that_breaks_a_model_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def untouched(counted: pa.Table, problem: Any, found: Any) -> pa.Table:
        keys = counted.group_by(["plz", "age"]).aggregate([])
        ages = keys.column("age").cast(pa.string())
        plz = keys.column("plz")
        return pa.table({"v0": keys.column("age"), "s0": ages, "v1": plz, "s1": plz})

    monkeypatch.setattr(modelled, "_mapping", untouched)
    with pytest.raises(VerificationError, match="distinct-diversity"):
        ask(people(60, 5), "k => 1, l => {diagnosis: 2}")


def test_more_suppressed_rows_than_allowed_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = modelled._mapping
    monkeypatch.setattr(modelled, "_mapping", lambda *given: whole(*given).slice(0, 1))
    with pytest.raises(VerificationError, match="may be suppressed"):
        ask(people(60, 5), "k => 1, l => {diagnosis: 1}, suppress => 0.01")


def test_people_with_several_rows_are_refused_until_they_are_bounded() -> None:
    twice = pa.concat_tables([people(40, 2), people(40, 2)])
    persons = {"patients": PersonPath("pid", rows=2)}
    with pytest.raises(ParameterError, match="several"):
        ask(twice, "k => 3, l => {diagnosis: 2}", persons=persons)
    with pytest.raises(ParameterError, match="several rows of one person"):
        ask(twice, "k => 3, l => {diagnosis: 2}", persons={"patients": PersonPath("pid", rows=1)})
    once = ask(people(40, 2), "k => 3, l => {diagnosis: 2}", persons={"patients": PersonPath("pid", rows=1)})
    assert once.verified[0].people, "people are counted, not rows"


def test_what_has_no_meaning_is_refused_where_it_is_read() -> None:
    for arguments, told in (
        ("k => 3, l => {diagnosis: {skewed: 3}}", "entropy"),
        ("k => 3, l => {nobody: 3}", "no column 'nobody'"),
        ("k => 3, l => 3", "in braces"),
        ("k => 3, suppress => 1.5", "between 0 and 1"),
        ("k => 3, suppression => 'row'", "no suppression 'row'"),
        ("k => 3, method => 'mondrian'", "no method of a query"),
        ("k => 3, l => {plz: 2}", "sensitive at once"),
        ("k => 3, loss => cell", "in quotes"),
    ):
        with pytest.raises(QueryError, match=told):
            ask(people(20, 1), arguments)


def test_it_is_written_and_read_again() -> None:
    text = (
        "SELECT plz FROM generalize(patients, k => 3, by => [age, plz], "
        "l => {diagnosis: {recursive: [2, 3]}}, t => {diagnosis: 1/3}, suppress => 0.02, "
        "suppression => 'cell', loss => 'loss', method => 'local')"
    )
    relations = {"patients": COLUMNS}
    plan = read_sql(text, relations).plan
    (node,) = [each for each in plan.walk() if isinstance(each, ModelGeneralization)]
    assert node.child == Relation("patients", COLUMNS)
    assert read_sql(plan_sql(plan), relations).plan == plan
    assert read_json(plan_json(plan)) == plan
