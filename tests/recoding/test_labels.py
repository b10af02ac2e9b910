"""What written words stand for, read without the code that wrote them."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from tarnkappe.hierarchy import Hierarchy, propose
from tarnkappe.recoding.labels import LabelReader, interval_label, set_label
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
