"""Writing: what is written can be read again, all or nothing is written, and nothing else."""

from __future__ import annotations

import datetime as dt
import gzip
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, InputError, OutputError, ParameterError
from tarnkappe.table import Table, files, read, write
from tarnkappe.table.encoding import as_text
from tarnkappe.table.formats import columnar, excel_write, rendering
from tarnkappe.table.staging import PREFIX
from tarnkappe.table.write import replace_atomically
from tests.table.test_read import SECRET, rows, written
from tests.table.written_tables import tables

FEW = settings.default.max_examples // 4
"""For formats that take longer."""

# --- round trips ----------------------------------------------------------------------------------


def shown(table: pa.Table) -> dict[str, list[str | None]]:
    plain = rendering.plain(table)
    return {
        name: [t for c in plain.column(name).chunks for t in as_text(c).to_pylist()]
        for name in plain.column_names
    }


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)
        assert not any(path.name.startswith(PREFIX) for path in Path(name).iterdir())


@pytest.fixture
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_sync", lambda path: None)


without_disk = pytest.mark.usefixtures("_no_waiting_for_the_disk")


@without_disk
@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|", ":", " "]),
    st.sampled_from(["csv", "tsv", "txt", "csv.gz"]),
)
def test_csv_comes_back(table: pa.Table, delimiter: str, suffix: str) -> None:
    with folder() as place:
        path = place / f"t.{suffix}"
        write(table, path, delimiter=delimiter)
        detectable = delimiter in ",;\t|"
        stated = None if detectable else delimiter  # names drawn by chance may be those of cells
        assert shown(read(path, delimiter=stated, header="yes").data) == shown(table)
        assert shown(read(path, delimiter=delimiter, quote='"', header="yes").data) == shown(table)


@without_disk
@given(tables(), st.sampled_from(["parquet", "arrow", "feather"]))
def test_columnar_files_come_back(table: pa.Table, suffix: str) -> None:
    with folder() as place:
        write(Table(table), place / f"t.{suffix}")
        back = rendering.plain(read(place / f"t.{suffix}").data)
        assert back.equals(rendering.plain(table))


@without_disk
@given(tables(), st.sampled_from(["jsonl", "ndjson", "json", "jsonl.gz"]))
def test_json_comes_back(table: pa.Table, suffix: str) -> None:
    with folder() as place:
        write(table, place / f"t.{suffix}")
        back = read(place / f"t.{suffix}").data
        expected = rendering.plain(table)
        for name in expected.column_names:
            column = expected.column(name)
            if pa.types.is_temporal(column.type):
                assert back.column(name).to_pylist() == column.cast(pa.string()).to_pylist()
            else:
                assert [repr(v) for v in back.column(name).to_pylist()] == [
                    repr(v) for v in column.to_pylist()
                ]


@without_disk
@settings(max_examples=FEW)
@given(tables())
def test_excel_comes_back(table: pa.Table) -> None:
    filled = [any(value is not None for value in row.values()) for row in table.to_pylist()]
    table = table.filter(pa.array(filled))
    with folder() as place:
        write(table, place / "t.xlsx")
        if table.num_rows == 0:
            with pytest.raises(InputError, match="has a header but no rows"):
                read(place / "t.xlsx")
            return
        back = read(place / "t.xlsx").data
        assert back.to_pylist() == rendering.plain(table).to_pylist()
        for name, column in zip(table.column_names, rendering.plain(table).columns, strict=True):
            if column.null_count < len(column) and not pa.types.is_timestamp(column.type):
                assert rendering.plain(back).column(name).type == column.type


@without_disk
@settings(max_examples=FEW)
@given(tables(), st.sampled_from(["sqlite", "duckdb"]))
def test_databases_in_files_come_back(table: pa.Table, kind: str) -> None:
    with folder() as place:
        address = f"{kind}:///{place}/t.db"
        write(table, address, table="t")
        assert (
            rendering.plain(read(address, table="t").data).to_pylist() == rendering.plain(table).to_pylist()
        )


def test_the_same_table_gives_the_same_file(tmp_path: Path) -> None:
    table = pa.table({"a": ["x", None], "n": [1, 2]})
    for suffix in ("csv.gz", "xlsx", "parquet", "arrow", "jsonl"):
        for name in ("one", "two"):
            write(table, tmp_path / f"{name}.{suffix}")
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_csv_is_written_plainly(tmp_path: Path) -> None:
    write(pa.table({"a b": ["01234", "", None], "n": [1.0, 2.5, None]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == 'a b,n\n01234,1\n"",2.5\n,\n'
    write(pa.table({"a": [1], "b": [2]}), tmp_path / "t.tsv")
    assert (tmp_path / "t.tsv").read_text() == "a\tb\n1\t2\n"


def test_all_kinds_of_tables_are_written(tmp_path: Path) -> None:
    write(pd.DataFrame({"a": [1]}), tmp_path / "t.csv")
    assert rows(read(tmp_path / "t.csv")) == [(1,)]
    write(pa.table({"a": pa.nulls(2), "b": [1, 2]}), tmp_path / "t.csv")
    assert rows(read(tmp_path / "t.csv")) == [(None, 1), (None, 2)]
    write(pa.table({"a": [Decimal("1.50")]}), tmp_path / "t.jsonl")
    assert (tmp_path / "t.jsonl").read_text() == '{"a":1.50}\n'


def test_many_pieces_give_one_file_and_progress_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pa.table({"n": range(rendering.PIECE * 2 + 5)})
    for suffix in ("csv", "jsonl", "xlsx", "parquet"):
        told: list[tuple[str, int, int]] = []
        write(table, tmp_path / f"t.{suffix}", progress=lambda *step: told.append(step))  # noqa: B023
        assert told[-1] == ("writing", table.num_rows, table.num_rows)
        if suffix != "xlsx":
            assert read(tmp_path / f"t.{suffix}").data.equals(table)


def test_a_formula_is_written_as_text(tmp_path: Path) -> None:
    write(pa.table({"a": ["=1+1", "+1", "@x"]}), tmp_path / "t.xlsx", sheet="<R&D> 'x' \"y\"")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert book.sheetnames == ["<R&D> 'x' \"y\""]
    assert [cell.data_type for cell in book.worksheets[0]["A"]] == ["s"] * 4


# --- nothing but the rows -------------------------------------------------------------------------


def left_out() -> pa.Table:
    """A table without its first row, whose name still stands in the dictionary and in the metadata."""
    people = pa.table({"name": pa.array([SECRET, "Bob"]).dictionary_encode(), "n": [1, 2]})
    return people.replace_schema_metadata({"note": SECRET}).slice(1)


def blanked() -> pa.Table:
    """A table without the cells of its first row, which still stand in memory."""
    keep = pa.array([False, True])
    name = pc.if_else(keep, pa.array([SECRET, "Bob"]), pa.scalar(None, pa.string()))
    number = pc.if_else(
        keep, pa.array([int.from_bytes(SECRET.encode(), "little"), 2]), pa.scalar(None, pa.int64())
    )
    return pa.table({"id": [1, 2], "name": name, "n": number})


@pytest.mark.parametrize("table", [left_out(), blanked()], ids=["left out", "blanked"])
def test_what_was_suppressed_is_not_in_the_file(
    tmp_path: Path, table: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pa.ipc.new_file(tmp_path / "careless.arrow", table.schema) as writer:
        writer.write_table(table)
    assert SECRET.encode() in (tmp_path / "careless.arrow").read_bytes()
    monkeypatch.setattr(columnar, "PARQUET_COMPRESSION", "none")
    monkeypatch.setattr(columnar, "ARROW_COMPRESSION", None)
    for suffix in ("parquet", "arrow", "feather", "csv", "jsonl", "xlsx"):
        write(table, tmp_path / f"t.{suffix}")
        content = _content(tmp_path / f"t.{suffix}")
        assert b"Bob" in content
        assert SECRET.encode() not in content
    for kind in ("sqlite", "duckdb"):
        write(table, f"{kind}:///{tmp_path}/{kind}.db", table="t")
        assert SECRET.encode() not in (tmp_path / f"{kind}.db").read_bytes()


def _content(path: Path) -> bytes:
    if path.suffix != ".xlsx":
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def test_no_other_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever opens a file for writing opens the partial one and no other."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    seen: set[str] = set()

    def look(*_: object) -> None:
        seen.update(path.name for path in (tmp_path / "temporary").iterdir())
        seen.update(path.name for path in tmp_path.iterdir())

    table = pa.table({"a": [SECRET] * 10})
    for suffix in ("csv", "csv.gz", "jsonl", "xlsx", "parquet", "arrow"):
        write(table, tmp_path / f"t.{suffix}", progress=look)
        read(tmp_path / f"t.{suffix}", progress=look)
    assert all(name.startswith(("t.", ".tarnkappe-")) or name == "temporary" for name in seen)
    assert list((tmp_path / "temporary").iterdir()) == []


# --- all or nothing -------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "xlsx", "parquet", "arrow"])
@pytest.mark.parametrize(
    "failure", [KeyboardInterrupt, OSError(28, "No space left on device"), ColumnError("test.column", "no")]
)
def test_a_failure_leaves_what_was_there(tmp_path: Path, suffix: str, failure: Any) -> None:
    path = written(tmp_path, "as it was", f"t.{suffix}")

    def fail(*_: object) -> None:
        raise failure

    kind = failure if isinstance(failure, type) else type(failure)
    expected = OutputError if kind is OSError else kind
    with pytest.raises(expected):
        write(pa.table({"a": [1, 2]}), path, replace=True, progress=fail)
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "parquet", "arrow"])
def test_a_full_disk_is_told_in_one_line(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OutputError, match=r"t\.\w+: the file cannot be written: No space left on device$"):
        write(pa.table({"a": [1, 2]}), tmp_path / f"t.{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_a_file_appears_at_the_end_only(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    with replace_atomically(path) as partial:
        partial.write_text("new")
        assert not path.exists()
        assert partial.parent.parent == tmp_path
        assert partial.parent.name.startswith(".")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = written(tmp_path / "there", "old", "t.csv")
    (tmp_path / "link.csv").symlink_to(target)
    write(pa.table({"a": [1]}), tmp_path / "link.csv", replace=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert target.read_text() == "a\n1\n"


def test_others_may_read_what_the_user_lets_them_read(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(pa.table({"a": [1]}), tmp_path / "t.csv")
    finally:
        os.umask(before)
    assert (tmp_path / "t.csv").stat().st_mode & 0o777 == 0o640


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.xls", "t", "t.gz", "t.parquet.gz"])
def test_an_unknown_suffix_is_refused_before_any_work(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ParameterError, match=r"stands for no format that is written|only text is compressed|not written"
    ):
        write(pa.table({"a": [1]}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="does not exist: create it first"):
        write(pa.table({"a": [1]}), tmp_path / "none" / "t.csv")
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(ParameterError, match="this is a folder"):
        write(pa.table({"a": [1]}), tmp_path / "d.csv")


def test_options_that_do_not_apply_are_refused(tmp_path: Path) -> None:
    for options in ({"sheet": "s"}, {"table": "t"}):
        with pytest.raises(ParameterError, match=f"`{next(iter(options))}` does not apply here"):
            write(pa.table({"a": [1]}), tmp_path / "t.csv", **options)
    with pytest.raises(ParameterError, match="`delimiter` must be one ASCII character"):
        write(pa.table({"a": [1]}), tmp_path / "t.csv", delimiter="::")
    with pytest.raises(ParameterError, match="must differ"):
        write(pa.table({"a": [1]}), tmp_path / "t.csv", delimiter='"')
    assert list(tmp_path.iterdir()) == []


def test_bad_column_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="both named 'a'"):
        write(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "t.csv")
    with pytest.raises(InputError, match="column 1 has no name"):
        write(pa.table({"": [1]}), tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("suffix", "values", "words"),
    [
        ("csv", pa.array([[1]]), "CSV cannot hold them"),
        ("jsonl", pa.array([b"x"]), "JSON cannot hold them"),
        ("xlsx", pa.array([1], pa.duration("s")), "Excel cannot hold them"),
        ("csv", pa.array([f"{SECRET}\0"]), "holds a NUL byte"),
        ("jsonl", pa.array([float("nan")]), "holds NaN or infinity"),
        ("xlsx", pa.array([float("-inf")]), "holds NaN or infinity"),
        ("xlsx", pa.array([10**15]), "whole numbers of more than 15 digits"),
        ("xlsx", pa.array([-(10**15)]), "whole numbers of more than 15 digits"),
        ("xlsx", pa.array(["x" * 32_768]), "text of more than 32,767 characters"),
        ("xlsx", pa.array([dt.date(1900, 2, 28)]), "dates before 1900-03-01"),
        ("xlsx", pa.array([dt.datetime(1899, 1, 1)]), "dates before 1900-03-01"),
        ("xlsx", pa.array([dt.datetime(2020, 1, 1, 0, 0, 0, 1)]), "times finer than milliseconds"),
        ("xlsx", pa.array([1], pa.timestamp("s", "UTC")), "has a time zone"),
    ],
    ids=range(13),
)
def test_what_a_format_cannot_hold_is_refused(
    tmp_path: Path, suffix: str, values: pa.Array, words: str
) -> None:
    with pytest.raises(ColumnError, match=f"the column 'v' .*{words}") as caught:
        write(pa.table({"v": values}), tmp_path / f"t.{suffix}")
    assert SECRET not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_what_a_sheet_cannot_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ColumnError, match="row 2 has no value in any column"):
        write(pa.table({"a": [1, None], "b": [1, None]}), tmp_path / "t.xlsx")
    for title in ("", "x" * 32, "a/b", "'a'"):
        with pytest.raises(ParameterError, match="cannot be the name of a sheet"):
            write(pa.table({"a": [1]}), tmp_path / "t.xlsx", sheet=title)
    monkeypatch.setattr(excel_write, "MAX_ROWS", 2)
    with pytest.raises(ParameterError, match="Excel holds at most 2 rows"):
        write(pa.table({"a": [1, 2, 3]}), tmp_path / "t.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_gzipped_files_name_nothing(tmp_path: Path) -> None:
    write(pa.table({"a": [1]}), tmp_path / f"{SECRET}.csv.gz")
    content = (tmp_path / f"{SECRET}.csv.gz").read_bytes()
    assert SECRET.encode() not in content
    assert gzip.decompress(content) == b"a\n1\n"


# --- codes in Parquet -----------------------------------------------------------------------------


@settings(max_examples=FEW)
@given(
    st.lists(st.sampled_from(["b", "a", "", "ä", None]), max_size=12),
    st.integers(1, 5),
    st.sampled_from([pa.int64(), pa.timestamp("us", "Europe/Berlin"), pa.date32()]),
)
def test_codes_are_written_as_the_texts_that_they_are(
    texts: list[str | None], row_group: int, kind: pa.DataType
) -> None:
    whole = pa.DictionaryArray.from_arrays(
        pa.array([None if t is None else ["z", "b", "a", "", "ä"].index(t) for t in texts], pa.int8()),
        pa.array(["z", "b", "a", "", "ä"]),
    )
    numbers = pa.array(range(len(texts)), pa.int32() if pa.types.is_date32(kind) else pa.int64())
    table = pa.table({"t": whole, "n": numbers.cast(kind)})
    with folder() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(columnar, "ROW_GROUP", row_group)
        columnar.write_parquet(table, place / "t.parquet")
        found = pa.parquet.read_table(place / "t.parquet")
        assert found.to_pydict() == table.to_pydict()
        assert found.schema == rendering.plain_schema(table.schema)


def test_what_no_row_has_is_not_in_the_file_and_neither_is_the_order_of_a_dictionary(tmp_path: Path) -> None:
    codes = pa.DictionaryArray.from_arrays(
        pa.array([3, 1, 3]), pa.array([SECRET, "first", SECRET + "2", "last"])
    )
    columnar.write_parquet(pa.table({"t": codes}), tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    assert SECRET.encode() not in content
    found = pa.parquet.read_table(tmp_path / "t.parquet", read_dictionary=["t"]).column("t").chunk(0)
    assert found.dictionary.to_pylist() == ["first", "last"]
    assert found.to_pylist() == ["last", "first", "last"]
