"""What `tarn look` and `tarn anonymize` say on a German command line, line by line."""

from __future__ import annotations

import os
import random
import re
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from tarnkappe.schema.written import toml_table
from tarnkappe.texts.catalogue import PLACES, read_po
from tests.cli.spoken import lines_of
from tests.cli.test_contract import TARN

RUNS = [
    ["look", "patienten.csv"],
    ["look", "patienten.csv", "--uniform", "--for", "public"],
    ["anonymize", "patienten.csv"],
    ["anonymize", "patienten.csv", "--for", "internal", "--uniform", "--dry-run"],
    ["anonymize", "patienten.csv", "--alternatives", "3"],
    ["anonymize", "patienten.csv", "--uniform", "--alternatives", "3"],
    ["anonymize", "patienten.csv", "--algorithm", "mondrian", "--job", "mine.job.toml"],
    ["anonymize", "--input", "patienten.csv", "--qi", "Gewicht", "Ort", "--k", "3", "--aggregate", "Gewicht=mean"],
    ["anonymize", "--input", "patienten.csv", "--qi", "Gewicht", "Ort", "--k", "3", "--algorithm", "datafly"],
    ["anonymize", "--input", "patienten.csv", "--qi", "Gewicht", "Ort", "--sensitive", "Diagnose", "--model",
     "distinct-diversity:column=Diagnose,l=2", "--algorithm", "anatomy", "--out", "tables.csv"],
]  # fmt: skip


def write_patients(folder: Path, people: int = 90) -> None:
    """A file as a German Excel writes it, with several rows of some people and empty cells."""
    draw = random.Random(4)
    lines = ["Patienten-Nr;Nachname;Geburtsdatum;Gewicht;PLZ;Ort;Geschlecht;Aufnahme;Diagnose;number"]
    for person in range(people):
        name, born = draw.choice(["Müller", "Weiß", "Schäfer", "Köhler"]), draw.randint(1935, 2004)
        birthday = f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.{born}"
        home = draw.choice(["50667;Köln", "80331;München", "52349;Düren", "90402;Nürnberg"])
        sex = draw.choice(["männlich", "weiblich"])
        for _ in range(draw.choice([1, 1, 2])):
            weight = f"{draw.randint(48, 120)},{draw.randint(0, 9)}" if draw.random() > 0.08 else ""
            day = f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.2025"
            illness = draw.choice(["Asthma", "Grippe", "Migräne", "Diabetes"])
            row = [f"P{1000 + person}", name, birthday, weight, home, sex, day, illness, draw.choice("ABC")]
            lines.append(";".join(row))
    (folder / "patienten.csv").write_bytes(("\r\n".join(lines) + "\r\n").encode("cp1252"))


def said(folder: Path, words: list[str], language: str) -> list[str]:
    folder.mkdir(exist_ok=True)
    write_patients(folder)
    run = subprocess.run(
        [TARN, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=600,
        env=os.environ | {"NO_COLOR": "1", "TERM": "dumb", "LC_ALL": language},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return [line.strip() for line in [*run.stdout.splitlines(), *lines_of(run.stderr)] if line.strip()]


def english_sentences() -> list[re.Pattern[str]]:
    """Every sentence that has a German one, of reasons and of errors."""
    reasons = files("tarnkappe.web.texts").joinpath("reasons-de.toml").read_text(encoding="utf-8")
    patterns = [each["pattern"] for each in toml_table(reasons)["reason"]]
    errors = files("tarnkappe.texts").joinpath("de.po").read_text(encoding="utf-8")
    for each in read_po(errors):
        parts = re.split(PLACES.pattern, each.english)[::2]
        if sum(map(str.isalpha, "".join(parts))) > 5:  # more than places
            patterns.append(".+".join(map(re.escape, parts)))
    return [re.compile(pattern) for pattern in patterns if re.search(r"[a-z]{3}", pattern)]


@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_no_line_is_english(tmp_path: Path, words: list[str]) -> None:
    german = said(tmp_path / "here", words, "de_DE.UTF-8")
    sentences = english_sentences()
    assert len(sentences) > 1000
    for line in german:
        found = [each.pattern for each in sentences if each.fullmatch(line)]
        assert not found, (line, found)
    english = said(tmp_path / "here", words, "C.UTF-8")
    assert len(english) == len(german)
    assert sorted({*english} & {*german}) == []


def test_names_of_columns_and_paths_are_not_translated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tarnkappe.cli.language import told

    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert told("guess: number is quasi-identifier (it says the same of everybody)").startswith(
        "geraten: number "
    )
    assert told("written to /data/1,000/code.csv") == "geschrieben: /data/1,000/code.csv"
    assert told("'code': 12.50% of the cells are not numbers and stay text") == (
        "'code': 12,50% der Zellen sind keine Zahlen und bleiben Text"
    )
    assert told("loss: 1,234.567 (proven optimal, 1 of 1,000 nodes checked by auto)") == (
        "Verlust: 1.234,567 (erwiesen optimal, 1 von 1.000 Knoten geprüft durch auto)"
    )
