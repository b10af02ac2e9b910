"""Delimiters and quotes are found out, or the file is refused as ambiguous."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.formats.csv_dialect import NO_DELIMITER, find_dialect


def dialect(text: str, name: str = "a.csv", **stated: str) -> tuple[str, str]:
    found = find_dialect(Path(name), text.encode(), True, **stated)
    return found.delimiter, found.quote


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n", (",", '"')),
        ("a;b\n1;2\n", (";", '"')),
        ("a\tb\n1\t2\n", ("\t", '"')),
        ("a|b\n1|2\n", ("|", '"')),
        ("weight;height\n1,5;2\n", (";", '"')),  # a decimal comma
        ("name;town\n'Ann, Bob';Ulm\nEve;Bonn\n", (";", '"')),
        ('a;b\n"x,y";"z,w"\n', (";", '"')),  # the comma divides no line cleanly
        ('"a,1";b\n"x,y";z\n', (";", '"')),
        ('b;"a,1"\nz;"x,y"\n', (";", '"')),  # with a comma, quotes would stand inside fields
        ('size;what\n5" x;y\n', (";", '"')),  # an inch is no quote
        ("'a','b'\n'x,y','z'\n", (",", "'")),
        ("a,b\n'x,y',z\n", (",", "'")),  # nothing else explains it
        ("a,b\n'x',z\n", (",", '"')),  # apostrophes may be data
        ("'tis,b\n1,2\n", (",", '"')),
        ("name\nAnn\nBob\n", (NO_DELIMITER, '"')),
        ("remark\none, two\nthree\n", (NO_DELIMITER, '"')),
        ("a,b\n1,2\n3\n", (",", '"')),  # ragged, which is found when it is read
    ],
)
def test_what_explains_the_file_is_found(text: str, expected: tuple[str, str]) -> None:
    assert dialect(text) == expected


@pytest.mark.parametrize("text", ["a,b;c,d\n1,2;3,4\n", "a,b;c\nx,y;z\n", "a,b;c\n1\n"])
def test_two_delimiters_that_explain_it_equally_well_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"a\.csv: .*comma .* and semicolon .*: --delimiter says"):
        dialect(text)


def test_of_two_delimiters_the_one_that_gives_more_numbers_wins() -> None:
    assert dialect("x,y;z\n1,2;3\n") == (";", '"')
    assert dialect("day,hour;minute\n1,2 h;3 m\n") == (",", '"')


def test_a_tab_wins_in_a_file_for_tabs() -> None:
    assert dialect("a,1\tb\nx,y\tz\n", "a.tsv") == ("\t", '"')
    assert dialect("a,1\tb\nx,y\tz\n", "A.TSV.gz") == ("\t", '"')


def test_what_is_stated_is_taken() -> None:
    assert dialect("a,b;c,d\n1,2;3,4\n", delimiter=";") == (";", '"')
    assert dialect("a:b\n'x':z\n", delimiter=":", quote="'") == (":", "'")
    assert dialect('a,b\n"1,2\n', quote="") == (",", "")


@pytest.mark.parametrize("stated", ["", ";;", "\n", "é", "\0"])
def test_an_impossible_delimiter_is_refused(stated: str) -> None:
    with pytest.raises(ParameterError, match="`delimiter` must be one ASCII character"):
        dialect("a,b\n", delimiter=stated)


def test_an_impossible_quote_is_refused() -> None:
    with pytest.raises(ParameterError, match="`quote` must be one ASCII character"):
        dialect("a,b\n", quote="''")
    with pytest.raises(ParameterError, match="must differ"):
        dialect("a,b\n", quote=",", delimiter=",")
