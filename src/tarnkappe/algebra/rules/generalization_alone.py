"""Generalization by itself: when it is superfluous (G1-G3), and applied twice (G4-G8)."""

from __future__ import annotations

from collections.abc import Iterator

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL, partial_generalization
from tarnkappe.algebra.nodes import Generalization, Plan
from tarnkappe.algebra.rules.rule import LR, RL, Effect, Rewrite, Way, rule
from tarnkappe.algebra.rules.samples import AB, ABC, AC, gen


@rule(
    "G1", "ObsoleteGen", "Gen[X,1](r1)", "r1", "eq", (LR,), Effect.REMOVE,
    conditions=("k=1",), examples=(gen(AB, "A", 1),),
)  # fmt: skip
def g1(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Every relation is 1-anonymous, and a generalization never goes higher than it must."""
    match plan:
        case Generalization(child, _, k):
            yield Rewrite(child, EQUAL, {"k is 1": k == 1})


@rule(
    "G2", "ObsoleteGen", "Gen[{},a](r1)", "r1", "eq", (LR,), Effect.REMOVE,
    conditions=("X={}",), examples=(gen(AB, "", 2),),
)  # fmt: skip
def g2(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Without a column to generalize nothing changes."""
    match plan:
        case Generalization(child, x, _):
            yield Rewrite(child, EQUAL, {"X is empty": not x})


@rule(
    "G3", "ObsoleteGen", "Gen[X,a](r1)", "r1", "eq", (LR,), Effect.REMOVE,
    conditions=("X∩R1={}",), examples=(gen(AB, "E", 2),),
)  # fmt: skip
def g3(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """None of the named columns exists, so nothing is generalized.

    If some exist, the others are struck out of X first.
    """
    match plan:
        case Generalization(child, x, k):
            there = child.schema & set(x)
            if there and there != set(x):
                yield Rewrite(Generalization(child, tuple(there), k), EQUAL)
            else:
                yield Rewrite(child, EQUAL, {"no column of X exists": not there})


@rule(
    "G4", "IdemGen", "Gen[X,a](Gen[X,a](r1))", "Gen[X,a](r1)", "eq", (LR,), Effect.MERGE,
    conditions=("same X", "same k"), examples=(gen(gen(AB, "A", 2), "A", 2), gen(gen(ABC, "AC", 2), "AC", 2)),
)  # fmt: skip
def g4(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """The inner generalization already guarantees what the outer one demands; minimality does the rest."""
    match plan:
        case Generalization(Generalization(_, y, b) as inner, x, a):
            yield Rewrite(inner, EQUAL, {"both have the same X": x == y, "both have the same k": a == b})


@rule(
    "G5", "IdemGen", "Gen[Y,a](Gen[X,a](r1))", "Gen[X,a](r1)", "eq", (LR,), Effect.MERGE,
    conditions=("Y⊆X", "same k"), examples=(gen(gen(ABC, "AC", 2), "A", 2), gen(gen(ABC, "AC", 3), "C", 2)),
)  # fmt: skip
def g5(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Who is k-anonymous for X is so for every part of X: classes only grow when columns are left out.

    A smaller k of the outer generalization is covered as well (with G8).
    """
    match plan:
        case Generalization(Generalization(_, x, b) as inner, y, a):
            outer = set(y) & inner.schema
            yield Rewrite(
                inner, EQUAL, {"Y lies in X": outer <= set(x), "the outer k is at most the inner": a <= b}
            )


@rule(
    "G6", "IdemGen", "Gen[X,a](Gen[X,b](r1))", "Gen[X,a](r1)", "eq", (LR,), Effect.MERGE,
    conditions=("a>b", "|X|=1"), examples=(gen(gen(AB, "A", 2), "A", 3),),
)  # fmt: skip
def g6(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A single hierarchy is a chain: the way to the stronger level leads over the weaker one anyway."""
    match plan:
        case Generalization(Generalization(child, y, b), x, a):
            yield Rewrite(
                Generalization(child, x, a),
                EQUAL,
                {
                    "both have the same X": x == y,
                    "the outer k is greater": a > b,
                    "X is a single column": len(child.schema & set(x)) == 1,
                },
            )


@rule(
    "G7", "IdemGen", "Gen[X,a](Gen[X,b](r1))", "Gen[X,a](r1)", "partialG(X)", (LR, RL), Effect.MERGE,
    prefer=LR, conditions=("a>b", "|X|>=2"),
    examples=(gen(gen(ABC, "AC", 2), "AC", 3), gen(gen(AC, "AC", 2), "AC", 3)),
)  # fmt: skip
def g7(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """The inner step may have raised a column that the stronger demand alone would have left low.

    Generalization cannot be undone, so the detour can only lose information. Both sides are a-anonymous
    and touch X alone.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Generalization(child, y, b), x, a):
            yield Rewrite(
                Generalization(child, x, a),
                partial_generalization(child.schema & set(x)),
                {
                    "both have the same X": x == y,
                    "the outer k is greater": a > b,
                    "X has several columns": len(child.schema & set(x)) > 1,
                },
            )
        case Way.RIGHT_TO_LEFT, Generalization(child, x, a):
            several = {"X has several columns": len(child.schema & set(x)) > 1}
            for b in range(2, a):
                inner = Generalization(child, x, b)
                yield Rewrite(Generalization(inner, x, a), partial_generalization(x), several)


@rule(
    "G8", "IdemGen", "Gen[X,a](Gen[X,b](r1))", "Gen[X,b](r1)", "eq", (LR,), Effect.MERGE,
    conditions=("a<b",), examples=(gen(gen(AB, "A", 3), "A", 2), gen(gen(ABC, "AC", 3), "AC", 2)),
)  # fmt: skip
def g8(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """b-anonymity implies a-anonymity for a smaller a: the stronger demand binds; there is no way back."""
    match plan:
        case Generalization(Generalization(_, y, b) as inner, x, a):
            yield Rewrite(inner, EQUAL, {"both have the same X": x == y, "the outer k is smaller": a < b})


RULES = (g1, g2, g3, g4, g5, g6, g7, g8)
