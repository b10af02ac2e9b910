"""`tarn lattice` and `tarn bench` through the real executable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tarnkappe
from tests.cli.test_contract import refused, tarn

JOB = """
[input]
path = "data.csv"
[columns.age]
role = "quasi-identifier"
hierarchy = {builder = "intervals", width = 5}
[columns.town]
role = "quasi-identifier"
[[privacy]]
model = "k-anonymity"
k = 2
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    lines = [f"{20 + i % 30};{('Ulm', 'Bonn', 'Kiel')[i % 3]}" for i in range(90)]
    (tmp_path / "data.csv").write_text("\n".join(["age;town", *lines]) + "\n", encoding="utf-8")
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    return tmp_path / "job.toml"


def test_the_lattice_is_written_as_a_table_and_a_picture(job: Path) -> None:
    folder = job.parent
    run = tarn("lattice", job, "--out", folder / "l.parquet", "--picture", folder / "l.svg", "--json")
    assert run.returncode == 0, run.stderr
    figures = json.loads(run.stdout)
    table = tarnkappe.read(folder / "l.parquet").data
    assert figures["nodes"] == table.num_rows
    assert figures["satisfying"] == sum(table.column("satisfied").to_pylist())
    best = figures["best"]
    row = next(
        r for r in table.to_pylist() if {"age": r["level_age"], "town": r["level_town"]} == best["levels"]
    )
    assert (row["satisfied"], row["loss"], row["suppressed"]) == (True, best["loss"], best["suppressed"])
    assert (folder / "l.svg").read_text(encoding="utf-8").startswith("<svg")
    as_text = tarn("lattice", job, "--out", folder / "l.csv")
    assert as_text.returncode == 0, as_text.stderr
    assert "keep k-anonymity(k=2)" in as_text.stdout
    assert tarnkappe.read(folder / "l.csv").num_rows == figures["nodes"]


def test_bad_targets_are_refused_before_any_work(job: Path) -> None:
    folder = job.parent
    (folder / "data.csv").unlink()
    refused(tarn("lattice", job, "--picture", folder / "l.gif"), "l.gif", ".svg or .png")
    refused(tarn("lattice", job, "--out", folder / "none" / "l.csv"), "does not exist")
    refused(tarn("lattice", job, "--out", folder / "l.doc"), "no known format")
    refused(tarn("lattice", job), "data.csv")


def test_an_unknown_measurement_is_refused() -> None:
    refused(tarn("bench", "colour"), "no measurement 'colour'", "lattice, scale")
    refused(tarn("bench", "lattice", "--picture", "x.svg"), "no picture")
