"""The first line of a file is a row or a header: a row that is taken for names is published."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from tarnkappe.table.formats.csv_header import find_header
from tarnkappe.table.read import read

NAMES = ("Sieglinde Zwickel", "Kunigunde Quast", "Mechthild Öttinger", "Balduin Rabe", "Adalbert Hasel")
CATEGORIES = (("f", "m"), ("Jena", "Ulm", "Gera"), ("ja", "nein"), ("red", "blue", "green", "grey"))


def persons(rows: int, categories: int, seed: int, *, named: bool = True) -> list[list[str | None]]:
    chance = random.Random(seed)
    found: list[list[str | None]] = []
    for number in range(rows):
        who = [f"{NAMES[number % len(NAMES)]} {number}"] if named else []
        found.append([*who, *(chance.choice(values) for values in CATEGORIES[:categories])])
    return found


def lines(rows: list[list[str | None]]) -> int:
    return find_header(rows, [False] * len(rows[0])).lines


@pytest.mark.parametrize("rows", [8, 20, 80, 500])
@pytest.mark.parametrize("categories", [1, 2, 3, 4])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_row_of_texts_is_no_header(rows: int, categories: int, named: bool, seed: int) -> None:
    assert lines(persons(rows, categories, seed, named=named)) == 0


@pytest.mark.parametrize("rows", [1, 2, 8, 80, 500])
@pytest.mark.parametrize("categories", [1, 2, 3, 4])
@pytest.mark.parametrize("named", [True, False])
def test_a_header_above_texts_stays(rows: int, categories: int, named: bool) -> None:
    header: list[str | None] = [
        *(["name"] if named else []),
        *("sex", "town", "member", "colour")[:categories],
    ]
    assert lines([header, *persons(rows, categories, 1, named=named)]) == 1


REACHING = ("eva@mail.example", "+49 3641 123456", "(030) 1234567", "212-555-0123", "mailto:a.b@c.example")
SHAPED = ("1980-12-31", "31.12.1980", "https://eva.example/me", "www.eva.example")


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("cell", REACHING)
def test_what_reaches_a_person_is_no_name(cell: str, place: int) -> None:
    first: list[str | None] = ["one", "two", "three"]
    first[place] = cell
    assert lines([first, ["x", "y", "z"], ["u", "v", "w"]]) == 0
    assert lines([["a", "b", "c"], first, first]) == 1


@pytest.mark.parametrize("cell", SHAPED)
def test_a_date_or_a_web_address_above_such_is_no_name_and_above_others_it_may_be(cell: str) -> None:
    assert lines([["Ann", cell], ["Bob", cell], ["Eve", "unknown"], ["Jo", None]]) == 0
    assert lines([["who", cell], ["Ann", "yes"], ["Bob", "no"]]) == 1


def test_one_column_alone() -> None:
    assert lines([["red"], ["blue"], ["red"], ["red"]]) == 0
    assert lines([["colour"], ["blue"], ["red"], ["red"]]) == 1
    assert lines([["a@mail.example"], ["b@mail.example"]]) == 0


def test_rows_that_are_all_alike_have_no_header() -> None:
    assert lines([["Ann", "f", "Ulm"]] * 4) == 0


def test_a_header_that_comes_again_as_a_line_stays() -> None:
    header: list[str | None] = ["name", "sex", "town"]
    rows = persons(40, 2, 1)
    assert lines([header, *rows[:20], header, *rows[20:]]) == 1


def test_the_answers_of_a_survey_are_named_like_their_columns() -> None:
    answers = itertools.product(["phone", None], ["letter", None], ["visit", None])
    assert lines([["phone", "letter", "visit"], *map(list, answers)]) == 1


def test_names_above_numbers_and_addresses_stay_though_one_comes_again() -> None:
    assert lines([["other", "age"], ["other", "34"], ["none", "45"], ["other", "50"]]) == 1
    assert (
        lines([["other", "mail"], ["other", "a@b.example"], ["none", "c@d.example"], ["x", "e@f.example"]])
        == 1
    )


def test_no_cell_of_a_second_line_that_reaches_a_person_is_a_name() -> None:
    rows: list[list[str | None]] = [
        ["group", None, None, None],
        ["Ann", "a@b.example", "x", "y"],
        ["p", "q", "r", "s"],
    ]
    assert lines([*rows, ["p", "q", "r", "t"]]) == 1


def test_a_file_without_a_header_keeps_its_first_person_and_header_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "persons.csv"
    rows = persons(30, 3, 7)
    path.write_text("\n".join(";".join(map(str, row)) for row in rows) + "\n", encoding="utf-8")
    table = read(path)
    assert table.num_rows == 30
    assert table.column_names == ("column 1", "column 2", "column 3", "column 4")
    assert read(path, header="yes").num_rows == 29
