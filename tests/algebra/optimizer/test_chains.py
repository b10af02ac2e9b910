"""The worked chains of rewriting, found by the optimizer itself, and partitioned generalization."""

from __future__ import annotations

import pytest

from tarnkappe.algebra.expressions import ColumnRef, ComparisonPredicate, Literal
from tarnkappe.algebra.facts import DeclaredFacts
from tarnkappe.algebra.kinds import EQUAL, PartialGeneralization, PartialSlicing
from tarnkappe.algebra.nodes import Generalization, Join, Plan, Relation, Selection, Union
from tarnkappe.algebra.optimizer import Rewriting, rewrite
from tarnkappe.algebra.rules.samples import cut, gen, noise, onto, where
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.statistics import ColumnStatistics, RelationStatistics
from tests.algebra.blood import EXAMPLES, rows, world

R1, R2 = Relation("r1", tuple("ABCD")), Relation("r2", tuple("ABCD"))
STATISTICS = {
    name: RelationStatistics(10_000, {column: ColumnStatistics(6) for column in "ABCD"})
    for name in ("r", "r1", "r2")
}
FACTS = DeclaredFacts(rows={"r1": 10_000, "r2": 10_000}, static_noise="ABC", bucket=3, stable_buckets=True)


def rewritten(plan: Plan, mode: str, parallelism: int = 2, facts: DeclaredFacts = FACTS) -> Rewriting:
    return rewrite(plan, mode, facts, STATISTICS, parallelism=parallelism)


def names(rewriting: Rewriting) -> list[str]:
    return [step.rule for step in rewriting.steps]


@pytest.mark.parametrize("mode", ["strict", "relaxed"])
def test_first_chain_project_then_noise_the_parts(mode: str) -> None:
    found = rewritten(onto(noise(Union(R1, R2), A="0.16", B="0.5", C="0.16"), "AB"), mode)
    parts = (noise(onto(part, "AB"), A="0.16", B="0.5") for part in (R1, R2))
    assert found.plan == Union(*parts)
    assert names(found) == ["D9", "ProjUnion", "D12"]
    assert found.kind == EQUAL


def test_second_chain_generalize_fewer_columns_of_the_parts() -> None:
    found = rewritten(onto(gen(Union(R1, R2), "AC", 3), "AB"), "relaxed")
    assert found.plan == Union(*(gen(onto(part, "AB"), "A", 3) for part in (R1, R2)))
    assert names(found) == ["G13", "ProjUnion", "G15"]
    assert found.kind == PartialGeneralization(frozenset("A"))


def test_third_chain_is_the_second_in_strict_mode() -> None:
    found = rewritten(onto(gen(Union(R1, R2), "AC", 3), "AB"), "strict")
    assert found.plan == onto(gen(Union(onto(R1, "ABC"), onto(R2, "ABC")), "AC", 3), "AB")
    assert names(found) == ["G12", "ProjUnion"]
    assert found.kind == EQUAL


def test_third_chain_inserts_nothing_where_no_column_is_dropped() -> None:
    parts = Relation("r1", tuple("ABC")), Relation("r2", tuple("ABC"))
    assert rewritten(onto(gen(Union(*parts), "AC", 3), "AB"), "strict").steps == ()


def test_fourth_chain_merge_slicings_then_slice_the_parts() -> None:
    parts = Relation("r1", tuple("BCD")), Relation("r2", tuple("BCD"))
    found = rewritten(cut(cut(Union(*parts), "B", "CD"), "BC", "D"), "relaxed")
    assert found.plan == Union(*(cut(part, "B", "C", "D") for part in parts))
    assert names(found) == ["S3", "S8"]
    assert found.kind == PartialSlicing(frozenset(map(frozenset, "BCD")))


def test_fifth_chain_swaps_noise_that_greedy_merging_would_have_blocked() -> None:
    r1 = Relation("r1", ("A", "B"))
    found = rewritten(where(noise(noise(r1, A="0.5"), B="0.2"), "B", "A0"), "strict")
    assert found.plan == noise(where(noise(r1, B="0.2"), "B", "A0"), A="0.5")
    assert names(found) == ["D5", "D11"]
    assert found.steps[0].way == "swap"
    assert found.kind == EQUAL


def test_fifth_chain_splits_noise_that_was_merged_before() -> None:
    r1 = Relation("r1", ("A", "B"))
    found = rewritten(where(noise(r1, A="0.5", B="0.2"), "B", "A0"), "strict")
    assert found.plan == noise(where(noise(r1, B="0.2"), "B", "A0"), A="0.5")
    assert [(step.rule, step.way.value) for step in found.steps] == [("D5", "rl"), ("D11", "rl")]


def test_sixth_chain_is_blocked_with_both_reasons() -> None:
    plan = Selection(gen(Union(R1, R2), "A", 2), ComparisonPredicate("=", ColumnRef("A"), Literal("Jan")))
    found = rewritten(plan, "relaxed")
    assert found.plan == plan
    reasons = {(refusal.rule, refusal.path): refusal.reasons for refusal in found.refused}
    assert "not met or not known: F reads no column of X" in reasons["G14", ()]
    (above,) = reasons["G15", (0,)]
    assert "[σ A = 'Jan'] above may read what differs" in above


def test_a_conjunct_passes_where_the_whole_selection_may_not() -> None:
    r1 = Relation("r1", ("A", "B"))
    both = where(where(noise(r1, A="0.5"), "A", "a"), "B", "b")
    found = rewritten(both, "strict")
    assert found.plan == where(noise(where(r1, "B", "b"), A="0.5"), "A", "a")


def test_a_projection_reaches_noise_through_a_selection() -> None:
    found = rewritten(onto(where(noise(R1, A="0.5", C="0.5"), "A", "a"), "AB"), "strict")
    assert "SelProjHelper" in names(found)
    assert noise(onto(R1, "AB"), A="0.5") in set(found.plan.walk())


def test_noise_sinks_through_a_generalization_to_the_parts() -> None:
    """A rule between two operators opens the way for one of the distributed techniques."""
    found = rewritten(noise(gen(Union(R1, R2), "A", 3), B="0.5"), "strict")
    assert names(found) == ["GD1", "D12"]
    assert found.plan == gen(Union(noise(R1, B="0.5"), noise(R2, B="0.5")), "A", 3)


LEFT, RIGHT = Relation("r1", ("A", "ID")), Relation("r2", ("B", "ID"))
KEYS = {"r1": [frozenset({"ID"})], "r2": [frozenset({"ID"})]}
VERTICAL = DeclaredFacts(
    rows={"r1": 10_000, "r2": 10_000},
    keys=KEYS,
    inclusions=[("r1", "r2", frozenset({"ID"})), ("r2", "r1", frozenset({"ID"}))],
    orders=[(frozenset({"r1", "r2"}), frozenset({"ID"}))],
    static_noise="AB",
    bucket=3,
)
JOINED = onto(Join(LEFT, RIGHT), "AB")


@pytest.mark.parametrize(
    ("plan", "rule", "parallel"),
    [
        (noise(Union(R1, R2), A="0.5"), "D12", True),
        (cut(Union(R1, R2), "AB", "CD"), "S8", True),
        (gen(Union(R1, R2), "A", 3), "G15", True),
        (noise(JOINED, A="0.5", B="0.5"), "D13", True),
        (cut(JOINED, "A", "B"), "S9", True),
        (gen(JOINED, "A", 3), "G17", False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_distributed_techniques_are_chosen_and_marked_as_parallel_where_they_are(
    plan: Plan, rule: str, parallel: bool
) -> None:
    """Horizontal cuts of 9,999 rows fall on a border of buckets of 3 in neither part; S8 stays partial."""
    facts = VERTICAL if rule in ("D13", "S9", "G17") else FACTS
    found = rewritten(plan, "relaxed", 2, facts)
    assert names(found) == [rule]
    assert found.cost_after <= found.cost_before
    assert [each.techniques for each in found.partitions] == ([(rule,)] if parallel else [])


def test_g16_anonymizes_early_only_if_the_user_says_so() -> None:
    """It does not parallelize, and the degree after the join cannot be read from the plan."""
    many = DeclaredFacts(rows={"r1": 100, "r2": 10_000}, inclusions=VERTICAL.inclusions, bucket=3)
    plan = gen(Join(LEFT, RIGHT), "A", 3)
    relaxed = rewrite(plan, "relaxed", many, STATISTICS)
    assert relaxed.plan == plan
    assert any(r.rule == "G16" and "not known from the plan" in r.reasons[0] for r in relaxed.refused)
    explicit = rewrite(plan, "explicit", many, STATISTICS, rules=["G16.lr"])
    assert explicit.plan == Join(gen(LEFT, "A", 3), RIGHT)


def test_parts_smaller_than_k_or_a_bucket_are_never_anonymized_by_themselves() -> None:
    few = DeclaredFacts(rows={"r1": 10_000, "r2": 2}, bucket=3)
    for plan, rule, reason in (
        (gen(Union(R1, R2), "A", 3), "G15", "both parts have at least k rows"),
        (cut(Union(R1, R2), "AB", "CD"), "S8", "both parts are known to fill a bucket"),
    ):
        found = rewritten(plan, "relaxed", 8, few)
        assert found.plan == plan
        (refusal,) = [each for each in found.refused if each.rule == rule]
        assert refusal.reasons == (f"not met or not known: {reason}",)


@pytest.mark.parametrize("case", EXAMPLES["appendixA"]["cases"], ids=lambda case: f"figure {case['fig']}")
def test_the_partitioned_plan_gives_the_published_levels(case: dict[str, list[str]]) -> None:
    """How levels of the parts relate to those of the whole: five of six cases exist."""
    first, second = Relation("r1", ("A",)), Relation("r2", ("A",))
    whole = gen(Union(first, second), "A", 2)
    known = DeclaredFacts(rows={"r1": len(case["P1"]), "r2": len(case["P2"])})
    found = rewritten(whole, "relaxed", 2, known)
    assert names(found) == ["G15"]
    here = world(r1=rows([day] for day in case["P1"]), r2=rows([day] for day in case["P2"]))
    assert _labels(whole, here) == sorted(case["g"])
    assert _labels(found.plan, here) == sorted(case["g1"] + case["g2"])


def test_two_columns_can_be_finer_in_both_parts() -> None:
    example = EXAMPLES["appendixA-two-attributes"]
    first, second = Relation("r1", ("A", "C")), Relation("r2", ("A", "C"))
    whole = Generalization(Union(first, second), ("A", "C"), 2)
    found = rewritten(whole, "relaxed", 2, DeclaredFacts(rows={"r1": 2, "r2": 2}))
    here = world(r1=rows(example["P1"]), r2=rows(example["P2"]))
    ((parts, _),) = evaluate(found.plan, here)
    assert sorted(parts) == sorted(rows(example["g1"] + example["g2"]))
    ((together, _),) = evaluate(whole, here)
    assert sorted(together) == sorted(rows(example["g"]))


def _labels(plan: Plan, here) -> list[str]:  # type: ignore[no-untyped-def]
    ((result, _),) = evaluate(plan, here)
    return sorted(row[0] for row in result)
