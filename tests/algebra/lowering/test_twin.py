"""The twin itself against the exact distributions: what it draws can happen, and happens as often as it should."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from scipy.stats import chisquare

from tarnkappe.algebra.distribution import OutcomeDistribution, as_bag
from tarnkappe.algebra.nodes import Plan, Randomization, SlicingNode
from tarnkappe.algebra.noise import Static
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.algebra.world import World
from tarnkappe.errors import TarnkappeError
from tests.algebra.lowering.small_worlds import ALL, HIERARCHIES, KEYS, STEPS, TABLES, random_plans
from tests.algebra.lowering.twin import Twin

COIN = Static({"u": Fraction(1, 3), "v": Fraction(2, 3)})
TINY = World(
    {
        "r": (("u", "v", "w"), ("u", "w", None), ("v", "u", "w")),
        "s": (("u", "v", "w"), ("w", "w", "u")),
        "t": (("w", "u"), ("w", "v")),
    },
    HIERARCHIES,
    dict.fromkeys(("a", "b", "select"), COIN) | {"alter": STEPS},
)


def tame(plan: Plan) -> Plan:
    """With noise in one column at most, so that all results can be listed."""
    plan = plan.with_children(*map(tame, plan.children))
    return replace(plan, probabilities=plan.probabilities[:1]) if isinstance(plan, Randomization) else plan


def canonical(result: OutcomeDistribution) -> dict[object, Fraction]:
    return {as_bag(rows): chance for rows, chance in result}


@settings(max_examples=80)
@given(random_plans([*ALL, "generalization", "slicing", "slicing", "randomization"], 3).map(tame))
def test_what_the_twin_draws_can_happen(plan: Plan) -> None:
    assume(sum(isinstance(node, SlicingNode | Randomization) for node in plan.walk()) in (1, 2))
    assume(sum(isinstance(node, Randomization) for node in plan.walk()) <= 1)
    try:
        drawn = [Twin(TINY, key).rows(plan) for key in KEYS[:2]]
    except TarnkappeError:
        return
    assume(max(map(len, drawn)) <= 6)
    possible = canonical(evaluate(plan, TINY))
    for rows in drawn:
        assert as_bag(row for _, row in rows) in possible


PLANS = [
    "SELECT a, b FROM slice((SELECT a, b FROM r UNION ALL SELECT a, b FROM s), groups => [[a], [b]])",
    "SELECT a FROM randomize(r, probability => {a: 1/2}) INTERSECT ALL SELECT a FROM s",
    "SELECT a FROM randomize(r, probability => {a: 1/3}) UNION ALL SELECT a FROM randomize(r, probability => {a: 1/3})",
    'SELECT "select" FROM randomize((SELECT "select" FROM r NATURAL JOIN t), probability => {"select": 1/2})',
    "SELECT alter FROM randomize(randomize(s, probability => {alter: 1/2}), probability => {alter: 3/4})",
    "SELECT a, b FROM slice(randomize((SELECT a, b FROM r), probability => {a: 1/2}), groups => [[a], [b]])",
    "SELECT DISTINCT a FROM randomize(r, probability => {a: 0.9})",
]


@pytest.mark.parametrize("text", PLANS)
def test_the_twin_draws_as_often_as_it_should(text: str) -> None:
    plan = read_sql(text, TABLES).plan
    expected = canonical(evaluate(plan, TINY))
    number = 1500
    keys = (hashlib.sha256(f"{text} {n}".encode()).digest() for n in range(number))
    found = Counter(as_bag(row for _, row in Twin(TINY, key).rows(plan)) for key in keys)
    assert set(found) <= set(expected)
    likely = sorted(expected, key=lambda rows: -expected[rows])
    frequent = [rows for rows in likely if float(expected[rows]) * number >= 5]
    rest = 1 - sum(expected[rows] for rows in frequent)
    observed = [found[rows] for rows in frequent]
    counts = [*observed, number - sum(observed)] if rest else observed
    chances = [*(expected[rows] for rows in frequent), *([rest] if rest else [])]
    assert len(counts) > 1
    assert chisquare(counts, [float(chance) * number for chance in chances]).pvalue > 0.001
