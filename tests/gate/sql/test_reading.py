"""Selections and projections mean what they mean in SQL: DuckDB runs what the client wrote, as the twin."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.arrange import arranged
from tarnkappe.gate.sql.catalog_reader import CatalogQuery
from tarnkappe.gate.sql.errors import StatementError
from tarnkappe.gate.sql.reader import Nothing, OpenCursor, read
from tarnkappe.gate.sql.selection import AllowedQuery
from tarnkappe.gate.sql.view import TableView, ViewColumn

ROWS = [
    (number, age, zip_, weight, disease)
    for number, (age, zip_, weight, disease) in enumerate(
        [
            (20, "10104", 60.5, "flu"),
            (21, "10155", 70.25, "cold"),
            (21, None, 70.25, "flu"),
            (None, "21410", 81.0, "gout"),
            (35, "21421", None, "flu"),
            (90, "ab%", 55.0, "cold"),
        ]
    )
]
VIEW = TableView(
    "patients",
    (
        ViewColumn("age", types.INTEGER, types.INTEGER),
        ViewColumn("zip", types.TEXT, types.TEXT),
        ViewColumn("weight", types.DOUBLE, types.DOUBLE),
        ViewColumn("disease", types.TEXT, types.TEXT, selects=False),
    ),
)


@pytest.fixture(scope="module")
def table() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE patients (id int, age int, zip text, weight double, disease text)")
    connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?)", ROWS)
    return connection


def answered(
    table: duckdb.DuckDBPyConnection, statement: str, values: tuple[Any, ...] = ()
) -> list[tuple[Any, ...]]:
    """What the gate makes of a statement if nothing needs protection."""
    selection = read(statement, VIEW)
    assert isinstance(selection, AllowedQuery)
    question = selection.question(values)
    columns = ", ".join(f'"{name}"' for name in question.columns)
    where = f"WHERE {question.where}" if question.where else ""
    rows = table.execute(
        f"SELECT {columns} FROM patients {where} ORDER BY id", list(question.parameters)
    ).fetchall()
    return arranged(selection, rows, values)


comparisons = st.one_of(
    st.builds(
        "{} {} {}".format,
        st.just("age"),
        st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
        st.integers(-5, 99),
    ),
    st.builds("{} {} age".format, st.integers(15, 40), st.sampled_from(["=", "!=", "<", "<=", ">", ">="])),
    st.builds(
        "weight {} {}".format,
        st.sampled_from(["<", ">="]),
        st.sampled_from(["70.25", "-1.5", "6e1", "'60.5'"]),
    ),
    st.builds(
        "age {}BETWEEN {} AND {}".format,
        st.sampled_from(["", "NOT "]),
        st.integers(0, 30),
        st.integers(20, 95),
    ),
    st.builds(
        "zip {}IN ('10104', '{}')".format, st.sampled_from(["", "NOT "]), st.sampled_from(["21410", "it''s"])
    ),
    st.builds(
        "zip {}{} '{}'".format,
        st.sampled_from(["", "NOT "]),
        st.sampled_from(["LIKE", "ILIKE"]),
        st.sampled_from(["10%", "%1_", "AB%", ""]),
    ),
    st.builds(
        "{} IS {}NULL".format, st.sampled_from(["age", "zip", "weight"]), st.sampled_from(["", "NOT "])
    ),
    st.builds(
        "age IS {}DISTINCT FROM {}".format, st.sampled_from(["", "NOT "]), st.sampled_from(["21", "NULL"])
    ),
    st.sampled_from(
        [
            "TRUE",
            "1=0",
            "1 = 1",
            "patients.age = 21",
            "public.patients.\"zip\" = '10155'",
            "age = CAST('21' AS integer)",
        ]
    ),
)
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("NOT ({})".format, inner),
    ),
    max_leaves=6,
)
tails = st.sampled_from(
    [
        "",
        "ORDER BY age",
        "ORDER BY age DESC, zip",
        "ORDER BY zip NULLS FIRST, 1",
        "ORDER BY weight DESC NULLS LAST, disease LIMIT 3",
        "ORDER BY 2, 1, 3 OFFSET 1",
        "ORDER BY 1, 2, 3 LIMIT 2 OFFSET 2",
        "ORDER BY 1, 2, 3 FETCH FIRST 2 ROWS ONLY",
    ]
)


@settings(max_examples=80)
@given(where=conditions, tail=tails, distinct=st.sampled_from(["", "DISTINCT "]))
def test_rows_are_those_that_sql_selects(
    table: duckdb.DuckDBPyConnection, where: str, tail: str, distinct: str
) -> None:
    if distinct and "weight" in tail:
        tail = ""
    statement = f"SELECT {distinct}age, zip AS place, disease FROM patients WHERE {where} {tail}"
    twin = statement.replace("public.patients.", "patients.")
    twin = re.sub(r"(DESC)(?!\s+NULLS)", r"\1 NULLS FIRST", twin)  # as in PostgreSQL
    expected = table.execute(twin).fetchall()
    found = answered(table, statement)
    if "LIMIT" not in tail and "OFFSET" not in tail and "FETCH" not in tail:
        found, expected = sorted(found, key=repr), sorted(expected, key=repr)
    assert found == expected


@settings(max_examples=50)
@given(
    where=conditions,
    figures=st.lists(
        st.sampled_from(
            [
                "count(*)",
                "count(age)",
                "count(DISTINCT zip)",
                "min(age)",
                "max(zip)",
                "sum(age)",
                "avg(weight)",
                "count(1)",
            ]
        ),
        min_size=1,
        max_size=4,
    ),
    grouped=st.sampled_from(["", "disease", "age, disease"]),
)
def test_figures_are_those_of_the_rows(
    table: duckdb.DuckDBPyConnection, where: str, figures: list[str], grouped: str
) -> None:
    columns = ", ".join([*filter(None, [grouped]), *figures])
    statement = f"SELECT {columns} FROM patients WHERE {where} {f'GROUP BY {grouped}' if grouped else ''}"
    expected = table.execute(statement.replace("public.patients.", "patients.")).fetchall()

    def plain(rows: list[tuple[Any, ...]]) -> list[str]:
        return sorted(
            repr([float(c) if isinstance(c, (int, float, Decimal)) else c for c in row]) for row in rows
        )

    assert plain(answered(table, statement)) == plain(expected)


def test_values_of_parameters_are_never_part_of_the_statement(table: duckdb.DuckDBPyConnection) -> None:
    statement = "SELECT age FROM patients WHERE zip = $1 OR age = ANY($2)"
    attack = "10104' OR '1'='1"
    assert answered(table, statement, (attack, [21])) == [(21,), (21,)]
    selection = read(statement, VIEW)
    assert isinstance(selection, AllowedQuery)
    assert selection.parameters.oids == [types.TEXT.oid, types.INTEGER.array]
    assert attack not in str(selection.question((attack, [21])).where)
    assert answered(table, statement, ("nowhere", [])) == []


@pytest.mark.parametrize(
    "where",
    [
        "age = $1 AND zip = $1",
        "age = $1 AND age = ANY($1)",
        "age = ANY($1) OR age > $1",
        "weight = $1 AND age = $1",
    ],
)
def test_a_parameter_has_one_type(where: str) -> None:
    with pytest.raises(StatementError) as refused:
        read(f"SELECT age FROM patients WHERE {where}", VIEW)
    assert refused.value.sqlstate == "42804"


@pytest.mark.parametrize(
    ("where", "declared"),
    [
        ("age = $1", 25),
        ("zip = $1", 23),
        ("zip = ANY($1)", 1007),
        ("age = ANY($1)", 23),
        ("age = $1", 99_999),
    ],
)
def test_a_parameter_that_the_client_declares_must_fit_its_column(where: str, declared: int) -> None:
    with pytest.raises(StatementError) as refused:
        read(f"SELECT age FROM patients WHERE {where}", VIEW, [declared])
    assert refused.value.sqlstate == "42804"


def test_a_column_may_be_called_like_a_statement() -> None:
    view = TableView(
        "alter",
        (ViewColumn("alter", types.INTEGER, types.INTEGER), ViewColumn("Set", types.TEXT, types.TEXT)),
    )
    selection = read('SELECT alter, "Set" FROM alter WHERE ALTER > 3', view)
    assert isinstance(selection, AllowedQuery)
    assert selection.question(()).columns == ("alter", "Set")


def test_names_are_found_as_in_postgresql() -> None:
    view = TableView(
        "T",
        (ViewColumn("Age", types.INTEGER, types.INTEGER), ViewColumn("AGE", types.INTEGER, types.INTEGER)),
    )
    assert isinstance(read('SELECT "Age" FROM "T"', view), AllowedQuery)
    with pytest.raises(StatementError):
        read("SELECT age FROM t", view)  # which of the two?


@pytest.mark.parametrize("statement", ["", ";", " -- nothing\n", "/* nothing */"])
def test_nothing_is_nothing(statement: str) -> None:
    assert isinstance(read(statement, VIEW), Nothing)


WORDS = st.sampled_from(
    [
        "SELECT",
        "FROM",
        "patients",
        "WHERE",
        "age",
        "zip",
        "disease",
        "id",
        "=",
        "<>",
        "<",
        "(",
        ")",
        ",",
        "*",
        "AND",
        "OR",
        "NOT",
        "IN",
        "LIKE",
        "IS",
        "NULL",
        "BETWEEN",
        "1",
        "34",
        "'flu'",
        "'10%'",
        "$1",
        "$2",
        "ORDER",
        "BY",
        "GROUP",
        "LIMIT",
        "OFFSET",
        "DISTINCT",
        "count(",
        "max(",
        "sum(",
        "UNION",
        "JOIN",
        "ON",
        "USING",
        "WITH",
        "AS",
        ";",
        "--",
        "/*",
        "*/",
        "EXPLAIN",
        "COPY",
        "pg_class",
        "pg_catalog.",
        "information_schema.",
        "version()",
        "current_user",
        "::text",
        "::regclass",
        "ANY(",
        "ARRAY[",
        "]",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "DECLARE",
        "c",
        "CURSOR",
        "FOR",
        "FETCH",
        "SET",
        "SHOW",
        "BEGIN",
        '"age"',
        '"disease"',
        ".",
        "+",
        "-",
        "/",
        "||",
        "~",
        "@",
        "#",
        "$$",
        "E'\\n'",
        "U&'x'",
        "1e5",
        "INTO",
        "TABLE",
        "LATERAL",
        "EXISTS",
        "ALL",
        "TRUE",
        "INTERVAL",
        "CAST(",
        "row(",
        "OVER",
        "FILTER",
        "WINDOW",
        "HAVING",
        "VALUES",
        "only",
        "tablesample",
        "unnest(",
        "getvariable(",
    ]
)


@settings(max_examples=250)
@given(st.lists(WORDS, max_size=25).map(" ".join) | st.text(max_size=60).map(lambda text: f"SELECT {text}"))
def test_whatever_is_written_nothing_but_a_question_or_a_refusal_comes_of_it(statement: str) -> None:
    try:
        found = read(statement, VIEW)
    except StatementError:
        return
    query = found.query if isinstance(found, OpenCursor) else found
    if isinstance(query, AllowedQuery):
        check_question(query)
    if isinstance(query, CatalogQuery):
        assert (
            "patients" not in re.sub(r"'[^']*'|\"[^\"]*\"", "", query.statement)
            or " patients" not in statement
        )


@settings(max_examples=100)
@given(where=st.lists(WORDS, max_size=12).map(" ".join))
def test_a_condition_that_is_read_names_nothing_sensitive(where: str) -> None:
    try:
        found = read(f"SELECT age, disease FROM patients WHERE {where}", VIEW)
    except StatementError:
        return
    assert isinstance(found, AllowedQuery)
    check_question(found)


def check_question(selection: AllowedQuery) -> None:
    values = tuple(
        [1] if n in selection.parameters.arrays else 1 for n in range(len(selection.parameters.oids))
    )
    try:
        question = selection.question(values)
    except (StatementError, TypeError):
        return
    assert set(question.columns) <= {"age", "zip", "weight", "disease"}
    allowed = r'"age"|"zip"|"weight"|AND|OR|NOT|IN|I?LIKE|IS|NULL|DISTINCT|FROM|[=<>(),?]|<>|<=|>=|1|0|\s'
    assert re.sub(allowed, "", question.where or "") == ""
    assert (question.where or "").count("?") == len(question.parameters)
