"""What written words stand for, read without the code that wrote them."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from tarnkappe.hierarchy import DatesBuilder, Hierarchy, propose
from tarnkappe.recoding.labels import LabelReader, interval_label, set_label
from tarnkappe.recoding.runs import runs_of
from tarnkappe.table import Column
from tarnkappe.table.encoding import encode_column


def towns() -> Column:
    """A value with a comma, a label that reads like a value, and a missing value."""
    column = encode_column("town", pa.chunked_array([["Bern", "Bern, West", "Ems", None]]))
    rows = [
        ["Bern", "Ems", "*"],
        ["Bern, West", "CH", "*"],
        ["Ems", "D", "*"],
        ["Ulm", "D", "*"],
        [None, "?", "*"],
    ]
    return Hierarchy.from_rows(rows).attach(column)


@pytest.mark.parametrize(
    ("word", "values", "leaves"),
    [
        ("Bern", {"Bern"}, 1),
        ("Ems", {"Ems", "Bern"}, 1),  # a value, and a label: a reader cannot tell
        ("D", {"Ems"}, 2),
        ("(missing)", {"(missing)"}, 1),
        ("*", {"Bern", "Bern, West", "Ems", "(missing)"}, 5),
        ("{Bern, West, D}", {"Bern, West", "Ems"}, 3),
        ("{Bern, (missing)}", {"Bern", "(missing)"}, 2),
    ],
)
def test_words_of_a_hierarchy_and_sets_of_them(word: str, values: set[str], leaves: int) -> None:
    column = towns()
    reader = LabelReader(column)
    meaning = reader.meaning(word)
    assert meaning is not None
    assert {column.labels[code] for code in meaning} == values
    assert reader.leaves(word) == leaves


@pytest.mark.parametrize(
    "word", ["Wels", "{Wels}", "{Bern, Wels}", "[Bern, Ems]", "", "{}", "[", "Bern, Ems"]
)
def test_what_is_no_word_of_the_column_stands_for_nothing(word: str) -> None:
    reader = LabelReader(towns())
    assert reader.meaning(word) is None
    assert reader.leaves(word) == 5  # and is measured as if it might be anything


def test_intervals_have_two_numbers_of_the_column_as_ends_the_least_first() -> None:
    column = encode_column("weight", pa.chunked_array([[-3.0, 0.5, 1.0, 7.25, None]]))
    rows = [["-3", "*"], ["0.5", "*"], ["0.75", "*"], ["1", "*"], ["7.25", "*"], [None, "*"]]
    reader = LabelReader(Hierarchy.from_rows(rows).attach(column))
    assert list(reader.meaning("[-3, 1]") or ()) == [0, 1, 2]
    assert reader.leaves("[0.5, 1]") == 3  # 0.75 does not occur, but it might
    for wrong in ("[1, -3]", "[1, 1]", "[-3, 2]", "[-3, (missing)]", "[-3,1]"):
        assert reader.meaning(wrong) is None


def test_intervals_of_dates() -> None:
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 2, 1), datetime.date(2021, 1, 1)]
    column = encode_column("born", pa.chunked_array([days]))
    reader = LabelReader(propose(column).hierarchy.attach(column))
    assert list(reader.meaning("[2020-01-01, 2020-02-01]") or ()) == [0, 1]


def test_one_value_is_written_as_itself() -> None:
    assert interval_label("3", "3") == "3"
    assert set_label(["x"]) == "x"


def periods(levels: list[str], *, months: int = 600) -> Column:
    """The first day of every seventh month from 1950 on, and a date that is not known."""
    days = [datetime.date(1950 + month // 12, 1 + month % 12, 1) for month in range(0, months, 7)]
    column = encode_column("born", pa.chunked_array([[*days, None]]))
    return DatesBuilder(levels=levels).build_column(column).attach(column)


@pytest.mark.parametrize(
    "levels", [["five-years", "decade"], ["decade"], ["five-years"], ["decade", "century"]]
)
def test_a_run_of_periods_of_years_reads_as_one_and_is_read_back(levels: list[str]) -> None:
    column = periods(levels)
    runs = runs_of(column)
    assert runs is not None
    for first, low in enumerate(runs.texts):
        for last, high in list(enumerate(runs.texts))[first:]:
            word = runs.word(first, last)
            assert word in (f"{low[:4]}-{high[5:]}", runs.exact.get((first, last)))
            reader = LabelReader(column)
            meaning = list(reader.meaning(word) or ())
            assert {runs.label_of[code] for code in meaning} == set(range(first, last + 1))
            assert len(meaning) == sum(first <= own <= last for own in runs.label_of)
            assert reader.leaves(word) == runs.last_leaf[last] - runs.first_leaf[first]


@pytest.mark.parametrize("levels", [["month", "year"], ["year", "decade"], ["quarter"]])
def test_runs_of_other_periods_name_both(levels: list[str]) -> None:
    """`2020-05` to `2020-08` must not read `2020-08`."""
    column = periods(levels, months=90)
    runs = runs_of(column)
    assert runs is not None
    word = runs.word(1, 2)
    assert word == f"[{runs.texts[1]}, {runs.texts[2]}]"
    assert {runs.label_of[code] for code in LabelReader(column).meaning(word) or ()} == {1, 2}


@pytest.mark.parametrize("word", ["1950-1953", "1951-1964", "1960-1954", "1950-2999", "1950-", "950-1964"])
def test_what_is_no_run_of_years_of_the_column_stands_for_nothing(word: str) -> None:
    assert LabelReader(periods(["five-years", "decade"])).meaning(word) is None


def test_years_that_overlap_are_not_joined_nor_read() -> None:
    """Of two periods that begin with one year, nobody knows which a run would begin with."""
    column = encode_column("born", pa.chunked_array([[1.0, 2.0, 3.0, 4.0]]))
    labels = ["1950-1954", "1950-1959", "1960-1964", "1965-1969"]
    rows = [[str(number + 1), label, "*"] for number, label in enumerate(labels)]
    column = Hierarchy.from_rows(rows).attach(column)
    runs = runs_of(column)
    assert runs is not None
    assert runs.word(0, 2) == "[1950-1954, 1960-1964]"
    assert LabelReader(column).meaning("1950-1964") is None
    assert list(LabelReader(column).meaning("1960-1969") or ()) == [2, 3]
