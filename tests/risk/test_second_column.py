"""What is learned of one sensitive column by excluding values of another."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.cli import main
from tarnkappe.risk import attack, check
from tarnkappe.risk.attacks import Background, BackgroundKnowledge, ExclusionRule, KnowledgeRules, Target
from tarnkappe.table import SUPPRESSED, Role, Table

ROLES = {"zip": Role.QUASI_IDENTIFIER, "diagnosis": Role.SENSITIVE, "drug": Role.SENSITIVE}
WARD = [("102*", "manic", "A"), ("102*", "manic", "B"), ("102*", "drugs", "C"), ("102*", "alcohol", "C")]


def released(rows: list[tuple[str, str, str]]) -> Table:
    columns = dict(zip(ROLES, map(list, zip(*rows, strict=True)), strict=True))
    return Table(pa.table(columns)).with_roles(ROLES)


def test_excluding_a_diagnosis_discloses_the_drug_although_both_are_diverse() -> None:
    report = check(released(WARD))
    through = [a for a in report.attacks if a.parameters.get("through") == "diagnosis"]
    assert [(a.victims, [e.learned for e in a.examples]) for a in through] == [(4, ["C"])]
    assert "exclude one value of 'diagnosis' learns 'drug'" in through[0].explanation
    by_itself = [
        a for a in report.attacks if a.attack == "background-knowledge" and "through" not in a.parameters
    ]
    assert not any(a.succeeds for a in by_itself)


def test_one_more_pair_of_values_stops_it() -> None:
    rows = [
        ("102*", "manic", "A"),
        ("102*", "oedipus", "B"),
        ("102*", "drugs", "C"),
        ("102*", "alcohol", "C"),
    ]
    assert not attack("background-knowledge", released(rows), column="drug", through="diagnosis").succeeds


def worlds(rows: list[tuple[str, str]], exclusions: int) -> bool:
    """Brute force: whether excluding some values of the first leaves one value of the second."""
    known = sorted({first for first, _ in rows if first != SUPPRESSED})
    for number in range(exclusions + 1):
        for excluded in combinations(known, number):
            left = [(first, second) for first, second in rows if first not in excluded]
            sure = [second for first, second in left if first != SUPPRESSED]
            if sure and len({second for _, second in left}) == 1 and sure[0] != SUPPRESSED:
                return True
    return False


cells = st.tuples(st.sampled_from(["s1", "s2", "s3", SUPPRESSED]), st.sampled_from(["v1", "v2", "v3"]))


@given(rows=st.lists(cells, min_size=1, max_size=7), exclusions=st.integers(0, 2))
@settings(max_examples=300)
def test_the_attack_finds_what_all_choices_of_exclusions_find(
    rows: list[tuple[str, str]], exclusions: int
) -> None:
    table = released([("x", first, second) for first, second in rows])
    found = BackgroundKnowledge("drug", exclusions, "diagnosis").run(Target.of(table))
    assert found.succeeds == worlds(rows, exclusions)


@pytest.mark.parametrize("about", ["diagnosis", "drug"])
@pytest.mark.parametrize("column", ["diagnosis", "drug"])
def test_rules_on_one_of_two_columns_are_tried_on_both(about: str, column: str) -> None:
    people = Table(pa.table({"name": ["Ann", "Bob"], "zip": ["1020", "1020"]})).with_roles(
        {"name": Role.IDENTIFIER}
    )
    rule = ExclusionRule(about, ("manic" if about == "diagnosis" else "C",), {"name": "Ann"})
    target = Target.of(released(WARD), Background(people=people, rules=(rule,)))
    found = KnowledgeRules(column).run(target)
    learned = [(e.who, e.learned) for e in found.examples]
    expected = {
        ("diagnosis", "drug"): [(("Ann",), "C")],
        ("drug", "diagnosis"): [(("Ann",), "manic")],
    }
    assert learned == expected.get((about, column), [])


def test_a_rule_about_no_sensitive_column_tells_nothing() -> None:
    people = Table(pa.table({"name": ["Ann"], "zip": ["1020"]}))
    target = Target.of(released(WARD), Background(people=people, rules=(ExclusionRule("hobby", ("chess",)),)))
    assert not KnowledgeRules("drug").run(target).succeeds
    assert KnowledgeRules.against(target) == []


@pytest.mark.parametrize(("about", "value"), [("diagnosis", "manic"), ("drug", "C")])
def test_rules_on_one_column_run_on_the_command_line(
    about: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.csv").write_text("zip,diagnosis,drug\n" + "".join(f"{','.join(row)}\n" for row in WARD))
    (tmp_path / "p.csv").write_text("name,zip\nAnn,1020\n")
    (tmp_path / "rules.toml").write_text(
        f'[[rule]]\ncolumn = "{about}"\nexcludes = ["{value}"]\nwhere = {{ name = "Ann" }}\n'
    )
    with pytest.raises(SystemExit) as end:
        main(
            [
                *("check", str(tmp_path / "r.csv"), "--qi", "zip", "--sensitive", "diagnosis", "drug"),
                *("--against", str(tmp_path / "p.csv"), "--rules", str(tmp_path / "rules.toml")),
            ]
        )
    said = capsys.readouterr()
    assert end.value.code in (0, 1)
    assert "unexpected" not in said.out + said.err
    assert "Knowing what they do not have discloses" in " ".join(said.out.split())


def test_all_pairs_of_columns_are_tried() -> None:
    report = check(released(WARD))
    tried = {
        (a.parameters["column"], a.parameters["through"]) for a in report.attacks if "through" in a.parameters
    }
    assert tried == set(permutations(("diagnosis", "drug"), 2))
