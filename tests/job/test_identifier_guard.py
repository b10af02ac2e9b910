"""What seems to name people is not released as it is, whatever role was written by habit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tarnkappe
from tarnkappe.errors import IdentifierFoundError, JobError, ParameterError
from tarnkappe.job import Job
from tarnkappe.risk.identifiers import DETECTOR_NAMES
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


TWICE = {kind: [value for value in values for _ in range(2)] for kind, values in LEAKS.items()}
"""Each value twice, so that k = 2 holds without any generalization."""

SHOWN = [{}, {"level": 0}, {"min_level": 0, "max_level": 1}, {"aggregate": "mode"}]
HIDDEN = [{"level": 1}, {"min_level": 1}, {"suppressed": True}]


@pytest.mark.parametrize("plan", SHOWN, ids=str)
@pytest.mark.parametrize("kind", TWICE)
def test_a_quasi_identifier_that_may_stay_as_it_is_is_looked_at(
    kind: str, plan: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(IdentifierFoundError, match="'extra'"):
        tarnkappe.run(job_in(tmp_path, TWICE[kind], {"role": "quasi-identifier", **plan}))
    assert not (tmp_path / "release.csv").exists()


def test_engines_look_at_quasi_identifiers_too(tmp_path: Path) -> None:
    with pytest.raises(IdentifierFoundError, match="'extra'"):
        tarnkappe.run(job_in(tmp_path, TWICE["names"], {"role": "quasi-identifier"}, "duckdb"))


@pytest.mark.parametrize("plan", HIDDEN, ids=str)
def test_a_quasi_identifier_that_is_always_generalized_may_hold_names(
    plan: dict[str, Any], tmp_path: Path
) -> None:
    said = {"role": "quasi-identifier", "hierarchy": {"builder": "root"}, **plan}
    tarnkappe.run(job_in(tmp_path, TWICE["names"], said))
    released = (tmp_path / "release.csv").read_text()
    assert not any(value in released for value in TWICE["names"])


def test_numbers_that_vary_are_no_names_where_others_may_know_them(tmp_path: Path) -> None:
    numbers = [str(10_000 + 37 * n) for n in range(60)]
    tarnkappe.run(job_in(tmp_path, numbers, {"role": "quasi-identifier"}))
    with pytest.raises(IdentifierFoundError):
        tarnkappe.run(job_in(tmp_path, numbers, {"role": "insensitive"}))


def test_dates_inside_of_a_quasi_identifier_are_what_others_may_know(tmp_path: Path) -> None:
    days = [f"from {1 + n % 28:02d}.03.1975 on" for n in range(40)]
    tarnkappe.run(job_in(tmp_path, days * 2, {"role": "quasi-identifier"}))
    with pytest.raises(IdentifierFoundError):
        tarnkappe.run(job_in(tmp_path, days * 2, {"role": "insensitive"}))


@pytest.mark.parametrize("role", ["insensitive", "sensitive", "quasi-identifier"])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_it_is_released_when_accepted_and_the_manifest_says_why(
    engine: str, role: str, tmp_path: Path
) -> None:
    plan = {"role": role, "accept": {"e-mail": "addresses of shops"}}
    tarnkappe.run(job_in(tmp_path, TWICE["e-mail addresses"], plan, engine))
    manifest = json.loads((tmp_path / "release.csv.manifest.json").read_text())
    assert manifest["accepted"] == {"extra": {"e-mail": "addresses of shops"}}


NEW_KINDS = {
    "a name for an address": ("e-mail", LEAKS["names"]),
    "an address for a name": ("name", LEAKS["e-mail addresses"]),
    "an address among names": ("name", [*LEAKS["names"], "ann.miller@example.org"]),
    "a telephone number among addresses": ("e-mail", [*LEAKS["e-mail addresses"], "call +49 30 901820"]),
    "an address in a text": ("name", LEAKS["one e-mail among texts"]),
    "hashes for addresses": ("e-mail", [f"{n:032x}" for n in range(2**100, 2**100 + 40)]),
}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("case", NEW_KINDS)
def test_what_is_accepted_silences_no_other_kind(case: str, engine: str, tmp_path: Path) -> None:
    accepted, values = NEW_KINDS[case]
    plan = {"role": "insensitive", "accept": {accepted: "they are shops"}}
    with pytest.raises(IdentifierFoundError, match="'extra'"):
        tarnkappe.run(job_in(tmp_path, values, plan, engine))


@pytest.mark.parametrize("detector", DETECTOR_NAMES)
def test_every_detector_can_be_accepted_by_its_name(detector: str, tmp_path: Path) -> None:
    job = job_in(tmp_path, [], {"role": "insensitive", "accept": {detector: "why"}})
    assert job.accepted == {"extra": {detector: "why"}}


def test_an_acceptance_says_what_and_why(tmp_path: Path) -> None:
    for nothing in ("", " "):
        with pytest.raises(ParameterError, match="accept says why"):
            job_in(tmp_path, [], {"role": "insensitive", "accept": {"e-mail": nothing}})
    with pytest.raises(ParameterError, match="did you mean 'e-mail'"):
        job_in(tmp_path, [], {"role": "insensitive", "accept": {"email": "shops"}})
    for wrong in ("addresses of shops", ["e-mail"], True):
        with pytest.raises(JobError, match="accept: a table of texts is needed"):
            job_in(tmp_path, [], {"role": "insensitive", "accept": wrong})


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
    with pytest.raises(IdentifierFoundError):
        tarnkappe.anonymize(table, privacy=k, publish=["extra"], accept={"extra": "name"})
    result = tarnkappe.anonymize(table, privacy=k, publish=["extra"], accept={"extra": "e-mail"})
    assert "extra" in result.release.column_names
    for role in ("sensitive", "quasi_identifiers"):
        roles = {"quasi_identifiers": ["sex"]}
        roles[role] = [*roles.get(role, []), "extra"]
        with pytest.raises(IdentifierFoundError):
            tarnkappe.anonymize(table.with_roles(**roles), privacy=k)
