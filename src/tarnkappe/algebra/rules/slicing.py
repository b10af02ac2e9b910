"""Slicing: superfluous (S1), twice (S2, S3), with projection (S4-S6), and the operators it does not pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import BAG_EQUAL, EQUAL, NOT_EQUAL, Groups, Kind, partial_slicing, refinement
from tarnkappe.algebra.nodes import (
    Difference,
    Intersection,
    Join,
    Plan,
    Projection,
    Selection,
    SlicingNode,
    Union,
)
from tarnkappe.algebra.rules.rule import LR, RL, Effect, Rewrite, Way, rule
from tarnkappe.algebra.rules.samples import AB, ABC, ABCD, LEFT_PART, R1, R2, RIGHT_PART, cut, onto, where
from tarnkappe.algebra.rules.sides import hides

DUPLICATES = "the projection keeps duplicates"
SEVERAL = "there are several correlation sets"
ROWS_BROKEN = "slicing breaks rows on purpose, so which rows agree or are selected afterwards is chance"


def correlation_sets(slicing: SlicingNode) -> Groups:
    """The sets of a slicing without the columns that its child does not have."""
    return frozenset(slicing.child.schema & set(group) for group in slicing.groups) - {frozenset()}


def _moved(groups: Groups) -> Kind:
    """Equality between slicings of which one has these sets and the other more of them, which are hidden."""
    return EQUAL if len(groups) > 1 else BAG_EQUAL


def sliced(child: Plan, groups: Collection[Collection[str]]) -> SlicingNode:
    """A slicing from sets."""
    return SlicingNode(child, tuple(tuple(group) for group in groups))


def is_acyclic(first: Groups, second: Groups) -> bool:
    """Whether the graph that joins two overlapping sets of two partitions has no cycle.

    >>> def sets(*groups): return frozenset(map(frozenset, groups))
    >>> is_acyclic(sets("BC", "D"), sets("B", "CD")), is_acyclic(sets("AB", "CD"), sets("AC", "BD"))
    (True, False)
    """
    components = [set(group) for group in first]
    for group in second:
        touched = [component for component in components if component & group]
        components = [component for component in components if not component & group]
        components.append(set().union(group, *touched))
    return len(refinement(first, second)) == len(first) + len(second) - len(components)


@rule(
    "S1", "ObsoleteSlice", "Slice[V](r1)", "r1", "eq", (LR,), Effect.REMOVE,
    conditions=("|V|=1",), examples=(cut(AB, "AB"),),
)  # fmt: skip
def s1(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """With one correlation set rows stay whole and only change places, which a bag does not notice.

    Columns that do not exist are struck out of the sets first.
    """
    match plan:
        case SlicingNode(child, groups):
            there = correlation_sets(plan)
            if len(there) > 1 and sum(map(len, there)) < sum(map(len, groups)):
                yield Rewrite(sliced(child, there), EQUAL)
            else:
                yield Rewrite(child, EQUAL, {"there is one correlation set": there == {child.schema}})


@rule(
    "S2", "IdemSlice", "Slice[V](Slice[V](r1))", "Slice[V](r1)", "eq", (LR,), Effect.MERGE,
    conditions=("same V",), corrections=("stable buckets, else partialS(V)",), otherwise="partialS(V)",
    examples=(cut(cut(AB, "A", "B"), "A", "B"),),
)  # fmt: skip
def s2(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A uniform permutation of a uniformly permuted bucket is uniform.

    The buckets of both must be the same. If the order of rows is lost in between, the second slicing mixes
    across the first one's buckets, and only each correlation set by itself stays as it is.
    """
    match plan:
        case SlicingNode(SlicingNode() as inner):
            same = correlation_sets(plan) == correlation_sets(inner)
            kind = EQUAL if facts.stable_buckets else partial_slicing(correlation_sets(inner))
            yield Rewrite(inner, kind, {"both have the same correlation sets": same})


@rule(
    "S3", "IdemSlice", "Slice[V1](Slice[V2](r1))", "Slice[refine(V1,V2)](r1)", "eq", (LR,), Effect.MERGE,
    corrections=("stable buckets and acyclic intersection graph, else partialS(refine)",),
    otherwise="partialS(refine)",
    examples=(cut(cut(ABC, "AB", "C"), "A", "BC"), cut(cut(ABCD, "AC", "BD"), "AB", "CD")),
)  # fmt: skip
def s3(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """What one of the two slicings separates is separated in the end: the common refinement of both.

    The block A ∩ B gets the composition of a permutation of A and one of B. These are independent if the
    graph of overlapping sets has no cycle (and the buckets are the same). With a cycle they are tied, and
    the merged slicing is more random: partially equal, and safe.
    """
    match plan:
        case SlicingNode(SlicingNode(child) as inner):
            outer_sets, inner_sets = correlation_sets(plan), correlation_sets(inner)
            merged = refinement(outer_sets, inner_sets)
            exact = facts.stable_buckets and is_acyclic(outer_sets, inner_sets)
            yield Rewrite(sliced(child, merged), EQUAL if exact else partial_slicing(merged))


@rule(
    "S4", "SliceProj", "Slice[V](Proj[Y](r1))", "Proj[Y](Slice[V∪{R1\\Y}](r1))", "eq", (LR,),
    Effect.EXCHANGE, wellformed=("∪V=Y",), assumes=("Proj not distinct", "omit empty group"),
    examples=(cut(onto(ABC, "AB"), "A", "B"), cut(onto(ABC, "AB"), "AB")),
)  # fmt: skip
def s4(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Slice first: the hidden columns may be in any set, since they vanish; one of their own is cleanest.

    A slicing into one set moves nothing and asks for no bucket; with the new set it would: S1 is the rule.
    """
    match plan:
        case SlicingNode(Projection(child, y, distinct)):
            sets = correlation_sets(plan)
            early = Projection(sliced(child, [*sets, child.schema - set(y)]), y)
            yield Rewrite(early, EQUAL, {SEVERAL: len(sets) > 1, DUPLICATES: not distinct})


@rule(
    "S5", "SliceProj", "Slice[{A∩Z|A∈V}\\{{}}](Proj[Z](r1))", "Proj[Z](Slice[V](r1))", "eq", (RL,),
    Effect.EXCHANGE, wellformed=("∪V=R1",), assumes=("Proj not distinct",),
    examples=(onto(cut(ABC, "AC", "B"), "AB"), onto(cut(ABC, "A", "BC"), "BC")),
)  # fmt: skip
def s5(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Project first: columns that vanish are cut out of their sets, and empty sets fall away.

    If one set is left, rows no longer change places at all, as in S6.
    """
    match plan:
        case Projection(SlicingNode(child) as slicing, z, distinct):
            left = frozenset(group & set(z) for group in correlation_sets(slicing)) - {frozenset()}
            yield Rewrite(sliced(Projection(child, z), left), _moved(left), {DUPLICATES: not distinct})


@rule(
    "S6", "SliceProj", "Proj[Y](r1)", "Proj[Y](Slice[V](r1))", "eq", (RL,), Effect.REMOVE,
    conditions=("∃Xi∈V: Y⊆Xi",),
    examples=(onto(cut(ABC, "A", "BC"), "BC"), onto(cut(ABC, "A", "BC"), "B", distinct=True)),
)  # fmt: skip
def s6(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Within one correlation set rows only change places (a slicing above might notice that).

    This holds for a projection without duplicates too.
    """
    match plan:
        case Projection(SlicingNode(child) as slicing, y, distinct):
            inside = any(set(y) <= group for group in correlation_sets(slicing))
            yield Rewrite(
                Projection(child, y, distinct), BAG_EQUAL, {"Y lies in one correlation set": inside}
            )


@rule(
    "S7", "SliceSel", "Slice[V](Sel[F](r1))", "Sel[F](Slice[V](r1))", "noneq", (), Effect.EXCHANGE,
    examples=(cut(where(AB, "B", "b1"), "A", "B"),),
)  # fmt: skip
def s7(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Selecting from sliced rows takes away parts of other rows together with the wanted ones.

    Even if F reads one correlation set, the other sets lose random values, so that not even partial
    equality holds. Select, then slice.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, SlicingNode(Selection(child, f), groups):
            yield Rewrite(Selection(SlicingNode(child, groups), f), NOT_EQUAL, {ROWS_BROKEN: False})
        case Way.RIGHT_TO_LEFT, Selection(SlicingNode(child, groups), f):
            yield Rewrite(SlicingNode(Selection(child, f), groups), NOT_EQUAL, {ROWS_BROKEN: False})


@rule(
    "S8", "SliceUnion", "Slice[V](r1∪r2)", "Slice[V](r1)∪Slice[V](r2)", "partialS(V)", (LR, RL),
    Effect.EXCHANGE, prefer=LR, assumes=("|r1|,|r2| >= bucket size", "bag union"),
    examples=(cut(Union(R1, R2), "A", "B"),),
)  # fmt: skip
def s8(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Slicing the parts is slicing the whole with a border between two buckets where the parts meet.

    Other permutations become possible, but every correlation set keeps its rows, and nobody knows the
    buckets anyway. If the cut falls on a border of the whole's buckets, it is equality.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, SlicingNode(Union(r1, r2), groups):
            enough = facts.bucket is not None and all(
                facts.fewest_rows(part) >= facts.bucket for part in (r1, r2)
            )
            yield Rewrite(
                Union(SlicingNode(r1, groups), SlicingNode(r2, groups)),
                _cut_kind(r1, r2, correlation_sets(plan), facts),
                {"both parts are known to fill a bucket": enough},
            )
        case Way.RIGHT_TO_LEFT, Union(SlicingNode(r1) as left, SlicingNode(r2) as right):
            sets = correlation_sets(left)
            yield Rewrite(
                sliced(Union(r1, r2), sets),
                _cut_kind(r1, r2, sets, facts),
                {"both parts have the same correlation sets": sets == correlation_sets(right)},
            )


def _cut_kind(r1: Plan, r2: Plan, groups: Groups, facts: Facts) -> Kind:
    first = facts.row_count(r1)
    if facts.bucket is None or first is None or not facts.stable_buckets:
        return partial_slicing(groups)
    on_border = first % facts.bucket == 0 and facts.fewest_rows(r2) >= facts.bucket
    return EQUAL if on_border else partial_slicing(groups)


@rule(
    "S9", "SliceJoin", "Slice[V1'∪V2'](Proj[R](r1⋈r2))", "Proj[R](Slice[V1'∪{ID}](r1)⋈Slice[V2'∪{ID}](r2))",
    "eq", (LR, RL), Effect.EXCHANGE, prefer=LR,
    conditions=(
        "∪V1'∪ID=R1", "∪V2'∪ID=R2", "R=(R1∪R2)\\ID", "ID key of both, same key set", "no group spans both",
    ),
    corrections=("same order by ID, else partialS(V)",), otherwise="partialS(V)",
    examples=(cut(onto(Join(LEFT_PART, RIGHT_PART), "AB"), "A", "B"),),
)  # fmt: skip
def s9(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Sets that have no relation to each other any more may be sliced apart, in two vertical parts.

    The parts list the same keys in the same order, or their buckets differ and only each set by itself
    agrees. The key is a set of its own in both parts (grouped with data on both sides, the join would
    restore the rows) and is projected away (rising values would betray the buckets).
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, SlicingNode(Projection(Join(r1, r2) as join, onto, distinct)):
            groups = correlation_sets(plan)
            key = join.on
            parts = [[group for group in groups if group <= part.schema - key] for part in (r1, r2)]
            whole = {
                SEVERAL: len(groups) > 1,
                "no correlation set spans both parts": sum(map(len, parts)) == len(groups),
            }
            early = Join(sliced(r1, [*parts[0], key]), sliced(r2, [*parts[1], key]))
            yield Rewrite(
                Projection(early, onto) if all(whole.values()) else None,
                EQUAL if facts.same_order(r1, r2, key) else partial_slicing(groups),
                whole | _vertical(r1, r2, join, facts) | hides(join, onto, distinct),
            )
        case Way.RIGHT_TO_LEFT, Projection(
            Join(SlicingNode(r1) as left, SlicingNode(r2) as right) as join, onto, distinct
        ):
            key = join.on
            lefts, rights = correlation_sets(left), correlation_sets(right)
            groups = (lefts | rights) - {key}
            alone = {"the key is a correlation set of its own in both parts": key in lefts & rights}
            yield Rewrite(
                sliced(Projection(Join(r1, r2), onto), groups) if all(alone.values()) else None,
                _moved(groups) if facts.same_order(r1, r2, key) else partial_slicing(groups),
                alone | _vertical(r1, r2, join, facts) | hides(join, onto, distinct),
            )


def _vertical(r1: Plan, r2: Plan, join: Join, facts: Facts) -> dict[str, bool]:
    same = facts.same_keys(r1, r2, join.on)
    return {"the join columns are a key of both parts with the same values": same}


@rule(
    "S10", "SliceInter", "Slice[V](r1∩r2)", "Slice[V](r1)∩Slice[V](r2)", "noneq", (), Effect.EXCHANGE,
    examples=(cut(Intersection(R1, R2), "A", "B"),),
)  # fmt: skip
def s10(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """An intersection needs whole rows, which slicing exists to destroy: what meets is chance."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, SlicingNode(Intersection(r1, r2), v):
            early = Intersection(SlicingNode(r1, v), SlicingNode(r2, v))
            yield Rewrite(early, NOT_EQUAL, {ROWS_BROKEN: False})
        case Way.RIGHT_TO_LEFT, Intersection(SlicingNode(r1, v), SlicingNode(r2)):
            yield Rewrite(SlicingNode(Intersection(r1, r2), v), NOT_EQUAL, {ROWS_BROKEN: False})


@rule(
    "S11", "SliceDiff", "Slice[V](r1-r2)", "Slice[V](r1)-Slice[V](r2)", "noneq", (), Effect.EXCHANGE,
    examples=(cut(Difference(R1, R2), "A", "B"),),
)  # fmt: skip
def s11(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A difference needs whole rows, which slicing exists to destroy: what cancels is chance."""
    match way, plan:
        case Way.LEFT_TO_RIGHT, SlicingNode(Difference(r1, r2), v):
            yield Rewrite(Difference(SlicingNode(r1, v), SlicingNode(r2, v)), NOT_EQUAL, {ROWS_BROKEN: False})
        case Way.RIGHT_TO_LEFT, Difference(SlicingNode(r1, v), SlicingNode(r2)):
            yield Rewrite(SlicingNode(Difference(r1, r2), v), NOT_EQUAL, {ROWS_BROKEN: False})


RULES = (s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11)
