"""Generalization and union (G15), join (G16, G17), intersection and difference (G18, G19)."""

from __future__ import annotations

from collections.abc import Iterator

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL, NOT_EQUAL, partial_generalization
from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Intersection,
    Join,
    Plan,
    Projection,
    Union,
)
from tarnkappe.algebra.rules.rule import LR, RL, Effect, Rewrite, Way, rule
from tarnkappe.algebra.rules.samples import A1, A2, LEFT_PART, R1, R2, RIGHT_PART, gen, onto
from tarnkappe.algebra.rules.sides import both_sides, hides

DATA_DEPENDENT = "the levels depend on the data, and generalized rows have lost what told them apart"


@rule(
    "G15", "GenUnion", "Gen[X,a](r1∪r2)", "Gen[X,a](r1)∪Gen[X,a](r2)", "partialG(X)", (LR, RL),
    Effect.EXCHANGE, prefer=LR, assumes=("|r1|>=a and |r2|>=a", "bag union"),
    examples=(gen(Union(R1, R2), "A", 2), gen(Union(A1, A2), "A", 2)),
)  # fmt: skip
def g15(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Every part finds its own levels, so values may come out finer or coarser; all else stays.

    Both sides are a-anonymous: a bag union adds the class sizes of its parts. Levels may differ between
    the parts, so that labels of different levels stand in one column. A part with fewer than a rows
    cannot be generalized by itself.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Union(r1, r2), x, k):
            x_there = r1.schema & set(x)
            enough = not x_there or min(facts.fewest_rows(r1), facts.fewest_rows(r2)) >= k
            yield Rewrite(
                Union(Generalization(r1, x, k), Generalization(r2, x, k)),
                partial_generalization(x_there),
                {"both parts have at least k rows": enough},
            )
        case Way.RIGHT_TO_LEFT, Union(Generalization(r1, x, k), Generalization(r2, y, m)):
            yield Rewrite(
                Generalization(Union(r1, r2), x, k),
                partial_generalization(r1.schema & set(x)),
                {"both parts have the same X": x == y, "both parts have the same k": k == m},
            )


@rule(
    "G16", "GenJoin", "Gen[X,a](r1⋈r2)", "Gen[X,a](r1)⋈r2", "partialG(X)", (LR, RL), Effect.EXCHANGE,
    conditions=("X⊆R1\\R2", "R1∩R2=Y", "join multiplies rows"),
    corrections=("every r1 row has a partner in r2",), assumes=("hide Y at the end",),
    examples=(gen(Join(LEFT_PART, RIGHT_PART), "A", 2),),
)  # fmt: skip
def g16(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """All of X lies in r1 and is no join column, so the same pairs meet on both sides; only levels differ.

    Every row of r1 must find a partner, or classes of αG(r1) lose rows and may fall below a. A join over a
    key of both sides multiplies nothing: there G17 is the rule. From right to left the promise weakens: k
    rows of the join may stem from one row of r1, that is from one person. The join columns are potential
    new quasi-identifiers; hide them at the end.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Join() as join, x, k):
            for r1, r2, joined in both_sides(join):
                x_there = set(x) & join.schema
                if x_there & (r1.schema - join.on):
                    enough = facts.fewest_rows(r1) >= k
                    yield Rewrite(
                        joined(Generalization(r1, x, k), r2),
                        partial_generalization(x_there),
                        {
                            **_layout(x_there, r1, r2, join, facts),
                            "the part with X has at least k rows": enough,
                        },
                    )
        case Way.RIGHT_TO_LEFT, Join() as join:
            for generalized, r2, joined in both_sides(join):
                if isinstance(generalized, Generalization):
                    r1, x, k = generalized.child, generalized.by, generalized.k
                    x_there = set(x) & join.schema
                    yield Rewrite(
                        Generalization(joined(r1, r2), x, k),
                        partial_generalization(x_there),
                        _layout(x_there, r1, r2, join, facts),
                        weakens="k rows of the join may stem from one row, that is from one person",
                    )


def _layout(x: set[str], r1: Plan, r2: Plan, join: Join, facts: Facts) -> dict[str, bool]:
    return {
        "X lies in one part and holds no join column": x <= r1.schema - join.on,
        "the join is no mere join over a key (that is G17)": not facts.same_keys(r1, r2, join.on),
        "every row of the part with X has a partner": facts.has_partners(r1, r2, join.on),
    }


@rule(
    "G17", "GenJoin", "Gen[X,a](Proj[R](r1⋈r2))", "Proj[R](Gen[X,a](r1)⋈r2)", "eq", (LR, RL),
    Effect.EXCHANGE, prefer=LR, conditions=("X⊆R1\\R2", "R=(R1∪R2)\\Y", "Y key of both, same key set"),
    examples=(gen(onto(Join(LEFT_PART, RIGHT_PART), "AB"), "A", 2),),
)  # fmt: skip
def g17(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Two vertical parts joined over their key have the rows of either part, so X has the same levels.

    Every key must occur in both parts exactly once: a row that dropped out would change the levels. The
    key identifies rows and must be projected away.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Projection(Join() as join, onto, distinct), x, k):
            for r1, r2, joined in both_sides(join):
                x_there = set(x) & set(onto)
                if x_there & (r1.schema - join.on):
                    yield Rewrite(
                        Projection(joined(Generalization(r1, x, k), r2), onto),
                        EQUAL,
                        _vertical(x_there, r1, r2, join, facts) | hides(join, onto, distinct),
                    )
        case Way.RIGHT_TO_LEFT, Projection(Join() as join, onto, distinct):
            for generalized, r2, joined in both_sides(join):
                if isinstance(generalized, Generalization):
                    r1, x, k = generalized.child, generalized.by, generalized.k
                    yield Rewrite(
                        Generalization(Projection(joined(r1, r2), onto), x, k),
                        EQUAL,
                        _vertical(set(x) & r1.schema, r1, r2, join, facts) | hides(join, onto, distinct),
                    )


def _vertical(x: set[str], r1: Plan, r2: Plan, join: Join, facts: Facts) -> dict[str, bool]:
    return {
        "X lies in one part and holds no join column": x <= r1.schema - join.on,
        "the join columns are a key of both parts with the same values": facts.same_keys(r1, r2, join.on),
    }


@rule(
    "G18", "GenInter", "Gen[X,a](r1∩r2)", "Gen[X,a](r1)∩Gen[X,a](r2)", "noneq", (), Effect.EXCHANGE,
    examples=(gen(Intersection(R1, R2), "A", 2), gen(Intersection(A1, A2), "A", 2)),
)  # fmt: skip
def g18(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """The two sides may not even share a level, and at equal levels rows that differed have become equal.

    So even the number of rows is uncertain.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Intersection(r1, r2), x, k):
            early = Intersection(Generalization(r1, x, k), Generalization(r2, x, k))
            yield Rewrite(early, NOT_EQUAL, {DATA_DEPENDENT: False})
        case Way.RIGHT_TO_LEFT, Intersection(Generalization(r1, x, k), Generalization(r2)):
            yield Rewrite(Generalization(Intersection(r1, r2), x, k), NOT_EQUAL, {DATA_DEPENDENT: False})


@rule(
    "G19", "GenDiff", "Gen[X,a](r1-r2)", "Gen[X,a](r1)-Gen[X,a](r2)", "noneq", (), Effect.EXCHANGE,
    examples=(gen(Difference(R1, R2), "A", 2), gen(Difference(A1, A2), "A", 2)),
)  # fmt: skip
def g19(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """As in G18: rows that should cancel stand on different levels, and others cancel that were different."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Difference(r1, r2), x, k):
            early = Difference(Generalization(r1, x, k), Generalization(r2, x, k))
            yield Rewrite(early, NOT_EQUAL, {DATA_DEPENDENT: False})
        case Way.RIGHT_TO_LEFT, Difference(Generalization(r1, x, k), Generalization(r2)):
            yield Rewrite(Generalization(Difference(r1, r2), x, k), NOT_EQUAL, {DATA_DEPENDENT: False})


RULES = (g15, g16, g17, g18, g19)
