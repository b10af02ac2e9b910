"""The verdict of `tarn check` on a file that nobody has described agrees with what follows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tarnkappe.cli import main

AGES = ["20-29"] * 34 + ["30-39"] * 26


def checked(
    path: Path, cells: dict[str, list[Any]], capture: pytest.CaptureFixture[str]
) -> tuple[int, dict[str, Any]]:
    lines = [",".join(cells), *(",".join(map(str, row)) for row in zip(*cells.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    capture.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["check", str(path), "--json"])
    return int(ended.value.code or 0), json.loads(capture.readouterr().out)


@pytest.mark.parametrize(
    ("header", "cells", "fit"),
    [
        ("illness", ["flu"] * 34 + ["cold"] * 26, False),
        ("illness", ["flu", "cold"] * 17 + ["gout"] * 26, False),
        ("illness", ["flu", "cold"] * 30, True),
        ("mark", ["*"] * 54 + ["3"] * 6, True),
        ("mark", ["*"] * 57 + ["3"] * 3, False),
        ("mark", ["*"] * 34 + ["3"] * 26, True),
        ("mark", [""] * 54 + ["3"] * 6, False),
        ("salary", ["1500", "*"] * 17 + ["1500"] * 26, False),
    ],
)
def test_who_learns_something_for_certain_makes_a_file_unfit(
    header: str, cells: list[str], fit: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = checked(tmp_path / "t.csv", {"age": AGES, header: cells}, capsys)
    certain = [each for each in told["attacks"] if each["certain"] and each["victims"]]
    assert told["fit"] is fit, told["reasons"]
    assert code == (0 if fit else 1)
    assert bool(told["reasons"]) is not fit
    assert not (fit and certain)


@pytest.mark.parametrize(
    ("cells", "k"),
    [
        ({"age": [51], "illness": ["gout"]}, 1),
        ({"name": ["Kunigunde Rabe"], "age": [51], "illness": ["gout"]}, 1),
        ({"age": [44] * 40, "sex": ["f"] * 40, "town": ["Ulm"] * 40, "result": ["neg"] * 40}, 40),
        ({"e-mail": [f"p{n}@x.example" for n in range(30)], "diagnosis": ["flu", "cold", "gout"] * 10}, 10),
    ],
)
def test_a_file_of_one_row_or_of_rows_alike_is_judged(
    cells: dict[str, list[Any]], k: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = checked(tmp_path / "t.csv", cells, capsys)
    assert told["k"] == k
    assert told["fit"] is (k >= 5 and not {"name", "e-mail"} & set(cells))
    assert code == (0 if told["fit"] else 1)
