"""Jobs whose release is several tables: files, manifest and report belong together, and say what is accepted."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import tarnkappe
from tarnkappe import Job, models
from tarnkappe.errors import JobError, OutputError
from tarnkappe.job import bucketized
from tarnkappe.job.bucketized import Bucketized
from tarnkappe.recoding import BUCKETIZATIONS
from tarnkappe.table.staging import claimed_folder

FILES = {
    "anatomy": ("release.csv", "release-sensitive.csv"),
    "slicing": ("release.csv", "release-columns.csv"),
}


def job_in(folder: Path, method: str, **search: Any) -> Job:
    table = tarnkappe.examples.hospital(rows=300, seed=3).table
    tarnkappe.write(table, folder / "in.csv")
    return Job.from_dict(
        {
            "input": {"path": "in.csv"},
            "columns": {
                **{name: {"role": "identifier"} for name in table.identifiers},
                **{name: {"role": "quasi-identifier"} for name in ("age", "sex", "postcode")},
                **{name: {"role": "identifier"} for name in ("birth_date", "occupation", "admission_date")},
                "diagnosis": {"role": "sensitive"},
                "length_of_stay": {"role": "insensitive"},
            },
            "privacy": [{"model": "distinct-diversity", "column": "diagnosis", "l": 3}],
            "search": {"algorithm": method, **search},
            "output": {"path": "release.csv", "report": "report.html"},
        },
        folder,
    )


@pytest.mark.parametrize("method", FILES)
def test_all_files_are_written_and_recorded(method: str, tmp_path: Path) -> None:
    job = job_in(tmp_path, method)
    result = tarnkappe.run(job, seed=1)
    assert isinstance(result, Bucketized)
    made = {path.name for path in tmp_path.iterdir()} - {"in.csv"}
    assert made == {*FILES[method], "release.csv.manifest.json", "report.html"}
    assert [Path(path).name for path in result.outputs] == list(FILES[method])
    manifest = json.loads((tmp_path / "release.csv.manifest.json").read_text(encoding="utf-8"))
    names = BUCKETIZATIONS[method].table_names
    for name, file in zip(names, FILES[method], strict=True):
        sha256 = hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()
        assert manifest["sha256_of_tables"][name] == sha256
        assert tarnkappe.read(tmp_path / file).num_rows == manifest["tables"][name]
    assert manifest["accepts"]
    assert manifest["verified"][0]["holds"]
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Membership" in report
    assert "What it accepts" in report


@pytest.mark.parametrize("method", FILES)
def test_no_identifier_leaves_in_any_file(method: str, tmp_path: Path) -> None:
    job = job_in(tmp_path, method)
    tarnkappe.run(job)
    people = tarnkappe.read(tmp_path / "in.csv").data
    secrets = {value for name in ("name", "insurance_number") for value in people.column(name).to_pylist()}
    for path in tmp_path.iterdir():
        if path.name != "in.csv":
            text = path.read_text(encoding="utf-8")
            assert not any(str(secret) in text for secret in secrets)


@pytest.mark.parametrize("method", FILES)
def test_whatever_fails_nothing_is_published(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second table cannot be written: the first does not appear either."""
    job = job_in(tmp_path, method)
    real, calls = bucketized.write, []

    def failing(*arguments: Any, **options: Any) -> None:
        calls.append(arguments)
        if len(calls) == 2:
            raise OutputError("test.full", "the disk is full")
        real(*arguments, **options)

    monkeypatch.setattr(bucketized, "write", failing)
    with pytest.raises(OutputError):
        tarnkappe.run(job)
    assert {path.name for path in tmp_path.iterdir()} == {"in.csv"}


def test_the_second_file_is_claimed_too(tmp_path: Path) -> None:
    job = job_in(tmp_path, "anatomy")
    with claimed_folder(tmp_path / "release-sensitive.csv"), pytest.raises(OutputError):
        tarnkappe.run(job)
    assert not (tmp_path / "release.csv").exists()


def test_parameters_come_from_the_job_and_wrong_ones_are_refused(tmp_path: Path) -> None:
    large = tarnkappe.run(job_in(tmp_path, "anatomy", group_size=10))
    assert large.state.classes.sizes.min() >= 10
    groups = [["age", "sex"], ["postcode"], ["diagnosis"], ["length_of_stay"]]
    result = tarnkappe.run(job_in(tmp_path, "slicing", groups=groups))
    assert isinstance(result, Bucketized)
    assert result.tables["columns"].num_rows == 5
    with pytest.raises(JobError, match="size: there is no such key"):
        job_in(tmp_path, "anatomy", size=3)


def test_k_anonymity_is_promised_of_groups_only() -> None:
    """People stay distinct, so nobody may read that they look the same."""
    table = tarnkappe.examples.hospital(rows=200, seed=3).table
    found = tarnkappe.anonymize(table, privacy=[models.KAnonymity(4)], algorithm="anatomy")
    assert isinstance(found, Bucketized)
    assert found.promises == ["The sensitive values of everybody are hidden in a group of at least 4 rows."]
    assert found.to_dict()["promises"] == found.promises
    assert "looks the same" not in found._repr_html_()
    assert "linking" not in {attack.attack for attack in found.attacks}
    assert found.to_dict()["loss"] is None
