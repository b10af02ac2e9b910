"""A column that nobody gave a role does not leave: by no method, engine, format or file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import ColumnError, JobError, ParameterError
from tarnkappe.job import Job
from tarnkappe.recoding import BUCKETIZATIONS, METHODS
from tarnkappe.table import Role, Table, read, write

SECRET = "SECRETNAME"
PLAN: dict[str, Any] = {
    "age": {"role": "quasi-identifier"},
    "sex": {"role": "quasi-identifier"},
    "illness": {"role": "sensitive"},
    "stay": {"role": "insensitive"},
}
EVERY_METHOD = ("auto", *METHODS.names, *BUCKETIZATIONS.names)
ONLY_K = {"mu-argus", "k-optimize", "stochastic", "mingen"}
"""Methods that promise k-anonymity alone."""
LOSSES = {"exact-suppression": {"loss": "loss"}}
"""Losses of methods that cannot take the usual one."""


def people(rows: int = 60) -> pa.Table:
    chance = np.random.default_rng(4)
    return pa.table(
        {
            "name": [f"{SECRET}{number}" for number in range(rows)],
            "age": chance.integers(20, 60, rows),
            "sex": chance.choice(["f", "m"], rows),
            "illness": chance.choice(["flu", "cold", "ulcer", "gout"], rows),
            "note": [f"{SECRET} note {number % 7}" for number in range(rows)],
            "stay": chance.integers(1, 9, rows),
        }
    )


def job_in(folder: Path, *, suffix: str = ".csv", engine: str = "memory", **search: Any) -> Job:
    method = search.get("algorithm", "auto")
    write(people(8 if method == "mingen" else 60), folder / "people.parquet")  # it tries everything
    diverse = {"model": "distinct-diversity", "column": "illness", "l": 2}
    models: list[dict[str, Any]] = [{"model": "k-anonymity", "k": 2}]
    content = {
        "input": {"path": str(folder / "people.parquet"), "engine": engine},
        "columns": PLAN,
        "privacy": models if method in ONLY_K else [*models, diverse],
        "search": {"suppression_limit": 0.5, **search},
        "output": {
            "path": str(folder / "out" / f"release{suffix}"),
            "report": str(folder / "out" / "r.html"),
        },
    }
    (folder / "out").mkdir()
    return Job.from_dict(content)


def nothing_left(folder: Path) -> None:
    files = [path for path in (folder / "out").rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert SECRET.encode() not in path.read_bytes(), path
        if path.suffix in {".csv", ".parquet", ".xlsx", ".arrow", ".jsonl"}:
            table = read(path)
            assert not {"name", "note"} & set(table.column_names), path
            assert SECRET not in str(table.data.to_pylist()), path


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_no_method_publishes_a_column_without_a_role(method: str, tmp_path: Path) -> None:
    result = tarnkappe.run(job_in(tmp_path, algorithm=method, **LOSSES.get(method, {})))
    nothing_left(tmp_path)
    assert result.columns.unstated == ("name", "note")
    assert SECRET not in str(result)
    assert SECRET not in result._repr_html_()


@pytest.mark.parametrize("more", [{"local_recoding": True}, {"suppression": "cell"}])
def test_no_treatment_publishes_a_column_without_a_role(more: dict[str, Any], tmp_path: Path) -> None:
    tarnkappe.run(job_in(tmp_path, **more))
    nothing_left(tmp_path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx", ".arrow", ".jsonl"])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_no_engine_and_no_format_publishes_a_column_without_a_role(
    engine: str, suffix: str, tmp_path: Path
) -> None:
    if engine == "duckdb" and suffix not in {".csv", ".parquet"}:
        pytest.skip("not written by this engine")
    result = tarnkappe.run(job_in(tmp_path, suffix=suffix, engine=engine))
    nothing_left(tmp_path)
    assert set(result.release.column_names) == {"age", "sex", "illness", "stay"}


def test_report_and_manifest_say_what_becomes_of_each_column(tmp_path: Path) -> None:
    result = tarnkappe.run(job_in(tmp_path))
    manifest = json.loads((tmp_path / "out" / "release.csv.manifest.json").read_text())
    page = (tmp_path / "out" / "r.html").read_text()
    told = manifest["columns"]
    assert told["withheld"] == dict.fromkeys(["name", "note"], "no role was given")
    assert set(told["changed"]) | set(told["released_as_they_are"]) == set(PLAN)
    assert told["released_as_they_are"]["stay"].startswith("insensitive")
    assert "distinct-diversity" in told["released_as_they_are"]["illness"]
    assert told["not_protected"] == []
    assert "withheld" in page
    assert "no role was given" in page
    assert "withheld: name (no role was given), note (no role was given)" in str(result)


def test_a_sensitive_column_that_no_model_names_is_called_unprotected() -> None:
    table = Table(people()).with_roles(quasi_identifiers=["sex"], sensitive=["illness"])
    result = tarnkappe.anonymize(table, privacy=tarnkappe.models.KAnonymity(2))
    assert "NOT PROTECTED: illness (sensitive, no promise)" in str(result)
    assert result.to_dict()["columns"]["not_protected"] == ["illness"]


def test_columns_are_published_by_name_alone() -> None:
    table = Table(people()).with_roles(quasi_identifiers=["sex"])
    k = tarnkappe.models.KAnonymity(2)
    assert tarnkappe.anonymize(table, privacy=k).release.column_names == ("sex",)
    assert tarnkappe.anonymize(table, privacy=k, publish=["stay"]).release.column_names == ("sex", "stay")
    found = tarnkappe.explore(table, privacy=k, publish=["stay"])
    assert found.apply({"sex": 0}).release.column_names == ("sex", "stay")
    assert tarnkappe.explore(table, privacy=k).apply({"sex": 0}).release.column_names == ("sex",)
    for wrong in (["sex"], ["stai"], "stay"):
        with pytest.raises((ColumnError, ParameterError)):
            tarnkappe.anonymize(table, privacy=k, publish=wrong)


def test_what_becomes_of_unnamed_columns_is_chosen_in_the_job(tmp_path: Path) -> None:
    write(people(), tmp_path / "people.parquet")

    def columns(said: dict[str, Any]) -> tuple[str, ...]:
        content = {
            "input": {"path": str(tmp_path / "people.parquet")},
            "columns": {"sex": {"role": "quasi-identifier"}, "name": {"role": "identifier"}, **said},
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }
        return tarnkappe.run(Job.from_dict(content)).release.column_names

    assert columns({}) == columns({"unnamed": "withhold"}) == ("sex",)
    assert columns({"age": {"weight": None}} | {"age": {}}) == ("sex",)
    assert "stay" in columns({"note": {"role": "identifier"}, "unnamed": "publish"})
    with pytest.raises(ColumnError, match="age, illness, note, stay: no role was given"):
        columns({"unnamed": "refuse"})
    for wrong in ("Publish", "", "published", True, 1, ["publish"]):
        with pytest.raises(JobError, match=r"unnamed: .*publish.* is needed"):
            columns({"unnamed": wrong})


def test_a_column_may_be_called_unnamed(tmp_path: Path) -> None:
    write(
        people().rename_columns(["unnamed", "age", "sex", "illness", "note", "stay"]), tmp_path / "p.parquet"
    )
    content = {
        "input": {"path": str(tmp_path / "p.parquet")},
        "columns": {"sex": {"role": "quasi-identifier"}, "unnamed": {"role": "identifier"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    result = tarnkappe.run(Job.from_dict(content))
    assert result.input.roles["unnamed"] is Role.IDENTIFIER
    assert result.release.column_names == ("sex",)
