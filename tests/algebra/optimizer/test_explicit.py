"""Explicit mode: the rules that a user names, in order, where he says, and an answer to every refusal."""

from __future__ import annotations

import pytest

from tarnkappe.algebra.facts import DeclaredFacts
from tarnkappe.algebra.kinds import EQUAL, PartialGeneralization
from tarnkappe.algebra.nodes import Difference, Intersection, Plan, Projection, Relation, Union
from tarnkappe.algebra.optimizer import Call, Rewriting, rewrite
from tarnkappe.algebra.optimizer.places import matching
from tarnkappe.algebra.rules import ALL_RULES, RULES
from tarnkappe.algebra.rules.samples import AB, ABC, R1, R2, cut, gen, noise, onto, where
from tarnkappe.errors import ParameterError
from tests.algebra.test_transformations import DISTINCT, DP04_IN, DP04_OUT, PARTS, SHOWN, UNLIKE, WHOLE

NOTHING = DeclaredFacts()


def explicit(plan: Plan, *rules: str, facts: DeclaredFacts = NOTHING) -> Rewriting:
    return rewrite(plan, "explicit", facts, {}, rules=rules)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("DP01", WHOLE, PARTS),
        ("DP02", PARTS, WHOLE),
        ("DP04", DP04_IN, DP04_OUT),
        ("DP02", UNLIKE, UNLIKE),
        ("DP04", DISTINCT, DISTINCT),
        ("DP05", SHOWN, SHOWN),
    ],
)
def test_the_five_transformations_by_name(name: str, before: Plan, after: Plan) -> None:
    found = explicit(before, name)
    assert found.plan == after
    assert bool(found.steps) != (before == after)
    assert bool(found.refused) == (before == after)


def test_only_the_named_rules_are_used_in_their_order() -> None:
    plan = onto(noise(Union(R1, R2), A="1/4", B="1/3"), "A")
    assert [step.rule for step in explicit(plan, "D9").steps] == ["D9"]
    assert explicit(plan, "D9", "ProjUnion", "D12.lr").plan == Union(
        *(noise(onto(part, "A"), A="1/4") for part in (R1, R2))
    )
    assert [step.rule for step in explicit(plan, "D12.lr", "ProjUnion", "D9").steps] == [
        "D12",
        "ProjUnion",
        "D9",
        "D9",
    ]


def test_nested_matches_are_rewritten_until_none_is_left() -> None:
    r3 = Relation("r3", ("A", "B"))
    found = explicit(noise(Union(Union(R1, R2), r3), A="1/4"), "D12.lr")
    leaves = [noise(part, A="1/4") for part in (R1, R2, r3)]
    assert found.plan == Union(Union(leaves[0], leaves[1]), leaves[2])
    assert explicit(found.plan, "D12.rl").plan == noise(Union(Union(R1, R2), r3), A="1/4")


def test_an_xpath_restricts_a_rule_to_a_part_of_the_plan() -> None:
    left, right = onto(noise(ABC, A="1/4", C="1/4"), "AB"), onto(noise(ABC, B="1/4"), "AB")
    plan = Union(left, right)
    assert explicit(plan, "D9@/union/projection[2]").plan == Union(left, noise(onto(ABC, "AB"), B="1/4"))
    assert explicit(plan, "D9").plan == explicit(plan, "D9@//projection").plan
    assert explicit(plan, "D9@/union").plan == explicit(plan, "D9").plan


def test_an_xpath_finds_operators_by_their_names_in_xml() -> None:
    plan = Projection(Union(where(AB, "A", "a"), gen(AB, "A", 3)), ("A",))
    assert matching(plan, "//union") == [(0,)]
    assert matching(plan, "//selection/baseRelation") == [(0, 0, 0)]
    assert matching(plan, "//generalization[@k='3']") == [(0, 1)]
    assert matching(plan, "/projection") == [()]
    assert matching(plan, "//baseRelation") == [(0, 0, 0), (0, 1, 0)]
    assert matching(plan, "//slicing") == []


@pytest.mark.parametrize("xpath", ["//union[", "union", "//union[@k="])
def test_an_xpath_that_is_none_is_refused(xpath: str) -> None:
    with pytest.raises(ParameterError, match="XPath"):
        explicit(Union(R1, R2), f"D12.rl@{xpath}")


def test_a_place_that_is_not_there_is_told() -> None:
    (refusal,) = explicit(AB, "D9@//union").refused
    assert refusal.reasons == ("the plan has no place that //union names",)


def test_the_root_of_the_plan_can_be_replaced() -> None:
    assert explicit(gen(AB, "A", 1), "G1").plan == AB


def test_a_split_and_a_swap_are_made_once() -> None:
    merged = noise(ABC, A="1/4", B="1/4", C="1/4")
    assert explicit(merged, "D5.rl").plan == noise(noise(ABC, B="1/4", C="1/4"), A="1/4")
    two = noise(noise(AB, A="1/4"), B="1/3")
    assert explicit(two, "D5.swap").plan == noise(noise(AB, B="1/3"), A="1/4")
    assert explicit(two, "D5.swap", "D5.swap").plan == two


def test_a_named_rule_goes_its_usual_way() -> None:
    assert (Call.of("G14").way, Call.of("D12").way, Call.of("G9").way) == ("rl", "lr", "lr")
    with pytest.raises(ParameterError, match=r"G9 cannot be used rl; write G9\.lr"):
        Call.of("G9.rl")
    with pytest.raises(ParameterError, match="no way of a rule"):
        Call.of("G9.back")
    with pytest.raises(ParameterError, match="unknown rule"):
        Call.of("G99")
    with pytest.raises(ParameterError, match="a way of its own"):
        Call.of("DP01.rl")


def test_a_weakening_rule_is_made_when_asked_for_and_says_so() -> None:
    found = explicit(gen(where(AB, "B", "b"), "A", 3), "G14.lr")
    assert found.plan == where(gen(AB, "A", 3), "B", "b")
    assert "tears classes" in found.steps[0].weakens
    assert found.kind == PartialGeneralization(frozenset("A"))
    assert "WEAKENS" in str(found.steps[0])
    assert found.lost == ("it is not known from the plan whether the result is 3-anonymous in A",)


def test_generalization_and_slicing_are_not_both_given_up_even_if_named() -> None:
    known = DeclaredFacts(rows={"r1": 100, "r2": 100}, bucket=3)
    plan = Union(gen(Union(R1, R2), "A", 2), cut(Union(R1, R2), "A", "B"))
    found = explicit(plan, "G15.lr", "S8.lr", facts=known)
    assert [step.rule for step in found.steps] == ["G15"]
    (refusal,) = found.refused
    assert "no common notion with what was done before" in refusal.reasons[0]


def test_even_a_named_rule_is_refused_below_an_operator_that_reads_what_differs() -> None:
    known = DeclaredFacts(rows={"r1": 100, "r2": 100})
    plan = where(gen(Union(R1, R2), "A", 2), "A", "Jan")
    found = explicit(plan, "G15.lr", facts=known)
    assert found.plan == plan
    assert "above may read what differs" in found.refused[0].reasons[0]


def test_unmet_conditions_are_named() -> None:
    (refusal,) = explicit(where(noise(AB, B="1/4"), "B", "b"), "D11.rl").refused
    assert refusal.reasons == ("not met or not known: F reads no noised column",)
    assert str(refusal).startswith("D11 rl at /: not met")


REFUSED = {
    "G18": gen(Intersection(R1, R2), "A", 2),
    "G19": gen(Difference(R1, R2), "A", 2),
    "S7": cut(where(AB, "B", "b"), "A", "B"),
    "S10": cut(Intersection(R1, R2), "A", "B"),
    "S11": cut(Difference(R1, R2), "A", "B"),
    "D4": noise(noise(AB, A="1/4"), A="1/4"),
    "D14": noise(Intersection(R1, R2), A="1/4"),
    "D15": noise(Difference(R1, R2), A="1/4"),
    "GD5": noise(gen(AB, "A", 2), A="1/4"),
    "GD6": gen(noise(AB, A="1/4"), "A", 2),
    "GS3": cut(gen(AB, "A", 2), "A", "B"),
    "GS4": gen(cut(AB, "A", "B"), "A", 2),
    "SD3": noise(cut(AB, "A", "B"), A="1/4"),
    "SD4": cut(noise(AB, A="1/4"), "A", "B"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_non_equivalence_answers_with_its_reason(name: str) -> None:
    found = explicit(REFUSED[name], name)
    assert found.plan == REFUSED[name]
    assert any(" ".join(ALL_RULES[name].reason.split()) in refusal.reasons for refusal in found.refused)


def test_all_eight_published_non_equivalences_are_asked_above() -> None:
    assert {rule.name for rule in RULES if rule.kind == "noneq"} <= set(REFUSED)


def test_a_rule_whose_shape_is_nowhere_says_what_it_looks_for() -> None:
    (refusal,) = explicit(AB, "D12.lr").refused
    assert refusal.reasons == ("no part of the plan has the shape Noise[P](r1∪r2)",)


def test_the_kind_of_a_chain_is_the_weakest_of_its_steps() -> None:
    known = DeclaredFacts(rows={"r1": 100, "r2": 100})
    plan = onto(gen(Union(R1, R2), "A", 2), "A")
    assert explicit(plan, "G10", facts=known).kind == EQUAL
    chained = explicit(plan, "G10", "ProjUnion", "G15.lr", facts=known)
    assert len(chained.steps) == 3
    assert chained.kind == PartialGeneralization(frozenset("A"))
