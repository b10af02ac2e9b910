"""What a rewriting tells: every step with its proof, every refusal with its reason; and what it never does."""

from __future__ import annotations

import json

import pytest

from tarnkappe.algebra.facts import DeclaredFacts
from tarnkappe.algebra.kinds import EQUAL
from tarnkappe.algebra.nodes import Plan, Relation, Union
from tarnkappe.algebra.optimizer import RewriteMode, rewrite
from tarnkappe.algebra.optimizer.cost import CardinalityEstimator
from tarnkappe.algebra.optimizer.log import RecordingFacts
from tarnkappe.algebra.optimizer.memo import Memo
from tarnkappe.algebra.optimizer.moves import RUN, strict_run
from tarnkappe.algebra.optimizer.places import at, replaced
from tarnkappe.algebra.proof import starts
from tarnkappe.algebra.rules import ALL_RULES, LR, RL
from tarnkappe.algebra.rules.samples import AB, ABC, R1, R2, cut, gen, noise, onto, where
from tarnkappe.algebra.statistics import ColumnStatistics, RelationStatistics
from tarnkappe.errors import ParameterError
from tests.algebra.optimizer.measure import measure

KNOWN = DeclaredFacts(
    rows={"r": 100, "r1": 100, "r2": 100}, static_noise="ABC", bucket=3, stable_buckets=True
)
INVERSE = [
    {("D8", LR), ("D9", RL)},
    {("S4", LR), ("S5", RL)},
    {("G9", LR), ("G10", RL)},
    {("D5", LR), ("D5", RL)},
    {("SelSel", LR), ("SelSel", RL)},
]
SINGLE = [(move.parts[0][0], move.parts[0][1]) for move in RUN if len(move.parts) == 1]


def test_no_rule_and_its_inverse_are_in_one_run() -> None:
    used = {(rule.name, way) for rule, way in SINGLE}
    assert not any(pair <= used for pair in INVERSE)
    swaps = {move.parts[0][0].name for move in RUN if move.is_swap}
    assert swaps == {"D5", "GD1", "GS1", "SD1"}
    for name, way in used:
        other = {LR: RL, RL: LR}.get(way)
        assert (name, other) not in used or name in swaps


def test_a_run_uses_every_rule_that_brings_a_plan_forward() -> None:
    """Left out are the exchanges that go the other way, splits, and what no one should do unasked."""
    used = {rule.name for move in RUN for rule, _, _ in move.parts}
    left_out = {rule.name for rule in ALL_RULES if rule.kind != "noneq"} - used
    assert left_out == {"G9", "S4", "D8", "GD2", "GD3", "GS2"}


@pytest.mark.parametrize("move", RUN, ids=lambda move: move.name)
def test_every_move_lowers_the_measure_on_the_examples_of_its_rules(move) -> None:  # type: ignore[no-untyped-def]
    rule, way, _ = move.parts[0]
    for start_way, plan in starts(rule):
        if start_way != way:
            continue
        for made in move.made(plan, KNOWN):
            if made.plan != plan:
                assert measure(made.plan) <= measure(plan)
                assert move.is_swap or measure(made.plan) < measure(plan)


def test_the_measure_falls_for_parts_of_a_plan() -> None:
    plan: Plan = onto(where(noise(gen(Union(R1, R2), "A", 2), B="1/4"), "A", "a"), "A")
    while plan.children:
        assert measure(plan.children[0]) < measure(plan)
        plan = plan.children[0]


def test_the_steps_lead_from_the_plan_as_written_to_the_plan_to_run() -> None:
    plan = where(onto(noise(Union(R1, R2), A="1/4"), "AB"), "B", "b")
    found = rewrite(plan, "strict", KNOWN, {}, parallelism=2)
    assert found.steps
    here: Plan = plan
    cost = found.cost_before
    for step in found.steps:
        assert at(here, step.path) == step.before
        assert step.cost_before == cost
        here, cost = replaced(here, step.path, step.after), step.cost_after
    assert here == found.plan
    assert cost == found.cost_after


def test_a_step_says_which_conditions_were_checked_and_how() -> None:
    found = rewrite(gen(Union(R1, R2), "A", 3), RewriteMode.RELAXED, KNOWN, {}, parallelism=2)
    (step,) = found.steps
    assert step.rule == "G15"
    assert step.conditions == ("both parts have at least k rows",)
    assert step.checked == ("least rows of [r1]: 100", "least rows of [r2]: 100")
    assert str(step.kind) == "partially equal outside {A}"
    assert "known: least rows of [r1]: 100" in str(step)


def test_what_was_considered_and_refused_is_told_with_the_reason() -> None:
    found = rewrite(gen(where(AB, "A", "a"), "A", 3), "strict", KNOWN, {})
    assert found.steps == ()
    late = rewrite(where(gen(AB, "B", 3), "A", "a"), "relaxed", KNOWN, {})
    (refusal,) = [each for each in late.refused if each.rule == "G14"]
    assert refusal.reasons == ("not met or not known: at least k rows are selected",)
    counted = DeclaredFacts(rows={"r": 100}, counted={where(AB, "A", "a"): 50})
    strict = rewrite(where(gen(AB, "B", 3), "A", "a"), "strict", counted, {})
    (refusal,) = [each for each in strict.refused if each.rule == "G14"]
    assert refusal.reasons == ("strict mode takes equal plans only, and this is partially equal outside {B}",)
    relaxed = rewrite(where(gen(AB, "B", 3), "A", "a"), "relaxed", counted, {})
    (refusal,) = [each for each in relaxed.refused if each.rule == "G14"]
    assert refusal.reasons[0].startswith("too little is saved to give up equality")
    selective = {"r": RelationStatistics(100, {"A": ColumnStatistics(2)})}
    assert rewrite(where(gen(AB, "B", 3), "A", "a"), "relaxed", counted, selective).plan == gen(
        where(AB, "A", "a"), "B", 3
    )


def test_exchanges_that_never_hold_are_answered_unasked() -> None:
    found = rewrite(where(cut(AB, "A", "B"), "A", "a"), "strict", KNOWN, {})
    (refusal,) = [each for each in found.refused if each.rule == "S7"]
    assert " ".join(ALL_RULES["S7"].reason.split()) in refusal.reasons


def test_a_rewrite_that_would_not_pay_says_so() -> None:
    apart = noise(where(noise(AB, B="1/4"), "B", "b"), A="1/2")
    found = rewrite(gen(noise(AB, B="1/4"), "A", 3), "strict", KNOWN, {})
    assert found.steps == ()
    (refusal,) = [each for each in found.refused if each.rule == "GD1"]
    assert "would not pay" in refusal.reasons[0]
    assert rewrite(apart, "strict", KNOWN, {}).plan == apart


def test_equality_is_not_sold_cheaply() -> None:
    """Slicing two parts sorts a little less than slicing the whole, but not enough to give up equality."""
    plan = cut(Union(R1, R2), "A", "B")
    assert rewrite(plan, "relaxed", KNOWN, {}, parallelism=1).plan == plan
    assert rewrite(plan, "relaxed", KNOWN, {}, parallelism=2).plan != plan


def test_an_order_that_a_slicing_reads_is_not_changed() -> None:
    """S6 is equal as a bag only, and a slicing above cuts its buckets by positions."""
    inner = onto(cut(ABC, "A", "BC"), "BC")
    assert rewrite(inner, "strict", KNOWN, {}).plan == onto(ABC, "BC")
    below = cut(where(inner, "B", "b"), "B", "C")
    kept = rewrite(below, "strict", KNOWN, {}).plan
    assert any(node == cut(ABC, "A", "BC") or node == inner for node in kept.walk())


def test_generalization_and_slicing_are_never_both_given_up() -> None:
    """Their partial equalities have no common notion, so a plan may take one of them, not both."""
    generalized = onto(gen(gen(Union(R1, R2), "AB", 2), "AB", 3), "AB")
    sliced = cut(Union(R1, R2), "A", "B")
    found = rewrite(Union(generalized, sliced), "relaxed", KNOWN, {}, parallelism=4)
    families = {step.rule[0] for step in found.steps if not step.kind.is_equal}
    assert len(families) == 1


def test_a_distinct_projection_is_passed_by_removals_only() -> None:
    for plan in (noise(ABC, A="1/4"), gen(ABC, "A", 3), cut(ABC, "A", "BC")):
        shown = onto(plan, "AB", distinct=True)
        found = rewrite(shown, "relaxed", KNOWN, {})
        assert all(step.rule == "G12" for step in found.steps)
        hidden = rewrite(onto(plan, "B", distinct=True), "strict", KNOWN, {})
        assert hidden.plan == onto(ABC, "B", distinct=True)


def test_a_rewriting_is_machine_readable() -> None:
    found = rewrite(gen(Union(R1, R2), "A", 3), "relaxed", KNOWN, {}, parallelism=2)
    told = json.loads(json.dumps(found.as_dict()))
    assert told["steps"][0]["rule"] == "G15"
    assert told["steps"][0]["path"] == "/"
    assert told["partitions"] == [{"path": "/", "parts": ["/0", "/1"], "techniques": ["G15"]}]
    assert told["cost_after"] < told["cost_before"]


def test_a_plan_without_anything_to_do_stays() -> None:
    found = rewrite(Relation("r", ("A",)), "relaxed", KNOWN, {})
    assert (found.plan, found.steps, found.refused, found.kind) == (found.original, (), (), EQUAL)


def test_the_effort_is_limited_and_the_result_says_so() -> None:
    plan: Plan = AB
    for number in range(6):
        plan = where(noise(plan, A="1/4") if number % 2 else plan, "B", f"b{number}")
    assert rewrite(plan, "strict", KNOWN, {}).is_complete
    hurried = rewrite(plan, "strict", KNOWN, {}, effort=3)
    assert not hurried.is_complete
    assert hurried.kind == EQUAL


@pytest.mark.parametrize(
    ("mode", "rules", "message"),
    [
        ("bold", None, "'bold' is no mode of rewriting; there are strict, relaxed, explicit"),
        ("explicit", None, "explicit mode needs the rules"),
        ("strict", ["D9"], "the other modes take none"),
    ],
)
def test_wrong_use_is_refused(mode: str, rules: list[str] | None, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        rewrite(AB, mode, KNOWN, {}, rules=rules)


def test_strict_mode_asks_no_facts_for_what_it_would_not_do() -> None:
    """Facts may be counted in the data; exploring must not run a query for every plan it looks at."""
    asked = RecordingFacts(DeclaredFacts(rows=KNOWN.rows, bucket=3))
    parts = cut(Union(where(R1, "A", "a"), R2), "A", "B")
    plan = where(where(noise(gen(parts, "A", 3), B="1/4"), "A", "a"), "B", "b")
    Memo(asked, CardinalityEstimator({}), False, strict_run(asked)).group(plan)
    rewrite(plan, "strict", asked, {})
    assert not [question for question in asked.noted if "rows of" in question]
    Memo(asked, CardinalityEstimator({}), True, RUN).group(plan)
    assert [question for question in asked.noted if "rows of" in question]


def test_an_explanation_does_not_tell_how_many_rows_a_condition_selects() -> None:
    """The attacker never runs his query: he only has it explained, and reads the count of his victim's rows."""
    plan = where(gen(AB, "B", 3), "A", "Huber")
    counted = DeclaredFacts(rows={"r": 987_654}, counted={where(AB, "A", "Huber"): 4321})
    selective = {"r": RelationStatistics(987_654, {"A": ColumnStatistics(2)})}
    for mode in ("strict", "relaxed"):
        found = rewrite(plan, mode, counted, selective)
        told = json.dumps(found.as_dict()) + "".join(map(str, (*found.steps, *found.refused)))
        assert "4321" not in told
        assert "4,321" not in told
    (step,) = found.steps
    assert step.checked == ("least rows of [σ A <> 'Huber']: counted, not shown",)


@pytest.mark.parametrize("effort", [5, 50, 500])
def test_a_relaxed_run_that_was_cut_short_is_no_worse_than_a_strict_one(effort: int) -> None:
    plan = onto(where(noise(gen(noise(Union(R1, R2), A="1/4", B="1/4"), "A", 3), B="1/2"), "B", "b"), "A")
    strict = rewrite(plan, "strict", KNOWN, {}, parallelism=2, effort=effort)
    relaxed = rewrite(plan, "relaxed", KNOWN, {}, parallelism=2, effort=effort)
    assert relaxed.cost_after <= strict.cost_after
