"""`tarn attack`, and `tarn check` with people and earlier releases, through the real executable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_contract import refused, tarn
from tests.risk.worked_examples import CONCEPTS, rows

COLUMNS = ("--qi", "Geburtstag", "Geschlecht", "PLZ", "--sensitive", "Krankheit")


def write_release(name: str, path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    lines = [
        ";".join(cell for column, cell in row.items() if column != "row") for row in rows(CONCEPTS / name)
    ]
    header = "Geburtstag;Geschlecht;PLZ;Krankheit"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    write_release("f-h3.csv", tmp_path / "earlier" / "1-first.csv")
    (tmp_path / "earlier" / "1-first.csv.manifest.json").write_text("{}", encoding="utf-8")
    write_release("f-h4.csv", tmp_path / "release.csv")
    write_release("f-h5.csv", tmp_path / "wider.csv")
    (tmp_path / "people.csv").write_text((CONCEPTS / "register.csv").read_text(encoding="utf-8"))
    return tmp_path


def names(result: dict) -> set[str]:
    return {name for victim in result["examples"] for name in victim["who"]}


FIVE = {"Witzig Peter", "Schwäger Till", "Traube Kai", "Kneighty Kaira", "Krempel Naomi"}


def test_a_replayed_attack_lists_its_victims(ward: Path) -> None:
    arguments = ("attack", "complementary-release", "release.csv", "--against", "people.csv")
    run = tarn(*arguments, "--history", "earlier", "--json", cwd=ward)
    assert run.returncode == 1, run.stderr
    found = json.loads(run.stdout)
    assert (found["attack"], found["succeeds"], found["victims"]) == ("complementary-release", True, 5)
    assert names(found["results"][0]) == FIVE
    people = tarn(*arguments, "--history", "earlier", cwd=ward).stdout
    assert "Traube Kai: Diabetes" in people
    assert "The attacker knows:" in people


def test_the_check_names_people_and_facts_in_one_page(ward: Path) -> None:
    arguments = ("check", "release.csv", "--against", "people.csv", "--history", "earlier/")
    run = tarn(*arguments, cwd=ward)
    assert run.returncode == 0, run.stderr
    assert "Traube Kai: Diabetes (complementary releases)" in run.stdout
    figures = json.loads(tarn(*arguments, "--json", cwd=ward).stdout)
    victims = {attack["attack"]: attack["victims"] for attack in figures["attacks"]}
    assert (victims["complementary-release"], victims["sensitive-join"], victims["row-order"]) == (5, 5, 5)
    assert figures["quasi_identifiers"] == ["Geburtstag", "Geschlecht", "PLZ"]


def test_what_is_asked_for_must_hold_together_with_earlier_releases(ward: Path) -> None:
    arguments = ("--against", "people.csv", "--history", "earlier", "--k", "2", "--json")
    for release, code in (("release.csv", 1), ("wider.csv", 0)):
        run = tarn("check", release, *arguments, cwd=ward)
        assert run.returncode == code, run.stderr
        assert json.loads(run.stdout)["history"]["safe"] == (code == 0)
    alone = tarn("check", "release.csv", *COLUMNS, "--k", "2", "--json", cwd=ward)
    assert alone.returncode == 0


@pytest.mark.slow
def test_a_store_records_what_is_safe_and_refuses_what_is_not(ward: Path) -> None:
    store = ("--against", "people.csv", "--history", "history.db", "--key", "key", "--of", "ward", "--k", "2")
    first = tarn("check", "earlier/1-first.csv", *store, "--record", "first", "--json", cwd=ward)
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["history"]["releases"] == []
    second = tarn("check", "release.csv", *store, "--record", "second", "--json", cwd=ward)
    assert second.returncode == 1
    assert json.loads(second.stdout)["history"]["too_few_people"] == 5
    third = tarn("check", "wider.csv", *store, "--record", "second", "--json", cwd=ward)
    assert third.returncode == 0, third.stderr
    assert json.loads(third.stdout)["history"]["releases"] == ["first"]
    kept = (ward / "history.db").read_bytes()
    assert b"Traube" not in kept
    assert b"Diabetes" not in kept
    refused(tarn("check", "wider.csv", *store, "--record", "first", cwd=ward), "'first' already")


@pytest.mark.slow
def test_a_repair_is_proposed_and_applied_and_holds(ward: Path) -> None:
    order = ("attack", "row-order", "release.csv", *COLUMNS, "--history", "earlier")
    run = tarn(*order, "--repair", "--out", "repaired.csv", "--json", cwd=ward)
    assert run.returncode == 1, run.stderr
    assert [repair["repair"] for repair in json.loads(run.stdout)["repairs"]] == ["shuffle"]
    order = ("attack", "row-order", "repaired.csv", *COLUMNS, "--history", "earlier")
    stopped = tarn(*order, "--json", cwd=ward)
    assert (stopped.returncode, json.loads(stopped.stdout)["victims"]) == (0, 0)
    homogeneity = ("attack", "homogeneity", "earlier/1-first.csv", *COLUMNS)
    told = tarn(*homogeneity, "--repair", cwd=ward).stdout
    assert "Suppress 1 class (2 rows)." in told
    tarn(*homogeneity, "--out", "diverse.csv", cwd=ward)
    again = tarn("attack", "homogeneity", "diverse.csv", *COLUMNS, "--json", cwd=ward)
    assert json.loads(again.stdout)["victims"] == 0
    refused(
        tarn("attack", "homogeneity", "diverse.csv", *COLUMNS, "--out", "x.csv", cwd=ward),
        "no change of the release alone stops",
        code=1,
    )


def test_rules_and_answers_are_read_from_files(ward: Path) -> None:
    (ward / "rules.toml").write_text(
        '[[rule]]\ncolumn = "Krankheit"\nexcludes = ["Diabetes"]\nwhere = {Name = "Schwäger Till"}\n',
        encoding="utf-8",
    )
    run = tarn(
        "attack", "knowledge-rules", "earlier/1-first.csv", "--against", "people.csv", "--rules", "rules.toml",
        "--json", cwd=ward,
    )  # fmt: skip
    assert names(json.loads(run.stdout)["results"][0]) == {"Schwäger Till"}
    (ward / "answers.toml").write_text(
        '[[answer]]\nfunction = "count"\nvalue = 3\nwhere = {age = 24}\n'
        '[[answer]]\nfunction = "count"\nvalue = 2\nwhere = {age = 24, sex = "f"}\n'
        '[[answer]]\nfunction = "sum"\ncolumn = "salary"\nvalue = 13200\nwhere = {age = 24}\n'
        '[[answer]]\nfunction = "sum"\ncolumn = "salary"\nvalue = 4200\nwhere = {age = 24, sex = "f"}\n',
        encoding="utf-8",
    )
    run = tarn("attack", "differencing", "--answers", "answers.toml", "--json", cwd=ward)
    assert json.loads(run.stdout)["results"][0]["examples"][0]["learned"] == "salary 9000"


def test_all_attacks_are_listed_with_what_they_need(ward: Path) -> None:
    listed = json.loads(tarn("attack", "list", "--json", cwd=ward).stdout)["attacks"]
    assert listed["complementary-release"] == ["release", "people", "earlier"]
    assert "row-order" in tarn("attack", "list", cwd=ward).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("attack", "homogenity", "release.csv", *COLUMNS), "did you mean homogeneity"),
        (("attack", "row-order", "release.csv", *COLUMNS), "one earlier release (--history)"),
        (
            ("attack", "row-order", "release.csv", *COLUMNS, "--history", "none"),
            "a folder of earlier releases",
        ),
        (("attack", "linking"), "needs a release"),
        (
            ("attack", "linking", "release.csv", *COLUMNS, "--option", "l=3"),
            "l: there is no such parameter: it takes k",
        ),
        (("check", "release.csv", *COLUMNS, "--history", "h.db"), "--against"),
        (("check", "release.csv", *COLUMNS, "--history", "h.db", "--against", "people.csv"), "--key"),
    ],
)
def test_wrong_usage_is_refused(ward: Path, arguments: tuple[str, ...], words: str) -> None:
    refused(tarn(*arguments, cwd=ward), words)
