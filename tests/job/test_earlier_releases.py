"""A job that remembers its releases: what each promises must hold for all of them together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tarnkappe
from tarnkappe.cli import main
from tarnkappe.errors import JobError, NoSolutionError, ParameterError
from tarnkappe.job import Job
from tarnkappe.risk.history import ReleaseHistory
from tarnkappe.state import Key, Store

PEOPLE = """name;age;zip;illness
Hans;24;76227;impotence
Peter;25;76133;cancer
Karl;31;76227;sterility
Till;32;76133;schizophrenia
"""
AGE = "24;20-29;*\n25;20-29;*\n31;30-39;*\n32;30-39;*\n"
ZIP = "76227;7622*;*\n76133;7613*;*\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "age.csv").write_text(AGE)
    (tmp_path / "zip.csv").write_text(ZIP)
    return tmp_path


def content(folder: Path, age: int, zip_: int, **history: Any) -> dict[str, Any]:
    return {
        "input": {"path": "people.csv"},
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "hierarchy": "age.csv", "min_level": age, "max_level": age},
            "zip": {"role": "quasi-identifier", "hierarchy": "zip.csv", "min_level": zip_, "max_level": zip_},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "search": {"suppression_limit": 0.5},
        "history": {"store": "ward.db", "key": "ward.key", "population": "ward", **history},
        "output": {"path": "release.csv"},
    }


def release(folder: Path, age: int, zip_: int, **history: Any) -> tarnkappe.Result:
    return tarnkappe.run(Job.from_dict(content(folder, age, zip_, **history), folder))


def remembered(folder: Path) -> list[str]:
    store = Store.open(str(folder / "ward.db"))
    return [each.name for each in ReleaseHistory(store, Key.load(folder / "ward.key"), "ward").releases()]


def test_a_release_that_betrays_somebody_beside_an_earlier_one_is_not_handed_over(folder: Path) -> None:
    first = release(folder, 2, 0, name="March")  # Hans and Karl share a zip code, Peter and Till another
    assert first.continuation is not None
    assert str(first.continuation) == "It is the first release."
    (folder / "release.csv").unlink()
    with pytest.raises(NoSolutionError, match="4 people keep fewer than 2 look-alikes") as error:
        release(folder, 1, 2)  # Hans and Peter share a decade, Karl and Till another: nobody shares both
    assert not (folder / "release.csv").exists()
    assert remembered(folder) == ["March"]
    assert not any(line.split(";")[0] in str(error.value) for line in PEOPLE.splitlines()[1:])


def test_a_release_at_the_same_or_higher_levels_may_follow(folder: Path) -> None:
    release(folder, 1, 2, name="March")
    result = release(folder, 2, 2, name="April")
    assert result.continuation is not None
    assert result.continuation.safe
    assert result.to_dict()["history"]["releases"] == ("March",)
    assert remembered(folder) == ["March", "April"]


def test_nothing_that_can_be_read_is_kept(folder: Path) -> None:
    release(folder, 1, 2)
    kept = (folder / "ward.db").read_bytes()
    for secret in ("Hans", "Peter", "impotence", "schizophrenia"):
        assert secret.encode() not in kept


def test_a_failed_run_is_not_remembered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr("tarnkappe.job.pipeline.write_manifest", fail)
    with pytest.raises(OSError, match="no room"):
        release(folder, 1, 2)
    assert remembered(folder) == []


def test_what_was_remembered_meanwhile_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run ends between the judgement of this one and its end."""
    from tarnkappe.job import pipeline

    write = pipeline.write_manifest
    other = content(folder, 2, 0)
    other["output"] = {"path": "other.csv"}

    def overtaken(*args: Any) -> None:
        monkeypatch.setattr("tarnkappe.job.pipeline.write_manifest", write)
        tarnkappe.run(Job.from_dict(other, folder))
        write(*args)

    monkeypatch.setattr("tarnkappe.job.pipeline.write_manifest", overtaken)
    with pytest.raises(NoSolutionError, match="look-alikes"):
        release(folder, 1, 2)
    assert not (folder / "release.csv").exists()
    assert (folder / "other.csv").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"history": {"store": "ward.db"}}, "key: it is missing"),
        ({"history": {"store": "ward.db", "key": "k", "populaton": "x"}}, "did you mean 'population'"),
        ({"history": {"store": "", "key": "k"}}, "store: too few characters"),
    ],
)
def test_a_section_that_cannot_be_understood(folder: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(JobError, match=words):
        Job.from_dict(content(folder, 1, 1) | changes, folder)


def test_engines_and_bucketizations_refuse(folder: Path) -> None:
    asked = content(folder, 1, 1)
    asked["input"]["engine"] = "duckdb"
    with pytest.raises(JobError, match="compares people one by one"):
        tarnkappe.run(Job.from_dict(asked, folder))
    asked = content(folder, 1, 1)
    for column in asked["columns"].values():
        column.pop("min_level", None), column.pop("max_level", None)
    asked["privacy"] = [{"model": "distinct-diversity", "column": "illness", "l": 2}]
    asked["search"] = {"algorithm": "anatomy"}
    with pytest.raises(ParameterError, match="leave the section out"):
        tarnkappe.run(Job.from_dict(asked, folder))


def test_from_the_shell(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        '[input]\npath = "people.csv"',
        '[columns.name]\nrole = "identifier"',
        '[columns.age]\nrole = "quasi-identifier"\nhierarchy = "age.csv"\nmin_level = 2\nmax_level = 2',
        '[columns.zip]\nrole = "quasi-identifier"\nhierarchy = "zip.csv"\nmin_level = 0\nmax_level = 0',
        '[columns.illness]\nrole = "sensitive"',
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n[search]\nsuppression_limit = 0.5',
        '[history]\nstore = "ward.db"\nkey = "ward.key"\n[output]\npath = "release.csv"',
    ]
    (folder / "job.toml").write_text("\n".join(lines))
    for _ in range(2):  # the same release again tells nothing new
        with pytest.raises(SystemExit) as end:
            main(["anonymize", str(folder / "job.toml"), "--json"])
        assert not end.value.code
    assert json.loads(capsys.readouterr().out.split("\n}\n")[1] + "\n}")["history"]["safe"]
