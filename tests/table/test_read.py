"""Reading files: what is read, and what is refused, with which words."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import os
import re
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe.table.formats.csv_read
import tarnkappe.table.formats.unicode
from tarnkappe.errors import ColumnError, InputError, ParameterError
from tarnkappe.table import Table, read
from tarnkappe.table.formats import rendering
from tarnkappe.table.formats.exact_types import TEXT

SECRET = "Zebulon"
"""A cell; no message may show it."""


def written(folder: Path, content: str | bytes, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(source: object, error: type[Exception] = InputError, **options: object) -> str:
    with pytest.raises(error) as caught:
        read(source, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert SECRET not in message
    assert "\n" not in message
    return message


def rows(table: Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.data.columns), strict=True))


# --- what is read ---------------------------------------------------------------------------------


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    text = 'id;postcode;born;weight;name\n1;01234;1970-01-31;80.5;"Ann; Bob"\n2;;1980-12-01;;""\n'
    table = read(written(tmp_path, text))
    assert rows(table) == [
        (1, "01234", dt.date(1970, 1, 31), 80.5, "Ann; Bob"),
        (2, None, dt.date(1980, 12, 1), None, ""),
    ]
    assert table.data.schema.types == [pa.int64(), TEXT, pa.date32(), pa.float64(), TEXT]


def test_the_reference_data_are_read(adult: Path) -> None:
    table = read(adult / "adult.csv")
    assert table.num_rows == 30162
    assert table.data.schema.field("age").type == pa.int64()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way_and_the_last_need_not(tmp_path: Path, end: str) -> None:
    path = written(tmp_path, end.join(["a,b", "1,x", "", f'2,"y{end}z"']))
    assert rows(read(path)) == [(1, "x"), (2, f"y{end}z")]


def test_an_empty_line_is_a_missing_value_in_a_single_column(tmp_path: Path) -> None:
    assert rows(read(written(tmp_path, 'a\nx\n\n""\n'))) == [("x",), (None,), ("",)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_marks_and_zeros_tell_the_encoding(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, "straße,größe\nÄäö,1\n".encode(encoding))
    assert read(path).column_names == ("straße", "größe")
    assert rows(read(path)) == [("Ääö", 1)]


@pytest.mark.parametrize(
    ("encoding", "given"), [("latin-1", "latin-1"), ("cp1252", "windows-1252"), ("utf-8", "UTF8")]
)
def test_the_encoding_may_be_stated(tmp_path: Path, encoding: str, given: str) -> None:
    assert rows(read(written(tmp_path, "a,b\nMüller,1\n".encode(encoding)), encoding=given)) == [
        ("Müller", 1)
    ]


@given(st.text(alphabet='ab1",\r\n', max_size=30))
def test_what_is_accepted_is_what_another_parser_reads(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), "x,y\n" + text)
        try:
            table = read(path, delimiter=",", quote='"')
        except InputError:
            return
    expected = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    assert [[value or "" for value in texts] for texts in _as_texts(table)] == expected


def _as_texts(table: Table) -> list[list[str | None]]:
    columns = [
        rendering.plain(table.data).column(name).cast(pa.string()).to_pylist() for name in table.column_names
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def test_gzipped_text_is_read(tmp_path: Path) -> None:
    assert rows(read(written(tmp_path, gzip.compress(b"a,b\n1,2\n"), "A.CSV.GZ"))) == [(1, 2)]


def test_columns_are_chosen_and_ordered(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,c\n1,2,3\n")
    assert read(path, columns=["c", "a"]).column_names == ("c", "a")
    assert rows(read(path, columns=["c", "a"])) == [(3, 1)]


def test_many_blocks_give_one_table_and_progress_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tarnkappe.table.formats.unicode, "CHUNK", 64)
    lines = [f'{n},"line\n{n % 7}",{n / 2 if n % 2 else ""}' for n in range(500)]
    path = written(tmp_path, "n,text,half\n" + "\n".join(lines))
    told: list[tuple[str, int, int]] = []
    table = read(path, progress=lambda *step: told.append(step))
    assert rows(table) == [(n, f"line\n{n % 7}", n / 2 if n % 2 else None) for n in range(500)]
    assert table.data.column("text").num_chunks == 1
    assert told == sorted(told)
    assert told[-1] == ("reading", path.stat().st_size, path.stat().st_size)


def test_a_column_that_turns_out_to_be_text_in_a_late_block_is_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tarnkappe.table.formats.unicode, "CHUNK", 64)
    values = [str(n) for n in range(100)] + ["01"]
    assert rows(read(written(tmp_path, "n,m\n" + "".join(f"{v},{v}\n" for v in values)))) == [
        (v, v) for v in values
    ]


@pytest.mark.parametrize("suffix", [".arrow", ".feather"])
def test_arrow_files_are_read(tmp_path: Path, suffix: str) -> None:
    table = pa.table({"a": ["x", None], "b": [1, 2]})
    pyarrow.feather.write_feather(table, tmp_path / f"t{suffix}")
    assert read(tmp_path / f"t{suffix}").data.equals(table)
    assert read(tmp_path / f"t{suffix}", columns=["b"]).column_names == ("b",)


def test_arrow_streams_are_read(tmp_path: Path) -> None:
    table = pa.table({"a": ["x", None]})
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert read(tmp_path / "t.arrow").data.equals(table)


def test_parquet_is_read_group_by_group(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x", None, "y"], "b": [1, 2, 3]}), path, row_group_size=1)
    told: list[tuple[str, int, int]] = []
    table = read(path, columns=["b", "a"], progress=lambda *step: told.append(step))
    assert rows(table) == [(1, "x"), (2, None), (3, "y")]
    assert table.data.schema.field("a").type == TEXT
    assert told[-1] == ("reading", 3, 3)


def test_names_with_dots_are_names(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a.b": ["x"], "a": [{"b": "z"}]}), tmp_path / "t.parquet")
    assert rows(read(tmp_path / "t.parquet", columns=["a.b"])) == [("x",)]
    assert rows(read(tmp_path / "t.parquet")) == [("x", {"b": "z"})]


def test_metadata_are_left_behind(tmp_path: Path) -> None:
    schema = pa.schema([pa.field("a", pa.int64(), metadata={"who": SECRET})], metadata={"note": SECRET})
    table = pa.table([[1]], schema=schema)
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        found = read(source).data.schema
        assert found.metadata is None
        assert found.field("a").metadata is None


# --- what is refused ------------------------------------------------------------------------------


def test_a_missing_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.csv").endswith("none.csv: there is no such file")


def test_a_name_that_cannot_be_opened(tmp_path: Path) -> None:
    assert refusal(tmp_path / ("x" * 300 + ".csv")).endswith("it cannot be opened")


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "d.csv").mkdir()
    assert refusal(tmp_path / "d.csv").endswith("d.csv: this is a folder: name a file in it")


def test_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.csv")
    assert refusal(tmp_path / "p.csv").endswith("this is not a regular file")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, "a,b\n1,2\n")
    monkeypatch.setattr(Path, "open", refuse)  # not by its mode, since root may read everything
    assert refusal(path).endswith("a.csv: the file cannot be read: Permission denied")


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.parquet", "a.xlsx", "a.arrow"])
def test_an_empty_file(tmp_path: Path, name: str) -> None:
    assert refusal(written(tmp_path, b"", name)).endswith(f"{name}: the file is empty")


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_a_file_without_text(tmp_path: Path, content: bytes) -> None:
    name = "a.csv.gz" if content.startswith(b"\x1f") else "a.csv"
    assert refusal(written(tmp_path, content, name)).endswith("the file is empty")


@pytest.mark.parametrize("content", ["\ufeff".encode("utf-16-le")])
def test_a_file_without_a_header(tmp_path: Path, content: str | bytes) -> None:
    assert "there is no header line" in refusal(written(tmp_path, content))


@pytest.mark.parametrize("content", ["a,b\n", "a,b", "a,b\n\n", "a\n"])
def test_a_header_without_rows(tmp_path: Path, content: str) -> None:
    assert refusal(written(tmp_path, content)).endswith("a.csv: the file has a header but no rows")


def test_a_table_without_rows_or_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([], pa.string())}), tmp_path / "t.parquet")
    assert refusal(tmp_path / "t.parquet").endswith("there are no rows")
    assert refusal(pa.table({"a": pa.array([], pa.string())})) == "the table: there are no rows"
    assert refusal(pa.table({})) == "the table: there are no columns"


@pytest.mark.parametrize(
    ("body", "line", "found"),
    [
        (f"1,2\n{SECRET}\n", 3, 1),
        (f"1,2\n3,4,{SECRET}\n", 3, 3),
        (f'"x\ny",2\n\n{SECRET}\n', 5, 1),
        (f"1,2\n3,4\n5,{SECRET},7", 4, 3),
    ],
    ids=["short", "long", "after a break in quotes", "at the end"],
)
def test_a_ragged_row(tmp_path: Path, body: str, line: int, found: int) -> None:
    message = refusal(written(tmp_path, "a,b\n" + body))
    assert f"a.csv, line {line}: expected 2 fields, found {found}" in message
    assert (
        "the delimiter looks like a comma: --delimiter and --quote change that); --bad-lines skip" in message
    )
    stated = refusal(written(tmp_path, "a,b\n" + body), delimiter=",", quote='"')
    assert f"line {line}: expected 2 fields, found {found}; --bad-lines skip" in stated


def test_a_ragged_row_in_a_late_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarnkappe.table.formats.unicode, "CHUNK", 100)
    path = written(tmp_path, "a,b\n" + "1,2\n" * 500 + f"1,2,{SECRET}\n" + "1,2\n" * 500)
    assert "a.csv, line 502: expected 2 fields, found 3" in refusal(path)


def test_a_single_column_that_is_divided(tmp_path: Path) -> None:
    assert "line 3: expected 1 field, found 2" in refusal(
        written(tmp_path, f"a\n1\n2;{SECRET}\n"), delimiter=";"
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_bytes_that_are_not_the_utf8_that_was_stated(tmp_path: Path, newline: str) -> None:
    text = newline.join(["name,town", "Ann,Ulm", f"{SECRET}ü,Köln", ""])
    message = refusal(written(tmp_path, text.encode("latin-1")), encoding="utf-8")
    offset = text.index("ü")
    assert f"a.csv, line 3, byte {offset}: this is not valid UTF-8" in message
    assert "--encoding cp1252" in message


def test_bytes_that_are_not_the_stated_utf8_after_a_mark_and_in_the_header(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbfna\xfcme,b\n1,2\n")
    assert "line 1, byte 5: this is not valid UTF-8" in refusal(path, encoding="utf-8")


def test_bytes_that_are_not_the_stated_utf8_in_a_late_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tarnkappe.table.formats.unicode, "CHUNK", 100)
    content = b"a,b\n" + b"1,2\n" * 100 + b"\xff,2\n"
    assert f"line 102, byte {content.index(255)}" in refusal(written(tmp_path, content), encoding="utf-8")


@pytest.mark.parametrize(("encoding", "byte"), [("ascii", 13), ("utf-16-le", 26)])
def test_bytes_that_are_not_in_the_stated_encoding(tmp_path: Path, encoding: str, byte: int) -> None:
    text = f"a,b\n1,2\nx,y\n{SECRET},ü\n"
    content = (
        text.encode("latin-1")
        if encoding == "ascii"
        else "a,b\n1,2\nx,y\n,".encode(encoding) + b"\x00\xd8a\x00"
    )
    message = refusal(written(tmp_path, content), encoding=encoding)
    place = content.index(0xFC) if encoding == "ascii" else byte
    assert f"line 4, byte {place}: this is not valid {encoding.upper()}" in message


@pytest.mark.parametrize("encoding", ["klingon", "base64", ""])
def test_an_unknown_encoding(tmp_path: Path, encoding: str) -> None:
    message = refusal(written(tmp_path, "a,b\n1,2\n"), ParameterError, encoding=encoding)
    assert message.startswith(f"the encoding {encoding!r} is unknown")


@pytest.mark.parametrize("content", [b"a,b\n1,x\x00y\n", b'a,b\n1,"x\x00y"\n', b"a,\x00b\n1,2\n"])
def test_zero_bytes(tmp_path: Path, content: bytes) -> None:
    line = 1 if content.index(0) < 4 else 2
    assert f"a.csv, line {line}: there is a NUL byte" in refusal(written(tmp_path, content))


def test_quotes_that_do_not_close(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, f'a,b\n1,2\n1,"{SECRET}\n3,4\n')
    assert 'a.csv, line 3: a quote (") is opened and never closed' in refusal(path)
    monkeypatch.setattr(tarnkappe.table.formats.csv_read, "LONGEST_RECORD", 1000)
    monkeypatch.setattr(tarnkappe.table.formats.unicode, "CHUNK", 100)
    path = written(tmp_path, "a,b\n" + "1,2\n" * 50 + '1,"' + "3,4\n" * 1000)
    assert "line 52: a record of over 1,000 bytes begins: is a quote opened" in refusal(path)


def test_text_after_a_closing_quote(tmp_path: Path) -> None:
    assert 'a.csv, line 2: text follows a closing quote (")' in refusal(
        written(tmp_path, f'a,b\n1,"x"{SECRET}\n'), delimiter=","
    )


def test_whatever_else_the_parser_refuses_is_told_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise pa.ArrowInvalid(f"cannot read: {SECRET}")

    monkeypatch.setattr(tarnkappe.table.formats.csv_read, "exactly_typed", refuse)
    assert refusal(written(tmp_path, "a,b\n1,2\n")).endswith("a.csv, from line 2: the records cannot be read")


def test_a_header_that_is_no_line(tmp_path: Path) -> None:
    assert 'line 1: a quote (") is opened and never closed' in refusal(written(tmp_path, '"a,b\n1,2\n'))
    assert "there is no header line in the first 1,048,576 bytes" in refusal(written(tmp_path, "x" * 2**21))


def test_an_ambiguous_delimiter(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, f"a,b;c,d\nx,{SECRET};y,z\n"))
    assert (
        "comma (3 columns) and semicolon (2 columns) explain the file equally well: --delimiter says which it is"
        in message
    )


def test_a_damaged_gzip_file(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n1,2\n" * 100)
    for content in (whole[:-9], b"a,b\n1,2\n", whole[:20] + b"\0\0\0\0" + whole[24:]):
        assert "not gzipped, damaged or cut off" in refusal(written(tmp_path, content, "a.csv.gz"))


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather", "a.xlsx"])
def test_a_file_that_is_not_what_its_name_says(tmp_path: Path, name: str) -> None:
    assert re.search(
        r"this is no (Parquet|Arrow|Excel)", refusal(written(tmp_path, f"{SECRET}\n" * 99, name))
    )


def test_a_damaged_arrow_file(tmp_path: Path) -> None:
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xff")]
    )
    pyarrow.feather.write_feather(pa.table({"a": bad}), tmp_path / "t.feather", compression="uncompressed")
    assert refusal(tmp_path / "t.feather").endswith("this is no Arrow file, or it is damaged")


@pytest.mark.parametrize("change", ["append", "touch", "replace", "delete"])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, change: str) -> None:
    path = written(tmp_path, "a,b\n1,2\n")

    def interfere(*_: object) -> None:
        if change == "append":
            path.write_text("a,b\n1,2\n3,4\n")
        elif change == "touch":
            os.utime(path, ns=(1, 1))
        elif change == "replace":
            stat = path.stat()
            written(tmp_path, "a,b\n1,3\n", "new").replace(path)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        else:
            path.unlink()

    assert refusal(path, progress=interfere).endswith(
        "changed while it was read: read it when nobody writes to it"
    )


def test_a_mistake_in_a_file_that_changes_is_blamed_on_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "a,b\n1,2\n" * 1)

    def half_written(*_: object, **__: object) -> None:
        path.write_text("a,b\n1,2\n3")
        raise InputError("test.ragged", "line 3 is ragged")

    monkeypatch.setattr(tarnkappe.table.formats.csv_read, "find_dialect", half_written)
    assert "changed while it was read" in refusal(path)


@pytest.mark.parametrize("name", ["a.doc", "a", "a.gz", "a.parquet.gz", "a.xlsx.gz"])
def test_a_name_that_stands_for_no_format(tmp_path: Path, name: str) -> None:
    content = gzip.compress(b"x") if name.endswith(".gz") else "x"
    message = refusal(written(tmp_path, content, name), ParameterError)
    assert "stands for no known format: use one of .csv" in message or "only text is compressed" in message


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    path = written(tmp_path, "age,sex\n1,f\n")
    assert "there is no column 'agee': did you mean 'age'?" in refusal(path, ColumnError, columns=["agee"])
    assert "there is no column 'x': it has age, sex" in refusal(path, ColumnError, columns=["x"])
    assert "the column 'age' is chosen twice" in refusal(path, ColumnError, columns=["age", "age"])
    assert "must be a list of column names" in refusal(path, ColumnError, columns="age")
    assert "must be a list of column names" in refusal(path, ColumnError, columns=[])


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("a.csv", "sheet"),
        ("a.csv", "table"),
        ("a.json", "encoding"),
        ("a.parquet", "delimiter"),
        ("a.xlsx", "quote"),
    ],
)
def test_options_that_do_not_apply(tmp_path: Path, name: str, option: str) -> None:
    message = refusal(written(tmp_path, "a,b\n1,2\n", name), ParameterError, **{option: "x"})
    assert message.startswith(f"`{option}` does not apply to a ")
    assert refusal(pa.table({"a": [1]}), ParameterError, **{option: "x"}).endswith(
        "table in memory: leave it out"
    )
