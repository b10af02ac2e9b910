from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tarnkappe.errors import HierarchyError, InputError, ParameterError, TarnkappeError
from tarnkappe.hierarchy import Hierarchy, read_hierarchy, write_hierarchy
from tarnkappe.hierarchy.files import format_hierarchy
from tests.hierarchy.strategies import hierarchies

SMALL = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], [None, "(missing)", "*"]])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hierarchies(), st.sampled_from(";,\t|"))
def test_what_is_written_is_read_again(tmp_path, hierarchy, delimiter) -> None:
    file = tmp_path / "hierarchy.csv"
    write_hierarchy(hierarchy, file, delimiter)
    assert list(read_hierarchy(file, delimiter).rows()) == list(hierarchy.rows())


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hierarchies())
def test_the_default_delimiter_is_recognized(tmp_path, hierarchy) -> None:
    file = tmp_path / "hierarchy.csv"
    write_hierarchy(hierarchy, file)
    assert list(read_hierarchy(file).rows()) == list(hierarchy.rows())


def test_gzipped_files_are_written_and_read(tmp_path) -> None:
    file = tmp_path / "hierarchy.csv.gz"
    write_hierarchy(SMALL, file)
    assert gzip.decompress(file.read_bytes()) == format_hierarchy(SMALL).encode()
    assert list(read_hierarchy(file).rows()) == list(SMALL.rows())


@pytest.mark.parametrize(
    "text",
    [
        "a;x;*\nb;x;*\n;(missing);*\n",
        "a,x,*\r\nb,x,*\r\n,(missing),*\r\n",
        "a\tx\t*\nb\tx\t*\n\t(missing)\t*",
        '"a";"x";"*"\n\n"b";x;*\n"";"(missing)";*\n\n',
        "\ufeffa;x;*\nb;x;*\n;(missing);*\n",
    ],
)
def test_delimiters_quotes_blank_lines_and_byte_order_marks_are_understood(tmp_path, text) -> None:
    file = tmp_path / "hierarchy.csv"
    file.write_bytes(text.encode())
    assert list(read_hierarchy(file).rows()) == list(SMALL.rows())


def test_a_comma_in_a_value_is_no_delimiter_and_a_semicolon_in_a_comma_file_neither(tmp_path) -> None:
    file = tmp_path / "hierarchy.csv"
    file.write_text("Smith, John;*\nDoe, Jane;*\n", encoding="utf-8")
    assert read_hierarchy(file).values == ("Doe, Jane", "Smith, John")
    file.write_text("a;b,x,*\na;c,y,*\n", encoding="utf-8")
    assert read_hierarchy(file).values == ("a;b", "a;c")


def test_a_file_is_read_whoever_wrote_it(tmp_path) -> None:
    text = "München;Bayern;*\r\nKöln;NRW;*\r\n"
    values = ("Köln", "München")
    for name, content in {
        "excel.csv": text.encode("cp1252"),
        "mark.csv": text.encode("utf-8-sig"),
        "wide.csv": text.encode("utf-16"),
        "packed.csv.gz": gzip.compress(text.encode()),
    }.items():
        (tmp_path / name).write_bytes(content)
        assert read_hierarchy(tmp_path / name).values == values, name


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b'a;*\n"b;*\n', InputError, "line 2 cannot be read .* quotation marks"),
        (b"\n\n", HierarchyError, "the hierarchy is empty"),
        (b"", InputError, "the file is empty"),
        (b"a\nb\n", HierarchyError, "line 1 has no label"),
        (b'"a\nb";x;*\n\nc;*\n', HierarchyError, r"line 4 \('c'\) has 1 levels, line 1 has 2"),
        (b"a;x\nb;y\n", HierarchyError, "2 roots"),
    ],
)
def test_errors_name_the_file_and_the_line(tmp_path, content, error, message) -> None:
    file = tmp_path / "town.csv"
    file.write_bytes(content)
    with pytest.raises(error, match=rf"town\.csv: .*{message}"):
        read_hierarchy(file)


def test_files_that_cannot_be_read_or_written_are_named(tmp_path) -> None:
    with pytest.raises(InputError, match=r"nothing\.csv: there is no such file"):
        read_hierarchy(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="this is a folder"):
        read_hierarchy(tmp_path)
    with pytest.raises(TarnkappeError, match=r"x\.csv: the folder .* does not exist"):
        write_hierarchy(SMALL, tmp_path / "no-folder" / "x.csv")
    with pytest.raises(TarnkappeError, match="this is a folder"):
        write_hierarchy(SMALL, tmp_path)
    for delimiter in ("", "ab", '"', "\n"):
        with pytest.raises(ParameterError, match="must be one character"):
            read_hierarchy(__file__, delimiter)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch) -> None:
    file = tmp_path / "hierarchy.csv"
    file.write_text("old", encoding="utf-8")

    def fail(_: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(TarnkappeError, match=r"hierarchy\.csv: .* No space left"):
        write_hierarchy(SMALL, file, replace=True)
    assert [(p.name, p.read_text(encoding="utf-8")) for p in tmp_path.iterdir()] == [("hierarchy.csv", "old")]


def test_the_format_is_that_of_the_docs() -> None:
    assert format_hierarchy(SMALL) == "a;x;*\nb;x;*\n;(missing);*\n"
