"""What is refused as a name of a release, by the name that was typed and with names that work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.cli import main
from tarnkappe.errors import ParameterError
from tarnkappe.table.files import READ_ONLY, SUFFIXES

PEOPLE = pa.table({"age": [20 + row % 30 for row in range(60)], "sex": ["f", "m", "f"] * 20})
WRITTEN = [suffix for suffix, form in SUFFIXES.items() if form not in READ_ONLY]
REFUSED = [
    "x.pdf",
    "x",
    "x.csv.bz2",
    *(f"x{suffix}" for suffix, form in SUFFIXES.items() if form in READ_ONLY),
]


@pytest.mark.parametrize("name", ["-", *REFUSED])
def test_the_name_that_was_typed_is_told_with_formats_that_are_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tarnkappe.write(PEOPLE, "people.csv")
    with pytest.raises(SystemExit) as stopped:
        main(["anonymize", "people.csv", "--out", name])
    assert stopped.value.code == 2
    (said,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("error:"))
    assert said.startswith(f"error: {name}: ") or said.startswith(f"error: {tmp_path / name}: ")
    proposed = said.rpartition(" one of ")[2].split(", ")
    assert proposed == WRITTEN or name == "x.csv.bz2"
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv"}


@pytest.mark.parametrize("target", [5, None, b"x.csv", 1.5, object(), ["x.csv"]])
def test_what_is_no_path_is_refused(target: Any) -> None:
    result = tarnkappe.anonymize(PEOPLE)
    for write in (result.write, result.release.write, lambda place: tarnkappe.write(PEOPLE, place)):
        with pytest.raises(ParameterError, match="path of a file or a database address"):
            write(target)
