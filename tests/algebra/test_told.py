"""What a query tells of itself is true: of what was rewritten and why not, of promises, types and warnings."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from tarnkappe.algebra.answer_text import answer_lines
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import connect
from tarnkappe.algebra.noise import Static
from tarnkappe.algebra.proof import check_rule
from tarnkappe.algebra.rules import RULES
from tarnkappe.algebra.session import QueryResult, QuerySession
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy

AGES = Hierarchy.from_rows(
    [["31", "30-39", "*"], ["34", "30-39", "*"], ["52", "50-59", "*"], ["57", "50-59", "*"]]
)
DONORS = pa.table({"age": [31, 34, 52, 57], "plz": ["a", "a", "b", "b"], "blood": ["A", "B", "A", "A"]})
OTHERS = pa.table({"age": ["31", "34"], "plz": ["a", "b"], "blood": ["A", "B"]})
DATA = {"donors": DONORS, "others": OTHERS}
NOISE = {"age": Static({"31": Fraction(1, 2), "52": Fraction(1, 2)})}


def answered(query: str, data: dict[str, pa.Table] | None = None, **options: Any) -> QueryResult:
    with connect(data or DATA) as backend:
        return QuerySession(backend, Catalog(backend.relations, {"age": AGES}, NOISE), **options).sql(query)


def kinds(result: QueryResult) -> list[str]:
    return [warning.kind for warning in result.explanation.warnings]


BOTH = "(SELECT * FROM donors UNION ALL SELECT * FROM others)"


@pytest.mark.parametrize(
    "condition", ["age = '31'", "age IN ('31', '34')", "age LIKE '3%'", "age > '31' AND plz = 'a'"]
)
def test_a_condition_that_may_run_as_written_runs(condition: str) -> None:
    """Above the union the column is text; pushed below it, it would be a number on one side."""
    result = answered(f"SELECT plz, blood FROM {BOTH} WHERE {condition}")
    untouched = answered(f"SELECT plz, blood FROM {BOTH} WHERE {condition}", mode="explicit", rules=["S1"])
    assert sorted(map(str, result.table.to_pylist())) == sorted(map(str, untouched.table.to_pylist()))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM randomize(generalize(donors, k => 2, by => [age]), probability => {age: 1})",
        f"SELECT age FROM {BOTH}",
        f"SELECT age FROM {BOTH} WHERE plz = 'a'",
        "SELECT age, plz FROM generalize(donors, k => 2, by => [age])",
    ],
)
def test_a_rewrite_changes_no_type(query: str) -> None:
    written = answered(query, mode="explicit", rules=["S1"])
    for mode in ("strict", "relaxed"):
        assert answered(query, mode=mode).table.schema == written.table.schema


def test_a_rule_that_was_asked_for_and_not_used_is_told() -> None:
    query = "SELECT age FROM generalize(donors, k => 2, by => [age])"
    told = answer_lines(answered(query, mode="explicit", rules=["G18"]), 20, None)
    (line,) = [line for line in told if line.startswith("not done: G18")]
    assert "\n" not in line, "a reason is told in one line"


SELECTED = "SELECT age, blood FROM generalize((SELECT * FROM donors WHERE blood = 'A'), k => 2, by => [age])"
LATE = "SELECT age, blood FROM generalize(donors, k => 2, by => [age]) WHERE blood = 'A'"


def test_a_rule_that_weakens_a_promise_is_done_when_it_is_asked_for_and_says_so() -> None:
    result = answered(SELECTED, mode="explicit", rules=["G14.lr"])
    assert [step.rule for step in result.explanation.rewriting.steps] == ["G14"]
    assert result.verified == (), "nothing is promised of it any more"
    assert "promise-lost" in kinds(result)
    told = answer_lines(result, 20, None)
    assert any("not promised, but measured: the smallest class has 1 rows" in line for line in told)


def test_what_was_moved_below_is_not_warned_of() -> None:
    moved = answered(LATE, mode="explicit", rules=["G14.rl"])
    assert kinds(moved) == []
    assert [kept.promise.k for kept in moved.verified] == [2]
    assert kinds(answered(LATE)) == ["promise-ended"]


def test_what_does_not_follow_from_the_plan_is_said_not_to_be_known() -> None:
    explanation = answered(SELECTED, mode="explicit", rules=["G14.lr"]).explanation
    assert "it is not known from the plan whether the result is 2-anonymous in age" in str(explanation)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT age, count(*) AS n FROM generalize(donors, k => 2, by => [age]) GROUP BY age", []),
        ("SELECT age FROM generalize(donors, k => 2, by => [age, plz]) GROUP BY age", []),
        ("SELECT DISTINCT age FROM generalize(donors, k => 2, by => [age])", []),
        (
            "SELECT age, blood, count(*) AS n FROM generalize(donors, k => 2, by => [age]) GROUP BY age, blood",
            [],
        ),
        ("SELECT DISTINCT age, blood FROM generalize(donors, k => 2, by => [age])", []),
        (
            "SELECT age FROM generalize(donors, k => 2, by => [age]) WHERE age LIKE '31'",
            ["labels-compared", "promise-ended"],
        ),
    ],
)
def test_warnings_are_right_about_classes(query: str, expected: list[str]) -> None:
    hierarchies = {"age": AGES, "plz": Hierarchy.from_rows([["a", "*"], ["b", "*"]])}
    with connect(DATA) as backend:
        result = QuerySession(backend, Catalog(backend.relations, hierarchies)).sql(query)
    assert kinds(result) == expected


def test_a_rule_with_a_correction_is_not_called_equal_where_it_is_not() -> None:
    told = str(check_rule(RULES["S3"], worlds=1_600, stable_buckets=False))
    assert "the claim (eq) holds" not in told
    assert "the claim holds: eq given" in told
    assert "where it is not equality:" in told


def test_two_parts_with_the_same_people_are_counted_as_people_when_they_are_brought_together() -> None:
    """Two generalized parts may be generalized together; one person in both of them counts once."""
    query = (
        "SELECT age FROM generalize(donors, k => 2, by => [age]) UNION ALL "
        "SELECT age FROM generalize(donors, k => 2, by => [age])"
    )
    persons = pa.table({"age": [31, 34, 52, 57], "pid": [1, 2, 3, 4]})
    with connect({"donors": persons}) as backend:
        catalog = Catalog(backend.relations, {"age": AGES}, persons={"donors": "pid"})
        result = QuerySession(backend, catalog, mode="explicit", rules=["G15.rl"]).sql(query)
    assert result.verified[0].people
    assert result.verified[0].measured == 2
    with pytest.raises(ParameterError):
        answered(f"SELECT age FROM {BOTH} WHERE age = 31")
