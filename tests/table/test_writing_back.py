"""What was read is written in the same spelling, and reading it again gives the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.table import Table, read, write

numbers = st.one_of(
    st.decimals(-(10**6), 10**6, places=2).map(lambda number: f"{number:,.2f}"),
    st.integers(-999, 999).map(str),
)
days = st.dates().map(lambda day: f"{day.day:02d}.{day.month:02d}.{day.year:04d}")
words = st.sampled_from(["Müller", "a b", "x;y", "x,y", 'say "no"', "NA", "-", "=1+1", "", "Łódź"])
missing = st.sampled_from(["", "NA", "k.A.", "n/a"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A file in a random dialect: decimal comma or point, delimiter, line ends, encoding, words for missing."""
    comma = draw(st.booleans())
    delimiter = draw(st.sampled_from(";\t|" if comma else ",;\t|"))
    mark = draw(missing)
    count = draw(st.integers(1, 8))
    columns = [
        [_spelled(text, comma) for text in draw(st.lists(numbers, min_size=count, max_size=count))],
        draw(st.lists(days, min_size=count, max_size=count)),
        draw(st.lists(words, min_size=count, max_size=count)),
    ]
    gaps = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    rows = [
        [mark if gap and place < 2 else _quoted(cell) for place, cell in enumerate(row)]
        for gap, row in zip(gaps, zip(*columns, strict=True), strict=True)
    ]
    lines = [delimiter.join(["amount", "day", "word"]), *(delimiter.join(row) for row in rows)]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    return (end.join(lines) + end).encode(encoding, "replace")


def _spelled(text: str, comma: bool) -> str:
    return text.translate(str.maketrans(".,", ",.")) if comma else text


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ';,\t|"') else cell


@given(files())
def test_reading_what_was_written_from_what_was_read_gives_the_same(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "a.csv"), Path(folder, "b.csv")
        first.write_bytes(content)
        table = read(first)
        write(table, second)
        again = read(second)
    assert again.data.equals(table.data)
    assert again.reading is not None
    assert table.reading is not None
    for name, spelling in table.reading.columns.items():
        there = again.reading.columns[name]
        assert (there.kind, there.number, there.date, there.mark) == (
            spelling.kind,
            spelling.number,
            spelling.date,
            spelling.mark,
        )
    assert (again.reading.delimiter, again.reading.line_end) == (
        table.reading.delimiter,
        table.reading.line_end,
    )


def test_a_german_file_is_written_as_it_was(tmp_path: Path) -> None:
    text = "Name;Geburt;Größe\r\nMüller;31.12.1980;1,85\r\nJäger;NA;1,70\r\n"
    (tmp_path / "a.csv").write_bytes(text.encode("cp1252"))
    write(read(tmp_path / "a.csv"), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == text.encode("utf-8-sig")


def test_for_excel_it_is_written_as_german_excel_reads_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,weight\n=1+1,80.5\n@x,-3.25\n-5,7\n", encoding="utf-8")
    write(read(tmp_path / "a.csv"), tmp_path / "b.csv", excel=True)
    assert (tmp_path / "b.csv").read_bytes() == (
        b'\xef\xbb\xbfname;weight\r\n"\'=1+1";80.5\r\n"\'@x";-3.25\r\n-5;7\r\n'
    )


def test_what_has_no_reading_is_written_with_commas(tmp_path: Path) -> None:
    write(Table(pa.table({"a": [1.5, None], "b": ["x", "NA"]})), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == 'a,b\n1.5,x\n,"NA"\n'


@pytest.mark.parametrize("name", ["index", "1990", "1,5", "31.12.1980", "rownames"])
def test_names_that_could_be_taken_for_something_else_come_back(tmp_path: Path, name: str) -> None:
    table = Table(pa.table({name: [1, 2, 3], "b": [1.5, 2.5, 3.5]}))
    write(table, tmp_path / "a.csv")
    assert read(tmp_path / "a.csv").data.equals(table.data)
