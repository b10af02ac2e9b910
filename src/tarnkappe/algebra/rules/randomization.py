"""Randomization: superfluous (D1-D3), twice (D4-D7), with projection (D8-D10) and selection (D11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL, NOT_EQUAL
from tarnkappe.algebra.nodes import Plan, Projection, Randomization, Selection
from tarnkappe.algebra.rules.rule import LR, RL, SWAP, Effect, Rewrite, Way, rule
from tarnkappe.algebra.rules.samples import AB, ABC, noise, onto, where

DUPLICATES = "the projection keeps duplicates"


def randomized(child: Plan, probabilities: Mapping[str, Fraction]) -> Randomization:
    """A randomization from a mapping."""
    return Randomization(child, tuple(probabilities.items()))


@rule(
    "D1", "ObsoleteDp", "Noise[{}](r1)", "r1", "eq", (LR,), Effect.REMOVE,
    conditions=("P={}",), examples=(noise(AB),),
)  # fmt: skip
def d1(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """No column is named, so no cell is noised."""
    match plan:
        case Randomization(child, p):
            yield Rewrite(child, EQUAL, {"P is empty": not p})


@rule(
    "D2", "ObsoleteDp", "Noise[P](r1)", "r1", "eq", (LR,), Effect.REMOVE,
    conditions=("all p=0",), examples=(noise(AB, A="0", B="0"), noise(AB, A="0", B="1/4")),
)  # fmt: skip
def d2(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A probability of 0 never noises. If only some are 0, they are struck out of P."""
    match plan:
        case Randomization(child, p):
            kept = {column: chance for column, chance in p if chance}
            if kept and len(kept) < len(p):
                yield Rewrite(randomized(child, kept), EQUAL)
            else:
                yield Rewrite(child, EQUAL, {"all probabilities are 0": not kept})


@rule(
    "D3", "ObsoleteDp", "Noise[P](r1)", "r1", "eq", (LR,), Effect.REMOVE,
    conditions=("attr(P)∩R1={}",), examples=(noise(AB, E="1/4"), noise(AB, A="1/4", E="1/4")),
)  # fmt: skip
def d3(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """None of the named columns exists. If only some do not, they are struck out of P."""
    match plan:
        case Randomization(child, p):
            kept = {column: chance for column, chance in p if column in child.schema}
            if kept and len(kept) < len(p):
                yield Rewrite(randomized(child, kept), EQUAL)
            else:
                yield Rewrite(child, EQUAL, {"no column of P exists": not kept})


@rule(
    "D4", "IdemDp", "Noise[P](Noise[P](r1))", "Noise[P](r1)", "noneq", (), Effect.MERGE,
    examples=(noise(noise(AB, A="1/4"), A="1/4"),),
)  # fmt: skip
def d4(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Noise is not idempotent: every further round shrinks the share of true values. D6 merges soundly."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Randomization(Randomization(child, q), p) if p == q:
            shrinks = {"a second round of noise shrinks the share of true values (see D6)": False}
            yield Rewrite(Randomization(child, p), NOT_EQUAL, shrinks)


@rule(
    "D5", "IdemDp", "Noise[P1](Noise[P2](r1))", "Noise[P1∪P2](r1)", "eq", (LR, RL, SWAP), Effect.MERGE,
    prefer=LR, conditions=("attr(P1)∩attr(P2)={}",), examples=(noise(noise(AB, A="1/4"), B="1/3"),),
)  # fmt: skip
def d5(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Columns are noised independently, so different columns may be noised together or one after the other.

    From right to left each single column is split off once; repeated, that reaches every split.
    """
    match way, plan:
        case Way.RIGHT_TO_LEFT, Randomization(child, p) if len(p) > 1:
            for chosen in p:
                rest = tuple(pair for pair in p if pair != chosen)
                yield Rewrite(Randomization(Randomization(child, rest), (chosen,)), EQUAL)
        case ((Way.LEFT_TO_RIGHT | Way.SWAP), Randomization(Randomization(child, q) as inner, p)):
            apart = {"no column is noised by both": not plan.attributes & inner.attributes}
            if way is SWAP:
                yield Rewrite(Randomization(Randomization(child, p), q), EQUAL, apart)
            else:
                yield Rewrite(randomized(child, dict(q) | dict(p)), EQUAL, apart)


@rule(
    "D6", "IdemDp", "Noise[P](Noise[P](r1))", "Noise[{(y,1-(1-p)^2)}](r1)", "eq", (LR,), Effect.MERGE,
    conditions=("same P",), corrections=("static distributions only",),
    examples=(noise(noise(AB, A="1/4"), A="1/4"),),
)  # fmt: skip
def d6(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A value survives only if it is kept twice, and of several draws from one distribution the last decides.

    That needs a static distribution. A dynamic one, drawn twice, spreads further than drawn once.
    """
    match plan:
        case Randomization(Randomization(child, q), p):
            yield Rewrite(
                randomized(child, {column: 1 - (1 - chance) ** 2 for column, chance in p}),
                EQUAL,
                {
                    "both have the same P": p == q,
                    "all noise is static": all(facts.is_static(c) for c, _ in p if c in child.schema),
                },
            )


@rule(
    "D7", "IdemDp", "Noise[Px](Noise[Py](r1))", "Noise[{(z,1-(1-px)(1-py))}](r1)", "eq", (LR,), Effect.MERGE,
    corrections=("attributes in both sets must be static",),
    examples=(noise(noise(AB, A="1/4"), A="1/3", B="1/3"), noise(noise(AB, A="1/4", B="1/2"), A="1/3")),
)  # fmt: skip
def d7(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """D5 and D6 together, column by column: a value survives if both rounds keep it.

    Columns with dynamic noise in both rounds stay where they are; the others are merged into the inner.
    """
    match plan:
        case Randomization(Randomization(child) as inner):
            twice = plan.attributes & inner.attributes & child.schema
            spreading = {column for column in twice if not facts.is_static(column)}
            merged = {
                column: 1 - (1 - inner.probability(column)) * (1 - plan.probability(column))
                for column in plan.attributes | inner.attributes
                if column not in spreading
            }
            left = {column: plan.probability(column) for column in spreading}
            below = randomized(child, merged | {column: inner.probability(column) for column in spreading})
            yield Rewrite(
                randomized(below, left) if left else below,
                EQUAL,
                {"some column of the outer noise is static or noised once": plan.attributes != spreading},
            )


@rule(
    "D8", "DpProj", "Noise[P](Proj[X](r1))", "Proj[X](Noise[P](r1))", "eq", (LR,), Effect.EXCHANGE,
    wellformed=("attr(P)⊆X",), assumes=("Proj not distinct",), examples=(noise(onto(ABC, "AB"), A="1/4"),),
)  # fmt: skip
def d8(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Noise first: columns that are not named stay as they are, projected away or not."""
    match plan:
        case Randomization(Projection(child, x, distinct), p):
            named = {"attr(P) lies in X": plan.attributes <= set(x), DUPLICATES: not distinct}
            yield Rewrite(Projection(Randomization(child, p), x), EQUAL, named)


@rule(
    "D9", "DpProj", "Noise[P restricted to X](Proj[X](r1))", "Proj[X](Noise[P](r1))", "eq", (RL,),
    Effect.EXCHANGE, assumes=("Proj not distinct",), examples=(onto(noise(ABC, A="1/4", C="1/3"), "AB"),),
)  # fmt: skip
def d9(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Project first: noise on columns that vanish is wasted and struck out of P.

    If nothing is left of P, D1 removes the rest.
    """
    match plan:
        case Projection(Randomization(child, p), x, distinct):
            kept = tuple(pair for pair in p if pair[0] in x)
            yield Rewrite(Randomization(Projection(child, x), kept), EQUAL, {DUPLICATES: not distinct})


@rule(
    "D10", "DpProj", "Proj[X](r1)", "Proj[X](Noise[P](r1))", "eq", (RL,), Effect.REMOVE,
    conditions=("attr(P)∩X={}",),
    examples=(onto(noise(ABC, B="1/2"), "AC"), onto(noise(ABC, B="1/2"), "AC", distinct=True)),
)  # fmt: skip
def d10(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """All noised columns are hidden in the end. This holds for a projection without duplicates too."""
    match plan:
        case Projection(Randomization(child) as noisy, x, distinct):
            hidden = {"no column of P is in X": not noisy.attributes & set(x)}
            yield Rewrite(Projection(child, x, distinct), EQUAL, hidden)


@rule(
    "D11", "DpSel", "Noise[P](Sel[F](r1))", "Sel[F](Noise[P](r1))", "eq", (LR, RL), Effect.EXCHANGE,
    prefer=RL, conditions=("attr(P)∩attr(F)={}",), examples=(noise(where(AB, "B", "b1"), A="1/4"),),
)  # fmt: skip
def d11(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """On columns without noise the selection is unambiguous, and rows are noised independently.

    On noised columns noise creates and destroys candidates, and no other predicate makes up for it.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Randomization(Selection(child, f), p):
            late = Selection(Randomization(child, p), f)
            yield Rewrite(late, EQUAL, {"F reads no noised column": not plan.attributes & f.columns})
        case Way.RIGHT_TO_LEFT, Selection(Randomization(child, p) as noisy, f):
            early = Randomization(Selection(child, f), p)
            yield Rewrite(early, EQUAL, {"F reads no noised column": not noisy.attributes & f.columns})


RULES = (d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11)
