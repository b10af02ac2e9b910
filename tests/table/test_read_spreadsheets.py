"""Spreadsheets and files of statistics packages hold the same table as their CSV."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from tarnkappe.errors import InputError
from tarnkappe.hierarchy import propose
from tarnkappe.risk.identifiers import propose_roles
from tarnkappe.table import Role, encode, read
from tarnkappe.table.reading import Reading

ASCII = {"Müller": "Mueller", "Jäger": "Jaeger"}  # all that the oldest format can hold
ROWS = {"name": ["Müller", "Jäger"], "age": [34, 45], "size": [1.85, None]}


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".zsav", ".por", ".xpt"])
def test_statistics_packages_hold_the_same_rows(tmp_path: Path, suffix: str) -> None:
    path, frame = tmp_path / f"t{suffix}", pd.DataFrame(ROWS)
    if suffix == ".dta":
        pyreadstat.write_dta(frame, str(path))
    elif suffix == ".xpt":
        pyreadstat.write_xport(frame, str(path))
    elif suffix == ".por":
        pyreadstat.write_por(frame.rename(columns=str.upper).replace(ASCII), str(path))
    else:
        pyreadstat.write_sav(frame, str(path), compress=suffix == ".zsav")
    table = read(path)
    assert [name.lower() for name in table.column_names] == list(ROWS)
    names = [ASCII.get(name, name) if suffix == ".por" else name for name in ROWS["name"]]
    assert [table.data.column(place).to_pylist() for place in range(3)] == [names, ROWS["age"], ROWS["size"]]


def test_labels_of_values_are_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2.0, 1.0]})
    pyreadstat.write_sav(
        frame, str(tmp_path / "t.sav"), variable_value_labels={"sex": {1: "male", 2: "female"}}
    )
    assert read(tmp_path / "t.sav").data.column("sex").to_pylist() == ["male", "female", "male"]


SCALE = {1: "sehr gut", 2: "gut", 3: "mittel", 4: "schlecht"}


def survey(path: Path, measure: str) -> None:
    frame = pd.DataFrame(
        {"q7": [float(1 + n % 4) for n in range(40)], "x1": [f"Z{n:03d}" for n in range(40)]}
    )
    pyreadstat.write_sav(
        frame,
        str(path),
        column_labels={"q7": "Wie geht es Ihnen?", "x1": "Unique Subject Identifier"},
        variable_value_labels={"q7": {float(code): label for code, label in SCALE.items()}},
        variable_measure={"q7": measure, "x1": "nominal"},
    )


def test_codes_order_the_labels_of_values_and_the_label_of_a_column_is_a_second_header(
    tmp_path: Path,
) -> None:
    survey(tmp_path / "t.sav", "ordinal")
    table = read(tmp_path / "t.sav")
    assert table.data.column("q7").to_pylist()[:5] == ["sehr gut", "gut", "mittel", "schlecht", "sehr gut"]
    told = table.reading.columns["q7"]
    assert (told.label, told.order) == ("Wie geht es Ihnen?", tuple(SCALE.values()))
    assert Reading.from_dict(table.reading.to_dict()) == table.reading
    assert not table.data.schema.field("q7").metadata
    proposed = {each.column: each.role for each in propose_roles(table)}
    assert proposed["x1"] is Role.IDENTIFIER
    hierarchy = propose(encode(table, ["q7"])["q7"]).hierarchy
    assert [row[1] for row in hierarchy.rows() if row[0] in ("sehr gut", "schlecht")] == [
        "mittel to schlecht", "sehr gut to gut",
    ]  # fmt: skip


def test_codes_of_names_without_an_order_order_nothing(tmp_path: Path) -> None:
    survey(tmp_path / "t.sav", "nominal")
    assert read(tmp_path / "t.sav").reading.columns["q7"].order == ()


@pytest.mark.parametrize("suffix", [".xls", ".xlsb", ".ods", ".dta", ".sav", ".por", ".sas7bdat", ".xpt"])
def test_what_is_no_such_file_is_refused(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"t{suffix}").write_bytes(b"Xylophon\n" * 50)
    with pytest.raises(InputError, match="or it is damaged") as refused:
        read(tmp_path / f"t{suffix}")
    assert "Xylophon" not in str(refused.value)


CONTENT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">
<office:body><office:spreadsheet><table:table table:name="Data">{rows}</table:table></office:spreadsheet></office:body>
</office:document-content>"""
TEXT = '<table:table-cell office:value-type="string"><text:p>{0}</text:p></table:table-cell>'
NUMBER = (
    '<table:table-cell office:value-type="float" office:value="{0}"><text:p>{0}</text:p></table:table-cell>'
)
DATE = '<table:table-cell office:value-type="date" office:date-value="{0}"><text:p>{0}</text:p></table:table-cell>'


def test_an_open_document_is_read(tmp_path: Path) -> None:
    cells = [
        [TEXT.format("name"), TEXT.format("age"), TEXT.format("day")],
        [TEXT.format("Müller"), NUMBER.format(34), DATE.format("1980-12-31")],
    ]
    rows = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in cells)
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as made:
        made.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        made.writestr("content.xml", CONTENT.format(rows=rows))
        made.writestr("META-INF/manifest.xml", "<manifest/>")
    assert read(tmp_path / "t.ods").data.to_pylist() == [
        {"name": "Müller", "age": 34, "day": dt.date(1980, 12, 31)}
    ]
