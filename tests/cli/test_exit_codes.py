"""Exit codes mean the same for every command, as `docs/reference/command-line.md` has them."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from tarnkappe.cli.outputs import leaves
from tarnkappe.cli.program import COMMANDS, commands, run
from tests.conftest import ROOT

LEAVES = {" ".join(words): leaf for words, leaf in leaves(typer.main.get_command(commands(COMMANDS)))}
NAMES = "sex;illness;who\n" + "".join(
    f"{'fm'[n % 2]};{'flu' if n % 2 else 'cold'};p{n}@example.org\n" for n in range(12)
)
SAFE = "sex;illness\n" + "f;flu\nm;flu\nf;cold\nm;cold\n" * 3
QI = ["--qi", "sex", "--sensitive", "illness"]
ENDINGS = {
    0: {
        "released and verified": ["anonymize", "--input", "safe.csv", *QI, "--k", "2", "--out", "r.csv"],
        "checked and fit": ["check", "safe.csv", *QI, "--k", "2"],
        "an attack without victims": ["attack", "homogeneity", "safe.csv", *QI],
    },
    1: {
        "no solution": [
            *("anonymize", "--input", "safe.csv", *QI, "--k", "7", "--level", "sex=0", "--out", "r.csv")
        ],
        "a column names people": ["anonymize", "--input", "names.csv", *QI, "--k", "2", "--publish", "who"],
        "a column of a checked table names people": ["check", "names.csv", *QI],
        "a model is not met": ["check", "safe.csv", *QI, "--k", "7"],
        "an attack with victims": ["attack", "homogeneity", "names.csv", *QI],
        "a sensitive column without a promise, strictly": [
            *("anonymize", "--input", "safe.csv", *QI, "--k", "2", "--strict", "--out", "r.csv")
        ],
    },
    2: {
        "no such column": ["check", "safe.csv", "--qi", "sexx"],
        "no such file": ["check", "nothing.csv", "--qi", "sex"],
        "an output that is an input": ["check", "safe.csv", *QI, "--html", "safe.csv"],
    },
}


def code_of(words: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        run(words)
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    ("code", "case"), [(code, case) for code, cases in ENDINGS.items() for case in cases], ids=str
)
def test_an_ending_has_its_code(
    code: int, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.csv").write_text(NAMES)
    (tmp_path / "safe.csv").write_text(SAFE)
    assert code_of(ENDINGS[code][case]) == code
    assert (tmp_path / "r.csv").exists() == (case == "released and verified")


@pytest.mark.parametrize("words", LEAVES)
def test_wrong_usage_of_any_command_is_2(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of([*words.split(), "--no-such-option"]) == 2
    assert "error:" in capsys.readouterr().err


def test_the_reference_lists_every_code() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    for code in (*ENDINGS, 130, 143):
        assert f"| {code} |" in page


def test_an_error_is_told_in_the_language_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["check", "nothing.csv", "--qi", "sex"]
    said = {}
    for spoken in ("C", "de_DE.UTF-8"):
        monkeypatch.setenv("LC_ALL", spoken)
        assert code_of(words) == 2
        said[spoken] = capsys.readouterr().err
    assert said["C"].startswith("error: nothing.csv: ")
    assert said["de_DE.UTF-8"].startswith("Fehler: nothing.csv: ")
    assert code_of([*words, "--json"]) == 2
    english, code = capsys.readouterr().err.splitlines()
    assert f"{english}\n" == said["C"]
    assert code.startswith("code: table.")
