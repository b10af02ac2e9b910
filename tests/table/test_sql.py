"""Reading from and writing to real databases; an attacker looks for passwords and cells in what is said."""

from __future__ import annotations

import datetime as dt
import logging
import sqlite3
import traceback
import uuid
from decimal import Decimal
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given, settings

from tarnkappe.errors import ColumnError, InputError, ParameterError, TarnkappeError
from tarnkappe.table import read, write
from tarnkappe.table.formats import sql_read, sql_write
from tarnkappe.table.formats.exact_types import TEXT
from tarnkappe.table.formats.rendering import plain
from tests.table.test_read import SECRET, refusal, rows
from tests.table.written_tables import tables

WEIRD = 'my "table" 100%; DROP TABLE t'
PEOPLE = pa.table(
    {
        'na"me %s': pa.array(["01", "", None, 'x,\n"y"\'\\.']),
        "n": [1, None, 3, 2**62],
        "f": [1.0, 2.5, None, -0.0],
        "b": [True, False, None, True],
        "d": [dt.date(2020, 1, 1), None, dt.date(1066, 10, 14), dt.date(2999, 1, 1)],
        "t.s": [dt.datetime(2020, 1, 1, 12, 0, 0, 1), None, dt.datetime(1066, 1, 1), dt.datetime(2999, 1, 1)],
    }
)


@pytest.fixture(params=["postgresql", "sqlite", "duckdb"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        uri: str = request.getfixturevalue("postgres")
        with psycopg.connect(uri) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("DROP SCHEMA IF EXISTS clinic CASCADE")
            connection.execute("CREATE SCHEMA public")
        return uri
    return f"{request.param}:///{tmp_path}/data.db"


# --- what is read and written ---------------------------------------------------------------------


def test_a_table_comes_back_as_it_was_written(address: str) -> None:
    write(PEOPLE, address, table=WEIRD)
    table = read(address, table=WEIRD)
    assert rows(table) == [tuple(row.values()) for row in PEOPLE.to_pylist()]
    assert table.data.schema.types == [TEXT, *PEOPLE.schema.types[1:]]
    assert read(address, table=WEIRD, columns=["t.s", 'na"me %s']).column_names == ("t.s", 'na"me %s')


@settings(max_examples=settings.default.max_examples // 4)
@given(table=tables())
def test_random_tables_come_back_from_postgresql(postgres: str, table: pa.Table) -> None:
    write(table, postgres, table="random", replace=True)
    assert plain(read(postgres, table="random").data).to_pylist() == plain(table).to_pylist()


def test_a_query_is_answered(address: str) -> None:
    write(pa.table({"a": [1, 2], "t": ["x%", "y"]}), address, table="t")
    table = read(address, query="SELECT t, a + 1 AS more FROM t WHERE t LIKE 'x%' -- :name %s")
    assert rows(table) == [("x%", 2)]
    assert read(address, query="SELECT * FROM t;", columns=["t"]).column_names == ("t",)


def test_rows_come_in_chunks(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_read, "CHUNK", 100)
    monkeypatch.setattr(sql_write, "CHUNK", 100)
    people = pa.table({"n": [None if n < 150 else n for n in range(350)], "t": [f"t{n}" for n in range(350)]})
    told: list[tuple[str, int, int]] = []
    write(people, address, table="t")
    table = read(address, query="SELECT * FROM t ORDER BY t", progress=lambda *step: told.append(step))
    assert sorted(rows(table), key=str) == sorted(zip(*people.to_pydict().values(), strict=True), key=str)
    assert told[-1] == ("reading", 350, 350)
    if not address.startswith("duckdb"):  # which has chunks of its own
        assert [done for _, done, _ in told] == [100, 200, 300, 350]


def test_postgresql_sends_rows_before_it_has_them_all(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_read, "CHUNK", 100)
    told: list[int] = []
    query = "SELECT 1 / (n - 350) AS q FROM generate_series(1, 400) AS n"
    with pytest.raises(InputError, match=r"refused: DivisionByZero \(SQLSTATE 22012\)"):
        read(postgres, query=query, progress=lambda _, done, __: told.append(done))
    assert told == [100, 200, 300]


def test_a_column_without_values_is_read(address: str) -> None:
    write(pa.table({"a": [1], "none": pa.array([None], pa.string())}), address, table="t")
    assert rows(read(address, table="t")) == [(1, None)]


def test_progress_of_writing_is_told(address: str) -> None:
    told: list[tuple[str, int, int]] = []
    write(pa.table({"a": [1, 2]}), address, table="t", progress=lambda *step: told.append(step))
    assert told[-1] == ("writing", 2, 2)


def test_a_table_is_replaced_only_if_that_is_asked_for(address: str) -> None:
    write(pa.table({"a": [1]}), address, table="t")
    with pytest.raises(ParameterError, match="the table 't' exists: choose another name or pass `replace`"):
        write(pa.table({"b": [2]}), address, table="t")
    assert rows(read(address, table="t")) == [(1,)]
    write(pa.table({"b": [2]}), address, table="t", replace=True)
    assert rows(read(address, table="t")) == [(2,)]


def test_a_failure_leaves_the_database_as_it_was(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_write, "CHUNK", 1)
    write(pa.table({"a": [1]}), address, table="t")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(pa.table({"b": [2, 3]}), address, table="t", replace=True, progress=fail)
    assert rows(read(address, table="t")) == [(1,)]
    with pytest.raises(KeyboardInterrupt):
        write(pa.table({"b": [2, 3]}), address, table="new", progress=fail)
    assert "there is no table 'new': it has t" in refusal(address, table="new")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_failure_leaves_no_new_file(tmp_path: Path, kind: str) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(pa.table({"b": [2, 3]}), f"{kind}:///{tmp_path}/new.db", table="t", progress=fail)
    assert list(tmp_path.iterdir()) == []


def test_tables_of_other_schemas_are_named_with_them(address: str, postgres: str, tmp_path: Path) -> None:
    if address.startswith("sqlite"):
        write(pa.table({"a": [1]}), address, table="main.t")
        assert rows(read(address, table="main.t")) == [(1,)]
        return
    if address.startswith("duckdb"):
        with duckdb.connect(str(tmp_path / "data.db")) as database:
            database.execute("CREATE SCHEMA clinic")
    else:
        with psycopg.connect(postgres) as connection:
            connection.execute("CREATE SCHEMA clinic")
    write(pa.table({"a": [1]}), address, table="clinic.t")
    write(pa.table({"a": [2]}), address, table="dotted.name")
    assert rows(read(address, table="clinic.t")) == [(1,)]
    assert rows(read(address, table="dotted.name")) == [(2,)]
    write(pa.table({"a": [3]}), address, table="t")
    if address.startswith("duckdb"):
        assert "exists as clinic.t and main.t: name one of them" in refusal(
            address, ParameterError, table="t"
        )
    else:
        assert rows(read(address, table="t")) == [(3,)]


def test_views_are_read(tmp_path: Path) -> None:
    write(pa.table({"a": [1]}), f"sqlite:///{tmp_path}/x.db", table="t")
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE VIEW v AS SELECT a + 1 AS b FROM t")
    assert rows(read(f"sqlite:///{tmp_path}/x.db", table="v")) == [(2,)]


def test_kinds_of_postgresql(postgres: str) -> None:
    query = """SELECT 1.50::numeric AS n, '2020-01-01 12:00+02'::timestamptz AS t, '09:30'::time AS o,
        '11111111-1111-1111-1111-111111111111'::uuid AS u, '{"a": 1}'::jsonb AS j, ARRAY[1,2] AS a,
        '10.0.0.1'::inet AS i, 'x'::bytea AS b"""
    table = read(postgres, query=query)
    assert rows(table) == [
        (
            Decimal("1.50"),
            dt.datetime(2020, 1, 1, 10, tzinfo=dt.UTC),
            dt.time(9, 30),
            str(uuid.UUID("11111111-1111-1111-1111-111111111111")),
            '{"a": 1}',
            "[1, 2]",
            "10.0.0.1",
            b"x",
        )
    ]


def test_decimals_and_time_zones_come_back_from_postgresql(postgres: str) -> None:
    moment = dt.datetime(2020, 1, 1, 10, tzinfo=dt.UTC)
    people = pa.table(
        {"n": [Decimal("1.50")], "t": pa.array([moment], pa.timestamp("ns", "UTC")), "o": [dt.time(9)]}
    )
    write(people, postgres, table="kinds", replace=True)
    assert rows(read(postgres, table="kinds")) == [(Decimal("1.50"), moment, dt.time(9))]


def test_sqlite_keeps_what_does_not_fit_its_declaration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_read, "CHUNK", 2)
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE TABLE t (b BOOLEAN, d DATE, m INTEGER)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?)",
            [(0, "2020-01-01", 1), (1, None, 2), (2, "unknown", 2.5), (1, "", "x")],
        )
    table = read(f"sqlite:///{tmp_path}/x.db", table="t")
    assert rows(table) == [(0, "2020-01-01", "1"), (1, None, "2"), (2, "unknown", "2.5"), (1, "", "x")]


# --- what is refused ------------------------------------------------------------------------------


def test_a_table_or_a_query_must_be_named(address: str) -> None:
    words = "pass either `table` or `query`"
    assert words in refusal(address, ParameterError)
    assert words in refusal(address, ParameterError, table="t", query="SELECT 1")
    assert "does not apply to a database" in refusal(address, ParameterError, delimiter=";")
    with pytest.raises(ParameterError, match="pass `table`"):
        write(PEOPLE, address)
    with pytest.raises(ParameterError, match="`sheet` does not apply here"):
        write(PEOPLE, address, table="t", sheet="s")


def test_what_is_not_there_is_refused(address: str) -> None:
    write(pa.table({"a": [1], "b": [2]}), address, table="patients")
    assert "there is no table 'patient': it has patients" in refusal(address, table="patient")
    assert "there is no column 'c': it has a, b" in refusal(
        address, ColumnError, table="patients", columns=["c"]
    )
    message = refusal(address, query="SELECT * FROM nowhere")
    assert "the database refused: " in message
    assert "nowhere" in message
    assert "the database refused: " in refusal(address, query="SELEC 1")


def test_no_rows_and_bad_names_are_refused(address: str) -> None:
    write(pa.table({"a": [1]}), address, table="t")
    assert "there are no rows" in refusal(address, query="SELECT * FROM t WHERE a > 1")
    assert "there are no rows" in refusal(
        address, query="SELECT a, a + 1 AS b FROM t WHERE a > 1", columns=["b"]
    )
    assert "columns 1 and 2 are both named 'a'" in refusal(address, query='SELECT a AS "a", a AS "a" FROM t')


@pytest.mark.parametrize(
    "query", ["DELETE FROM t", "DELETE FROM t RETURNING *", "DROP TABLE t", "CREATE TABLE u (a int)"]
)
def test_a_query_changes_nothing(address: str, query: str) -> None:
    write(pa.table({"a": [1]}), address, table="t")
    assert "the database refused" in refusal(address, query=query)
    assert rows(read(address, table="t")) == [(1,)]


def test_a_query_without_an_answer_is_refused(address: str) -> None:
    write(pa.table({"a": [1]}), address, table="t")
    for query in ("", "-- nothing", "BEGIN", "ANALYZE"):
        message = refusal(address, query=query)
        assert any(words in message for words in ("the query gives no rows", "there are no rows", "refused"))


def test_duckdb_touches_no_other_file(tmp_path: Path) -> None:
    address = f"duckdb:///{tmp_path}/x.db"
    write(pa.table({"a": [1]}), address, table="t")
    for query in (f"COPY t TO '{tmp_path}/leak.csv'", f"SELECT * FROM '{__file__}'"):
        assert "the database refused" in refusal(address, query=query)
    assert [path.name for path in tmp_path.iterdir()] == ["x.db"]


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_file_that_is_none_is_refused(tmp_path: Path, kind: str) -> None:
    assert refusal(f"{kind}:///{tmp_path}/none.db", table="t").endswith("none.db: there is no such file")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "bad.db").write_text(f"{SECRET}\n" * 500)
    message = refusal(f"{kind}:///{tmp_path}/bad.db", table="t")
    assert "file is not a database" in message or "this is no DuckDB file" in message
    for empty in (f"{kind}://", f"{kind}:///", f"{kind}:///:memory:"):
        assert f"name a file, as in {kind}:///clinic.db" in refusal(empty, ParameterError, table="t")
    with pytest.raises(ParameterError, match="does not exist: create it first"):
        write(PEOPLE, f"{kind}:///{tmp_path}/none/x.db", table="t")


def test_an_unknown_database_is_refused() -> None:
    assert "there is no known database 'klingon'" in refusal("klingon://u:p@h/d", ParameterError, table="t")
    assert "pip install " in refusal("mssql+pymssql://u:p@h/d", ParameterError, table="t")


def test_what_a_database_would_change_is_refused(address: str) -> None:
    fine = pa.array([1], pa.timestamp("ns"))
    with pytest.raises(ColumnError, match="'t' holds times finer than microseconds"):
        write(pa.table({"t": fine}), address, table="t")
    with pytest.raises(ColumnError, match="'l' holds list<item: int64> values: a database cannot hold them"):
        write(pa.table({"l": [[1]]}), address, table="t")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (pa.array([Decimal("1.5")]), "SQLite has no such type"),
        (pa.array([1], pa.timestamp("s", "UTC")), "SQLite has no such type"),
        (pa.array([float("nan")]), "SQLite would make missing values of it"),
    ],
    ids=["decimal", "time zone", "NaN"],
)
def test_what_sqlite_would_change_is_refused(tmp_path: Path, values: pa.Array, words: str) -> None:
    with pytest.raises(ColumnError, match=words):
        write(pa.table({"v": values}), f"sqlite:///{tmp_path}/x.db", table="t")
    assert list(tmp_path.iterdir()) == []


def test_names_that_postgresql_would_cut_are_refused(postgres: str) -> None:
    with pytest.raises(ColumnError, match="is too long for postgresql"):
        write(pa.table({"ü" * 40: [1]}), postgres, table="t")
    with pytest.raises(ColumnError, match="holds a NUL byte"):
        write(pa.table({"a": ["x\0y"]}), postgres, table="nul")


# --- the attacker ---------------------------------------------------------------------------------

LOOK_UP = "SELECT name::regclass FROM people"
"""Fails as if the query named a table that does not exist, with the cell for its name."""

PASSWORDS = [
    "s3cr3t-Pa55",
    "p@ss-w0rd!Zeta",
    "sl/ash&Zeta",
    "co:lon?Zeta#x",
    "per%41cent-Zeta",
    "zw3i w0erter",
]


def everything_said(
    error: BaseException, log: pytest.LogCaptureFixture, output: pytest.CaptureFixture[str]
) -> str:
    printed = output.readouterr()
    return "\n".join(
        [str(error), repr(error), *traceback.format_exception(error), log.text, printed.out, printed.err]
    )


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize(
    "template",
    [
        "postgresql://ann:{}@localhost:1/clinic",
        "postgresql://ann:{}@nowhere.invalid/clinic",
        "postgresql://ann:{}@localhost:port/clinic",
        "postgres://{}@localhost:1/clinic",
        "postgresql+psycopg://ann@localhost:1/clinic?password={}",
        "postgresql://ann:x@localhost:1/clinic?sslmode=require&sslpassword={}",
        "postgresql://ann:{}@/clinic?host=/nowhere/{}",
        "klingon://ann:{}@localhost/clinic",
        "mysql+pymysql://ann:{}@localhost/clinic",
        "sqlite://ann:{}@localhost/clinic.db",
        "duckdb://ann:{}@localhost/clinic.db",
    ],
)
def test_no_password_is_ever_told(
    template: str,
    password: str,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    address = template.replace("{}", password)
    for attempt in (lambda: read(address, table="t"), lambda: write(PEOPLE, address, table="t")):
        with pytest.raises(TarnkappeError) as caught:
            attempt()
        said = everything_said(caught.value, caplog, capsys)
        pieces = [password, *(piece for piece in password.replace("%", "@").split("@") if len(piece) > 3)]
        assert not [piece for piece in (*pieces, "Zeta", "s3cr3t", "w0rd", "w0erter") if piece in said]


def test_no_cell_is_told_when_a_query_fails(
    postgres: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    people = pa.table({"name": [SECRET], "year": [12345]})
    for address in (postgres, f"duckdb:///{tmp_path}/x.duckdb"):
        write(people, address, table="people", replace=True)
        for query in ("SELECT name::int FROM people", "SELECT make_date(year, year, 1) FROM people", LOOK_UP):
            with pytest.raises(InputError, match="the database refused") as caught:
                read(address, query=query)
            assert SECRET not in everything_said(caught.value, caplog, capsys)
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
        connection.execute("INSERT INTO people VALUES (CAST(? AS TEXT))", (SECRET.encode() + b"\xff",))
    with pytest.raises(InputError, match="the database refused") as caught:
        read(f"sqlite:///{tmp_path}/x.db", table="people")
    assert SECRET not in everything_said(caught.value, caplog, capsys)


def test_no_cell_is_told_when_writing_fails(
    address: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    if address.startswith("duckdb"):  # the only one that holds such numbers
        write(pa.table({"n": pa.array([2**64 - 1], pa.uint64())}), address, table="numbers")
        return
    people = pa.table({"name": [SECRET, SECRET], "n": pa.array([2**64 - 1, 1], pa.uint64())})
    with pytest.raises(InputError, match="the database refused") as caught:
        write(people, address, table="people")
    said = everything_said(caught.value, caplog, capsys)
    assert SECRET not in said
    assert str(2**64 - 1) not in said
