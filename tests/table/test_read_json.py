"""Reading JSON: lines and arrays; text stays text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

import tarnkappe.table.formats.unicode
from tarnkappe.table import read
from tarnkappe.table.formats.exact_types import TEXT
from tests.table.test_read import SECRET, refusal, rows, written

LINES = '{"n":1,"t":"2020-01-01"}\n\n{"t":"01","b":true,"n":2.5}\n{"n":null,"t":""}\n'
ARRAY = '[{"n":1,"t":"2020-01-01"},\n {"t":"01","b":true,"n":2.5},{"n":null,"t":""}]'


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (LINES, "a.jsonl"),
        (LINES, "a.ndjson"),
        (LINES, "a.json"),
        (ARRAY, "a.json"),
        ("\ufeff  " + ARRAY, "a.json"),
    ],
    ids=["jsonl", "ndjson", "json lines", "array", "array with mark"],
)
def test_objects_are_rows(tmp_path: Path, content: str, name: str) -> None:
    table = read(written(tmp_path, content, name))
    assert table.column_names == ("n", "t", "b")
    assert rows(table) == [(1.0, "2020-01-01", None), (2.5, "01", True), (None, "", None)]
    assert table.data.schema.types == [pa.float64(), TEXT, pa.bool_()]


@pytest.mark.parametrize("content", ['{"d":"2020-01-01","n":1}\n', '[{"d":"2020-01-01","n":1}]'])
def test_a_date_in_quotes_is_text(tmp_path: Path, content: str) -> None:
    assert rows(read(written(tmp_path, content, "a.json"))) == [("2020-01-01", 1)]


def test_gzipped_lines_and_chosen_columns(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(LINES.encode()), "a.jsonl.gz")
    assert read(path, columns=["t", "n"]).column_names == ("t", "n")


def test_a_block_of_empty_lines_gives_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarnkappe.table.formats.unicode, "CHUNK", 64)
    path = written(tmp_path, '{"a":"x"}' + "\n" * 300 + '{"a":"y"}\n', "a.jsonl")
    assert rows(read(path)) == [("x",), ("y",)]


def test_many_blocks_give_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarnkappe.table.formats.unicode, "CHUNK", 64)
    values = [None if n < 50 else n if n < 100 else n + 0.5 for n in range(200)]
    lines = [f'{{"v":{"null" if v is None else v},"t":"t{n % 3}"}}' for n, v in enumerate(values)]
    told: list[tuple[str, int, int]] = []
    path = written(tmp_path, "\n".join(lines), "a.jsonl")
    table = read(path, progress=lambda *step: told.append(step))
    assert rows(table) == [(v, f"t{n % 3}") for n, v in enumerate(values)]
    assert told[-1] == ("reading", path.stat().st_size, path.stat().st_size)


@pytest.mark.parametrize("content", [f'{{"a":1}}\n{{"a":"{SECRET}"}}\n', f'[{{"a":1}},{{"a":"{SECRET}"}}]'])
def test_a_column_that_changes_its_type_is_refused(tmp_path: Path, content: str) -> None:
    assert "the column 'a' changes" in refusal(written(tmp_path, content, "a.json"))


def test_a_column_that_changes_its_type_between_blocks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tarnkappe.table.formats.unicode, "CHUNK", 64)  # eight of the first lines
    path = written(tmp_path, '{"a":1}\n' * 48 + f'{{"a":"{SECRET}"}}\n' * 50, "a.jsonl")
    assert "the column 'a' changes from number to string" in refusal(path)


def test_the_line_of_a_mistake_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, f'{{"a":1}}\n\n\n{{"a":"{SECRET}"}}\n', "a.jsonl")
    assert "a.jsonl, line 4: the column 'a' changes from number to string" in refusal(path)


@pytest.mark.parametrize("content", ['{"a":1,"a":2}\n', '[{"a":1,"a":2}]'])
def test_a_name_that_occurs_twice_is_refused(tmp_path: Path, content: str) -> None:
    assert "the column 'a' occurs twice in one object" in refusal(written(tmp_path, content, "a.json"))


@pytest.mark.parametrize(
    "content",
    [
        '{"id":12345678901234567890}\n{"id":12345678901234567891}\n',
        '{"id":9007199254740993}\n\n{"id":0.5}\n',
        '[{"id":12345678901234567890}]',
        '[{"id":9007199254740993},{"id":0.5}]',
    ],
)
def test_whole_numbers_that_would_be_rounded_are_refused(tmp_path: Path, content: str) -> None:
    message = refusal(written(tmp_path, content, "a.json"))
    assert "the column 'id'" in message
    assert "whole numbers that are too large to be kept exactly: put them in quotes" in message


def test_objects_that_share_a_line_are_refused_where_numbers_must_be_looked_at(tmp_path: Path) -> None:
    path = written(tmp_path, '{"id":12345678901234567890}{"id":1}\n', "a.jsonl")
    assert "this is not valid JSON with one object a line" in refusal(path)


def test_large_numbers_with_fractions_are_numbers(tmp_path: Path) -> None:
    assert rows(read(written(tmp_path, '{"a":1e300}\n{"a":2.5}\n', "a.jsonl"))) == [(1e300,), (2.5,)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f'{{"a":"{SECRET}"', "this is not valid JSON"),
        (f"{SECRET}\n", "this is not valid JSON"),
        (f'[{{"a":"{SECRET}"}},\n x]', "line 2, column 2: this is not valid JSON"),
        (f'[{{"a":1}},"{SECRET}"]', "row 2: an array of objects is expected, this is none"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"a":"\\ud800"}]', "the column 'a' holds half a character"),
        ("[]", "there are no rows"),
        ("\n \n", "there are no rows"),
        ("{}\n{}\n", "there are no rows"),
        ('{"":1}\n', "column 1 has no name"),
    ],
    ids=range(10),
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: str, words: str) -> None:
    assert words in refusal(written(tmp_path, content, "a.json"))


@pytest.mark.parametrize("content", [b'{"a":1}\n{"a":"\xff"}\n', b'[{"a":1},\n{"a":"\xff"}]'])
def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path, content: bytes) -> None:
    place = content.index(0xFF)
    assert f"line 2, byte {place}: this is not valid UTF-8" in refusal(written(tmp_path, content, "a.json"))
