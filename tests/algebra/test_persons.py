"""A promise about rows is called one about rows; where people are declared, people are counted."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lazy import relation
from tarnkappe.algebra.lowering import connect
from tarnkappe.algebra.session import QueryResult, QuerySession
from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.state import Store
from tarnkappe.state.budgets import Budgets

PLZ = Hierarchy.from_rows([[plz, "1805*", "*"] for plz in ("18055", "18057", "18059")])
PATIENTS = pa.table({"pid": [1, 2, 3, 4], "plz": ["18055", "18055", "18057", "18059"]})
VISITS = pa.table({"pid": [1, 1, 1, 1, 1, 2, 3, 4], "plz": ["18055"] * 5 + ["18057"] * 3, "ward": ["a"] * 8})
WARDS = pa.table({"ward": ["a", "b"], "floor": [1, 2]})
SHIFTS = pa.table({"ward": ["a", "a"], "shift": ["day", "night"]})
DATA = {"patients": PATIENTS, "visits": VISITS, "wards": WARDS, "shifts": SHIFTS}
PERSONS = {"patients": "pid", "visits": "pid"}


def answered(query: str, persons: dict[str, str], **options: Any) -> QueryResult:
    with connect(DATA) as backend:
        return QuerySession(
            backend, Catalog(backend.relations, {"plz": PLZ}, persons=persons), **options
        ).sql(query)


ONE_ROW = "SELECT plz FROM generalize(patients, k => 2, by => [plz])"
TWICE = "SELECT plz FROM generalize((SELECT * FROM patients UNION ALL SELECT * FROM patients), k => 2, by => [plz])"
MANY = "SELECT plz FROM generalize(visits, k => 3, by => [plz])"


@pytest.mark.parametrize("query", [ONE_ROW, TWICE, MANY])
def test_without_declared_people_a_promise_speaks_of_rows_alone(query: str) -> None:
    result = answered(query, {})
    told = [str(kept) for kept in result.verified]
    assert told
    assert all("(rows were counted, not people)" in line for line in told)
    assert all(kept["counted"] == "rows" for kept in result.as_dict()["verified"])
    assert "rows are counted, not people" in str(result.explanation)
    texts = [*told, *map(str, result.explanation.warnings)]
    assert not any("person" in text.replace("`person`", "") for text in texts)


def test_copies_of_rows_are_warned_of() -> None:
    (warning,) = answered(TWICE, {}).explanation.warnings
    assert "one row of patients can stand several times, and k counts each copy" in str(warning)
    assert answered(ONE_ROW, {}).explanation.warnings == ()


def test_one_row_for_each_person_is_a_promise_about_people() -> None:
    result = answered(ONE_ROW, PERSONS)
    (kept,) = result.verified
    assert str(kept).endswith("shares it with the rows of at least 3 other people")
    assert "people are counted" in str(result.explanation)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (MANY.replace("visits", "(SELECT DISTINCT plz, ward FROM visits)"), "generalize before DISTINCT"),
        (MANY.replace("visits", "(SELECT plz, ward FROM visits GROUP BY plz, ward)"), "group by the column"),
        (
            MANY.replace(
                "visits", "(SELECT plz, p2 FROM patients CROSS JOIN (SELECT pid AS p2 FROM patients))"
            ),
            "pairs the rows of two people",
        ),
        ("SELECT * FROM slice(visits, groups => [[plz], [pid], [ward]])", "several rows of one person"),
        (
            "SELECT plz FROM generalize((SELECT * FROM slice(patients, groups => [[plz], [pid]])), k => 2, by => [plz])",
            "above a slicing",
        ),
    ],
)
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
def test_a_person_with_two_rows_is_no_crowd(query: str, message: str, mode: str) -> None:
    with pytest.raises(ParameterError) as raised:
        answered(query, PERSONS, mode=mode)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT plz FROM generalize((SELECT pid, max(plz) AS plz FROM visits GROUP BY pid), k => 2, by => [plz])",
        "SELECT plz FROM generalize((SELECT * FROM patients WHERE plz <> '18055'), k => 2, by => [plz])",
        "SELECT plz FROM generalize((SELECT p.plz, q.n FROM patients p JOIN "
        "(SELECT pid, count(*) AS n FROM visits GROUP BY pid) q ON p.pid = q.pid), k => 2, by => [plz])",
        "SELECT * FROM slice((SELECT plz, pid FROM patients), groups => [[plz], [pid]])",
    ],
)
def test_what_keeps_one_row_for_each_person_is_answered(query: str) -> None:
    result = answered(query, PERSONS)
    assert all(kept.people for kept in result.verified)


def test_a_join_does_not_multiply_people() -> None:
    joined = "SELECT plz FROM generalize((SELECT plz, {0} FROM v NATURAL JOIN {1}), k => 2, by => [plz])"
    one = {**DATA, "v": VISITS.slice(4)}
    for columns in (("floor", "wards"), ("shift", "shifts")):  # rows that are multiplied are still hers
        with connect(one) as backend:
            session = QuerySession(backend, Catalog(backend.relations, {"plz": PLZ}, persons={"v": "pid"}))
            (kept,) = session.sql(joined.format(*columns)).verified
            assert (kept.people, kept.measured) == (True, 4)


def test_rows_of_nobody_are_refused_where_their_number_counts() -> None:
    nobody = {"patients": pa.table({"pid": [1, 2, None], "plz": ["18055"] * 3})}
    with connect(nobody) as backend:
        session = QuerySession(backend, Catalog(backend.relations, {"plz": PLZ}, persons={"patients": "pid"}))
        assert session.sql(ONE_ROW).verified[0].measured == 2
        with pytest.raises(ParameterError, match="'pid' is missing in some rows"):
            session.sql("SELECT * FROM slice(patients, groups => [[plz], [pid]])")


def test_noise_that_hides_a_row_does_not_pass_for_noise_that_hides_a_person(tmp_path: Any) -> None:
    budgets = Budgets(Store.open(str(tmp_path / "budgets.db")))
    for table in ("visits", "patients"):
        budgets.grant("ann", table, 5)
    counted = "SELECT noisy_count(epsilon => 1) AS n FROM {}"
    assert answered(counted.format("patients"), PERSONS, user="ann", budgets=budgets).table.num_rows == 1
    with pytest.raises(ParameterError, match="several rows of one person"):
        answered(counted.format("visits"), PERSONS, user="ann", budgets=budgets)


def test_people_are_declared_from_python_as_well() -> None:
    lone = relation(PATIENTS, "patients", hierarchies={"plz": PLZ}, person="pid")
    assert lone.generalize(["plz"], k=2).run().verified[0].people
    (kept,) = lone.union(lone).generalize(["plz"], k=2).run().verified
    assert (kept.people, kept.measured) == (True, 4)
    with pytest.raises(ColumnError, match="a person of 'patients' names 'nobody'"):
        relation(PATIENTS, "patients", person="nobody")
