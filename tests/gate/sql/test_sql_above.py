"""Which questions a statement over protected answers asks, and what is refused before anything is asked."""

from __future__ import annotations

import dataclasses

import pytest

from tarnkappe.gate.sql.errors import StatementError
from tarnkappe.gate.sql.reader import read
from tarnkappe.gate.sql.selection import AllowedQuery
from tarnkappe.gate.sql.sql_above import SqlAbove
from tarnkappe.gate.sql.view import TableView


def above(text: str, view: TableView) -> SqlAbove:
    found = read(text, dataclasses.replace(view, post_processing=True))
    assert isinstance(found, SqlAbove)
    return found


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (
            "SELECT upper(disease) FROM patients WHERE age > 30 AND disease = 'flu'",
            [(("disease", "age"), '"age" > ?', ())],
        ),
        (
            "SELECT zip, disease, count(*) FROM patients GROUP BY zip, disease HAVING count(*) > 2",
            [(("zip", "disease"), None, ("zip",))],
        ),
        (
            "SELECT age / 10 AS decade, disease, count(*) FROM patients WHERE zip = '1' GROUP BY 1, disease",
            [(("age", "zip", "disease"), '"zip" = ?', ("age",))],
        ),
        (
            "WITH old AS (SELECT disease FROM patients WHERE age >= 60) SELECT count(*) FROM old",
            [(("age", "disease"), '"age" >= ?', ())],
        ),
        (
            "SELECT a.disease FROM patients a JOIN patients b ON a.zip = b.zip WHERE a.age < 20 AND b.age > 20",
            [(("age", "zip", "disease"), '"age" < ?', ()), (("age", "zip", "disease"), '"age" > ?', ())],
        ),
        (
            "SELECT a.age FROM patients a LEFT JOIN patients b ON a.zip = b.zip WHERE b.age IS NULL",
            [(("age", "zip"), None, ()), (("age", "zip"), None, ())],
        ),
        (
            "SELECT age FROM patients WHERE age > 3 UNION SELECT age FROM patients WHERE age < 2",
            [(("age",), '"age" > ?', ()), (("age",), '"age" < ?', ())],
        ),
        (
            "SELECT rank() OVER (PARTITION BY zip ORDER BY age) FROM patients",
            [(("age", "zip"), None, ())],
        ),
        ("SELECT CASE WHEN age > 40 THEN 'old' ELSE 'young' END AS x FROM patients", [(("age",), None, ())]),
    ],
)
def test_which_people_a_statement_asks_for(
    text: str, asked: list[tuple[tuple[str, ...], str | None, tuple[str, ...]]], view: TableView
) -> None:
    found = above(text, view)
    questions = [scan.query.question(()) for scan in found.scans]
    told = [
        (question.columns, question.where, tuple(column.name for column in scan.grouped))
        for question, scan in zip(questions, found.scans, strict=True)
    ]
    assert [(set(columns), where, groups) for columns, where, groups in told] == [
        (set(columns), where, groups) for columns, where, groups in asked
    ]
    assert "patients" not in found.statement.replace('AS "patients"', "").replace('"patients".', "")


def test_what_the_gate_answers_itself_it_answers(view: TableView) -> None:
    both = dataclasses.replace(view, post_processing=True)
    assert isinstance(read("SELECT disease FROM patients WHERE age > 3 LIMIT 2", both), AllowedQuery)
    with pytest.raises(StatementError):
        read("SELECT upper(disease) FROM patients", view)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT age, (SELECT count(*) FROM secrets) FROM patients",
        "SELECT upper(salary) FROM patients",
        "SELECT age + 1 FROM patients, read_csv('/etc/passwd')",
        "SELECT age + 1 FROM patients, generate_series(1, 100000000)",
        "SELECT repeat('x', 1000000000) FROM patients",
        "SELECT getenv('HOME') FROM patients",
        "SELECT current_setting('access_mode') FROM patients",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r, patients",
        "WITH patients AS (SELECT 1 AS age) SELECT age + 1 FROM patients",
        "SELECT age + 1 FROM patients AS protected_1",
        "SELECT age + 1 FROM patients FOR UPDATE",
        "SELECT age + 1 FROM patients WHERE age * 2 > 50",
        "SELECT age + 1 FROM pg_catalog.pg_class, patients",
    ],
)
def test_what_reads_or_calls_anything_else_is_refused_before_anything_is_asked(
    text: str, view: TableView
) -> None:
    with pytest.raises(StatementError):
        above(text, view)
