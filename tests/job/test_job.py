"""Job files: what they say, and how they are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tarnkappe.errors import TarnkappeError
from tarnkappe.job import Job, run
from tarnkappe.table import Role, read

TABLE = """name;age;illness
A;30;flu
B;31;cold
C;38;flu
D;39;cold
"""
JOB = """
[input]
path = "people.csv"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
hierarchy = {builder = "intervals", width = 10}
[columns.illness]
role = "sensitive"
[[privacy]]
model = "k-anonymity"
k = 2
[search]
loss = {name = "precision", weights = {age = 2.0}}
suppression_limit = 0.25
[output]
path = "release.csv"
report = "report.html"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    return tmp_path


def test_a_job_says_everything_and_paths_start_at_the_job_file(folder: Path) -> None:
    job = Job.load(folder / "job.toml")
    assert job.input.path == str(folder / "people.csv")
    assert job.quasi_identifiers == ("age",)
    assert job.columns["name"].role is Role.IDENTIFIER
    assert str(job.privacy[0]) == "k-anonymity(k=2)"
    assert job.loss.name == "precision"
    assert job.suppression_limit == 0.25
    assert job.output.shuffle


def test_a_job_writes_release_manifest_and_report(folder: Path) -> None:
    result = run(Job.load(folder / "job.toml"))
    release = read(folder / "release.csv")
    assert release.column_names == ("age", "illness")
    assert release.data.column("age").to_pylist() == ["30-39"] * 4
    manifest = json.loads((folder / "release.csv.manifest.json").read_text(encoding="utf-8"))
    assert manifest["levels"] == {"age": 1} == result.levels
    assert manifest["verified"][0]["holds"]
    assert manifest["promises"] == [
        "Every row of the release shares what others may know with at least 1 other row."
    ]
    assert "flu" not in json.dumps(manifest)
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    stages = {
        "read",
        "look for identifiers",
        "encode",
        "search",
        "transform",
        "verify",
        "write",
        "certify",
        "report",
    }
    assert set(result.seconds) == stages


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[input]", "[inptu]", r"\[inptu\]: there is no such section: did you mean 'input'"),
        ('path = "people.csv"', "", "either 'path' or 'database'"),
        ('path = "people.csv"', 'database = "sqlite:///x.db"', "either a 'table' or a 'query'"),
        (
            'role = "identifier"',
            'role = "secret"',
            r"\[columns.name\], role: one of identifier, quasi-identifier",
        ),
        (
            'role = "identifier"',
            'rolle = "identifier"',
            r"\[columns.name\], rolle: there is no such key: did you mean 'role'",
        ),
        ('"intervals", width', '"intervalls", width', "unknown hierarchy builder 'intervalls'"),
        (
            '{builder = "intervals", width = 10}',
            "5",
            "a text or a table is needed, not 5: how it generalizes",
        ),
        ('{builder = "intervals", width = 10}', '"age.csv"', "age.csv"),
        (
            'model = "k-anonymity"',
            'model = "k-anonimity"',
            "unknown privacy model 'k-anonimity': did you mean",
        ),
        ('model = "k-anonymity"', "", "which privacy model is it"),
        ("k = 2", "kk = 2", r"\[\[privacy\]\] 1, kk: there is no such key: did you mean 'k'"),
        ("k = 2", "", "k: it is missing"),
        ("k = 2", 'k = "two"', r"\[\[privacy\]\] 1, k: a whole number is needed"),
        ("k = 2", "k = 5", "k = 5 is larger than the table"),
        ("[[privacy]]", "[privacy]", r"one \[\[privacy\]\] for each promise"),
        ('"precision"', '"precison"', "unknown loss 'precison': did you mean 'precision'"),
        (
            "suppression_limit = 0.25",
            "suppression_limit = 25",
            "suppression_limit: at most 1 is allowed, not 25",
        ),
        ("suppression_limit", "supression_limit", "did you mean 'suppression_limit'"),
        ("[search]", '[search]\nalgorithm = "magic"', "unknown algorithm 'magic'"),
        ("[columns.age]", "[columns.ages]", "no column 'ages': did you mean 'age'"),
        ('path = "release.csv"', 'path = "release.docx"', "docx"),
        ("[input]", "[input", "not valid TOML"),
        ("[columns.name]", "[columns]\nx = 3\n[columns.name]", r"\[columns\], x: a table or 'withhold'"),
    ],
)
def test_what_is_wrong_is_named_before_any_output(folder: Path, old: str, new: str, message: str) -> None:
    assert old in JOB
    (folder / "job.toml").write_text(JOB.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(TarnkappeError, match=message) as caught:
        run(Job.load(folder / "job.toml"))
    assert caught.value.exit_code == 2
    assert not (folder / "release.csv").exists()


def test_a_missing_and_a_binary_job_file_are_refused(folder: Path) -> None:
    with pytest.raises(TarnkappeError, match="cannot read the job file"):
        Job.load(folder / "none.toml")
    (folder / "job.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(TarnkappeError, match="not UTF-8"):
        Job.load(folder / "job.toml")
