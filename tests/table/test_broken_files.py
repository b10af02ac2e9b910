"""Every reader meets damaged files of its format: each is read or refused by an error of ours, and no cell is shown."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from tarnkappe.errors import TarnkappeError
from tarnkappe.table import read, write

SECRET = "Xylophon"
ROWS = pa.table({"name": [SECRET] * 20, "age": list(range(20)), "size": [1.5] * 20})


def _statistics(suffix: str) -> Callable[[Path], None]:
    frame = ROWS.to_pandas().rename(columns=str.upper)
    writers = {
        ".dta": pyreadstat.write_dta,
        ".sav": pyreadstat.write_sav,
        ".por": pyreadstat.write_por,
        ".xpt": pyreadstat.write_xport,
    }
    return lambda path: writers[suffix](pd.DataFrame(frame), str(path))


def _workbook(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(ROWS.column_names)
    for row in ROWS.to_pylist():
        book.active.append(list(row.values()))
    book.save(path)


def _text() -> bytes:
    return "\n".join(["name,age", *(f"{SECRET},{n}" for n in range(40))]).encode()


def _archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("t.csv", _text())


MADE: dict[str, Callable[[Path], None]] = {
    "t.parquet": lambda path: write(ROWS, path),
    "t.arrow": lambda path: write(ROWS, path),
    "t.jsonl": lambda path: write(ROWS, path),
    "t.xlsx": _workbook,
    "t.csv.gz": lambda path: path.write_bytes(gzip.compress(_text())) and None,
    "t.csv.bz2": lambda path: path.write_bytes(bz2.compress(_text())) and None,
    "t.csv.zst": lambda path: path.write_bytes(pa.compress(_text(), "zstd", asbytes=True)) and None,
    "t.zip": _archive,
    **{f"t{suffix}": _statistics(suffix) for suffix in (".dta", ".sav", ".por", ".xpt")},
}
STRUCTURED = ("t.dta", "t.sav", "t.por", "t.xpt")


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The content with some bytes changed, cut off, doubled or left out."""
    if draw.random() < 0.25:
        return content[: draw.randrange(1, len(content))]
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 3, 10))):
        place = draw.randrange(len(changed))
        what = draw.random()
        if what < 0.7:
            changed[place] = draw.randrange(256)
        elif what < 0.85:
            del changed[place : place + draw.randrange(1, 9)]
        else:
            changed[place:place] = changed[place : place + draw.randrange(1, 9)]
    return bytes(changed)


@pytest.mark.parametrize("name", [name for name in MADE if name not in STRUCTURED])
def test_a_damaged_file_is_read_or_refused_in_words(tmp_path: Path, name: str) -> None:
    try_damages(tmp_path, name, 60)


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_many_damaged_files_are_read_or_refused_in_words(tmp_path: Path, name: str) -> None:
    try_damages(tmp_path, name, 600)


@pytest.mark.parametrize("name", STRUCTURED)
def test_a_file_of_a_statistics_package_that_is_cut_off_is_read_or_refused(tmp_path: Path, name: str) -> None:
    try_damages(tmp_path, name, 25)


def try_damages(folder: Path, name: str, times: int) -> None:
    path, draw = folder / name, random.Random(name)
    MADE[name](path)
    whole = path.read_bytes()
    assert read(path).num_rows >= 20
    refused: list[str] = []
    for _ in range(times):
        path.write_bytes(damaged(whole, draw) or b"x")
        try:
            read(path)
        except TarnkappeError as error:
            refused.append(str(error))
    assert refused, "no damage was noticed"
    assert not [said for said in refused if SECRET in said or "\n" in said]


def test_the_damages_are_damages() -> None:
    content, draw = io.BytesIO(_text()).getvalue(), random.Random(1)
    assert sum(damaged(content, draw) != content for _ in range(100)) > 90
