"""The certificates that a job writes: where, for whom, and what they do not hold."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tarnkappe.errors import JobError, ParameterError
from tarnkappe.job import Job, run
from tarnkappe.state import Statement

PEOPLE = [("31", "Ulm", "flu"), ("32", "Ulm", "cold"), ("33", "Ulm", "flu"), ("95", "Oslo", "HIV")]


def job(folder: Path, search: dict[str, Any] | None = None, **output: str) -> Job:
    source = folder / "people.csv"
    source.write_text(
        "\n".join(map(";".join, [("age", "town", "illness"), *PEOPLE])) + "\n", encoding="utf-8"
    )
    content = {
        "input": {"path": str(source)},
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": 10}},
            "town": {"role": "quasi-identifier"},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "search": {"suppression_limit": 0.25, **(search or {})},
        "output": {key: str(folder / name) for key, name in output.items()},
    }
    return Job.from_dict(content)


def test_the_certificate_beside_a_release_holds_nothing_of_the_others(tmp_path: Path) -> None:
    run(job(tmp_path, path="release.csv", certificate="house.json"))
    public = (tmp_path / "release.csv.certificate.json").read_bytes()
    first, second = (tmp_path / "house.json").read_bytes().splitlines(keepends=True)
    assert first == public
    head, private = json.loads(first), json.loads(second)
    for line, document in ((first, head), (second, private)):
        assert Statement("release certificate", document).bytes.endswith(b"\n" + line[:-1]), (
            "it can be signed"
        )
    assert head["private"] == hashlib.sha256(second).hexdigest()
    assert head["release"]["sha256"] == hashlib.sha256((tmp_path / "release.csv").read_bytes()).hexdigest()
    assert private["input"]["sha256"] not in public.decode()
    text = json.dumps(
        {**head, "private": "", "release": {**head["release"], "sha256": ""}}
    )  # any digits there
    assert not any(value in text for value in ("95", "Oslo", "HIV", "flu", "Ulm"))
    assert "Oslo" in second.decode(), "a hierarchy is made from all values, and stays in the house"


def test_who_guesses_the_input_cannot_confirm_it(tmp_path: Path) -> None:
    digests = set()
    for _ in range(2):
        run(job(tmp_path, path="release.csv", certificate="house.json"), seed=1)
        digests.add(json.loads((tmp_path / "release.csv.certificate.json").read_bytes())["private"])
    assert len(digests) == 2, "the same job gives another digest: it is salted"


def test_without_the_certificate_for_auditors_only_the_promise_is_claimed(tmp_path: Path) -> None:
    run(job(tmp_path, path="release.csv"))
    head = json.loads((tmp_path / "release.csv.certificate.json").read_bytes())
    assert (head["claim"], head["private"]) == ("promise", None)


def test_only_csv_files_have_certificates(tmp_path: Path) -> None:
    run(job(tmp_path, path="release.parquet"))
    assert not list(tmp_path.glob("*.certificate.json"))
    with pytest.raises(JobError, match="CSV"):
        run(job(tmp_path, path="other.parquet", certificate="house.json"))
    with pytest.raises(JobError, match="several tables"):
        run(job(tmp_path, {"algorithm": "anatomy"}, path="other.csv", certificate="house.json"))
    assert not list(tmp_path.glob("other*")) + list(tmp_path.glob("house*"))


def test_a_certificate_takes_the_place_of_no_input(tmp_path: Path) -> None:
    before = job(tmp_path, path="release.csv", certificate="people.csv")
    with pytest.raises(Exception, match=r"people\.csv"):
        run(before)
    assert (tmp_path / "people.csv").read_text(encoding="utf-8").startswith("age;town")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            "age;town;illness\n31;Köln;flu\n32;Köln;cold\n33;Köln;flu\n".encode("cp1252"),
            "its encoding is cp1252",
        ),
        (b"age;town;illness\n31;Ulm;flu\n32;NA;cold\n33;Ulm;flu\n", "missing as NA"),
        (b"age;town;illness\n31,5;Ulm;flu\n32,25;Ulm;cold\n33,5;Ulm;flu\n", "numbers with a decimal comma"),
    ],
    ids=["encoding", "missing", "decimals"],
)
def test_an_auditor_never_sees_other_values_than_the_job_did(
    tmp_path: Path, content: bytes, why: str
) -> None:
    asked = job(tmp_path, path="release.csv", certificate="house.json")
    (tmp_path / "people.csv").write_bytes(content)
    with pytest.raises(JobError, match=f"taken as they stand, but .*{why}"):
        run(asked)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]
    run(job(tmp_path, path="release.csv"))


def test_certificates_of_an_earlier_run_are_replaced_and_those_of_others_are_not(tmp_path: Path) -> None:
    asked = job(tmp_path, path="release.csv", certificate="house.json")
    run(asked)
    run(asked)
    (tmp_path / "house.json").write_text("notes", encoding="utf-8")
    with pytest.raises(ParameterError, match="replace"):
        run(asked)
    assert (tmp_path / "house.json").read_text(encoding="utf-8") == "notes"
