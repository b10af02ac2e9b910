"""The line `sep=;` at the beginning of a file tells its delimiter, and is no row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tarnkappe
from tarnkappe.errors import InputError
from tarnkappe.table.read import read

ROWS = [("name", "age", "town"), ("Ann", "34", "Ulm"), ("Bob", "45", "Bonn, Mitte"), ("Eve", "50", "Köln")]


def content(delimiter: str, end: str = "\n") -> str:
    return "".join(delimiter.join(row) + end for row in ROWS)


def told(path: Path) -> str:
    reading = read(path).reading
    assert reading is not None
    return " ".join(reading.notes)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [";", "\t", "|", ":", "^"])
@pytest.mark.parametrize("first", ["sep={}", '"sep={}"', "SEP={}"])
def test_the_line_tells_the_delimiter(
    first: str, delimiter: str, encoding: str, end: str, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes((first.format(delimiter) + end + content(delimiter, end)).encode(encoding))
    table = read(path)
    assert table.column_names == ROWS[0]
    assert table.data.column("town").to_pylist() == [row[2] for row in ROWS[1:]]
    assert "sep=" in told(path)
    assert table.reading is not None
    assert table.reading.delimiter == delimiter


def test_whoever_states_another_is_believed_and_the_line_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sep=,\n" + content(";"))
    assert read(path, delimiter=";").column_names == ROWS[0]


def test_mistakes_are_told_by_the_line_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sep=;\n" + content(";") + "too;few\n")
    with pytest.raises(InputError, match="line 6"):
        read(path)


@pytest.mark.parametrize("first", ["sep=", "sep=;;", "sep=;x", "sep=a", "september"])
def test_what_only_begins_so_is_a_line_like_others(first: str, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text(f"{first}\nx\ny\n")
    assert read(path, delimiter=",").column_names == (first,)


# ------------------------------------------------------------------ bytes that do not fit


BYTES = {
    "UTF-8 with a byte of Windows": "".join(f"{row},Zürich\n" for row in range(20)).encode()
    + b"21,Z\xfcrich\n",
    "Windows-1252 with a byte that it leaves undefined": "".join(
        f"{row},Zürich für München\n" for row in range(20)
    ).encode("cp1252")
    + b"21,Ulm\x81\n",
    "Windows-1252": "".join(f"{row},Zürich\n" for row in range(20)).encode("cp1252"),
    "UTF-8": "".join(f"{row},Zürich\n" for row in range(20)).encode(),
}


@pytest.mark.parametrize("name", BYTES)
def test_the_job_file_reads_as_the_proposal_did(name: str, tmp_path: Path) -> None:
    source = tmp_path / "towns.csv"
    source.write_bytes(b"age,town\n" + BYTES[name])
    proposal = tarnkappe.propose(source)
    job = proposal.to_job(tmp_path / "towns.job.toml")
    text = Path(job).read_text(encoding="utf-8")
    assert ("\nencoding = " in text) == (" with a byte" not in name)
    result = tarnkappe.run(tarnkappe.Job.load(job))
    assert result.input.data.equals(proposal.table.data)
    reading = proposal.table.reading
    assert reading is not None
    assert result.input.reading is not None
    assert replace(result.input.reading, notes=()) == replace(reading, notes=())
