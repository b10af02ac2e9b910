"""`tarn compare` and the methods with several tables through the real executable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_contract import refused, tarn

JOB = """
[input]
path = "data.csv"
[columns.age]
role = "quasi-identifier"
[columns.town]
role = "quasi-identifier"
[columns.illness]
role = "sensitive"
[[privacy]]
model = "k-anonymity"
k = 3
[search]
suppression_limit = 0.1
[output]
path = "release.csv"
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    illnesses = ("flu", "cold", "ulcer", "asthma", "gout")
    lines = [f"{20 + i * 7 % 40};{('Ulm', 'Bonn', 'Kiel')[i % 3]};{illnesses[i * i % 5]}" for i in range(120)]
    (tmp_path / "data.csv").write_text("\n".join(["age;town;illness", *lines]) + "\n", encoding="utf-8")
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    return tmp_path / "job.toml"


def test_methods_are_compared_and_nothing_is_released(job: Path) -> None:
    folder = job.parent
    run = tarn(
        "compare", job, "--methods", "auto,mondrian,anatomy", "--queries", 40, "--json",
        "--picture", folder / "c.svg", "--report", folder / "c.html",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    figures = json.loads(run.stdout)
    assert [each["method"] for each in figures["methods"]] == ["auto", "mondrian", "anatomy"]
    assert figures["workload"]["queries"] == 40
    assert (folder / "c.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "When each is the right one" in (folder / "c.html").read_text(encoding="utf-8")
    assert not (folder / "release.csv").exists()
    as_text = tarn("compare", job, "--methods", "auto,anatomy", "--queries", 40)
    assert as_text.returncode == 0, as_text.stderr
    assert "query error" in as_text.stdout
    assert "Right for aggregate statistics" in " ".join(as_text.stdout.split())


def test_wrong_usage_is_one_clear_line(job: Path) -> None:
    folder = job.parent
    refused(tarn("compare", job, "--methods", "mondrain"), "did you mean 'mondrian'")
    refused(tarn("compare", job, "--target", "illnes"), "did you mean 'illness'")
    refused(tarn("compare", job, "--selectivity", "7"), "a share above 0")
    refused(tarn("compare", job, "--picture", folder / "c.gif"), ".svg or .png")


def test_anatomy_says_where_both_tables_are(job: Path) -> None:
    run = tarn("anonymize", job, "--algorithm", "anatomy")
    assert run.returncode == 0, run.stderr
    said = "".join(run.stdout.split())
    assert "release.csv" in said
    assert "release-sensitive.csv" in said
    assert "accepted: Membership" in run.stdout
