"""What seems to name people is not released as it is, whatever role was written by habit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tarnkappe
from tarnkappe.errors import IdentifierFoundError, ParameterError
from tarnkappe.job import Job
from tarnkappe.table import read

LEAKS = {
    "e-mail addresses": [f"person{n}@example.org" for n in range(40)],
    "one e-mail among texts": [*["fine today"] * 39, "write to ann.miller@example.org"],
    "names": [
        f"{first} {last}"
        for first in ("Anna", "Peter", "Maria", "John")
        for last in (
            "Miller",
            "Schmidt",
            "Fischer",
            "Weber",
            "Wagner",
            "Becker",
            "Hoffmann",
            "Koch",
            "Bauer",
            "Wolf",
        )
    ],
}


def job_in(folder: Path, values: list[str], role: dict[str, Any] | str, engine: str = "memory") -> Job:
    rows = "".join(f"{'fm'[n % 2]};{value}\n" for n, value in enumerate(values))
    (folder / "people.csv").write_text("sex;extra\n" + rows)
    said: dict[str, Any] = {"unnamed": role} if isinstance(role, str) else {"extra": role}
    content = {
        "input": {"path": "people.csv", "engine": engine},
        "columns": {"sex": {"role": "quasi-identifier"}, **said},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"path": "release.csv"},
    }
    return Job.from_dict(content, folder)


@pytest.mark.parametrize("role", [{"role": "insensitive"}, {"role": "sensitive"}, "publish"], ids=str)
@pytest.mark.parametrize("kind", LEAKS)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_what_names_people_is_not_released_as_it_is(
    engine: str, kind: str, role: Any, tmp_path: Path
) -> None:
    with pytest.raises(IdentifierFoundError, match="'extra'") as refused:
        tarnkappe.run(job_in(tmp_path, LEAKS[kind], role, engine))
    assert not (tmp_path / "release.csv").exists()
    assert not any(value in str(refused.value) for value in LEAKS[kind])
    assert refused.value.exit_code == 1


def test_it_is_released_when_accepted_by_name_and_the_manifest_says_why(tmp_path: Path) -> None:
    plan = {"role": "insensitive", "accept": "addresses of shops"}
    tarnkappe.run(job_in(tmp_path, LEAKS["e-mail addresses"], plan))
    manifest = json.loads((tmp_path / "release.csv.manifest.json").read_text())
    assert manifest["accepted"] == {"extra": "addresses of shops"}
    for nothing in ("", " "):
        with pytest.raises(ParameterError, match="accept says why"):
            job_in(tmp_path, [], {"role": "insensitive", "accept": nothing})


def test_harmless_columns_raise_no_alarm(tmp_path: Path) -> None:
    for values in (["flu", "cold"] * 20, ["1", "2", "3", "4"] * 10):
        tarnkappe.run(job_in(tmp_path, values, {"role": "insensitive"}))


def test_python_asks_before_it_publishes_a_column(tmp_path: Path) -> None:
    job_in(tmp_path, LEAKS["e-mail addresses"], "publish")
    table = read(tmp_path / "people.csv").with_roles(quasi_identifiers=["sex"])
    k = tarnkappe.models.KAnonymity(2)
    with pytest.raises(IdentifierFoundError):
        tarnkappe.anonymize(table, privacy=k, publish=["extra"])
    known = table.with_roles(quasi_identifiers=["sex"], insensitive=["extra"])
    with pytest.raises(IdentifierFoundError):
        tarnkappe.anonymize(known, privacy=k)
    result = tarnkappe.anonymize(table, privacy=k, publish=["extra"], accept=["extra"])
    assert "extra" in result.release.column_names
