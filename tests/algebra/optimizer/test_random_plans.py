"""Rewriting random plans: results, promises and the end of the search, checked by exact enumeration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.distribution import OutcomeDistribution
from tarnkappe.algebra.expressions import Literal
from tarnkappe.algebra.facts import DeclaredFacts, Facts, MeasuredFacts
from tarnkappe.algebra.nodes import (
    Anonymization,
    Generalization,
    Join,
    Plan,
    Randomization,
    Relation,
    SlicingNode,
    draws_at_random,
)
from tarnkappe.algebra.optimizer import rewrite
from tarnkappe.algebra.optimizer.moves import RUN
from tarnkappe.algebra.optimizer.places import at, places, replaced
from tarnkappe.algebra.promises import promises
from tarnkappe.algebra.semantics import evaluate, possible_degree
from tarnkappe.algebra.space import WorldSpace
from tarnkappe.algebra.statistics import ColumnStatistics, RelationStatistics, Statistics
from tarnkappe.algebra.world import World
from tarnkappe.errors import HierarchyError, NoSolutionError
from tests.algebra.optimizer.measure import measure
from tests.algebra.random_plans import Catalogue, plans

SMALL = {"r": ("A", "B"), "s": ("A", "B"), "t": ("B", "C")}
OPERATORS = [
    *("projection", "selection", "union", "generalization", "generalization", "slicing", "slicing"),
    *("randomization", "randomization", "join", "difference", "intersection", "rename"),
]
LITERALS = st.sampled_from(["v1", "v2"]).map(Literal)
CHANCES = [Fraction(1, 4), Fraction(1, 2), Fraction(1)]
MOST_CHOICES = 16
"""Cells that chance may move or change, so that the results can be enumerated."""


@st.composite
def small_plans(
    draw: st.DrawFn,
    depth: int = 4,
    relations: Catalogue = SMALL,
    literals: st.SearchStrategy[Literal] = LITERALS,
    operators: Sequence[str] = OPERATORS,
) -> Plan:
    """Plans whose parameters fit small relations, and whose operators rarely do nothing."""
    plan = draw(plans(relations, depth, literals, operators))
    for path, _ in list(places(plan)):
        plan = replaced(plan, path, _with_effect(draw, at(plan, path)))
    return plan


def _with_effect(draw: st.DrawFn, node: Plan) -> Plan:
    if not isinstance(node, Anonymization):
        return node
    columns = list(node.child.columns)
    some = st.lists(st.sampled_from(columns), min_size=1, unique=True)
    match node:
        case Generalization():
            return Generalization(node.child, tuple(draw(some)), draw(st.sampled_from([2, 2, 3, 1])))
        case Randomization():
            chances = ((column, draw(st.sampled_from(CHANCES))) for column in draw(some))
            return Randomization(node.child, tuple(chances))
        case SlicingNode() if len(node.groups) == 1 and len(columns) > 1:
            return SlicingNode(node.child, (tuple(columns[:1]), tuple(columns[1:])))
    return node


@st.composite
def worlds(draw: st.DrawFn, plan: Plan) -> World:
    """Small relations for a plan."""
    dynamic = draw(st.sets(st.sampled_from("ABC")))
    space = WorldSpace.of(plan, worlds=1, dynamic=dynamic, bucket=2, stable_buckets=draw(st.booleans()))
    relations = {}
    for node in plan.walk():
        if isinstance(node, Relation):
            row = st.tuples(*(st.sampled_from(space.domains[column]) for column in node.columns))
            relations.setdefault(node.name, tuple(draw(st.lists(row, min_size=2, max_size=3))))
    return World(relations, space.hierarchies, space.noise, space.bucket, space.stable_buckets)


@st.composite
def situations(draw: st.DrawFn) -> tuple[Plan, World, Facts, Statistics, int]:
    """A plan that can run, what is known, and what a cost model reads."""
    plan = draw(small_plans())
    assume(any(isinstance(node, Anonymization) for node in plan.walk()))
    world = draw(worlds(plan))
    assume(choices(plan, world) <= MOST_CHOICES)
    assume(result(plan, world) is not None)
    counts = {name: len(rows) for name, rows in world.relations.items()}
    static = {column for column, noise in world.noise.items() if noise.is_static}
    declared = DeclaredFacts(rows=counts, static_noise=static, bucket=world.bucket)
    facts = draw(st.sampled_from([declared, MeasuredFacts(world)]))
    statistics = {
        name: RelationStatistics(
            draw(st.sampled_from([None, 10, 10**6])),
            {"B": ColumnStatistics(draw(st.sampled_from([None, 2, 1000])))},
        )
        for name in SMALL
    }
    return plan, world, facts, statistics, draw(st.sampled_from([1, 2, 8]))


def choices(plan: Plan, world: World) -> int:
    """About how many cells chance decides."""
    below = sum(choices(child, world) for child in plan.children)
    match plan:
        case Randomization(child, probabilities):
            return below + most_rows(child, world) * len(probabilities)
        case SlicingNode(child, groups):
            return below + most_rows(child, world) * (len(groups) - 1)
    return below


def most_rows(plan: Plan, world: World) -> int:
    if isinstance(plan, Relation):
        return len(world.rows(plan.name))
    rows = [most_rows(child, world) for child in plan.children]
    return math.prod(rows) if isinstance(plan, Join) else sum(rows)


def result(plan: Plan, world: World) -> OutcomeDistribution | None:
    try:
        return evaluate(plan, world)
    except (NoSolutionError, HierarchyError):  # too few rows, or a name that came to mean other values
        return None


@given(situations())
@settings(max_examples=100)
def test_strict_rewriting_never_changes_the_distribution_of_results(
    situation: tuple[Plan, World, Facts, Statistics, int],
) -> None:
    plan, world, facts, statistics, parallelism = situation
    rewriting = rewrite(plan, "strict", facts, statistics, parallelism=parallelism)
    before, after = result(plan, world), result(rewriting.plan, world)
    assert rewriting.kind.is_equal
    assert before is not None
    assert after is not None
    assert before.same_as(after)
    assert rewriting.cost_after <= rewriting.cost_before


@given(situations())
@settings(max_examples=100)
def test_relaxed_rewriting_keeps_its_kind_and_every_promise(
    situation: tuple[Plan, World, Facts, Statistics, int],
) -> None:
    """The attacker counts the rows that share his victim's released values."""
    plan, world, facts, statistics, parallelism = situation
    rewriting = rewrite(plan, "relaxed", facts, statistics, parallelism=parallelism)
    before, after = result(plan, world), result(rewriting.plan, world)
    assert before is not None
    assert after is not None
    assert rewriting.kind.holds(before, after)
    for promise in promises(plan):
        degree = possible_degree(after, promise.columns)
        assert degree is None or degree >= promise.k
    assert not any(step.weakens for step in rewriting.steps)


@given(small_plans(5), st.sampled_from(["strict", "relaxed"]), st.sampled_from([1, 4]))
@settings(max_examples=100)
def test_rewriting_ends_replays_and_has_nothing_left_to_do(plan: Plan, mode: str, parallelism: int) -> None:
    facts = DeclaredFacts(rows=dict.fromkeys(SMALL, 100), static_noise="ABC", bucket=2, stable_buckets=True)
    rewriting = rewrite(plan, mode, facts, {}, parallelism=parallelism, effort=2000)
    replayed = plan
    for step in rewriting.steps:
        assert at(replayed, step.path) == step.before
        replayed = replaced(replayed, step.path, step.after)
    assert replayed == rewriting.plan
    mixed = {type(node) for node in plan.walk()} >= {Generalization, SlicingNode}
    if rewriting.is_complete and not (mode == "relaxed" and mixed):
        again = rewrite(rewriting.plan, mode, facts, {}, parallelism=parallelism, effort=2000)
        assert again.steps == ()


@given(small_plans(4))
@settings(max_examples=100)
def test_every_move_lowers_the_measure_and_swaps_keep_it(plan: Plan) -> None:
    facts = DeclaredFacts(rows=dict.fromkeys(SMALL, 100), static_noise="ABC", bucket=2, stable_buckets=True)
    for node in plan.walk():
        for move in RUN:
            for made in move.made(node, facts):
                assert type(node) is move.root
                if made.plan == node:
                    continue
                assert measure(made.plan) <= measure(node), move.name
                assert move.is_swap or measure(made.plan) < measure(node), move.name
    for part in plan.children:
        assert measure(part) < measure(plan)


def test_random_plans_reach_all_three_operators() -> None:
    """The properties above would be empty if nothing random or general came up."""
    found = set()

    @given(small_plans())
    @settings(max_examples=60, database=None)
    def collect(plan: Plan) -> None:
        found.update(type(node) for node in plan.walk() if isinstance(node, Anonymization))
        found.add(draws_at_random(plan))

    collect()
    assert found >= {Generalization, SlicingNode, Randomization, True, False}
