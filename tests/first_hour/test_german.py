"""The dialogue speaks German where the environment does."""

from __future__ import annotations

import os
import pty
import subprocess
import tomllib
from pathlib import Path

import pytest

import tarnkappe
from tarnkappe.cli.language import told
from tarnkappe.job.proposal_text import proposal_text, remaining_text
from tarnkappe.texts import language
from tests.cli.test_contract import TARN
from tests.first_hour.clinic import write_clinic
from tests.first_hour.test_one_command import no_cell, people

ENGLISH = (
    " the ",
    " rows",
    " columns",
    " is ",
    "left out",
    "kept",
    "withheld",
    "promise",
    "guess",
    "[Enter] as",
)


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.setenv("LC_MESSAGES", "de_DE.UTF-8")


def test_the_language_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert language() == "en"
    for value, spoken in (("de_AT.UTF-8", "de"), ("C", "en"), ("fr_FR", "en"), ("en_GB", "en")):
        monkeypatch.setenv("LANG", value)
        assert language() == spoken
    monkeypatch.setenv("LANG", "de_DE")
    monkeypatch.setenv("LC_ALL", "C")
    assert language() == "en"
    assert told("left out") == "left out"


def assert_german(text: str) -> None:
    """No English is left but names of ours: regions, distinct-diversity and the like."""
    for word in ENGLISH:
        assert word not in text, (word, text)


def test_a_proposal_is_shown_in_german(german: None, tmp_path: Path) -> None:
    path = write_clinic(tmp_path, rows=120)
    shown = proposal_text(tarnkappe.propose(path, sensitive=["HbA1c"]), told)
    assert "120 Zeilen, 9 Spalten. Gelesen als Windows-1252, Semikolon, Dezimalkomma" in shown
    assert "jede Zeile teilt, was andere wissen können, mit mindestens 4 anderen Zeilen" in shown
    assert_german(shown.replace(str(path), ""))
    no_cell(shown)


def test_what_a_result_says_is_said_in_german(german: None) -> None:
    result = tarnkappe.anonymize(people(), k=5)
    assert_german(told("\n".join(result.columns.lines)))
    assert "was bleibt" in told(remaining_text(result.release)) or not result.release.sensitive
    assert told("1,000 of 1,200 rows in 40 classes") == "1.000 von 1.200 Zeilen in 40 Klassen"
    said = told("withheld: name (identifier), note (no role was given)")
    assert said == "zurückgehalten: name (benennt Menschen), note (ohne Angabe einer Rolle)"


def test_the_dialogue_asks_in_german(tmp_path: Path) -> None:
    path = write_clinic(tmp_path, rows=120)
    ours, theirs = pty.openpty()
    os.write(ours, b"\n3\nHbA1c\n3\nNobody\n?\n\n")
    made = subprocess.run(
        [TARN, "start", path], stdin=theirs, capture_output=True, text=True, check=False, timeout=600,
        env=os.environ | {"NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "de_DE.UTF-8"},
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert made.returncode == 0, made.stderr
    assert "es gibt keine Spalte 'Nobody'" in made.stderr
    for part in (
        "Für wen ist die Veröffentlichung?",
        "Versprechen: jede Zeile",
        "Veröffentlicht und geprüft:",
    ):
        assert part in made.stdout
    assert_german(made.stdout.replace(str(path), "").replace(str(tmp_path), ""))
    job = tomllib.loads((tmp_path / "patienten.job.toml").read_text(encoding="utf-8"))
    assert job["privacy"][0] == {"model": "k-anonymity", "k": 11}
