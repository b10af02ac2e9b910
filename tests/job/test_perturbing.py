"""Perturbed columns of a job: what is published is perturbed, what is promised holds of it, figures stay here."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tarnkappe.errors import JobError, ParameterError
from tarnkappe.job import Job, run
from tarnkappe.texts import told

ROWS = [
    (f"P{i}", 20 + i * 7 % 60, 1000 + i * 37 % 40 * 13, ("flu", "cold", "gout", "asthma")[i % 4])
    for i in range(200)
]


def job(tmp_path: Path, *perturb: dict[str, Any], **sections: Any) -> Job:
    with (tmp_path / "people.csv").open("w", newline="") as stream:
        csv.writer(stream, delimiter=";").writerows([("name", "age", "income", "illness"), *ROWS])
    content = {
        "input": {"path": "people.csv"},
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [5, 20]}},
            "income": {"role": "insensitive"},
            "illness": {"role": "sensitive"},
        },
        "perturb": list(perturb),
        "privacy": [
            {"model": "k-anonymity", "k": 5},
            {"model": "distinct-diversity", "column": "illness", "l": 2},
        ],
        "output": {"path": "release.csv"},
    }
    return Job.from_dict(content | sections, tmp_path)


def released(tmp_path: Path) -> list[dict[str, str]]:
    with (tmp_path / "release.csv").open(newline="") as stream:
        return list(csv.DictReader(stream, delimiter=";"))


def test_what_is_published_is_perturbed_and_said_to_be(tmp_path: Path) -> None:
    done = run(job(tmp_path, {"method": "noise", "columns": ["income"], "share": 0.5}))
    true = Counter(row[2] for row in ROWS)
    told = Counter(int(row["income"]) for row in released(tmp_path))
    assert sum((true & told).values()) < 100
    assert done.columns.changed["income"] == "perturbed by noise"
    assert "income" not in done.columns.unchanged
    assert 0 < done.perturbed[0].figures.information_loss < 2
    assert all(found.holds for found in done.verified)


def test_the_manifest_tells_the_method_and_no_figure_of_the_true_values(tmp_path: Path) -> None:
    done = run(job(tmp_path, {"method": "rank-swapping", "columns": ["income"], "distance": 0.2}))
    manifest = json.loads((tmp_path / "release.csv.manifest.json").read_text())
    assert manifest["perturbed"] == [{"method": "rank-swapping", "columns": ["income"], "distance": 0.2}]
    figures = done.perturbed[0].figures
    for shown in (json.dumps(manifest), str(done)):
        assert "linked" not in shown
        assert str(figures.information_loss) not in shown
    assert Counter(row["income"] for row in released(tmp_path)) == Counter(str(row[2]) for row in ROWS)


def test_promises_hold_of_the_values_that_are_published(tmp_path: Path) -> None:
    """Counted anew from the file, quasi-identifiers and sensitive values both perturbed."""
    run(
        job(
            tmp_path,
            {"method": "pram", "columns": ["illness"], "keep": 0.5},
            {"method": "noise", "columns": ["age"], "share": 0.3},
        )
    )
    classes: dict[str, list[str]] = {}
    for row in released(tmp_path):
        classes.setdefault(row["age"], []).append(row["illness"])
    assert all(len(rows) >= 5 and len(set(rows)) >= 2 for rows in classes.values())


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"output": {"path": "release.csv", "certificate": "proof.json"}}, "no certificate"),
        ({"history": {"store": "h.db", "key": "h.key"}}, "history"),
        ({"input": {"path": "people.csv", "engine": "duckdb"}}, "in memory"),
        ({"population": {"path": "people.csv"}}, "population"),
    ],
)
def test_promises_about_true_values_are_refused(sections: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(JobError, match=words) as refused:
        run(job(tmp_path, {"method": "noise", "columns": ["age"]}, **sections))
    assert told("de", refused.value) != str(refused.value)
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"columns": ["income"]}, "which perturbation is it"),
        ({"method": "nois", "columns": ["income"]}, "did you mean 'noise'"),
        ({"method": "noise"}, "columns"),
        ({"method": "noise", "columns": ["income"], "share": 0}, "share"),
    ],
)
def test_what_is_wrong_is_said(entry: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=words):
        job(tmp_path, entry)
    with pytest.raises(JobError, match="one \\[\\[perturb\\]\\] for each perturbation"):
        Job.from_dict({"input": {"path": "x"}, "perturb": {"method": "noise"}})
