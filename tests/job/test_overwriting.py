"""No output of a job takes the place of an input, by whatever name, in memory and with an engine."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import ParameterError
from tarnkappe.job import Job
from tarnkappe.table import overwriting
from tests.job.overwriting_tricks import TRICKS

INPUTS = ("input", "population", "hierarchy", "job", "store", "key", "database")
OUTPUTS = ("path", "report", "manifest")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    folder = tmp_path / "own"
    folder.mkdir()
    suffixes = {"hierarchy": ".csv", "job": ".toml", "store": ".db", "key": ".key", "database": ".db"}
    found = {name: folder / f"{name}{suffixes.get(name, '.csv')}" for name in INPUTS}
    for name in ("input", "population"):
        found[name].write_text("sex;age\nf;30\nm;30\nf;30\nm;30\n")
    found["hierarchy"].write_text("f;*\nm;*\n")
    with sqlite3.connect(found["database"]) as database:
        database.execute("CREATE TABLE people (sex TEXT, age INTEGER)")
        database.executemany("INSERT INTO people VALUES (?, 30)", [("f",), ("m",), ("f",), ("m",)])
    return found


def job_of(files: dict[str, Path], output: dict[str, str], *, database: bool = False) -> Job:
    address = {"database": f"sqlite:///{files['database']}", "table": "people"}
    content: dict[str, Any] = {
        "input": address if database else {"path": str(files["input"])},
        "population": {"path": str(files["population"])},
        "columns": {
            "sex": {"role": "quasi-identifier", "hierarchy": str(files["hierarchy"])},
            "age": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "history": {"store": str(files["store"]), "key": str(files["key"])},
        "output": output,
    }
    return Job.from_dict(content, name=str(files["job"]))


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", INPUTS)
def test_no_output_takes_the_place_of_an_input(
    name: str, output: str, trick: str, files: dict[str, Path], tmp_path: Path
) -> None:
    path = files[name]
    if not path.exists():
        path.write_text("anything")
    before = {each: each.read_bytes() for each in files.values() if each.exists()}
    target = TRICKS[trick](path, tmp_path / f"other{path.suffix}")
    asked = {"path": str(tmp_path / "release.csv"), output: str(target)}
    with pytest.raises(ParameterError, match="is read by this run and cannot be written"):
        tarnkappe.run(job_of(files, asked, database=name == "database"))
    assert {each: each.read_bytes() for each in before} == before
    assert not (tmp_path / "release.csv").exists()


def test_a_store_that_is_not_there_yet_is_no_place_for_a_release(files: dict[str, Path]) -> None:
    with pytest.raises(ParameterError, match="is read by this run"):
        tarnkappe.run(
            job_of(files, {"path": str(files["store"].with_name("x.csv")), "report": str(files["store"])})
        )


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("deed", ["link", "move"])
def test_an_input_that_gets_the_name_of_an_output_meanwhile_survives(
    deed: str, engine: str, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, content = tmp_path / "release.csv", files["input"].read_bytes()
    from tarnkappe.job import publication

    genuine = publication.Publication.publish

    def meanwhile(made: publication.Publication) -> None:
        (os.link if deed == "link" else os.rename)(files["input"], target)
        genuine(made)

    monkeypatch.setattr(publication.Publication, "publish", meanwhile)
    job = Job.from_dict(
        {
            "input": {"path": str(files["input"]), "engine": engine},
            "columns": {"sex": {"role": "quasi-identifier"}, "age": {"role": "sensitive"}},
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "output": {"path": str(target)},
        }
    )
    with pytest.raises(ParameterError, match="cannot be written"):
        tarnkappe.run(job)
    assert target.read_bytes() == content


def small_job(files: dict[str, Path], engine: str, **output: str) -> Job:
    return Job.from_dict(
        {
            "input": {"path": str(files["input"]), "engine": engine},
            "columns": {"sex": {"role": "quasi-identifier"}, "age": {"role": "sensitive"}},
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "output": output,
        }
    )


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_file_that_is_not_ours_is_replaced_only_if_told(
    engine: str, output: str, files: dict[str, Path], tmp_path: Path
) -> None:
    notes, release = tmp_path / "notes.csv", tmp_path / "release.csv"
    notes.write_text("mine\n")
    job = small_job(files, engine, **{"path": str(release), output: str(notes)})
    with pytest.raises(ParameterError, match="nothing shows that tarn wrote it"):
        tarnkappe.run(job)
    assert notes.read_text() == "mine\n"
    assert not release.exists()
    tarnkappe.run(job, replace=True)
    assert notes.read_text() != "mine\n"


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("manifest", [None, "elsewhere.json"])
def test_a_job_replaces_its_own_outputs_until_somebody_changes_them(
    manifest: str | None, engine: str, files: dict[str, Path], tmp_path: Path
) -> None:
    output = {"path": str(tmp_path / "release.csv"), "report": str(tmp_path / "report.html")}
    job = small_job(files, engine, **output, **({"manifest": str(tmp_path / manifest)} if manifest else {}))
    for _ in range(2):
        overwriting._WRITTEN.clear()  # as another process would see it
        tarnkappe.run(job)
    changed = (tmp_path / "release.csv").read_text() + "# checked by Ann\n"
    (tmp_path / "release.csv").write_text(changed)
    with pytest.raises(ParameterError, match="nothing shows that tarn wrote it"):
        tarnkappe.run(job)
    assert (tmp_path / "release.csv").read_text() == changed


def test_all_tables_of_a_release_are_known_as_ours(files: dict[str, Path], tmp_path: Path) -> None:
    table = "zip;illness\n" + "".join(f"{n};{'flu' if n % 2 else 'cold'}\n" for n in range(8))
    files["input"].write_text(table)
    job = Job.from_dict(
        {
            "input": {"path": str(files["input"])},
            "columns": {"zip": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}},
            "privacy": [{"model": "distinct-diversity", "column": "illness", "l": 2}],
            "search": {"algorithm": "anatomy"},
            "output": {"path": str(tmp_path / "release.csv")},
        }
    )
    for _ in range(2):
        overwriting._WRITTEN.clear()
        tarnkappe.run(job)
    (tmp_path / "release-sensitive.csv").write_text("mine\n")
    with pytest.raises(ParameterError, match=r"release-sensitive\.csv exists"):
        tarnkappe.run(job)


def test_a_file_that_comes_while_a_job_runs_survives(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tarnkappe.job import publication

    target, genuine = tmp_path / "release.csv", publication.Publication.publish

    def meanwhile(made: publication.Publication) -> None:
        target.write_text("mine\n")
        genuine(made)

    monkeypatch.setattr(publication.Publication, "publish", meanwhile)
    with pytest.raises(ParameterError, match="nothing shows that tarn wrote it"):
        tarnkappe.run(small_job(files, "memory", path=str(target)))
    assert target.read_text() == "mine\n"


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".xlsx", ".arrow"])
def test_python_replaces_a_file_that_is_not_ours_only_if_told(suffix: str, tmp_path: Path) -> None:
    notes = tmp_path / f"notes{suffix}"
    notes.write_text("mine\n")
    table = tarnkappe.Table(pa.table({"age": [1, 2]}))
    with pytest.raises(ParameterError, match="nothing shows that tarn wrote it"):
        tarnkappe.write(table, notes)
    assert notes.read_text() == "mine\n"
    tarnkappe.write(table, notes, replace=True)
    assert tarnkappe.read(notes).num_rows == 2


def test_python_writes_over_its_own_files_but_not_over_what_it_has_read(tmp_path: Path) -> None:
    people, release = tmp_path / "people.csv", tmp_path / "release.csv"
    people.write_text("sex;age\nf;30\nm;31\n")
    table = tarnkappe.read(people)
    with pytest.raises(ParameterError, match="cannot be written"):
        tarnkappe.write(table, people)
    for _ in range(2):
        tarnkappe.write(table, release)
        tarnkappe.read(release)
    assert people.read_text() == "sex;age\nf;30\nm;31\n"
