"""Randomization and union (D12), join (D13), intersection and difference (D14, D15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL, NOT_EQUAL
from tarnkappe.algebra.nodes import (
    Difference,
    Intersection,
    Join,
    Plan,
    Projection,
    Randomization,
    Union,
)
from tarnkappe.algebra.rules.randomization import randomized
from tarnkappe.algebra.rules.rule import LR, RL, Effect, Rewrite, Way, rule
from tarnkappe.algebra.rules.samples import LEFT_PART, R1, R2, RIGHT_PART, noise, onto
from tarnkappe.algebra.rules.sides import hides

BY_CHANCE = "early noise makes equal rows different and different rows equal, so what remains is chance"


@rule(
    "D12", "DpUnion", "Noise[P](r1∪r2)", "Noise[P](r1)∪Noise[P](r2)", "eq", (LR, RL), Effect.EXCHANGE,
    prefer=LR, shape=("rl: identical P",), assumes=("bag union",),
    examples=(noise(Union(R1, R2), A="1/4"),),
)  # fmt: skip
def d12(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Rows are noised independently, so parts may be noised by themselves, in parallel.

    The union must add multiplicities: a duplicate-eliminating one would drop rows that only noise made
    equal. From right to left both parts must have the same P.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Randomization(Union(r1, r2), p):
            yield Rewrite(Union(Randomization(r1, p), Randomization(r2, p)), EQUAL)
        case Way.RIGHT_TO_LEFT, Union(Randomization(r1, p), Randomization(r2, q)):
            yield Rewrite(Randomization(Union(r1, r2), p), EQUAL, {"both parts have the same P": p == q})


@rule(
    "D13", "DpJoin", "Noise[P1∪P2](Proj[R](r1⋈r2))", "Proj[R](Noise[P1](r1)⋈Noise[P2](r2))", "eq", (LR, RL),
    Effect.EXCHANGE, prefer=LR,
    conditions=("attr(P1)⊆R1\\ID", "attr(P2)⊆R2\\ID", "attr(P1)∩attr(P2)={}", "R=(R1∪R2)\\ID"),
    corrections=("ID unique in both, not noised",),
    examples=(noise(onto(Join(LEFT_PART, RIGHT_PART), "AB"), A="1/4", B="1/3"),),
)  # fmt: skip
def d13(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Columns are noised independently, so vertical parts joined over an un-noised key may be noised apart.

    A row that meets several partners would carry one draw of noise into all of them, where late noise
    draws anew: so the rows of a noised part must meet at most one partner, that is, the join columns are
    unique in the *other* part. Rows without a partner may drop out.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Randomization(Projection(Join(r1, r2) as join, onto, distinct), p):
            noised = {column: chance for column, chance in p if column in onto}
            p1 = {column: chance for column, chance in noised.items() if column in r1.schema}
            p2 = {column: chance for column, chance in noised.items() if column in r2.schema}
            early = Join(randomized(r1, p1) if p1 else r1, randomized(r2, p2) if p2 else r2)
            yield Rewrite(
                Projection(early, onto),
                EQUAL,
                _at_most_one_partner(r1, r2, p1, p2, join, facts) | hides(join, onto, distinct),
            )
        case Way.RIGHT_TO_LEFT, Projection(Join(left, right) as join, onto, distinct):
            r1, p1 = _unwrapped(left)
            r2, p2 = _unwrapped(right)
            if p1 or p2:
                yield Rewrite(
                    randomized(Projection(Join(r1, r2), onto), p1 | p2),
                    EQUAL,
                    _at_most_one_partner(r1, r2, p1, p2, join, facts)
                    | {"no column is noised by both": not set(p1) & set(p2)}
                    | hides(join, onto, distinct),
                )


def _unwrapped(part: Plan) -> tuple[Plan, dict[str, Fraction]]:
    if isinstance(part, Randomization):
        return part.child, {column: p for column, p in part.probabilities if column in part.schema}
    return part, {}


def _at_most_one_partner(
    r1: Plan,
    r2: Plan,
    p1: Mapping[str, Fraction],
    p2: Mapping[str, Fraction],
    join: Join,
    facts: Facts,
) -> dict[str, bool]:
    return {
        "no join column is noised": not join.on & {*p1, *p2},
        "no noised row meets several partners": (
            (not p1 or facts.is_unique(r2, join.on)) and (not p2 or facts.is_unique(r1, join.on))
        ),
    }


@rule(
    "D14", "DpInter", "Noise[P](r1∩r2)", "Noise[P](r1)∩Noise[P](r2)", "noneq", (), Effect.EXCHANGE,
    examples=(noise(Intersection(R1, R2), A="1/4"),),
)  # fmt: skip
def d14(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Early noise makes different rows equal and equal rows different: which and how many meet is chance."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Randomization(Intersection(r1, r2), p):
            early = Intersection(Randomization(r1, p), Randomization(r2, p))
            yield Rewrite(early, NOT_EQUAL, {BY_CHANCE: False})
        case Way.RIGHT_TO_LEFT, Intersection(Randomization(r1, p), Randomization(r2)):
            yield Rewrite(Randomization(Intersection(r1, r2), p), NOT_EQUAL, {BY_CHANCE: False})


@rule(
    "D15", "DpDiff", "Noise[P](r1-r2)", "Noise[P](r1)-Noise[P](r2)", "noneq", (), Effect.EXCHANGE,
    examples=(noise(Difference(R1, R2), A="1/4"),),
)  # fmt: skip
def d15(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """As in D14: which and how many rows cancel is chance."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Randomization(Difference(r1, r2), p):
            early = Difference(Randomization(r1, p), Randomization(r2, p))
            yield Rewrite(early, NOT_EQUAL, {BY_CHANCE: False})
        case Way.RIGHT_TO_LEFT, Difference(Randomization(r1, p), Randomization(r2)):
            yield Rewrite(Randomization(Difference(r1, r2), p), NOT_EQUAL, {BY_CHANCE: False})


RULES = (d12, d13, d14, d15)
