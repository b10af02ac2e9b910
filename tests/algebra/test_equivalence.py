"""The checker that users ask: equal, partially equal, or a counterexample."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from tarnkappe.algebra.equivalence import EquivalenceVerdict, compare
from tarnkappe.algebra.expressions import ColumnRef, ComparisonPredicate, Literal
from tarnkappe.algebra.kinds import PartialGeneralization, PartialSlicing
from tarnkappe.algebra.nodes import Join, Relation, Rename, Selection, ThetaJoin, Union
from tarnkappe.algebra.proof import check_rule
from tarnkappe.algebra.rules import RULES
from tarnkappe.algebra.rules.rule import LR, Effect, Rewrite, RewriteRule
from tarnkappe.algebra.rules.samples import AB, ABC, ABCD, R1, R2, cut, gen, noise, onto, where
from tarnkappe.algebra.space import WorldSpace
from tarnkappe.errors import ColumnError, ParameterError


def test_equal_plans_are_equal_on_all_small_relations() -> None:
    finding = compare(noise(where(AB, "B", "b1"), A="1/4"), where(noise(AB, A="1/4"), "B", "b1"))
    assert finding.verdict is EquivalenceVerdict.EQUAL
    assert finding.difference is None
    assert finding.worlds == 35 + 84, "complete and incomplete relations"
    assert str(finding).splitlines() == [
        "equal: compared on 119 worlds with relations of up to 3 rows",
        "84 of them with NULL in A, B",
    ]


def test_partially_equal_plans_come_with_their_difference_and_their_degrees() -> None:
    """The degree is measured apart, because partial equality says nothing of it."""
    early, late = gen(where(AB, "B", "b1"), "A", 2), where(gen(AB, "A", 2), "B", "b1")
    finding = compare(early, late)
    assert finding.kind == PartialGeneralization(frozenset({"A"}))
    assert finding.degrees == (2, 1)
    assert finding.difference is not None
    assert "released classes have at least 2 rows on the left, 1 on the right" in str(finding)


def test_slicing_plans_are_partially_equal_in_their_sets() -> None:
    finding = compare(cut(cut(ABCD, "AC", "BD"), "AB", "CD"), cut(ABCD, "A", "B", "C", "D"))
    assert finding.verdict is EquivalenceVerdict.PARTIALLY_EQUAL
    assert isinstance(finding.kind, PartialSlicing)
    assert len(finding.kind.groups) == 4


def test_different_plans_come_with_the_smallest_counterexample() -> None:
    finding = compare(noise(noise(AB, A="1/2"), A="1/2"), noise(AB, A="1/2"))
    assert finding.verdict is EquivalenceVerdict.DIFFERENT
    assert finding.difference is not None
    assert len(finding.difference.world.rows("r")) == 1
    text = str(finding)
    assert text.startswith("not equal: compared on 2 worlds")
    assert "r = (A, B): (a1, b1)" in text
    assert "with probability" in text


def test_worlds_in_which_a_plan_may_not_run_are_counted_apart() -> None:
    whole, parts = gen(Union(R1, R2), "A", 2), Union(gen(R1, "A", 2), gen(R2, "A", 2))
    finding = compare(whole, parts)
    assert finding.undefined == (1 + 6 + 6) + (1 + 2 + 2), "complete and incomplete relations"
    assert finding.one_sided == 330 + 154
    assert "left out" in str(finding)


def test_plans_with_other_columns_are_not_compared() -> None:
    with pytest.raises(ColumnError, match="different columns"):
        compare(AB, ABC)
    with pytest.raises(ParameterError, match="'r' has different columns"):
        compare(AB, onto(ABC, "AB"))


def test_the_worlds_hold_the_constants_of_predicates_and_values_beside_them() -> None:
    table = Relation("t", ("n", "city"))
    adult = ComparisonPredicate(">=", ColumnRef("n"), Literal(18))
    here = ComparisonPredicate("=", ColumnRef("city"), Literal("Rostock"))
    space = WorldSpace.of(Selection(Selection(table, adult), here))
    assert space.domains["n"] == (17, 18, 19)
    assert space.domains["city"][0] == "Rostock"
    assert len(space.domains["city"]) == 2


def test_renamed_and_compared_columns_share_their_values() -> None:
    left = Rename(AB, (("A", "X"),))
    joined = ThetaJoin(left, Relation("s", ("Y",)), ComparisonPredicate("=", ColumnRef("X"), ColumnRef("Y")))
    space = WorldSpace.of(joined)
    assert space.domains["A"] == space.domains["X"] == space.domains["Y"]


def test_the_number_of_worlds_is_kept_in_bounds_and_told() -> None:
    for limit in (1, 50, 500):
        space = WorldSpace.of(cut(AB, "A", "B"), worlds=limit)
        number = len(list(space.worlds(cut(AB, "A", "B"))))
        assert number == space.size([cut(AB, "A", "B")])
        assert space.rows == 1 or number <= limit


def test_a_false_claim_is_refuted() -> None:
    """A rule that somebody gets wrong: the checker, not the author, has the last word."""

    def idempotent_noise(plan, way, facts):  # type: ignore[no-untyped-def]
        """Wrong."""
        yield Rewrite(plan.child, RULES["D1"].considered(noise(AB), LR, facts)[0].kind)

    wrong = RewriteRule(
        "W1", "IdemDp", "Noise[P](r1)", "r1", "eq", (LR,), Effect.REMOVE, idempotent_noise,
        examples=(noise(AB, A="1/4"),),
    )  # fmt: skip
    finding = check_rule(wrong)
    assert not finding.is_confirmed
    assert "REFUTED" in str(finding)
    assert finding.broken is not None
    assert finding.broken.seen is not None
    assert finding.broken.seen.left.probabilities != finding.broken.seen.right.probabilities


def test_findings_explain_themselves() -> None:
    assert "no exchange holds in general" in str(check_rule(RULES["D14"], worlds=100))
    text = str(check_rule(RULES["D13"], worlds=300))
    assert "its condition is needed" in text
    assert "ID" in text
    assert "it is not equality" in str(check_rule(RULES["G14"], worlds=300))


def test_findings_are_machine_readable() -> None:
    finding = compare(gen(where(AB, "B", "b1"), "A", 2), where(gen(AB, "A", 2), "B", "b1"))
    assert json.loads(json.dumps(finding.as_dict()))["verdict"] == "partially equal"
    rule = json.loads(json.dumps(check_rule(RULES["D13"], worlds=300).as_dict()))
    assert rule["confirmed"]
    assert rule["needed"]["relations"]
    assert sum(Fraction(outcome["probability"]) for outcome in rule["needed"]["left"]) == 1


def test_general_joins_are_not_equal() -> None:
    """Generalizing a part before a join that drops rows is another thing than after it."""
    r1, r2 = Relation("r1", ("A", "V")), Relation("r2", ("V", "B"))
    finding = compare(gen(Join(r1, r2), "A", 2), Join(gen(r1, "A", 2), r2))
    assert finding.verdict is EquivalenceVerdict.PARTIALLY_EQUAL


def test_probabilities_are_exact() -> None:
    third = noise(AB, A="1/3")
    nearly = noise(AB, A=str(Fraction(1, 3) + Fraction(1, 10**18)))
    assert compare(third, nearly).verdict is EquivalenceVerdict.DIFFERENT
