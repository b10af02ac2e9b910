"""Local recoding by default on the command line, one level in a column where that is right, and weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.cli import main
from tarnkappe.errors import JobError
from tarnkappe.job import Job
from tarnkappe.job.default_coding import OVERLAPPING
from tarnkappe.table import Table
from tarnkappe.table.examples import hospital
from tarnkappe.utility import Workload

ROWS = "age;sex;illness\n" + "".join(f"{20 + i};{'fm'[i % 2]};{('flu', 'gout')[i % 2]}\n" for i in range(60))
SAID = ("--input", "people.csv", "--qi", "age", "sex", "--sensitive", "illness", "--k", "5")
PLAIN = {
    "input": {"path": "people.csv"},
    "columns": {"age": {"role": "quasi-identifier"}, "sex": {"role": "quasi-identifier"}},
    "privacy": [{"model": "k-anonymity", "k": 5}],
}


def anonymized(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *more: str
) -> tuple[dict[str, Any], str]:
    (folder / "people.csv").write_text(ROWS, encoding="utf-8")
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        main(["anonymize", *SAID, *more, "--dry-run", "--json"])
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    return json.loads(said.out), said.err


def test_flags_without_an_algorithm_get_regions_and_nobody_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told, _ = anonymized(tmp_path, capsys, monkeypatch)
    assert (told["algorithm"], told["loss_measure"], told["suppressed"]) == ("regions", "loss", 0)
    assert told["suppression_limit"] == 0
    assert told["levels"] is None
    assert told["cells"]["sex"]["exact"] == 1


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--uniform",), "asked for"),
        (("--level", "age=1"), "the level of age is set"),
        (("--loss", "height"), "height"),
        (("--local-recoding",), "local recoding"),
        (("--suppress", "sex"), "suppressed columns"),
    ],
)
def test_a_reason_for_one_level_selects_it_and_is_said(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    flags: tuple[str, ...],
    told: str,
) -> None:
    found, err = anonymized(tmp_path, capsys, monkeypatch, *flags)
    assert found["levels"] is not None
    assert found["suppression_limit"] == 0.05
    assert "one level in a column: " in err
    assert told in err


def test_an_algorithm_that_is_named_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, err = anonymized(tmp_path, capsys, monkeypatch, "--algorithm", "auto")
    assert found["levels"] is not None
    assert "one level in a column" not in err


def test_words_of_classes_are_told_to_differ() -> None:
    table = hospital(rows=200, seed=3).table.with_roles(quasi_identifiers=["age", "sex"])
    privacy = {"model": "k-anonymity", "k": 5}
    result = tarnkappe.anonymize(table, privacy=privacy, algorithm="mondrian", loss="loss")
    assert OVERLAPPING in str(result)
    whole = tarnkappe.anonymize(table, privacy=privacy, algorithm="auto", loss="loss")
    assert OVERLAPPING not in str(whole)


def test_uniform_in_a_job_means_loss_and_a_twentieth_of_the_rows() -> None:
    job = Job.from_dict(PLAIN | {"search": {"uniform": True}})
    assert (job.search.name, job.loss.name, job.suppression_limit) == ("auto", "loss", 0.05)
    job = Job.from_dict(PLAIN | {"search": {"uniform": True, "suppression_limit": 0, "loss": "entropy"}})
    assert (job.loss.name, job.suppression_limit) == ("entropy", 0)
    with pytest.raises(JobError, match="one level in a column"):
        Job.from_dict(PLAIN | {"search": {"uniform": True, "algorithm": "mondrian"}})
    with pytest.raises(JobError, match="true or false"):
        Job.from_dict(PLAIN | {"search": {"uniform": "yes"}})


def test_weights_of_a_search_are_those_of_its_columns() -> None:
    job = Job.from_dict(PLAIN | {"search": {"loss": "loss", "weights": {"age": 2, "sex": 0}}})
    assert (job.columns["age"].weight, job.columns["sex"].weight) == (2, 0)
    with pytest.raises(JobError, match="did you mean 'age'"):
        Job.from_dict(PLAIN | {"search": {"weights": {"agee": 2}}})
    with pytest.raises(JobError, match="a number"):
        Job.from_dict(PLAIN | {"search": {"weights": {"age": "much"}}})
    twice = {**PLAIN["columns"], "age": {"role": "quasi-identifier", "weight": 3.0}}  # type: ignore[dict-item]
    with pytest.raises(JobError, match="another weight"):
        Job.from_dict(PLAIN | {"columns": twice, "search": {"weights": {"age": 2}}})


def test_a_column_of_weight_0_is_the_first_to_go_and_still_forms_classes() -> None:
    random = np.random.default_rng(1)
    rows = pa.table({"a": random.integers(0, 64, 300), "b": random.integers(0, 64, 300)})
    table = Table(rows).with_roles(quasi_identifiers=["a", "b"])
    halves = {"builder": "intervals", "width": [2, 4, 8, 16, 32]}
    own = {}
    for weight in (0.0, 1.0, 4.0):
        result = tarnkappe.anonymize(
            table,
            privacy={"model": "k-anonymity", "k": 5},
            hierarchies={"a": halves, "b": halves},
            algorithm="auto",
            loss="loss",
            suppression_limit=0.05,
            weights={"a": weight},
        )
        found = result.utility(workload=Workload(queries=10)).internal
        assert found is not None
        own[weight] = found["columns"]["a"]["loss"]["value"]
        assert found["classes"]["least"]["value"] >= 5
        assert "a" in result.release.column_names
    assert own[4.0] <= own[1.0] < own[0.0] == 1
