"""A header of a foreign file is shown as a name: it does nothing to the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarnkappe.cli.program import run

HEADER = "age,\x1b[2Jred,\x9b31mblue"


@pytest.mark.parametrize("words", [["look"], ["check"], ["check", "--qi", "\x1b[2Jreed"]])
def test_a_header_brings_no_terminal_code(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "people.csv"
    rows = "".join(f"{20 + n % 9},{'ab'[n % 2]},{'xyz'[n % 3]}\n" for n in range(60))
    path.write_text(f"{HEADER}\n{rows}", encoding="utf-8")
    with pytest.raises(SystemExit):
        run([words[0], str(path), *words[1:]])
    shown = "".join(capsys.readouterr())
    assert "red" in shown
    assert "\x1b" not in shown
    assert "\x9b" not in shown


@pytest.mark.parametrize(
    "words", [["look"], ["anonymize", "--dry-run"], ["check"], ["check", "--qi", "blood\r\npresure"]]
)
def test_a_line_break_in_a_header_breaks_no_line(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "people.csv"
    rows = "".join(f"{20 + n % 9},{'ab'[n % 2]},{'xyz'[n % 3]}\n" for n in range(60))
    path.write_text(f'age,"blood\r\npressure",group\n{rows}', encoding="utf-8", newline="")
    with pytest.raises(SystemExit):
        run([words[0], str(path), *words[1:]])
    shown = "".join(capsys.readouterr())
    assert "blood  pressure" in shown or "blood pressure" in shown
    for line in shown.splitlines():
        assert not line.rstrip().endswith("blood"), line
        assert not line.startswith("pres"), line
