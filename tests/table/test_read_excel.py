"""Reading Excel workbooks."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.table import read
from tarnkappe.table.formats import excel_read
from tarnkappe.table.formats.exact_types import TEXT
from tests.table.test_read import SECRET, refusal, rows


def workbook(folder: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    del book["Sheet"]
    for title, content in sheets.items():
        sheet = book.create_sheet(title)
        for row in content:
            sheet.append(row)
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def test_cells_keep_their_types(tmp_path: Path) -> None:
    path = workbook(
        tmp_path,
        {
            "patients": [
                ["id", "code", "weight", "born", "seen", "at", "ok", "mixed"],
                [1, "01234", 80.5, dt.date(1970, 1, 31), dt.datetime(2020, 1, 1, 9, 30), dt.time(9), True, 1],
                [2, None, 81, dt.date(1980, 1, 1), dt.datetime(2020, 1, 1), dt.time(10), False, "k.A."],
            ]
        },
    )
    table = read(path)
    kinds = [
        pa.int64(),
        TEXT,
        pa.float64(),
        pa.date32(),
        pa.timestamp("s"),
        pa.time64("us"),
        pa.bool_(),
        TEXT,
    ]
    assert table.data.schema.types == kinds
    assert rows(table) == [
        (1, "01234", 80.5, dt.date(1970, 1, 31), dt.datetime(2020, 1, 1, 9, 30), dt.time(9), True, "1"),
        (2, None, 81.0, dt.date(1980, 1, 1), dt.datetime(2020, 1, 1), dt.time(10), False, "k.A."),
    ]


def test_mixed_kinds_become_text_without_loss(tmp_path: Path) -> None:
    values = [True, 2.5, dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5), dt.time(3, 4), "x"]
    table = read(workbook(tmp_path, {"s": [["v"], *([value] for value in values)]}))
    assert rows(table) == [
        ("true",),
        ("2.5",),
        ("2020-01-02",),
        ("2020-01-02 03:04:05",),
        ("03:04:00",),
        ("x",),
    ]


def test_dates_and_times_in_one_column_are_times(tmp_path: Path) -> None:
    moment = dt.datetime(2020, 1, 2, 3, 4, 5, 250_000)
    table = read(workbook(tmp_path, {"s": [["v"], [dt.date(2020, 1, 1)], [moment]]}))
    assert rows(table) == [(dt.datetime(2020, 1, 1),), (moment,)]


def test_whole_numbers_keep_all_their_digits(tmp_path: Path) -> None:
    path = workbook(tmp_path, {"s": [["big", "mixed"], [70, 60], [1, 0.5]]})
    _edit(path, "<v>70</v>", f"<v>{2**70}</v>")
    _edit(path, "<v>60</v>", f"<v>{2**60 + 1}</v>")
    assert rows(read(path)) == [(str(2**70), str(2**60 + 1)), ("1", "0.5")]


def test_escaped_characters_are_read(tmp_path: Path) -> None:
    path = workbook(tmp_path, {"s": [["t"], ["a_x000D_\nb"], ["_x005F_x0041_"], ["_xD800_"]]})
    assert rows(read(path)) == [("a\r\nb",), ("_x0041_",), ("_xD800_",)]


def test_rows_and_columns_without_values_are_left_out(tmp_path: Path) -> None:
    path = workbook(tmp_path, {"s": [[None, None], ["a", "b"], [1, None], [None, None], [None, 2]]})
    book = openpyxl.load_workbook(path)
    for cell in ("C2", "C3", "A9"):
        book["s"][cell].number_format = "0.00"  # which makes cells without values
    book.save(path)
    assert rows(read(path)) == [(1, None), (None, 2)]


def test_a_sheet_is_chosen(tmp_path: Path) -> None:
    path = workbook(tmp_path, {"one": [["a"], [1]], "two": [["b"], [2]], "empty": []})
    assert read(path, sheet="two").column_names == ("b",)
    assert refusal(path).endswith("there are several sheets, and --sheet chooses one: one, two")
    assert "there is no sheet 'x': it has one, two, empty" in refusal(path, ParameterError, sheet="x")
    assert read(workbook(tmp_path, {"one": [["a"], [1]], "empty": []})).column_names == ("a",)


def test_columns_are_chosen(tmp_path: Path) -> None:
    assert rows(read(workbook(tmp_path, {"s": [["a", "b"], [1, 2]]}), columns=["b"])) == [(2,)]


def test_progress_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel_read, "REPORT_EVERY", 2)
    told: list[tuple[str, int, int]] = []
    read(workbook(tmp_path, {"s": [["a"], [1], [2], [3]]}), progress=lambda *step: told.append(step))
    assert told == [("reading", 2, 2)]


def test_stored_results_of_formulas_are_read(tmp_path: Path) -> None:
    path = workbook(tmp_path, {"s": [["a", "b"], [1, "=A2+1"]]})
    _edit(path, "</f><v />", "</f><v>2</v>")
    assert rows(read(path)) == [(1, 2)]


def test_a_formula_without_a_result_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, {"s": [["a", "b"], [1, 2], [3, "=A2+1"]]})
    assert "a.xlsx, cell B3: the formula has no stored result" in refusal(path)


def test_a_date_that_is_none_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, {"s": [["a"], [dt.date(2020, 1, 1)]]})
    _edit(path, "<v>43831</v>", "<v>99999999999</v>")
    assert refusal(path).endswith("a.xlsx, cell A2: this is marked as a date but is none")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([["a", "b"]], "the sheet 's' has a header but no rows"),
        ([["a"], *[[1]] * 120, [2, SECRET]], "cell B122: there is a value in a column without a name"),
        ([], "the workbook is empty"),
    ],
    ids=range(3),
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: list[list[Any]], words: str) -> None:
    assert words in refusal(workbook(tmp_path, {"s": content}))


def test_odd_names_are_made_different_and_told(tmp_path: Path) -> None:
    table = read(workbook(tmp_path, {"s": [["a", None, "a"], [1, 2, 3], [4, None, 5]]}))
    assert table.column_names == ("a", "column 2", "a 2")
    assert table.reading is not None
    assert table.reading.notes == (
        "the name 'a' occurs again: column 3 is called 'a 2'",
        "1 column has no name in the header",
    )


def test_merged_names_below_a_title_are_two_header_lines(tmp_path: Path) -> None:
    content = [
        ["Patients of May"],
        ["person", None, None, "finding", None],
        ["name", "born", "height", "illness", "since"],
        ["Ann", dt.date(1980, 1, 2), 170, "flu", 2020],
        ["Bob", dt.date(1990, 1, 2), 180, "gout", 2021],
    ]
    table = read(workbook(tmp_path, {"s": content}))
    assert table.column_names == (
        "person: name", "person: born", "person: height", "finding: illness", "finding: since",
    )  # fmt: skip
    assert table.num_rows == 2
    assert table.reading is not None
    assert table.reading.notes == ("left out above the header: 1 line", "two header lines name the columns")


def test_a_damaged_sheet_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, {"s": [["a"], [1]]})
    _edit(path, "</row>", "</rouw>")
    assert refusal(path).endswith("this is no Excel workbook (.xlsx), or it is damaged")


def _edit(path: Path, old: str, new: str) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert old.encode() in parts[sheet]
    parts[sheet] = parts[sheet].replace(old.encode(), new.encode())
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
