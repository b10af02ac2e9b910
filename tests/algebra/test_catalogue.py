"""The catalogue as data: all rules as published and corrected, and the tables that follow from it."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tarnkappe.algebra.rules import (
    ALL_RULES,
    BETWEEN,
    CLASSICAL,
    RENAMING,
    RULES,
    TRANSFORMATIONS,
    RewriteRule,
)
from tarnkappe.algebra.table import OPERATORS, PARTNERS, Spectrum, as_markdown, commutation_table, rules_of
from tarnkappe.errors import ParameterError
from tests.conftest import FIXTURES

PUBLISHED = json.loads((FIXTURES / "algebra" / "rules.json").read_text(encoding="utf-8"))
TABLES = json.loads((FIXTURES / "algebra" / "commutation.json").read_text(encoding="utf-8"))


def test_all_45_rules_and_the_twelve_classical_ones_are_there() -> None:
    assert [rule.name for rule in RULES] == [rule["id"] for rule in PUBLISHED]
    assert len(CLASSICAL) == 12
    assert len(RENAMING) == 8
    assert len(ALL_RULES) == 45 + 12 + 8 + len(BETWEEN)


def test_our_own_rules_are_told_apart_from_the_published_ones() -> None:
    assert not {rule.name for rule in BETWEEN} & {rule.name for rule in RULES}
    fields = Counter((rule.field, rule.kind[:7]) for rule in BETWEEN)
    assert fields == {
        ("GenDp", "eq"): 3,
        ("GenDp", "partial"): 1,
        ("GenDp", "noneq"): 2,
        ("GenSlice", "eq"): 1,
        ("GenSlice", "partial"): 1,
        ("GenSlice", "noneq"): 2,
        ("SliceDp", "eq"): 2,
        ("SliceDp", "noneq"): 2,
    }


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda rule: rule["id"])
def test_a_rule_says_what_the_registry_says(published: dict[str, object]) -> None:
    mine = RULES[str(published["id"])].as_dict()
    for key in ("field", "lhs", "rhs", "kind", "dir"):
        assert mine[key] == published[key]
    assert mine["prefer"] == published.get("prefer")
    for key in ("cond", "wf", "fix"):
        assert mine[key] == published.get(key, [])


def test_the_rules_by_kind() -> None:
    def count(operator: str) -> Counter[str]:
        kinds = (rule.kind[:7] for rule in RULES if rule.name.startswith(operator))
        return Counter(kinds)

    assert count("G") == {"eq": 12, "partial": 5, "noneq": 2}
    assert count("S") == {"eq": 7, "partial": 1, "noneq": 3}
    assert count("D") == {"eq": 12, "noneq": 3}


def test_the_catalogue_is_machine_readable() -> None:
    assert json.loads(json.dumps(ALL_RULES.as_dicts())) == ALL_RULES.as_dicts()


@pytest.mark.parametrize("spectrum", Spectrum, ids=lambda spectrum: spectrum.value)
def test_the_commutation_table_follows_from_the_rules(spectrum: Spectrum) -> None:
    assert commutation_table(spectrum) == TABLES[spectrum.value]


def test_the_table_with_rule_numbers() -> None:
    for operator in OPERATORS:
        for partner in PARTNERS:
            assert " ".join(rules_of(operator, partner)) == TABLES["rules"][operator][partner]


def test_the_table_is_generated_and_not_written_down() -> None:
    """Without G13 the partial exchange with projections is conditional again."""
    without = [rule for rule in RULES if rule.name != "G13"]
    assert commutation_table(Spectrum.PARTIAL, without)["Gen"]["Proj"] == "conditional"
    assert commutation_table(Spectrum.PARTIAL, without)["Dp"] == TABLES["partially equal"]["Dp"]


def test_the_table_for_people_names_every_rule_of_its_fields() -> None:
    text = as_markdown()
    assert all(rule.name in text for rule in RULES if not rule.field.startswith("Obsolete"))


def test_an_unknown_rule_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(ParameterError, match="unknown rule 'G99': did you mean"):
        RULES["G99"]


def test_the_five_named_transformations() -> None:
    assert {name: (t.rule.name, t.way.value) for name, t in TRANSFORMATIONS.items()} == {
        "DP01": ("D12", "lr"),
        "DP02": ("D12", "rl"),
        "DP03": ("D8", "lr"),
        "DP04": ("D9", "rl"),
        "DP05": ("D10", "rl"),
    }


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_statement_is_a_formula(rule: RewriteRule) -> None:
    arrows = {"eq": "⇔", "noneq": "⇎"}
    assert f" {arrows.get(rule.kind, '⇔⊆')} " in rule.statement
