"""The grammar of CSV: where records end, and what makes a text no CSV."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.table.formats.csv_records import (
    NUL_BYTE,
    SOUND,
    TEXT_AFTER_QUOTE,
    UNCLOSED_QUOTE,
    UNFINISHED,
    find_records,
)

texts = st.text(alphabet='ab",;\r\n', max_size=40)


@given(
    st.lists(
        st.lists(st.text(alphabet='a",;\r\n', max_size=5), min_size=2, max_size=4), min_size=1, max_size=8
    )
)
def test_records_and_fields_are_those_that_were_written(rows: list[list[str]]) -> None:
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(rows)
    found = find_records(stream.getvalue().encode(), ",", '"')
    assert (found.fault, found.records, found.first_fields) == (SOUND, len(rows), len(rows[0]))
    assert found.odd_records == sum(len(row) != len(rows[0]) for row in rows)
    assert found.end == len(stream.getvalue())


@given(texts, st.integers(0, 40), st.booleans())
def test_a_text_may_be_cut_anywhere(text: str, cut: int, skip_blank_lines: bool) -> None:
    whole = find_records(text.encode(), ",", '"', fields=2, skip_blank_lines=skip_blank_lines)
    first = find_records(
        text[:cut].encode(), ",", '"', fields=2, skip_blank_lines=skip_blank_lines, complete=False
    )
    if first.fault not in (SOUND, UNFINISHED):
        assert first.fault == whole.fault
        return
    rest = find_records(text[first.end :].encode(), ",", '"', fields=2, skip_blank_lines=skip_blank_lines)
    assert rest.fault == whole.fault
    assert first.end + rest.end == whole.end
    for name in ("records", "lines", "odd_records", "stray_quotes"):
        assert getattr(first, name) + getattr(rest, name) == getattr(whole, name)


@pytest.mark.parametrize(
    ("text", "fault", "line"),
    [
        (b'a\n"b\nc', UNCLOSED_QUOTE, 1),
        (b'a\n"b\nc"d\n', TEXT_AFTER_QUOTE, 2),
        (b"a\nb\x00\n", NUL_BYTE, 1),
        (b'a\n"\nb\x00"\n', NUL_BYTE, 2),
    ],
)
def test_faults_are_found_on_their_line(text: bytes, fault: int, line: int) -> None:
    found = find_records(text, ",", '"')
    assert (found.fault, found.fault_line) == (fault, line)


def test_lines_end_in_each_of_the_three_ways() -> None:
    found = find_records(b"a\r\nb\rc\n", ",", '"')
    assert (found.records, found.lines) == (3, 3)


def test_an_empty_line_is_a_record_only_where_it_is_asked_for() -> None:
    assert find_records(b"a\n\n\r\nb\n", ",", '"').records == 2
    assert find_records(b"a\n\n\r\nb\n", ",", '"', skip_blank_lines=False).records == 4


def test_without_a_quote_every_quote_is_text() -> None:
    assert find_records(b'a,"b\nc,d\n', ",", "").records == 2
