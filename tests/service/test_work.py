"""What each kind of job makes of its document, beside the library that it calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tarnkappe
from tarnkappe.errors import ColumnError, HierarchyError, NoSolutionError
from tarnkappe.privacy import DistinctDiversity
from tarnkappe.risk.attacks import Background
from tarnkappe.service.work import KINDS, JobContext, JobOutcome
from tarnkappe.service.work.knowledge import background
from tarnkappe.service.worker import WITH_NAMES, _named

COLUMNS = {
    "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [5, 10, 20]}},
    "sex": {"role": "quasi-identifier"},
    "diagnosis": {"role": "sensitive"},
}
PRIVACY = [{"model": "k-anonymity", "k": 5}]


@pytest.fixture
def ward(tmp_path: Path, patients: bytes) -> dict[str, Any]:
    (tmp_path / "ward.csv").write_bytes(patients)
    return {"input": {"path": str(tmp_path / "ward.csv")}, "columns": COLUMNS}


def run(kind: str, document: dict[str, Any], folder: Path) -> JobOutcome:
    KINDS[kind].check(document)
    told: list[tuple[Any, ...]] = []
    return KINDS[kind].run(document, JobContext(folder, lambda *event: told.append(event), {}))


def test_a_release_is_that_of_the_library(ward: dict[str, Any], tmp_path: Path) -> None:
    found = run("anonymize", {**ward, "privacy": PRIVACY}, tmp_path)
    table = tarnkappe.read(tmp_path / "ward.csv").with_roles({name: c["role"] for name, c in COLUMNS.items()})
    expected = tarnkappe.anonymize(table, privacy=PRIVACY, hierarchies={"age": COLUMNS["age"]["hierarchy"]})
    assert found.figures["levels"] == expected.levels
    release = pq.read_table(tmp_path / "release.parquet")
    assert release.num_rows == expected.release.num_rows
    assert [story["name"] for story in found.figures["stories"]] == ["age", "sex"]
    assert found.figures["head"]["rows"][0] == [
        str(cell) for cell in release.slice(0, 1).to_pylist()[0].values()
    ]
    assert set(found.files) == {"release", "report", "manifest"}
    exact = {**COLUMNS, "age": {"role": "quasi-identifier", "max_level": 0}}
    with pytest.raises(NoSolutionError):
        run("anonymize", {**ward, "columns": exact, "privacy": PRIVACY}, tmp_path)


def test_a_release_in_two_tables_has_both(ward: dict[str, Any], tmp_path: Path) -> None:
    asked = {
        **ward,
        "privacy": [{"model": "distinct-diversity", "column": "diagnosis", "l": 2}],
        "search": {"algorithm": "anatomy", "suppression_limit": 0.5},
    }
    found = run("anonymize", asked, tmp_path)
    assert set(found.files) == {"release", "release-sensitive", "report", "manifest"}
    assert all((tmp_path / name).exists() for name in found.files.values())
    assert found.figures["outputs"] == ["release.parquet", "release-sensitive.parquet"]


def test_the_whole_lattice_is_listed_for_pages(ward: dict[str, Any], tmp_path: Path) -> None:
    found = run("lattice", {**ward, "privacy": PRIVACY}, tmp_path).figures
    listed = found["listed"]
    assert listed["columns"] == ["age", "sex"]
    assert len(listed["nodes"]) == found["nodes"] == (listed["heights"][0] + 1) * (listed["heights"][1] + 1)
    assert (
        dict(zip(listed["columns"], listed["nodes"][listed["best"]], strict=True)) == found["best"]["levels"]
    )
    assert sum(listed["satisfied"]) == found["satisfying"]


def test_a_profile_proposes_roles_and_says_why(ward: dict[str, Any], tmp_path: Path) -> None:
    found = run("profile", {"input": ward["input"]}, tmp_path).figures
    assert found["rows"] == 300
    by_name = {column["name"]: column for column in found["columns"]}
    assert by_name["diagnosis"]["role"] == "sensitive"
    assert by_name["sex"]["distinct"] == len(by_name["sex"]["values"])
    assert sum(number for _, number in by_name["sex"]["values"]) == 300
    assert all(column["reason"] for column in found["columns"])


def test_a_hierarchy_is_shown_before_it_is_used(ward: dict[str, Any], tmp_path: Path) -> None:
    asked = {"input": ward["input"], "column": "age"}
    found = run("hierarchy", {**asked, "hierarchy": COLUMNS["age"]["hierarchy"]}, tmp_path).figures
    assert found["height"] == len(found["distinct"]) == 4
    assert all(len(row) == 5 and row[-1] == "*" for row in found["rows"])
    assert run("hierarchy", asked, tmp_path).figures["reason"]
    (tmp_path / "ages.csv").write_text("1;*\n")
    with pytest.raises(HierarchyError):
        run("hierarchy", {**asked, "hierarchy": str(tmp_path / "ages.csv")}, tmp_path)
    with pytest.raises(ColumnError):
        run("hierarchy", {"input": ward["input"], "column": "agee"}, tmp_path)


def test_a_check_says_whether_guarantees_hold(ward: dict[str, Any], tmp_path: Path) -> None:
    found = run("check", {**ward, "privacy": PRIVACY, "check": {"worst": 2}}, tmp_path)
    assert (found.exit_code, found.figures["holds"]) == (1, False)
    assert len(found.figures["worst"]) == 2
    assert (tmp_path / "report.html").exists()
    assert run("check", ward, tmp_path).exit_code == 0


def test_an_attack_with_what_the_attacker_knows(ward: dict[str, Any], tmp_path: Path) -> None:
    rows = tarnkappe.read(tmp_path / "ward.csv").data.slice(0, 5).to_pylist()
    people = [f"P{number},{row['age']},{row['sex']}" for number, row in enumerate(rows)]
    (tmp_path / "people.csv").write_text("\n".join(["name,age,sex", *people]) + "\n")
    known = {"people": {"path": str(tmp_path / "people.csv"), "names": ["name"]}}
    found = run("attack", {**ward, **known, "attack": {"name": "linking"}}, tmp_path).figures
    assert found["attack"] == "linking"
    rules = [{"column": "diagnosis", "excludes": ["flu"]}]
    asked = {**ward, **known, "rules": rules, "attack": {"name": "background-knowledge", "limit": 1}}
    assert run("attack", asked, tmp_path).figures["results"]


def test_what_the_attacker_knows_is_what_the_document_says_and_no_more(
    ward: dict[str, Any], tmp_path: Path
) -> None:
    table = tarnkappe.read(tmp_path / "ward.csv").with_roles({name: c["role"] for name, c in COLUMNS.items()})

    def known(**said: Any) -> Background | None:
        return background({**ward, **said}, table, None, {}, None)

    assert known() is None
    assert known(attack={"name": "linking"}) is None
    rules = known(rules=[{"column": "diagnosis", "excludes": ["flu"]}])
    assert rules is not None
    assert [rule.column for rule in rules.rules] == ["diagnosis"]
    assert (rules.earlier, rules.answers, rules.sensitive_table) == ({}, (), None)
    earlier = known(earlier=[ward["input"]])
    assert earlier is not None
    assert list(earlier.earlier) == ["release 1"]
    assert earlier.rules == ()
    minimal = known(minimal_for={"model": "distinct-diversity", "column": "diagnosis", "l": 2})
    assert minimal is not None
    assert minimal.minimal_for == DistinctDiversity("diagnosis", 2)


def test_methods_are_compared_and_nothing_is_released(ward: dict[str, Any], tmp_path: Path) -> None:
    asked = {**ward, "privacy": PRIVACY, "compare": {"methods": ["auto", "mondrian"], "queries": 20}}
    found = run("compare", asked, tmp_path)
    assert [method["method"] for method in found.figures["methods"]] == ["auto", "mondrian"]
    assert set(found.files) == {"report"}


def test_names_of_files_are_escaped_where_they_are_written() -> None:
    names = {"/house/files/1.csv": '<img src=x onerror="alert(1)">.csv'}
    page = _named("<p>/house/files/1.csv</p>", names, WITH_NAMES[".html"])
    assert "<img" not in page
    assert json.loads(_named('{"input": "/house/files/1.csv"}', names, WITH_NAMES[".json"])) == {
        "input": names["/house/files/1.csv"]
    }
