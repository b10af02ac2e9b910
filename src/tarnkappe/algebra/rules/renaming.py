"""Eight rules of our own that let π, σ and the anonymizations pass groupings and renamings.

The published rules speak of π, σ, joins and unions. A query that groups, or that gives a column another name,
kept all of them out: below `GROUP BY` nobody said which columns are read, and no rule knew a renaming.
A projection below the grouping says the first, and what reads one row at a time does not mind a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.expressions import ComparisonPredicate, Literal
from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import EQUAL
from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Plan,
    Projection,
    Randomization,
    Rename,
    Selection,
    SlicingNode,
)
from tarnkappe.algebra.rules.rule import LR, RL, Effect, Rewrite, Way, rule
from tarnkappe.algebra.rules.samples import AB, ABC, cut, gen, noise, onto, where

ROWS = Aggregate("count", None, "n")
GREATEST = Aggregate("max", "B", "m")
NOT_TAKEN = "no column that is projected away has one of the new names"


def _renamed(plan: Plan, names: Mapping[str, str]) -> Plan:
    """A plan under new names; itself if none is new."""
    changed = tuple((old, new) for old, new in names.items() if old != new)
    return Rename(plan, changed) if changed else plan


def _old(names: Collection[tuple[str, str]]) -> dict[str, str]:
    return {new: old for old, new in names}


@rule(
    "ProjGroup", "ProjGroup", "Group[Y,F](r1)", "Group[Y,F](Proj[Y∪attr(F)](r1))", "eq", (LR, RL),
    Effect.INSERT, prefer=LR, assumes=("a column is dropped (termination)", "Proj not distinct"),
    examples=(
        Grouping(ABC, ("A",), (GREATEST,)),
        Grouping(ABC, ("A",), (ROWS,)),
        Grouping(AB, (), (ROWS,)),
        Grouping(noise(AB, A="1/4"), ("B",), (ROWS,)),
        Grouping(gen(ABC, "A", 2), ("B",), (ROWS,)),
    ),
)  # fmt: skip
def proj_group(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A grouping reads the columns that it groups by and those that it aggregates, and no others.

    Rows count even where no column is read, so one is kept then: one that no operator below changes, if there
    is any, since that operator may be superfluous.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Grouping(child, by, aggregates):
            read = set(by).union(a.column for a in aggregates if a.column is not None)
            kept = read or {_untouched(child)}
            early = Projection(child, tuple(kept)) if kept != child.schema else child
            yield Rewrite(
                Grouping(early, by, aggregates), EQUAL, {"a column is dropped early": kept != child.schema}
            )
        case Way.RIGHT_TO_LEFT, Grouping(Projection(child, _, distinct), by, aggregates):
            late = Grouping(child, by, aggregates)
            yield Rewrite(late, EQUAL, {"the projection keeps duplicates": not distinct})


def _untouched(plan: Plan) -> str:
    changing = (node for node in plan.walk() if isinstance(node, Generalization | Randomization))
    touched = frozenset[str]().union(*(node.attributes for node in changing))
    return min(plan.schema - touched or plan.schema)


@rule(
    "SelGroup", "SelGroup", "Sel[G](Group[Y,F](r1))", "Group[Y,F](Sel[G](r1))", "eq", (LR, RL),
    Effect.EXCHANGE, prefer=LR, conditions=("attr(G)⊆Y", "Y≠{}"), assumes=("F not noisy",),
    examples=(
        where(Grouping(AB, ("A",), (GREATEST,)), "A", "a1"),
        Selection(Grouping(AB, (), (ROWS,)), ComparisonPredicate("=", Literal("a"), Literal("b"))),
        where(Grouping(ABC, ("A", "C"), (GREATEST,)), "C", "c1"),
    ),
)  # fmt: skip
def sel_group(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """All rows of a group agree in Y, missing values too, so they pass the predicate together.

    Without Y there is one group even of no rows, which a predicate above removes and one below does not. A
    noisy grouping shows empty groups as well, so what is selected below still shows up, as noise.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Selection(Grouping(child, by, aggregates), f):
            readable = f.columns <= set(by)
            early = Grouping(Selection(child, f), by, aggregates) if readable else None
            conditions = {"F reads only columns that are grouped by": readable}
            yield Rewrite(early, EQUAL, conditions | _groups(by, aggregates))
        case Way.RIGHT_TO_LEFT, Grouping(Selection(child, f), by, aggregates):
            readable = f.columns <= set(by)
            late = Selection(Grouping(child, by, aggregates), f) if readable else None
            conditions = {"F reads only columns that are grouped by": readable}
            yield Rewrite(late, EQUAL, conditions | _groups(by, aggregates))


def _groups(by: Collection[str], aggregates: Collection[Aggregate]) -> dict[str, bool]:
    return {
        "there is a column to group by": bool(by),
        "no aggregate is noisy": not any(aggregate.noise for aggregate in aggregates),
    }


RENAMED = Rename(AB, (("A", "D"),))
SWAPPED = Rename(AB, (("A", "B"), ("B", "A")))


@rule(
    "SelRename", "SelRename", "Sel[F](Ren[N](r1))", "Ren[N](Sel[F'](r1))", "eq", (LR, RL), Effect.EXCHANGE,
    prefer=LR, examples=(where(RENAMED, "D", "d1"), where(SWAPPED, "A", "a1")),
)  # fmt: skip
def sel_rename(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """F' asks the same of the same cells, by the names that they have below."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Selection(Rename(child, names), f):
            yield Rewrite(Rename(Selection(child, f.renamed(_old(names))), names), EQUAL)
        case Way.RIGHT_TO_LEFT, Rename(Selection(child, f), names):
            yield Rewrite(Selection(Rename(child, names), f.renamed(dict(names))), EQUAL)


@rule(
    "ProjRename", "ProjRename", "Proj[X](Ren[N](r1))", "Ren[N'](Proj[X'](r1))", "eq", (LR, RL),
    Effect.EXCHANGE, prefer=LR, conditions=("rl: N(X')∩(R1\\X')={}",),
    examples=(
        onto(RENAMED, "D"),
        onto(RENAMED, "B"),
        onto(SWAPPED, "A"),
        onto(RENAMED, "D", distinct=True),
        onto(Rename(ABC, (("A", "C"), ("C", "D"))), "BC"),
    ),
)  # fmt: skip
def proj_rename(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Columns are dropped by whatever names they have; of the renaming the part that is shown remains.

    This holds for a projection without duplicates too. From right to left a new name may be that of a column
    that was projected away before: then there would be two of it.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Projection(Rename(child, names), x, distinct):
            old = {column: _old(names).get(column, column) for column in x}
            early = Projection(child, tuple(old.values()), distinct)
            yield Rewrite(_renamed(early, {before: after for after, before in old.items()}), EQUAL)
        case Way.RIGHT_TO_LEFT, Rename(Projection(child, x, distinct), names):
            new = {column: dict(names).get(column, column) for column in x}
            free = not set(new.values()) & (child.schema - set(x))
            late = Projection(Rename(child, names), tuple(new.values()), distinct) if free else None
            yield Rewrite(late, EQUAL, {NOT_TAKEN: free})


@rule(
    "RenRename", "RenRename", "Ren[N](Ren[M](r1))", "Ren[N∘M](r1)", "eq", (LR,), Effect.MERGE,
    examples=(Rename(RENAMED, (("D", "E"),)), Rename(RENAMED, (("D", "A"),)), Rename(SWAPPED, (("A", "C"),))),
)  # fmt: skip
def ren_rename(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A name that is given twice is given once; one that is taken back is not given."""
    match plan:
        case Rename(Rename(child, inner), outer):
            first = {column: dict(inner).get(column, column) for column in child.columns}
            second = dict(outer)
            yield Rewrite(
                _renamed(child, {column: second.get(new, new) for column, new in first.items()}), EQUAL
            )


@rule(
    "GenRename", "GenRename", "Gen[X,a](Ren[N](r1))", "Ren[N](Gen[X',a](r1))", "eq", (LR, RL),
    Effect.EXCHANGE, prefer=LR, conditions=("same hierarchies", "N keeps the order of X"),
    examples=(gen(RENAMED, "D", 2), gen(SWAPPED, "AB", 2), gen(Rename(ABC, (("A", "D"),)), "CD", 2)),
)  # fmt: skip
def gen_rename(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A class is one whatever its columns are called, if they rise in the same hierarchies.

    Of equally good levels those are taken that are lower in the columns that come first by name. So the
    names of X must come in the same order on both sides, or another one of them may be taken.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Rename(child, names), x, k):
            pairs = [(_old(names).get(column, column), column) for column in x]
            early = Generalization(child, tuple(old for old, _ in pairs), k)
            yield Rewrite(Rename(early, names), EQUAL, _levels(pairs, facts))
        case Way.RIGHT_TO_LEFT, Rename(Generalization(child, x, k), names):
            pairs = [(column, dict(names).get(column, column)) for column in x]
            late = Generalization(Rename(child, names), tuple(new for _, new in pairs), k)
            yield Rewrite(late, EQUAL, _levels(pairs, facts))


def _levels(pairs: list[tuple[str, str]], facts: Facts) -> dict[str, bool]:
    new = [after for _, after in sorted(pairs)]
    return {
        "the columns of X have the same hierarchies by both names": all(
            old == after or facts.same_hierarchy(old, after) for old, after in pairs
        ),
        "the names of X come in the same order": new == sorted(new),
    }


@rule(
    "SliceRename", "SliceRename", "Slice[V](Ren[N](r1))", "Ren[N](Slice[V'](r1))", "eq", (LR, RL),
    Effect.EXCHANGE, prefer=LR, examples=(cut(RENAMED, "B", "D"), cut(SWAPPED, "A", "B")),
)  # fmt: skip
def slice_rename(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Buckets are cut by the positions of rows, and the parts of rows are permuted by whatever names."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, SlicingNode(Rename(child, names), groups):
            old = _old(names)
            early = SlicingNode(child, tuple(tuple(old.get(c, c) for c in group) for group in groups))
            yield Rewrite(Rename(early, names), EQUAL)
        case Way.RIGHT_TO_LEFT, Rename(SlicingNode(child, groups), names):
            new = dict(names)
            late = tuple(tuple(new.get(c, c) for c in group) for group in groups)
            yield Rewrite(SlicingNode(Rename(child, names), late), EQUAL)


@rule(
    "NoiseRename", "NoiseRename", "Noise[P](Ren[N](r1))", "Ren[N](Noise[P'](r1))", "eq", (LR, RL),
    Effect.EXCHANGE, prefer=LR, conditions=("same noise",),
    examples=(noise(RENAMED, D="1/4"), noise(SWAPPED, A="1/4", B="1/2")),
)  # fmt: skip
def noise_rename(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A cell draws from the distribution of its column, if that is the same by both names."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, Randomization(Rename(child, names), probabilities):
            old = _old(names)
            early = Randomization(child, tuple((old.get(c, c), p) for c, p in probabilities))
            pairs = [(old.get(c, c), c) for c, _ in probabilities]
            yield Rewrite(Rename(early, names), EQUAL, _distributions(pairs, facts))
        case Way.RIGHT_TO_LEFT, Rename(Randomization(child, probabilities), names):
            new = dict(names)
            pairs = [(c, new.get(c, c)) for c, _ in probabilities]
            late = Randomization(Rename(child, names), tuple((new.get(c, c), p) for c, p in probabilities))
            yield Rewrite(late, EQUAL, _distributions(pairs, facts))


def _distributions(pairs: list[tuple[str, str]], facts: Facts) -> dict[str, bool]:
    return {
        "the noised columns have the same noise by both names": all(
            old == new or facts.same_noise(old, new) for old, new in pairs
        )
    }


RULES = (
    proj_group,
    sel_group,
    sel_rename,
    proj_rename,
    ren_rename,
    gen_rename,
    slice_rename,
    noise_rename,
)
