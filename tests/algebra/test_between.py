"""Two different anonymizations: each verdict on a case that a person can follow, and its condition broken."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

import pytest

from tarnkappe.algebra.facts import DeclaredFacts, MeasuredFacts
from tarnkappe.algebra.kinds import BAG_EQUAL, EQUAL, PartialGeneralization
from tarnkappe.algebra.nodes import Generalization, Plan, Randomization, Relation, SlicingNode
from tarnkappe.algebra.noise import Dynamic, Static
from tarnkappe.algebra.proof import check_rule
from tarnkappe.algebra.rules import BETWEEN, LR, RL, Rewrite, Way
from tarnkappe.algebra.rules.samples import AB, ABC, cut, gen, noise
from tarnkappe.algebra.semantics import evaluate, possible_degree
from tarnkappe.algebra.world import World
from tarnkappe.hierarchy import Hierarchy

DAYS = Hierarchy.from_rows([["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"], ["4", "high", "*"]])
COIN = Static({"x": Fraction(1, 2), "y": Fraction(1, 2)})
DIE = Static({str(value): Fraction(1, 4) for value in (1, 2, 3, 4)})
DRIFT = Dynamic(
    {
        **{str(v): {str(v): Fraction(1, 2), str(v % 4 + 1): Fraction(1, 2)} for v in (1, 2, 3, 4)},
        **{label: {label: Fraction(1)} for label in ("low", "high", "*")},
    }
)
FOUR = (("1", "x"), ("2", "x"), ("3", "y"), ("4", "y"))


def world(rows: Collection[tuple[str, ...]] = FOUR, *, dynamic: bool = False, bucket: int = 2) -> World:
    noises = {"A": DRIFT if dynamic else DIE, "B": COIN, "C": COIN}
    return World({"r": tuple(rows)}, {"A": DAYS, "B": LETTERS, "C": LETTERS}, noises, bucket)


LETTERS = Hierarchy.from_rows([["x", "*"], ["y", "*"]])


def only(name: str, plan: Plan, way: Way, here: World) -> Rewrite:
    (rewrite,) = BETWEEN[name].considered(plan, way, MeasuredFacts(here))
    return rewrite


def same(rewrite: Rewrite, plan: Plan, here: World) -> bool:
    assert rewrite.plan is not None
    return evaluate(plan, here).same_as(evaluate(rewrite.plan, here))


@pytest.mark.parametrize("rule", BETWEEN, ids=lambda rule: rule.name)
def test_the_verdict_stands_with_noise_that_depends_on_the_old_value(rule) -> None:  # type: ignore[no-untyped-def]
    finding = check_rule(rule, worlds=150, dynamic=("A",))
    assert finding.broken is None
    if rule.name in ("GD4", "SD2"):
        assert not finding.allowed.total(), "dynamic noise keeps a trace of the old value"


@pytest.mark.parametrize("name", ["GS1", "GS2", "SD1", "SD2"])
def test_the_verdict_stands_if_slicing_forgets_its_buckets(name: str) -> None:
    assert check_rule(BETWEEN[name], worlds=150, stable_buckets=False).is_confirmed


def test_gd1_different_columns_swap_in_both_ways() -> None:
    late, early = gen(noise(AB, B="1/4"), "A", 2), noise(gen(AB, "A", 2), B="1/4")
    here = world(dynamic=True)
    assert only("GD1", late, LR, here).plan == early
    assert only("GD1", early, RL, here).plan == late
    assert same(only("GD1", late, LR, here), late, here)


def test_gd1_is_refused_on_a_common_column_where_it_would_be_wrong() -> None:
    late = gen(noise(AB, A="1/4"), "A", 2)
    rewrite = only("GD1", late, LR, world())
    assert rewrite.refused == ("no generalized column is noised",)
    assert not same(rewrite, late, world())


def test_gd2_the_noise_that_is_not_in_the_way_passes_and_merges_back() -> None:
    late = gen(noise(AB, A="1/4", B="1/2"), "A", 2)
    rewrite = only("GD2", late, LR, world())
    assert rewrite.plan == noise(gen(noise(AB, A="1/4"), "A", 2), B="1/2")
    assert same(rewrite, late, world())
    assert only("GD2", rewrite.plan, RL, world()).plan == late


def test_gd2_is_refused_where_both_noises_meet_in_a_column() -> None:
    twice = noise(gen(noise(AB, B="1/4"), "A", 2), B="1/2")
    assert only("GD2", twice, RL, world()).refused == ("no column is noised by both",)


def test_gd3_late_noise_leaves_single_rows_and_says_so() -> None:
    late = gen(noise(AB, A="1/4"), "A", 2)
    rewrite = only("GD3", late, LR, world())
    assert rewrite.kind == PartialGeneralization(frozenset("A"))
    assert rewrite.weakens
    assert rewrite.plan is not None
    before, after = evaluate(late, world()), evaluate(rewrite.plan, world())
    assert rewrite.kind.holds(before, after)
    assert not before.same_as(after)
    assert (possible_degree(before, "A"), possible_degree(after, "A")) == (2, 1)


def test_gd3_generalizing_last_keeps_k() -> None:
    rewrite = only("GD3", noise(gen(AB, "A", 2), A="1/4"), RL, world())
    assert rewrite.is_allowed
    assert not rewrite.weakens
    assert rewrite.plan is not None
    assert possible_degree(evaluate(rewrite.plan, world()), "A") == 2


def test_gd4_full_noise_forgets_the_generalization() -> None:
    plan = noise(gen(AB, "A", 2), A="1")
    rewrite = only("GD4", plan, LR, world())
    assert rewrite.is_allowed
    assert rewrite.plan == noise(AB, A="1")
    assert same(rewrite, plan, world())


@pytest.mark.parametrize(("chance", "dynamic"), [("3/4", False), ("1", True)])
def test_gd4_is_refused_where_something_of_the_old_value_is_left(chance: str, dynamic: bool) -> None:
    plan = noise(gen(AB, "A", 2), A=chance)
    rewrite = only("GD4", plan, LR, world(dynamic=dynamic))
    assert not rewrite.is_allowed
    assert not same(rewrite, plan, world(dynamic=dynamic))


def test_gd4_needs_all_generalized_columns_drawn_anew() -> None:
    """The levels of A depend on B too, so fresh values of B alone leave a trace of the generalization."""
    plan = noise(gen(AB, "AB", 2), B="1")
    rewrite = only("GD4", plan, LR, world())
    assert not rewrite.is_allowed
    assert not same(rewrite, plan, world())


def test_gs1_inside_one_set_the_levels_are_the_same() -> None:
    late, early = gen(cut(AB, "A", "B"), "A", 2), cut(gen(AB, "A", 2), "A", "B")
    here = world(bucket=4)
    assert only("GS1", late, LR, here).plan == early
    assert only("GS1", early, RL, here).plan == late
    assert same(only("GS1", late, LR, here), late, here)


def test_gs1_is_refused_across_sets_where_it_would_be_wrong() -> None:
    late = gen(cut(AB, "A", "B"), "AB", 2)
    rewrite = only("GS1", late, LR, world(bucket=4))
    assert rewrite.refused == ("X lies in one correlation set",)
    assert not same(rewrite, late, world(bucket=4))


def test_gs2_slicing_through_generalized_columns_tears_classes() -> None:
    late = gen(cut(AB, "A", "B"), "AB", 2)
    rewrite = only("GS2", late, LR, world(bucket=4))
    assert rewrite.weakens
    assert rewrite.plan is not None
    before, after = evaluate(late, world(bucket=4)), evaluate(rewrite.plan, world(bucket=4))
    assert rewrite.kind.holds(before, after)
    assert (possible_degree(before, "AB"), possible_degree(after, "AB")) == (2, 1)
    assert possible_degree(after, "A") == 2, "each part of X by itself stays k-anonymous"
    back = only("GS2", rewrite.plan, RL, world(bucket=4))
    assert back.is_allowed
    assert back.plan == late


def test_sd1_needs_no_condition_at_all() -> None:
    rule = BETWEEN["SD1"]
    assert rule.conditions == rule.corrections == rule.assumes == ()
    late = cut(noise(ABC, A="1/4", B="1/2"), "AC", "B")
    here = World({"r": (("1", "x", "x"), ("4", "y", "x"))}, {}, {"A": DRIFT, "B": COIN})
    assert same(only("SD1", late, LR, here), late, here)


def test_sd2_drops_sets_that_are_drawn_anew() -> None:
    three = noise(cut(ABC, "A", "B", "C"), A="1")
    here = World({"r": (("1", "x", "x"), ("4", "y", "y"))}, {}, {"A": DIE, "B": COIN, "C": COIN})
    rewrite = only("SD2", three, LR, here)
    assert rewrite.plan == noise(cut(ABC, "AB", "C"), A="1")
    assert rewrite.kind == EQUAL
    assert same(rewrite, three, here)
    two = noise(cut(AB, "A", "B"), A="1")
    removed = only("SD2", two, LR, world(FOUR[1:3]))
    assert removed.plan == noise(AB, A="1")
    assert removed.kind == BAG_EQUAL, "a slicing above would notice the order"
    assert same(removed, two, world(FOUR[1:3]))


@pytest.mark.parametrize(("chance", "dynamic"), [("3/4", False), ("1", True)])
def test_sd2_is_refused_where_something_of_the_old_value_is_left(chance: str, dynamic: bool) -> None:
    plan = noise(cut(AB, "A", "B"), A=chance)
    here = world(FOUR[1:3], dynamic=dynamic)
    assert not only("SD2", plan, LR, here).is_allowed
    assert not evaluate(plan, here).same_as(evaluate(noise(AB, A=chance), here))


REPLACED = {
    "GD5": noise(gen(AB, "A", 2), A="1/4"),
    "GD6": gen(noise(AB, A="1/4"), "A", 2),
    "GS3": cut(gen(AB, "A", 2), "A", "B"),
    "GS4": gen(cut(AB, "A", "B"), "A", 2),
    "SD3": noise(cut(AB, "A", "B"), A="1/4"),
    "SD4": cut(noise(AB, A="1/4"), "A", "B"),
}


@pytest.mark.parametrize("name", REPLACED)
def test_no_anonymization_replaces_another(name: str) -> None:
    """The attacker looks at what the remaining operator leaves exact."""
    rows = (FOUR[0], FOUR[3]) if name.startswith("SD") else FOUR
    here = world(rows, bucket=len(rows))
    rewrite = only(name, REPLACED[name], LR, here)
    assert not rewrite.is_allowed
    assert rewrite.refused
    assert not same(rewrite, REPLACED[name], here)


def test_what_is_not_known_of_noise_is_not_guessed() -> None:
    for name, plan in (("GD4", noise(gen(AB, "A", 2), A="1")), ("SD2", noise(cut(AB, "A", "B"), A="1"))):
        (rewrite,) = BETWEEN[name].considered(plan, LR, DeclaredFacts())
        assert not rewrite.is_allowed


def test_the_operators_really_are_different_ones() -> None:
    for rule in BETWEEN:
        for example in rule.examples:
            kinds = {type(node) for node in example.walk()} - {Relation}
            assert len(kinds & {Generalization, SlicingNode, Randomization}) == 2
