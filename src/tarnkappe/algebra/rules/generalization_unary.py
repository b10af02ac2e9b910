"""Generalization and projection (G9-G13), generalization and selection (G14)."""

from __future__ import annotations

from collections.abc import Iterator

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL, partial_generalization
from tarnkappe.algebra.nodes import Generalization, Plan, Projection, Selection
from tarnkappe.algebra.rules.rule import LR, RL, Effect, Rewrite, Way, rule
from tarnkappe.algebra.rules.samples import AB, ABC, ABCD, AC, gen, onto, where

DUPLICATES = "the projection keeps duplicates"


@rule(
    "G9", "GenProj", "Gen[X,a](Proj[Y](r1))", "Proj[Y](Gen[X,a](r1))", "eq", (LR,), Effect.EXCHANGE,
    wellformed=("X⊆Y",), assumes=("Proj not distinct",),
    examples=(gen(onto(ABC, "AB"), "A", 2), gen(onto(ABC, "AC"), "AC", 2)),
)  # fmt: skip
def g9(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Generalize first: the columns that are projected away never took part in the choice of levels.

    X ⊆ Y, or the left side would name a column that is not there; such a name is not carried further,
    where it might come to mean something.
    """
    match plan:
        case Generalization(Projection(child, y, distinct), x, k):
            named = {"X lies in Y": set(x) <= set(y), DUPLICATES: not distinct}
            yield Rewrite(Projection(Generalization(child, x, k), y), EQUAL, named)


@rule(
    "G10", "GenProj", "Gen[X,a](Proj[Y](r1))", "Proj[Y](Gen[X,a](r1))", "eq", (RL,), Effect.EXCHANGE,
    conditions=("X⊆Y",), assumes=("Proj not distinct",),
    examples=(onto(gen(ABC, "A", 2), "AB"), onto(gen(ABC, "AC", 2), "AC")),
)  # fmt: skip
def g10(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Project first: all generalized columns survive the projection, so the levels stay the same.

    If a column of X vanishes, the levels no longer heed it and may come out finer: that is G13.
    """
    match plan:
        case Projection(Generalization(child, x, k), y, distinct):
            yield Rewrite(
                Generalization(Projection(child, y), x, k),
                EQUAL,
                {"X lies in Y": child.schema & set(x) <= set(y), DUPLICATES: not distinct},
            )


@rule(
    "G11", "GenProj", "Proj[Y](r1)", "Proj[Y](Gen[X,a](r1))", "eq", (RL,), Effect.REMOVE,
    conditions=("X∩Y={}",),
    examples=(onto(gen(ABC, "A", 2), "BC"), onto(gen(ABC, "A", 2), "BC", distinct=True)),
)  # fmt: skip
def g11(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """All generalized columns are hidden in the end and no row is lost, so nothing of αG remains to see.

    This holds for a projection without duplicates too.
    """
    match plan:
        case Projection(Generalization(child, x, _), y, distinct):
            yield Rewrite(
                Projection(child, y, distinct), EQUAL, {"no column of X is in Y": not set(x) & set(y)}
            )


@rule(
    "G12", "GenProj", "Proj[Y](Gen[X,a](Proj[X∪Y](r1)))", "Proj[Y](Gen[X,a](r1))", "eq", (RL,), Effect.INSERT,
    assumes=("X∪Y≠R1 (termination)", "Proj[Y] may be distinct, Proj[X∪Y] must not"),
    examples=(onto(gen(ABCD, "AC", 2), "AB"), onto(gen(ABC, "A", 2), "B", distinct=True)),
)  # fmt: skip
def g12(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Columns outside X ∪ Y influence neither the levels nor the result; X must stay, because it does.

    The helper projection is inserted only where it drops a column, or the rule would apply forever.
    """
    match plan:
        case Projection(Generalization(child, x, k), y, distinct):
            kept = (child.schema & set(x)) | set(y)
            early = Projection(child, tuple(kept)) if kept != child.schema else child
            yield Rewrite(
                Projection(Generalization(early, x, k), y, distinct),
                EQUAL,
                {"the helper projection drops a column": kept != child.schema},
            )


@rule(
    "G13", "GenProj", "Gen[X∩Y,a](Proj[Y](r1))", "Proj[Y](Gen[X,a](r1))", "partialG(X∩Y)", (RL,),
    Effect.EXCHANGE, assumes=("Proj not distinct",),
    examples=(onto(gen(ABC, "AC", 2), "AB"), onto(gen(AC, "AC", 2), "A"), onto(gen(ABC, "AC", 2), "B")),
)  # fmt: skip
def g13(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """No heed need be paid to columns that vanish, so values can come out finer: a gain of information.

    Both sides are a-anonymous on X ∩ Y. With X ∩ Y = {} it is G11 followed by nothing.
    """
    match plan:
        case Projection(Generalization(child, x, k), y, distinct):
            left = child.schema & set(x) & set(y)
            early = Projection(child, y)
            yield Rewrite(
                Generalization(early, tuple(left), k) if left else early,
                partial_generalization(left),
                {DUPLICATES: not distinct},
            )


@rule(
    "G14", "GenSel", "Gen[X,a](Sel[F](r1))", "Sel[F](Gen[X,a](r1))", "partialG(X)", (LR, RL),
    Effect.EXCHANGE, prefer=RL, conditions=("attr(F)∩X={}",),
    assumes=("|Sel[F](r1)|>=a", "lr may lower the released k below a"),
    examples=(gen(where(AB, "B", "b1"), "A", 2),),
)  # fmt: skip
def g14(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """On columns that are not generalized, the same rows are removed on both sides; levels may differ.

    On X no selection can be exchanged, because generalized values escape the predicate. Selecting first
    needs at least a rows to remain. Selecting last tears classes that were formed before: the released
    rows can have fewer than a equals, so that way weakens the promise.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Selection(child, f), x, k):
            yield Rewrite(
                Selection(Generalization(child, x, k), f),
                partial_generalization(child.schema & set(x)),
                {"F reads no column of X": not f.columns & set(x)},
                weakens="the selection tears classes that were k-anonymous before it",
            )
        case Way.RIGHT_TO_LEFT, Selection(Generalization(child, x, k), f):
            early = Selection(child, f)
            yield Rewrite(
                Generalization(early, x, k),
                partial_generalization(child.schema & set(x)),
                {
                    "F reads no column of X": not f.columns & set(x),
                    "at least k rows are selected": facts.fewest_rows(early) >= k,
                },
            )


RULES = (g9, g10, g11, g12, g13, g14)
