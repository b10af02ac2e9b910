"""The attacker writes SQL that is not a selection and projection of the protected table."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import time
from pathlib import Path

import pytest

from tarnkappe.gate.sql.dialect import statements_of
from tarnkappe.gate.sql.errors import StatementError
from tarnkappe.gate.sql.reader import read
from tarnkappe.gate.sql.view import TableView

FILE = Path(__file__).with_name("refused.sql")


def attempts() -> list[tuple[str, str]]:
    found, lines = [], []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if re.fullmatch(r"[0-9A-Z]{5}", line):
            found.append(("\n".join(lines), line))
            lines = []
        elif lines or (line.strip() and not line.startswith("--")):
            lines.append(line)
    assert not lines
    return found


@pytest.mark.parametrize(("statement", "sqlstate"), attempts())
def test_no_way_around_is_read_as_a_question(view: TableView, statement: str, sqlstate: str) -> None:
    with pytest.raises(StatementError) as refused:
        read(statement, view)
    assert refused.value.sqlstate == sqlstate


@pytest.mark.parametrize(("statement", "sqlstate"), attempts())
def test_what_is_said_depends_on_nothing_but_the_kind_of_the_attempt(
    view: TableView, statement: str, sqlstate: str
) -> None:
    with pytest.raises(StatementError) as refused:
        read(statement, view)
    told = f"{refused.value.message} {refused.value.hint}"
    for word in re.findall(r"'([^']{2,})'|\"([^\"]{2,})\"", statement):
        assert max(word) not in told  # nothing of the statement comes back, so logs can have it


def test_having_is_refused_and_says_what_to_do(view: TableView) -> None:
    with pytest.raises(StatementError, match="HAVING is not offered") as refused:
        read("SELECT age, count(*) FROM patients GROUP BY age HAVING count(*) > 1", view)
    assert "choose among those of the answer" in refused.value.hint


def test_a_hidden_column_and_one_that_does_not_exist_look_the_same(view: TableView) -> None:
    told = set()
    for name in ("id", "name", "nonsense"):
        with pytest.raises(StatementError) as refused:
            read(f"SELECT age FROM patients WHERE {name} = 'x'", view)
        told.add((refused.value.sqlstate, refused.value.message.replace(name, "N"), refused.value.hint))
    assert told == {("42703", 'column "N" does not exist', "")}
    for name in ('"ID"', '"Mrs Miller"'):  # what was quoted, perhaps by mistake, does not come back
        with pytest.raises(StatementError) as refused:
            read(f"SELECT age FROM patients WHERE {name} = 'x'", view)
        assert refused.value.message == "column does not exist"


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        ("patient", 'relation "patient" does not exist', 'Did you mean "patients"?'),
        ("other.patients", 'relation "other.patients" does not exist', 'Did you mean "patients"?'),
        ("secrets", 'relation "secrets" does not exist', 'The table here is "patients".'),
        ("pg_clas", 'relation "pg_clas" does not exist', 'Did you mean "pg_class"?'),
        ('"Mrs Miller"', "relation does not exist", 'The table here is "patients".'),
        ('"Mrs Miller".patients', "relation does not exist", 'Did you mean "patients"?'),
    ],
)
def test_a_table_that_does_not_exist_is_named_with_the_one_that_is_there(
    view: TableView, written: str, message: str, hint: str
) -> None:
    computing = dataclasses.replace(view, post_processing=True)
    for statement, seen in (
        (f"SELECT age FROM {written}", view),
        (f"SELECT p.age FROM patients p JOIN {written} q ON p.age = q.age", computing),
    ):
        with pytest.raises(StatementError) as refused:
            read(statement, seen)
        assert refused.value.sqlstate == "42P01"
        if seen is view or "pg_clas" not in written:
            assert (refused.value.message, refused.value.hint) == (message, hint)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT age FROM patients; SELECT disease FROM patients WHERE disease = 'flu'",
        "SELECT 1; DROP TABLE patients",
        "SELECT age FROM patients /* ; */ ; --\nDROP TABLE patients",
    ],
)
def test_a_second_statement_is_read_as_strictly_as_the_first(view: TableView, text: str) -> None:
    with pytest.raises(StatementError) as refused:
        read(text, view)
    assert refused.value.sqlstate == "42601"
    first, second = statements_of(text)
    read(first, view)
    with pytest.raises(StatementError) as refused:
        read(second, view)
    assert refused.value.sqlstate in ("42501", "0A000")
    assert statements_of("SELECT ';' /* ; */; ;") == ["SELECT ';' /* ; */"]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT age FROM patients WHERE " + " AND ".join(["age = 1"] * 5000),
        "SELECT age FROM patients WHERE " + "(" * 3000 + "age = 1" + ")" * 3000,
        "SELECT age FROM patients WHERE " + "NOT " * 4000 + "age = 1",
        "SELECT age FROM patients WHERE age IN (" + ",".join(["1"] * 5000) + ")",
        "SELECT age FROM patients WHERE zip = '" + "x" * 100_000 + "'",
        "SELECT " + "(" * 3000 + "1" + ")" * 3000,
        "SELECT " + ",".join(["age"] * 3000) + " FROM patients",
        "SELECT '\x00'",
    ],
    ids=range(8),
)
def test_a_statement_that_would_keep_the_gate_busy_is_refused_at_once(
    view: TableView, statement: str
) -> None:
    with pytest.raises(StatementError):
        read(statement, view)


NESTED = {
    "arrays": ("array[", "]"),
    "parentheses": ("(", ")"),
    "functions": ("coalesce(", ")"),
    "casts": ("cast(", " as int)"),
    "queries": ("(select ", ")"),
    "cases": ("case when true then ", " end"),
    "arrays of functions": ("array[coalesce(", ")]"),
    "queries of arrays": ("(select array[", "])"),
}


@pytest.mark.parametrize("depth", [12, 18, 400])
@pytest.mark.parametrize(("opens", "closes"), NESTED.values(), ids=NESTED)
def test_no_statement_keeps_the_parser_busy(view: TableView, opens: str, closes: str, depth: int) -> None:
    """Some expressions are tried in two ways on every level: the work must not double with each."""
    began = time.process_time()
    with contextlib.suppress(StatementError):
        read(f"SELECT {opens * depth}1{closes * depth}", view)
    assert time.process_time() - began < 3
