"""The twelve classical rules of relational algebra, on bags: what moves π and σ beside the anonymizations."""

from __future__ import annotations

from collections.abc import Iterator

from tarnkappe.algebra.expressions import conjunction, conjuncts
from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL
from tarnkappe.algebra.nodes import Difference, Join, Plan, Projection, Selection, Union
from tarnkappe.algebra.rules.rule import LR, RL, SWAP, Effect, Rewrite, Way, rule
from tarnkappe.algebra.rules.samples import ABC, LEFT_PART, R1, R2, RIGHT_PART, is_not, onto, where
from tarnkappe.algebra.rules.sides import both_sides

DUPLICATES = "the projection keeps duplicates"
BOTH = Selection(Join(LEFT_PART, RIGHT_PART), conjunction([is_not("A", "a1"), is_not("B", "b1")]))


@rule(
    "ProjProj", "ProjProj", "Proj[X](Proj[Y](r1))", "Proj[X](r1)", "eq", (LR,), Effect.MERGE,
    wellformed=("X⊆Y",), assumes=("Proj not distinct",), examples=(onto(onto(ABC, "AB"), "A"),),
)  # fmt: skip
def proj_proj(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """What the outer projection drops need not be dropped before."""
    match plan:
        case Projection(Projection(child, _, inner), x, distinct):
            yield Rewrite(Projection(child, x, distinct), EQUAL, {DUPLICATES: not inner})


@rule(
    "SelSel", "SelSel", "Sel[F1](Sel[F2](r1))", "Sel[F1∧F2](r1)", "eq", (LR, RL, SWAP), Effect.MERGE,
    prefer=LR, examples=(where(where(ABC, "A", "a1"), "B", "b1"),),
)  # fmt: skip
def sel_sel(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A row stays if both predicates are true of it, in whatever order they are asked.

    From right to left each conjunct is split off once.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Selection(Selection(child, f2), f1):
            yield Rewrite(Selection(child, conjunction([f1, f2])), EQUAL)
        case Way.SWAP, Selection(Selection(child, f2), f1):
            yield Rewrite(Selection(Selection(child, f1), f2), EQUAL)
        case Way.RIGHT_TO_LEFT, Selection(child, f) if len(conjuncts(f)) > 1:
            for chosen in conjuncts(f):
                rest = conjunction(part for part in conjuncts(f) if part is not chosen)
                yield Rewrite(Selection(Selection(child, rest), chosen), EQUAL)


@rule(
    "SelProj", "SelProj", "Sel[F](Proj[X](r1))", "Proj[X](Sel[F](r1))", "eq", (LR, RL), Effect.EXCHANGE,
    prefer=LR, conditions=("attr(F)⊆X",), assumes=("Proj not distinct",),
    examples=(where(onto(ABC, "AB"), "A", "a1"),),
)  # fmt: skip
def sel_proj(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """The predicate reads only columns that are kept."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Selection(Projection(child, x, distinct), f):
            yield Rewrite(Projection(Selection(child, f), x), EQUAL, {DUPLICATES: not distinct})
        case Way.RIGHT_TO_LEFT, Projection(Selection(child, f), x, distinct):
            readable = f.columns <= set(x)
            late = Selection(Projection(child, x), f) if readable else None
            yield Rewrite(late, EQUAL, {"F reads only columns of X": readable, DUPLICATES: not distinct})


@rule(
    "SelProjHelper", "SelProj", "Proj[X1](Sel[F](Proj[X1∪X2](r1)))", "Proj[X1](Sel[F](r1))", "eq", (LR, RL),
    Effect.INSERT, prefer=RL, wellformed=("attr(F)⊆X1∪X2",),
    assumes=("Proj[X1∪X2] not distinct", "X1∪X2≠R1 (termination)"),
    examples=(onto(where(onto(ABC, "AB"), "B", "b1"), "A"),),
)  # fmt: skip
def sel_proj_helper(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Columns that neither the predicate nor the result reads may be dropped before."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Projection(Selection(Projection(child, _, inner), f), x, distinct):
            yield Rewrite(Projection(Selection(child, f), x, distinct), EQUAL, {DUPLICATES: not inner})
        case Way.RIGHT_TO_LEFT, Projection(Selection(child, f), x, distinct):
            kept = f.columns | set(x)
            early = Projection(child, tuple(kept)) if kept != child.schema else child
            yield Rewrite(
                Projection(Selection(early, f), x, distinct),
                EQUAL,
                {"the helper projection drops a column": kept != child.schema},
            )


@rule(
    "SelJoin", "SelJoin", "Sel[F](r1⋈r2)", "Sel[F](r1)⋈r2", "eq", (LR, RL), Effect.EXCHANGE, prefer=LR,
    conditions=("attr(F)⊆R1",), examples=(where(Join(LEFT_PART, RIGHT_PART), "A", "a1"),),
)  # fmt: skip
def sel_join(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A predicate on one part can be asked before the parts meet."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Selection(Join() as join, f):
            for r1, r2, joined in both_sides(join):
                readable = f.columns <= r1.schema
                early = joined(Selection(r1, f), r2) if readable else None
                yield Rewrite(early, EQUAL, {"F reads one part alone": readable})
        case Way.RIGHT_TO_LEFT, Join() as join:
            for part, r2, joined in both_sides(join):
                if isinstance(part, Selection):
                    yield Rewrite(Selection(joined(part.child, r2), part.predicate), EQUAL)


@rule(
    "SelJoinBoth", "SelJoin", "Sel[F1∧F2](r1⋈r2)", "Sel[F1](r1)⋈Sel[F2](r2)", "eq", (LR, RL),
    Effect.EXCHANGE, prefer=LR, conditions=("attr(F1)⊆R1", "attr(F2)⊆R2"), examples=(BOTH,),
)  # fmt: skip
def sel_join_both(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Each conjunct is asked of the part that it reads."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Selection(Join(r1, r2), f):
            lefts = [part for part in conjuncts(f) if part.columns <= r1.schema]
            rights = [part for part in conjuncts(f) if part not in lefts and part.columns <= r2.schema]
            fits = len(lefts) + len(rights) == len(conjuncts(f)) and bool(lefts) and bool(rights)
            early = (
                Join(Selection(r1, conjunction(lefts)), Selection(r2, conjunction(rights))) if fits else None
            )
            yield Rewrite(early, EQUAL, {"every conjunct reads one part, and both parts are read": fits})
        case Way.RIGHT_TO_LEFT, Join(Selection(r1, f1), Selection(r2, f2)):
            yield Rewrite(Selection(Join(r1, r2), conjunction([f1, f2])), EQUAL)


@rule(
    "SelJoinPart", "SelJoin", "Sel[F1∧F2](r1⋈r2)", "Sel[F2](Sel[F1](r1)⋈r2)", "eq", (LR, RL),
    Effect.EXCHANGE, prefer=LR, conditions=("attr(F1)⊆R1",), examples=(BOTH,),
)  # fmt: skip
def sel_join_part(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """The conjuncts that read one part are asked early, the others late."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Selection(Join() as join, f):
            for r1, r2, joined in both_sides(join):
                early = [part for part in conjuncts(f) if part.columns <= r1.schema]
                late = [part for part in conjuncts(f) if part not in early]
                both = bool(early) and bool(late)
                moved = joined(Selection(r1, conjunction(early)), r2) if both else None
                yield Rewrite(
                    moved and Selection(moved, conjunction(late)),
                    EQUAL,
                    {"some conjuncts read this part alone, others do not": both},
                )
        case Way.RIGHT_TO_LEFT, Selection(Join() as join, f2):
            for part, r2, joined in both_sides(join):
                if isinstance(part, Selection):
                    whole = conjunction([part.predicate, f2])
                    yield Rewrite(Selection(joined(part.child, r2), whole), EQUAL)


@rule(
    "SelUnion", "SelUnion", "Sel[F](r1∪r2)", "Sel[F](r1)∪Sel[F](r2)", "eq", (LR, RL), Effect.EXCHANGE,
    prefer=LR, shape=("rl: identical F",), examples=(where(Union(R1, R2), "A", "a1"),),
)  # fmt: skip
def sel_union(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """The predicate reads one row at a time, in whichever part it is."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Selection(Union(r1, r2), f):
            yield Rewrite(Union(Selection(r1, f), Selection(r2, f)), EQUAL)
        case Way.RIGHT_TO_LEFT, Union(Selection(r1, f), Selection(r2, g)):
            yield Rewrite(Selection(Union(r1, r2), f), EQUAL, {"both parts have the same F": f == g})


@rule(
    "SelDiff", "SelDiff", "Sel[F](r1-r2)", "Sel[F](r1)-Sel[F](r2)", "eq", (LR, RL), Effect.EXCHANGE,
    prefer=LR, shape=("rl: identical F",), examples=(where(Difference(R1, R2), "A", "a1"),),
)  # fmt: skip
def sel_diff(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Equal rows fare alike under the predicate, so their multiplicities subtract before or after."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Selection(Difference(r1, r2), f):
            yield Rewrite(Difference(Selection(r1, f), Selection(r2, f)), EQUAL)
        case Way.RIGHT_TO_LEFT, Difference(Selection(r1, f), Selection(r2, g)):
            yield Rewrite(Selection(Difference(r1, r2), f), EQUAL, {"both parts have the same F": f == g})


@rule(
    "SelDiffLeft", "SelDiff", "Sel[F](r1-r2)", "Sel[F](r1)-r2", "eq", (LR, RL), Effect.EXCHANGE,
    prefer=LR, examples=(where(Difference(R1, R2), "A", "a1"),),
)  # fmt: skip
def sel_diff_left(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Rows of r2 that fail the predicate have nothing to cancel in the selected r1."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Selection(Difference(r1, r2), f):
            yield Rewrite(Difference(Selection(r1, f), r2), EQUAL)
        case Way.RIGHT_TO_LEFT, Difference(Selection(r1, f), r2):
            yield Rewrite(Selection(Difference(r1, r2), f), EQUAL)


@rule(
    "ProjJoin", "ProjJoin", "Proj[X](r1⋈r2)", "Proj[X](Proj[Y1](r1)⋈Proj[Y2](r2))", "eq", (LR, RL),
    Effect.INSERT, prefer=LR, assumes=("a column is dropped (termination)", "Proj[Yi] not distinct"),
    examples=(onto(Join(ABC, RIGHT_PART), "AB"), onto(Join(LEFT_PART, RIGHT_PART), "A")),
)  # fmt: skip
def proj_join(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Each part needs only what the result shows and what the join compares.

    A part that would keep no column keeps one: its number of rows still counts.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Projection(Join(r1, r2) as join, x, distinct):
            needed = join.on | set(x)
            kept = [(part.schema & needed) or {min(part.schema)} for part in (r1, r2)]
            parts = [
                part if columns == part.schema else Projection(part, tuple(columns))
                for part, columns in zip((r1, r2), kept, strict=True)
            ]
            drops = {"a column is dropped early": parts != [r1, r2]}
            yield Rewrite(Projection(Join(*parts), x, distinct), EQUAL, drops)
        case Way.RIGHT_TO_LEFT, Projection(Join(left, right) as join, x, distinct):
            r1, r2 = (part.child if isinstance(part, Projection) else part for part in (left, right))
            bags = not any(isinstance(part, Projection) and part.distinct for part in (left, right))
            if (r1, r2) != (left, right):
                same = r1.schema & r2.schema == join.on
                conditions = {"the join columns stay the same": same, DUPLICATES: bags}
                yield Rewrite(Projection(Join(r1, r2), x, distinct), EQUAL, conditions)


@rule(
    "ProjUnion", "ProjUnion", "Proj[X](r1∪r2)", "Proj[X](r1)∪Proj[X](r2)", "eq", (LR, RL), Effect.EXCHANGE,
    prefer=LR, shape=("rl: identical X",), assumes=("Proj not distinct",),
    examples=(onto(Union(R1, R2), "A"),),
)  # fmt: skip
def proj_union(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Columns are dropped row by row, in whichever part the row is."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Projection(Union(r1, r2), x, distinct):
            parts = Union(Projection(r1, x), Projection(r2, x))
            yield Rewrite(parts, EQUAL, {DUPLICATES: not distinct})
        case Way.RIGHT_TO_LEFT, Union(Projection(r1, x, d1), Projection(r2, _, d2)):
            fits = r1.schema == r2.schema
            yield Rewrite(
                Projection(Union(r1, r2), x) if fits else None,
                EQUAL,
                {"both parts had the same columns before": fits, DUPLICATES: not d1 and not d2},
            )


RULES = (
    proj_proj,
    sel_sel,
    sel_proj,
    sel_proj_helper,
    sel_join,
    sel_join_both,
    sel_join_part,
    sel_union,
    sel_diff,
    sel_diff_left,
    proj_join,
    proj_union,
)
