"""NULL: proofs try it wherever it is not excluded, and rules about keys ask that none is missing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.equivalence import EquivalenceFinding, EquivalenceVerdict
from tarnkappe.algebra.facts import DeclaredFacts, MeasuredFacts
from tarnkappe.algebra.nodes import Join, Plan, Relation, Selection, Union
from tarnkappe.algebra.proof import check_rule, starts, try_rule
from tarnkappe.algebra.proving import prove
from tarnkappe.algebra.rules import ALL_RULES, RULES, RewriteRule, Way
from tarnkappe.algebra.rules.samples import LEFT_PART, RIGHT_PART, cut, gen, onto
from tarnkappe.algebra.space import WorldSpace, small_spaces
from tarnkappe.algebra.sql.expressions import read_predicate
from tarnkappe.algebra.world import World
from tarnkappe.errors import NoSolutionError
from tarnkappe.hierarchy import Hierarchy

TABLE = {"t": ("rh", "x"), "s": ("rh", "x")}
EVERYTHING = ""


def verdict(left: str, right: str, **declared: dict[str, list[str]]) -> EquivalenceVerdict:
    found = prove([f"SELECT * FROM t {left}", f"SELECT * FROM t {right}"], Catalog(TABLE, **declared))
    assert isinstance(found, EquivalenceFinding)
    return found.verdict


DIFFERENT, EQUAL = EquivalenceVerdict.DIFFERENT, EquivalenceVerdict.EQUAL


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("WHERE rh = '+' OR rh <> '+'", EVERYTHING, DIFFERENT),
        ("WHERE rh = '+' OR rh <> '+'", "WHERE rh IS NOT NULL", EQUAL),
        ("WHERE rh IS NULL", "WHERE rh = 'a' AND rh = 'b'", DIFFERENT),
        ("WHERE NOT (rh = 'a')", "WHERE rh <> 'a'", EQUAL),
        ("WHERE rh NOT IN ('a', NULL)", "WHERE rh = 'a' AND rh <> 'a'", EQUAL),
        ("WHERE rh NOT IN ('a', 'b')", "WHERE NOT rh = 'a' AND NOT rh = 'b'", EQUAL),
        ("WHERE rh IN ('a') OR rh NOT IN ('a')", EVERYTHING, DIFFERENT),
        ("WHERE rh LIKE '%'", EVERYTHING, DIFFERENT),
        ("WHERE rh LIKE '%'", "WHERE rh IS NOT NULL", EQUAL),
        ("WHERE x BETWEEN 1 AND 3 OR x NOT BETWEEN 1 AND 3", EVERYTHING, DIFFERENT),
        ("WHERE rh = rh", EVERYTHING, DIFFERENT),
        ("WHERE rh = x OR rh <> x", "WHERE rh IS NOT NULL", DIFFERENT),
        ("WHERE rh = x OR rh <> x", "WHERE rh IS NOT NULL AND x IS NOT NULL", EQUAL),
        ("EXCEPT ALL SELECT * FROM t", "WHERE rh IS NULL AND rh = 'a'", EQUAL),
        ("NATURAL JOIN s", "NATURAL JOIN s WHERE rh IS NOT NULL", EQUAL),
    ],
)
def test_a_proof_tries_missing_values_wherever_a_condition_looks(
    left: str, right: str, expected: EquivalenceVerdict
) -> None:
    assert verdict(left, right) is expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("WHERE rh LIKE 'Z%'", "WHERE rh = 'a' AND rh = 'b'"),
        ("WHERE rh LIKE '_b'", "WHERE rh LIKE '%b'"),
        ("WHERE x > 1 AND x < 2", "WHERE x = 1 AND x = 2"),
        ("WHERE rh >= 'a' AND rh <= 'b'", "WHERE rh IN ('a', 'b')"),
        ("WHERE rh < 'm'", "WHERE rh = 'l' AND rh = 'k'"),
        ("WHERE x >= DATE '2024-01-01'", "WHERE x = DATE '2024-01-01'"),
    ],
)
def test_a_proof_tries_what_a_condition_tells_apart(left: str, right: str) -> None:
    assert verdict(left, right) is DIFFERENT


def test_a_column_that_is_declared_never_missing_is_not_tried_with_null() -> None:
    claim = ("WHERE rh = '+' OR rh <> '+'", EVERYTHING)
    assert verdict(*claim, not_null={"t": ["rh"]}) is EQUAL
    assert verdict(*claim, keys={"t": [frozenset({"rh"})]}) is EQUAL  # type: ignore[dict-item]
    assert verdict(*claim, not_null={"t": ["x"]}) is DIFFERENT
    assert verdict(*claim, not_null={"s": ["rh"]}) is DIFFERENT


def test_a_finding_says_which_columns_were_tried_with_null() -> None:
    same = "SELECT * FROM t WHERE rh = 'a'"
    found = prove([same, same], Catalog(TABLE, not_null={"t": ["x"]}))
    assert isinstance(found, EquivalenceFinding)
    assert found.nullable == ("rh",)
    assert f"{found.incomplete} of them with NULL in rh" in str(found)
    assert found.as_dict()["tried_with_null"] == ["rh"]
    told = prove(["SELECT * FROM t WHERE rh = rh", "SELECT * FROM t"], Catalog(TABLE))
    assert "(NULL, " in str(told)


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.name)
def test_every_rule_is_tried_with_missing_values(rule: RewriteRule) -> None:
    for _, plan in starts(rule):
        _, incomplete = small_spaces(plan, worlds=500)
        assert incomplete.nullable
        tried = {column for world in incomplete.worlds(plan) for column in _missing(plan, world)}
        stored = {c for node in plan.walk() if isinstance(node, Relation) for c in node.columns}
        assert tried == incomplete.nullable & stored


def _missing(plan: Plan, world: World) -> set[str]:
    relations = {node.name: node for node in plan.walk() if isinstance(node, Relation)}
    return {
        column
        for name, relation in relations.items()
        for row in world.rows(name)
        for column, cell in zip(relation.columns, row, strict=True)
        if cell is None
    }


# ---------------------------------------------------------------- rules about keys

LETTERS = Hierarchy.from_rows([["a1", "a*"], ["a2", "a*"]])
KEYED = Join(LEFT_PART, RIGHT_PART)
A_MISSING_KEY = World(
    {
        "r1": (("a1", "1"), ("a1", "2"), ("a2", None)),
        "r2": (("b1", "1"), ("b1", "2"), ("b1", None)),
    },
    {"A": LETTERS},
)
A_WHOLE_KEY = World(
    {
        "r1": (("a1", "1"), ("a1", "2"), ("a2", "3")),
        "r2": (("b1", "1"), ("b1", "2"), ("b1", "3")),
    },
    {"A": LETTERS},
)
PLANS: dict[str, Plan] = {
    "G16": gen(KEYED, "A", 2),
    "G17": gen(onto(KEYED, "AB"), "A", 2),
    "S9": cut(onto(KEYED, "AB"), "A", "B"),
}


@pytest.mark.parametrize("name", ["G17", "S9"])
def test_a_rule_about_keys_is_refused_where_a_key_is_missing(name: str) -> None:
    """The row without a key counts for levels or buckets, and then drops out of the join."""
    (missing,) = _tried(name, A_MISSING_KEY)
    assert not missing.rewrite.is_allowed
    assert not missing.is_equal, "what the condition keeps away"
    (whole,) = _tried(name, A_WHOLE_KEY)
    assert whole.rewrite.is_allowed
    assert whole.is_equal


def test_a_join_in_which_a_row_has_no_partner_for_want_of_a_key_is_not_generalized_early() -> None:
    for trial in _tried("G16", A_MISSING_KEY):
        assert not trial.rewrite.is_allowed


def _tried(name: str, world: World) -> list:  # type: ignore[type-arg]
    found = try_rule(RULES[name], Way.LEFT_TO_RIGHT, PLANS[name], world)
    assert found
    return found


def key_space(rows: int) -> WorldSpace:
    """Keys 1, 2 and missing, and relations large enough to show what a missing one does."""
    return WorldSpace({"A": ("a1", "a2"), "B": ("b1",), "ID": ("1", "2", None)}, {"A": LETTERS}, rows=rows)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("G16", 3),
        ("G17", 3),
        pytest.param("S9", 3, marks=pytest.mark.slow),
    ],
)
def test_rules_about_keys_hold_on_all_relations_with_missing_keys(name: str, rows: int) -> None:
    allowed = refused = 0
    for way, plan in starts(RULES[name]):
        for world in key_space(rows).worlds(plan):
            for trial in try_rule(RULES[name], way, plan, world) or ():
                assert trial.keeps_claim or not trial.rewrite.is_allowed
                allowed += trial.rewrite.is_allowed
                refused += not trial.rewrite.is_allowed and not trial.is_equal
    assert allowed
    assert refused


def test_a_declared_key_is_never_missing_and_a_unique_column_may_be() -> None:
    unknown = DeclaredFacts(inclusions=[("r2", "r1", frozenset({"ID"}))])
    assert not unknown.has_partners(LEFT_PART, LEFT_PART, {"ID"}), (
        "a missing key has no partner, not even itself"
    )
    assert DeclaredFacts(keys={"r1": [frozenset({"ID"})]}).has_partners(LEFT_PART, LEFT_PART, {"ID"})
    assert DeclaredFacts(not_null={"r1": ["ID"]}).has_partners(LEFT_PART, LEFT_PART, {"ID"})
    asked = Selection(LEFT_PART, read_predicate("ID IS NOT NULL"))
    assert unknown.has_partners(asked, LEFT_PART, {"ID"})


PREDICATES = [
    "ID = '1'", "ID <> A", "NOT ID = '1'", "ID IN ('1', '2')", "ID NOT IN ('1')", "ID LIKE '%'", "ID NOT LIKE 'x'",
    "ID IS NOT NULL", "ID IS NULL", "ID = '1' OR A = 'a1'", "ID = '1' AND A = 'a1'", "NOT (ID = '1' AND A = 'a1')",
    "NOT (ID IS NULL OR A = 'a1')", "NOT (ID = '1' OR A IS NULL)",
]  # fmt: skip


@given(
    st.sampled_from(PREDICATES),
    st.lists(st.tuples(st.sampled_from(["a1", "a2", None]), st.sampled_from(["1", "2", None])), max_size=5),
    st.sampled_from(["selection", "join", "union", "other"]),
)
@settings(max_examples=200)
def test_what_is_derived_to_be_never_missing_is_not_missing(
    predicate: str, rows: list[tuple[str | None, str | None]], shape: str
) -> None:
    selected = Selection(LEFT_PART, read_predicate(predicate))
    plan = {
        "selection": selected,
        "join": Join(selected, RIGHT_PART),
        "union": Union(selected, LEFT_PART),
        "other": Union(selected, selected),
    }[shape]
    world = World({"r1": tuple(rows), "r2": (("b1", "1"), ("b1", None))})
    for column in plan.columns:
        if DeclaredFacts().is_not_null(plan, {column}):
            assert MeasuredFacts(world).is_not_null(plan, {column})


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_larger_incomplete_relations_confirm_every_rule(rule: RewriteRule) -> None:
    try:
        assert check_rule(rule, worlds=4_000).is_confirmed
    except NoSolutionError:
        pytest.fail("the rule could not be tried")
