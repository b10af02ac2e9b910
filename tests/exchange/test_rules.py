"""Legal gates: L1-L14, HIPAA's two ways, national rules as data (checklist 3, 4, 5, 6)."""

from __future__ import annotations

import dataclasses
import re
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tarnkappe.errors import JobError
from tarnkappe.exchange import (
    AttributeCatalogue,
    CheckVerdict,
    Network,
    NetworkMember,
    Purpose,
    SitePolicy,
    check,
)
from tarnkappe.exchange.facts import HUMAN, STATED, ExpertDetermination, PackageFacts, gather
from tarnkappe.exchange.rules import FOLDER, LegalFact, LegalRule, RuleOutcome, RuleSet, evaluate
from tarnkappe.exchange.safe_harbor import filtered, safe_hierarchy
from tarnkappe.hierarchy import Hierarchy, propose
from tarnkappe.hierarchy.plan import planned_hierarchy
from tarnkappe.risk import IdentifierKind
from tarnkappe.table import Column
from tarnkappe.table.encoding import encode_column
from tests.exchange.scenes import FIXTURE, patients, request, surroundings

SHIPPED = sorted(path.stem for path in FOLDER.glob("*.toml"))
SAFE = PackageFacts(True, True, True, True, True)


def facts(sent=None, package: PackageFacts = SAFE, member: NetworkMember | None = None, **changes):
    network = Network([member or NetworkMember("A", frozenset(Purpose), bound_to_secrecy=True)])
    policy = SitePolicy.from_dict({**FIXTURE["policy"], **changes.pop("policy", {})})
    catalogue = AttributeCatalogue.from_dict(FIXTURE["catalogue"])
    return gather(sent or request(), catalogue, policy, network, package=package, **changes)


def outcomes(known, name: str = "dsg-2000") -> dict[str, RuleOutcome]:
    return {ruling.rule.id: ruling.outcome for ruling in evaluate(RuleSet.load(name), known)}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_fact_that_a_shipped_rule_asks_for_is_gathered(name: str) -> None:
    asked = frozenset().union(*(rule.facts for rule in RuleSet.load(name).rules))
    assert asked <= set(facts())


def test_l1_to_l14_are_all_there_and_pass_for_a_protected_package() -> None:
    found = outcomes(facts())
    assert {f"L{number}" for number in range(1, 15)} <= set(found)
    assert set(found.values()) == {RuleOutcome.PASS}


@pytest.mark.parametrize(
    ("rule", "known"),
    [
        ("L1", {"package": dataclasses.replace(SAFE, indirectly_personal=False)}),
        ("L3", {"policy": {"statements": {**FIXTURE["policy"]["statements"], "correctable": False}}}),
        ("L4", {"package": dataclasses.replace(SAFE, indirectly_personal=False)}),
        ("L5", {"package": dataclasses.replace(SAFE, sensitive=False)}),
        ("L6", {"policy": {"statements": {**FIXTURE["policy"]["statements"], "operation_covered": False}}}),
        ("L7", {"sent": request(question=" ")}),
        ("L9", {"sent": request(reidentification=True), "consent": False}),
        ("L11", {"package": dataclasses.replace(SAFE, identity_removed=False)}),
        ("L12", {"policy": {"statements": {**FIXTURE["policy"]["statements"], "own_competence": False}}}),
        ("L13", {"member": NetworkMember("A", frozenset())}),
        ("L13", {"member": NetworkMember("Z", frozenset(Purpose))}),
        ("L14", {"package": dataclasses.replace(SAFE, mildest=False)}),
    ],
)
def test_each_rule_fails_for_its_own_reason(rule: str, known: dict) -> None:
    gathered = facts(**known)
    assert outcomes(gathered)[rule] is RuleOutcome.FAIL
    ruling = next(r for r in evaluate(RuleSet.load("dsg-2000"), gathered) if r.rule.id == rule)
    assert ruling.evidence
    assert all(ruling.evidence)
    assert ruling.rule.paragraph.startswith("§")


def test_what_only_a_human_can_judge_is_left_to_a_human() -> None:
    claimed = request(reidentification=True, legal_basis={"approval": "K202.1"})
    found = outcomes(facts(claimed, consent=False))
    assert found["L9"] is found["L10"] is found["L10a"] is RuleOutcome.NEEDS_HUMAN
    looked_up = outcomes(facts(claimed, consent=False, policy={"approvals": ["K202.1"]}))
    assert looked_up["L9"] is RuleOutcome.PASS
    assert looked_up["L10"] is RuleOutcome.NEEDS_HUMAN
    assert outcomes(facts(policy={"statements": {}}))["L12"] is RuleOutcome.NEEDS_HUMAN
    assert not set(STATED) & set(HUMAN)


def test_an_unprotected_package_is_unknown_and_never_passes() -> None:
    found = outcomes(facts(package=PackageFacts()))
    assert found["L1"] is found["L5"] is found["L14"] is RuleOutcome.NEEDS_HUMAN


VALUES = (True, False, None)


@pytest.mark.parametrize(("applies", "a", "b", "c"), list(product(VALUES, repeat=4)))
def test_rules_follow_three_valued_logic(applies, a, b, c) -> None:
    """Twin: try all ways to fill in what is not known; a rule is decided only if they all agree."""
    rule = LegalRule("R", "t", "§1", "x", when=("w",), all=("a",), any=("b", "not c"))
    given = {"w": applies, "a": a, "b": b, "c": c}
    worlds = [
        dict(zip(given, world, strict=True))
        for world in product(*([value] if value is not None else [True, False] for value in given.values()))
    ]
    held = {not world["w"] or (world["a"] and (world["b"] or not world["c"])) for world in worlds}
    known = {name: LegalFact(value, name) for name, value in given.items()}
    outcome = evaluate(RuleSet("x", "X", (rule,)), known)[0].outcome
    assert outcome is (
        RuleOutcome.NEEDS_HUMAN if len(held) > 1 else RuleOutcome.PASS if held == {True} else RuleOutcome.FAIL
    )


def test_a_new_law_is_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(
        '[[rule]]\nid = "O1"\ntitle = "weekday"\nparagraph = "1"\ntext = "x"\nall = ["not research"]\n'
    )
    policy = SitePolicy.from_dict({**FIXTURE["policy"], "rules": ["ours.toml"]}, tmp_path)
    found = check(request(), surroundings(policy={"rules": list(policy.rules)}))
    assert found.verdict is CheckVerdict.REFUSE
    assert found.steps[-1].name == "S2"
    assert "O1" in found.steps[-1].reply


@pytest.mark.parametrize("text", ["", "[[rule]]\nid = 'x'\n", "[[rul]]\nid = 'x'\n", "rule = 3 ="])
def test_a_broken_rule_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text(text)
    with pytest.raises(JobError):
        RuleSet.load(str(tmp_path / "broken.toml"))


def test_an_unknown_rule_set_is_refused_with_the_known_ones() -> None:
    with pytest.raises(JobError, match="dsg-2000, gdpr, hipaa"):
        RuleSet.load("dsg")


@pytest.mark.parametrize(("people", "left"), [(20_001, "537"), (20_000, "000"), (0, "000")])
def test_safe_harbor_keeps_three_digits_of_a_postcode_only_of_large_areas(people: int, left: str) -> None:
    table = filtered(pa.table({"zip": ["53715"]}), {"zip": IdentifierKind.PLACE}, 2020, {"537": people})
    assert table.to_pylist() == [{"zip": left}]


@pytest.mark.parametrize(
    ("age", "born", "shown", "year"),
    [(89, "1931-01-01", "89", "1931"), (90, "1930-01-01", "90+", None), (None, None, None, None)],
)
def test_safe_harbor_has_one_group_over_89_and_removes_the_year_that_shows_it(age, born, shown, year) -> None:
    table = pa.table({"age": pa.array([age], pa.int64()), "born": pa.array([born], pa.string())})
    assert filtered(table, {"age": IdentifierKind.DATE, "born": IdentifierKind.DATE}, 2020).to_pylist() == [
        {"age": shown, "born": year}
    ]


@pytest.mark.parametrize(
    "kind", [kind for kind in IdentifierKind if kind not in (IdentifierKind.PLACE, IdentifierKind.DATE)]
)
def test_safe_harbor_removes_the_other_sixteen_kinds(kind: IdentifierKind) -> None:
    table = pa.table({"x": ["a"], "y": ["b"]})
    assert filtered(table, {"x": kind}, 2020).column_names == ["y"]


def test_hipaa_passes_by_either_of_its_two_ways() -> None:
    day, sent = date(2026, 1, 1), request()
    expert = ExpertDetermination(
        "Dr. X", "statistician", "k-map", sent.digest, date(2025, 1, 1), date(2027, 1, 1)
    )
    unsafe = dataclasses.replace(SAFE, safe_harbor=False)
    assert outcomes(facts(today=day), "hipaa")["H1"] is RuleOutcome.PASS
    assert outcomes(facts(package=unsafe, today=day), "hipaa")["H1"] is RuleOutcome.FAIL
    assert outcomes(facts(package=unsafe, today=day, expert=expert), "hipaa")["H1"] is RuleOutcome.PASS
    for wrong in (
        {"valid_until": day},
        {"decided": date(2026, 2, 1)},
        {"request": request(question="another").digest},
        {"method": " "},
    ):
        not_covering = dataclasses.replace(expert, **wrong)
        assert (
            outcomes(facts(package=unsafe, today=day, expert=not_covering), "hipaa")["H1"] is RuleOutcome.FAIL
        )


def test_under_hipaa_nobody_over_89_leaves_with_his_age() -> None:
    rows = [[f"P{i:02}", 90 + i % 3, "M", 80, "AT", "Buero", f"D{i % 3}"] for i in range(24)]
    catalogue = {
        "attributes": {
            **FIXTURE["catalogue"]["attributes"],
            "age": {"role": "quasi-identifier", "identifier_kind": 3, "hierarchy": {"builder": "root"}},
        }
    }
    found = check(
        request("age", "diagnosis"),
        surroundings(patients(rows), {"rules": ["hipaa"]}, catalogue=AttributeCatalogue.from_dict(catalogue)),
    )
    assert set(found.package.release.data.column("age").to_pylist()) == {"90+"}


AGE_HIERARCHIES = {
    "fives": {"builder": "intervals", "width": [5, 10, 20]},
    "odd": {"builder": "intervals", "width": [7, 14]},
    "proposed": None,
    "root": {"builder": "root"},
}


@pytest.mark.parametrize("hierarchy", list(AGE_HIERARCHIES))
@pytest.mark.parametrize("oldest", [(), (90, 91), (93, 104), (90, 95, 101)])
def test_the_safe_harbor_filter_works_with_every_hierarchy_of_ages(
    hierarchy: str, oldest: tuple[int, ...]
) -> None:
    ages = [*range(40, 90, 5), *oldest]
    rows = [
        [f"P{i:03}", ages[i % len(ages)], "M", 80, "AT", "Buero", f"D{i % 3}"] for i in range(12 * len(ages))
    ]
    age: dict[str, Any] = {"role": "quasi-identifier", "identifier_kind": 3}
    if AGE_HIERARCHIES[hierarchy] is not None:
        age["hierarchy"] = AGE_HIERARCHIES[hierarchy]
    catalogue = {"attributes": {**FIXTURE["catalogue"]["attributes"], "age": age}}
    found = check(
        request("age", "diagnosis"),
        surroundings(patients(rows), {"rules": ["hipaa"]}, catalogue=AttributeCatalogue.from_dict(catalogue)),
    )
    assert not any("could not be finished" in step.reply for step in found.steps)
    if found.package is None or "age" not in found.package.release.column_names:
        return  # refused, or withheld
    released = set(found.package.release.data.column("age").to_pylist())
    for cell in released - {"90+", "*", None}:
        numbers = [int(number) for number in re.findall(r"[0-9]+", cell)]
        assert max(numbers) <= 90, cell
    assert bool(oldest) >= ("90+" in released)


@pytest.mark.parametrize(
    ("kind", "cells", "hierarchy"),
    [
        (
            2,
            ["53715", "53716", "53703", "60601"],
            [
                ["53715", "537**", "*"],
                ["53716", "537**", "*"],
                ["53703", "537**", "*"],
                ["60601", "606**", "*"],
            ],
        ),
        (3, ["1950-02-03", "1960-05-06", "1970-01-01"], None),
    ],
)
def test_a_filtered_column_whose_values_all_changed_is_still_generalized(
    kind: int, cells: list[str], hierarchy: list[list[str]] | None
) -> None:
    column = encode_column("x", pa.chunked_array([cells]))
    filtered_cells = filtered(pa.table({"x": cells}), {"x": IdentifierKind(kind)}, 2020).column("x")
    after = encode_column("x", filtered_cells)

    def build(own: Column) -> Hierarchy:
        return (
            propose(own).hierarchy
            if hierarchy is None
            else planned_hierarchy(Hierarchy.from_rows(hierarchy), own)
        )

    found = safe_hierarchy(after, frozenset(column.labels), build)
    assert found.attach(after).levels is not None
