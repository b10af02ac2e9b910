"""Where relations come from: files, tables in memory, databases; and what must not confuse row numbers."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.algebra.statistics import ColumnStatistics, RelationStatistics
from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table import write

KEY = bytes(range(32))
TABLE = pa.table({"a": range(10), "b": [f"v{n}" for n in range(10)]})
SLICED = "SELECT * FROM slice(t, groups => [[a], [b]])"


def sliced(backend: Backend, text: str = SLICED) -> set[tuple[object, ...]]:
    with backend:
        found = backend.execute(read_sql(text, backend.relations), Catalog(backend.relations), key=KEY)
    return set(zip(*(found.column(c).to_pylist() for c in ("a", "b")), strict=True))


def database(path: Path, *statements: str) -> str:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return f"duckdb:///{path}"


def test_the_same_key_gives_the_same_rows_from_every_source(tmp_path: Path) -> None:
    expected = sliced(connect({"t": TABLE}))
    assert expected != set(zip(TABLE.column("a").to_pylist(), TABLE.column("b").to_pylist(), strict=True))
    for ending in (".parquet", ".csv", ".jsonl", ".arrow"):
        write(TABLE, tmp_path / f"t{ending}")
        assert sliced(connect(tmp_path / f"t{ending}")) == expected
    create = "CREATE TABLE t AS SELECT n AS a, 'v' || n AS b FROM range(10) r(n)"
    assert sliced(connect(database(tmp_path / "t.db", create))) == expected
    gaps = [create.replace("range(10)", "range(-3, 10)"), "DELETE FROM t WHERE a < 0"]
    assert sliced(connect(database(tmp_path / "gaps.db", *gaps))) == expected


@pytest.mark.parametrize("names", [("rowid", "b"), ("file_row_number", "b"), ("A", "a"), ("i0", "c0")])
def test_columns_named_as_row_numbers_do_not_stand_for_them(tmp_path: Path, names: tuple[str, str]) -> None:
    expected = sliced(connect({"t": TABLE}))
    confusing = TABLE.set_column(0, "a", pa.array([0] * 5 + [1] * 5)).append_column("real", TABLE.column("a"))
    confusing = confusing.select(["a", "real", "b"]).rename_columns([names[0], "real", names[1]])
    text = f'SELECT "real" AS a, "{names[1]}" AS b FROM slice((SELECT "real", "{names[1]}" FROM t), groups => [["real"], ["{names[1]}"]])'
    pyarrow.parquet.write_table(confusing, tmp_path / "t.parquet")
    # The first group stays in place: name them so that it is the same one.
    swapped = {(a, b) for a, b in sliced(connect({"t": confusing}), text)}
    assert sliced(connect(tmp_path / "t.parquet"), text) == swapped
    assert {a for a, _ in swapped} == {a for a, _ in expected}
    assert len({b for _, b in swapped}) == 10


def test_a_table_with_a_column_called_rowid_is_numbered_by_its_place(tmp_path: Path) -> None:
    create = "CREATE TABLE t AS SELECT 7 AS rowid, n AS a, 'v' || n AS b FROM range(10) r(n)"
    text = "SELECT * FROM slice((SELECT a, b FROM t), groups => [[a], [b]])"
    found = sliced(connect(database(tmp_path / "t.db", create)), text)
    assert found == sliced(connect({"t": TABLE}), text)


def test_views_are_not_offered(tmp_path: Path) -> None:
    address = database(tmp_path / "t.db", "CREATE TABLE t(a INT)", "CREATE VIEW v AS SELECT random() AS a")
    with connect(address) as backend:
        assert dict(backend.relations) == {"t": ("a",)}


def test_statistics_count_rows_and_estimate_values() -> None:
    with connect({"t": TABLE}) as backend:
        found = backend.statistics("t")
        assert found.rows == 10
        assert abs((found.distinct("a") or 0) - 10) <= 2
        with pytest.raises(InputError, match="no relation 'x'; there are 't'"):
            backend.statistics("x")
    with connect({"t": TABLE.slice(0, 0)}) as backend:
        empty = {c: ColumnStatistics(0) for c in ("a", "b")}
        assert backend.statistics("t") == RelationStatistics(0, empty)


def test_a_file_that_changes_during_a_query_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(TABLE, path)
    with connect(path) as backend:

        def ask_while_it_changes() -> None:
            with backend.site() as site:
                site.relation("t", numbered=True)
                pyarrow.parquet.write_table(TABLE.slice(3), path)

        with pytest.raises(InputError, match="changed while it was read"):
            ask_while_it_changes()
        query = read_sql("SELECT a FROM t", backend.relations)
        assert backend.execute(query, Catalog(backend.relations)).num_rows == 7


def test_nothing_but_the_relations_can_be_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    with connect({"t": TABLE}) as backend, pytest.raises(duckdb.PermissionException):
        backend.connection.execute(f"SELECT * FROM '{secret}'").fetchall()  # type: ignore[attr-defined]


def test_a_query_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with connect({"t": TABLE}) as backend:
        text = "SELECT a, b FROM slice((SELECT DISTINCT a, b FROM t), groups => [[a], [b]])"
        backend.execute(read_sql(text, backend.relations), Catalog(backend.relations))
        left = backend.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()  # type: ignore[attr-defined]
        assert left == [("tarnkappe_t0",)]
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_written_whole(tmp_path: Path) -> None:
    with connect({"t": TABLE}) as backend:
        rows = backend.write(
            read_sql("SELECT a FROM t WHERE a > 5", backend.relations),
            Catalog(backend.relations),
            tmp_path / "out.parquet",
        )
    assert rows == pyarrow.parquet.read_metadata(tmp_path / "out.parquet").num_rows == 4


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("sqlite:///x.db", "run on DuckDB"),
        ("spark:/nowhere", "no such folder"),
        ("/nowhere/t.parquet", "no such file"),
        ("/nowhere/t.odt", "no known format"),
    ],
)
def test_places_that_are_none_are_refused(place: str, message: str) -> None:
    with pytest.raises((ParameterError, InputError), match=message):
        connect(place)
