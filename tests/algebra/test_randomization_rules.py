"""The worked examples of D1-D15, the conditions that must be checked, and the printed errors."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tarnkappe.algebra.distribution import as_bag
from tarnkappe.algebra.equivalence import EquivalenceVerdict, compare
from tarnkappe.algebra.facts import DeclaredFacts, MeasuredFacts
from tarnkappe.algebra.kinds import EQUAL
from tarnkappe.algebra.nodes import Join, Plan, Projection, Randomization, Relation, Selection, Union
from tarnkappe.algebra.proof import check_rule
from tarnkappe.algebra.rules import LR, RL, RULES, SWAP, Way
from tarnkappe.algebra.rules.samples import AB, ABC, LEFT_PART, R1, R2, RIGHT_PART, is_not, noise, onto, where
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.space import WorldSpace
from tarnkappe.algebra.world import World
from tests.algebra.blood import EXAMPLES, NOISE, base, rows, world

NOTHING = DeclaredFacts()
STATIC = DeclaredFacts(static_noise={"A", "B"})
LATE = noise(onto(Join(LEFT_PART, RIGHT_PART), "AB"), A="1/4", B="1/3")
EARLY = onto(Join(noise(LEFT_PART, A="1/4"), noise(RIGHT_PART, B="1/3")), "AB")


def result_of(rule: str, way: Way, plan: Plan, facts: DeclaredFacts = NOTHING) -> Plan | None:
    found = RULES[rule].apply(plan, way, facts)
    return found[0].plan if found else None


def test_superfluous_noise_is_removed_also_in_combination() -> None:
    assert result_of("D1", LR, noise(AB)) == AB
    assert result_of("D2", LR, noise(AB, A="0", B="0")) == AB
    assert result_of("D3", LR, noise(AB, E="1/2")) == AB
    mixed = noise(AB, A="0", E="1/2")
    without_zero = result_of("D2", LR, mixed)
    assert without_zero == noise(AB, E="1/2")
    assert result_of("D3", LR, without_zero) == AB
    for rule in ("D1", "D2", "D3"):
        assert result_of(rule, LR, noise(AB, A="1/2")) is None


def test_d4_plain_idempotence_is_refused_and_wrong() -> None:
    twice = noise(noise(AB, A="1/2"), A="1/2")
    (rewrite,) = RULES["D4"].considered(twice, LR, STATIC)
    assert not rewrite.is_allowed
    assert "D6" in rewrite.refused[0]
    assert compare(twice, noise(AB, A="1/2")).verdict is EquivalenceVerdict.DIFFERENT


def test_d5_merges_splits_and_swaps() -> None:
    plan = noise(noise(AB, A="1/4"), B="1/3")
    assert result_of("D5", LR, plan) == noise(AB, A="1/4", B="1/3")
    assert result_of("D5", SWAP, plan) == noise(noise(AB, B="1/3"), A="1/4")
    splits = {rewrite.plan for rewrite in RULES["D5"].apply(noise(AB, A="1/4", B="1/3"), RL, NOTHING)}
    assert splits == {plan, noise(noise(AB, B="1/3"), A="1/4")}
    assert result_of("D5", LR, noise(noise(AB, A="1/4"), A="1/3")) is None


def test_d6_figure_41_probabilities() -> None:
    example = EXAMPLES["D6-fig41"]
    before = noise(noise(AB, A="0.16", B="0.5"), A="0.16", B="0.5")
    assert result_of("D6", LR, before, STATIC) == Randomization.of(AB, example["P_Y"])


def test_d6_and_d7_are_wrong_for_dynamic_noise_and_refused() -> None:
    """Printed for all distributions; the printed example even uses a dynamic one."""
    twice = noise(noise(AB, A="1/4"), A="1/4")
    once = noise(AB, A="7/16")
    assert compare(twice, once).verdict is EquivalenceVerdict.EQUAL
    assert (
        compare(twice, once, WorldSpace.of(twice, once, dynamic="A")).verdict is EquivalenceVerdict.DIFFERENT
    )
    finding = check_rule(RULES["D6"], dynamic="A")
    assert not finding.allowed
    assert finding.needed is not None
    assert result_of("D6", LR, twice, NOTHING) is None
    assert result_of("D7", LR, twice, NOTHING) is None
    kept = NOISE["A"].drawn("08.03.")
    again = {day: sum(p * NOISE["A"].drawn(middle).get(day, 0) for middle, p in kept.items()) for day in kept}
    assert again != kept


def test_d7_merges_column_by_column() -> None:
    plan = noise(noise(AB, A="1/4", B="1/2"), A="1/3")
    assert result_of("D7", LR, plan, STATIC) == noise(AB, A="1/2", B="1/2")
    outer = noise(noise(AB, A="1/4"), A="1/3", B="1/2")
    spreading = DeclaredFacts(static_noise={"B"})
    assert result_of("D7", LR, outer, spreading) == noise(noise(AB, A="1/4", B="1/2"), A="1/3")
    finding = check_rule(RULES["D7"], dynamic="A")
    assert finding.broken is None
    assert finding.allowed[LR]


def test_a_probability_of_one_stays_one() -> None:
    assert result_of("D7", LR, noise(noise(AB, A="1"), A="1/3"), STATIC) == noise(AB, A="1")


def test_d8_to_d10_figures_43_and_44() -> None:
    example = EXAMPLES["D9-fig43"]
    plan = onto(Randomization.of(ABC, example["P"]), "AB")
    assert result_of("D9", RL, plan) == Randomization.of(onto(ABC, "AB"), example["Pprime"])
    projected = Randomization.of(onto(ABC, "AB"), example["Pprime"])
    assert result_of("D8", LR, projected) == onto(Randomization.of(ABC, example["Pprime"]), "AB")
    hidden = EXAMPLES["D10-fig44"]
    relation, table = base("BASE6", hidden["base_projection"])
    plan = Projection(Randomization.of(relation, hidden["P"]), tuple(hidden["X"]))
    late = result_of("D10", RL, plan)
    assert late == onto(relation, "AC")
    assert evaluate(late, world(r=table)).probabilities == {as_bag(rows(hidden["left_final"])): 1}
    assert result_of("D10", RL, onto(noise(ABC, B="1/2"), "AB")) is None


def test_d8_and_d9_are_refused_for_a_projection_that_drops_duplicates() -> None:
    late = noise(onto(ABC, "AB", distinct=True), A="1/4")
    early = onto(noise(ABC, A="1/4"), "AB", distinct=True)
    assert result_of("D8", LR, late) is None
    assert result_of("D9", RL, early) is None
    assert compare(late, early).verdict is EquivalenceVerdict.DIFFERENT


def test_d11_is_refused_on_noised_columns_and_rightly_so() -> None:
    early, late = noise(where(AB, "A", "a1"), A="1/4"), where(noise(AB, A="1/4"), "A", "a1")
    assert result_of("D11", LR, early) is None
    assert result_of("D11", RL, late) is None
    assert compare(early, late).verdict is EquivalenceVerdict.DIFFERENT
    relation, table = base("BASE6", ("A", "B"))
    selected = Selection(Randomization.of(relation, {"B": "0"}), is_not("B", "A0"))
    kept = evaluate(Projection(selected, ("B",)), world(r=table))
    assert kept.probabilities == {as_bag(("00", "00", "B0", "B0")[i : i + 1] for i in range(4)): 1}


def test_d12_needs_the_same_probabilities_as_sets() -> None:
    whole = noise(Union(R1, R2), A="0.16", B="0.5")
    parts = Union(noise(R1, B="0.50", A="4/25"), noise(R2, A="0.16", B="1/2"))
    assert result_of("D12", LR, whole) == parts
    assert result_of("D12", RL, parts) == whole
    assert result_of("D12", RL, Union(noise(R1, A="0.16"), noise(R2, A="0.17"))) is None


def test_d12_is_wrong_for_a_union_that_drops_duplicates() -> None:
    """Relations are bags: as sets, overlapping parts refute the rule."""
    late = noise(onto(Union(R1, R2), "AB", distinct=True), A="1/4")
    early = onto(Union(noise(R1, A="1/4"), noise(R2, A="1/4")), "AB", distinct=True)
    assert compare(late, early).verdict is EquivalenceVerdict.DIFFERENT


ONE_TO_ONE = DeclaredFacts(keys={"r1": [frozenset({"ID"})], "r2": [frozenset({"ID"})]})


def test_d13_with_an_unnoised_unique_key() -> None:
    assert result_of("D13", LR, LATE, ONE_TO_ONE) == EARLY
    assert result_of("D13", RL, EARLY, ONE_TO_ONE) == LATE
    assert result_of("D13", LR, LATE) is None


def test_d13_as_printed_with_a_noised_key_is_wrong_and_refused() -> None:
    """The rule prints that both noise sets share the key; noising it destroys the join."""
    printed = onto(Join(noise(LEFT_PART, A="1/4", ID="1/4"), noise(RIGHT_PART, B="1/3", ID="1/4")), "AB")
    (rewrite,) = RULES["D13"].considered(printed, RL, ONE_TO_ONE)
    assert "no join column is noised" in rewrite.refused
    here = World(
        {"r1": (("a1", "1"), ("a2", "2")), "r2": (("b1", "1"), ("b2", "2"))},
        noise=WorldSpace.of(printed).noise | {"ID": WorldSpace.of(printed).noise["ID"]},
    )
    assert evaluate(printed, here).row_counts != evaluate(LATE, here).row_counts


def test_d13_is_refused_where_a_noised_row_meets_several_partners() -> None:
    """One draw of noise would be copied to several rows: they would always err together."""
    here = World(
        {"r1": (("a1", "1"),), "r2": (("b1", "1"), ("b2", "1"))},
        noise=WorldSpace.of(LATE).noise,
    )
    (refused,) = RULES["D13"].considered(LATE, LR, MeasuredFacts(here))
    assert refused.refused == ("no noised row meets several partners",)
    assert refused.plan is not None
    assert not evaluate(LATE, here).same_as(evaluate(refused.plan, here))


def test_d13_allows_noise_on_the_many_side_alone() -> None:
    """Rows of r2 meet one partner each, so noise on r2 alone passes although r2 repeats the key."""
    facts = DeclaredFacts(keys={"r1": [frozenset({"ID"})]})
    many = noise(onto(Join(LEFT_PART, RIGHT_PART), "AB"), B="1/3")
    early = result_of("D13", LR, many, facts)
    assert early == onto(Join(LEFT_PART, noise(RIGHT_PART, B="1/3")), "AB")
    one = noise(onto(Join(LEFT_PART, RIGHT_PART), "AB"), A="1/4")
    assert result_of("D13", LR, one, facts) is None
    for plan in (many, one):
        for here in WorldSpace.of(plan, worlds=500).worlds(plan):
            for rewrite in RULES["D13"].apply(plan, LR, MeasuredFacts(here)):
                assert rewrite.plan is not None
                assert evaluate(plan, here).same_as(evaluate(rewrite.plan, here))


@pytest.mark.parametrize("rule", ["D14", "D15"])
def test_intersection_and_difference_never_pass_not_even_on_other_columns(rule: str) -> None:
    (plan,) = RULES[rule].examples
    for way in (LR, RL):
        assert result_of(rule, way, plan) is None
    (early,) = RULES[rule].considered(plan, LR, NOTHING)
    assert early.plan is not None
    assert compare(plan, early.plan).verdict is EquivalenceVerdict.DIFFERENT


def test_the_fifth_chain_swaps_noise_to_let_a_selection_pass() -> None:
    """Greedy merging would block the selection; D5 swaps, then D11 passes the noise on A."""
    relation = Relation("r", ("A", "B"))
    f = is_not("B", "A0")
    start = Selection(noise(noise(relation, A="0.5"), B="0.2"), f)
    assert result_of("D11", RL, start) is None
    swapped = result_of("D5", SWAP, start.child)
    assert swapped is not None
    end = result_of("D11", RL, Selection(swapped, f))
    assert end == noise(Selection(noise(relation, B="0.2"), f), A="0.5")
    merged = result_of("D5", LR, start.child)
    assert merged is not None
    assert result_of("D11", RL, Selection(merged, f)) is None
    assert all(rewrite.kind == EQUAL for rewrite in RULES["D5"].apply(merged, RL, NOTHING))
    assert Fraction("0.5") == swapped.probability("A")  # type: ignore[attr-defined]
