"""What is no table is told as what it is, without advice that leads nowhere."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import tarnkappe
from tarnkappe.cli import main
from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.formats.csv_no_text import PICTURES
from tarnkappe.table.read import read

READERS = (read, tarnkappe.propose, tarnkappe.anonymize, tarnkappe.check)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("beginning", PICTURES)
@pytest.mark.parametrize("name", ["people.csv", "people.txt", "people.tsv"])
def test_a_picture_under_the_name_of_a_table(name: str, beginning: bytes, seed: int, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(beginning + random.Random(seed).randbytes(3000))
    for use in READERS:
        with pytest.raises(InputError, match="no text") as refused:
            use(path)
        assert "delimiter" not in str(refused.value)


@pytest.mark.parametrize("content", ["\n", "\n\n   \n", "   ", "\r\n\t\r\n", "\n" * 1000])
def test_blank_lines_alone(content: str, tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    path.write_text(content)
    for use in READERS:
        with pytest.raises(InputError, match="only blank lines"):
            use(path)


@pytest.mark.parametrize(
    "text", ["a\x1fb\n1\x1f2\n", "name,note\nAnn,tab\there\n", "a,b\nx\x1a,y\n", "\x01,b\n\x02,y\n"]
)
def test_text_with_few_control_characters_is_text(text: str, tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text(text)
    assert read(path, header=True).num_rows == 1


@pytest.mark.parametrize(
    "address", ["http://a.example/x.csv", "HTTPS://ann:secret@a.example/x", "s3://bucket/x.csv"]
)
def test_nothing_is_fetched_from_the_web(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    for use in READERS:
        with pytest.raises(ParameterError, match="not fetched from the web"):
            use(address)
    for command in (["look"], ["start", "--yes"], ["check"], ["anonymize"]):
        with pytest.raises(SystemExit) as stopped:
            main([*command, address])
        assert stopped.value.code == 2
        said = capsys.readouterr().err
        assert "not fetched from the web" in said
        assert "secret" not in said
