"""Two different anonymizations: αG and αD (GD1-GD6), αG and αS (GS1-GS4), αS and αD (SD1-SD4).

The publication leaves these pairs open; the verdicts here are ours. In the exchanges the left side has the
first operator of the name outside. Why each holds is said beside it, or a counterexample runs in the tests.
"""

from __future__ import annotations

from collections.abc import Iterator

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.kinds import BAG_EQUAL, EQUAL, NOT_EQUAL, partial_generalization
from tarnkappe.algebra.nodes import Generalization, Plan, Randomization, SlicingNode
from tarnkappe.algebra.rules.rule import LR, RL, Effect, Rewrite, Way, rule
from tarnkappe.algebra.rules.samples import AB, ABC, AC, cut, gen, noise
from tarnkappe.algebra.rules.slicing import correlation_sets, sliced

FRESH = "every generalized column is drawn anew: probability 1, static noise"
STILL_THERE = "what remains shows values that the removed operator protected"


def redrawn(randomization: Randomization, facts: Facts) -> frozenset[str]:
    """The columns of which no old value is left: drawn with probability 1 from static noise."""
    there = randomization.child.schema
    return frozenset(
        column
        for column, chance in randomization.probabilities
        if chance == 1 and column in there and facts.is_static(column)
    )


@rule(
    "GD1", "GenDp", "Gen[X,a](Noise[P](r1))", "Noise[P](Gen[X,a](r1))", "eq", (LR, RL), Effect.EXCHANGE,
    conditions=("attr(P)∩X={}",), examples=(gen(noise(AB, B="1/3"), "A", 2),),
)  # fmt: skip
def gd1(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Different columns: neither operator reads or writes what the other does.

    The levels are a function of π_X(r1), which noise outside X leaves as it is; the distribution of a noised
    cell depends on that cell alone, which is not lifted. Rows keep their places.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Randomization(child, p) as noisy, x, k):
            swapped: Plan = Randomization(Generalization(child, x, k), p)
            yield Rewrite(swapped, EQUAL, {"no generalized column is noised": not noisy.attributes & set(x)})
        case Way.RIGHT_TO_LEFT, Randomization(Generalization(child, x, k), p):
            swapped = Generalization(Randomization(child, p), x, k)
            yield Rewrite(swapped, EQUAL, {"no generalized column is noised": not plan.attributes & set(x)})


@rule(
    "GD2", "GenDp", "Gen[X,a](Noise[P](r1))", "Noise[P\\X](Gen[X,a](Noise[P∩X](r1)))", "eq", (LR, RL),
    Effect.EXCHANGE, prefer=RL,
    conditions=("P\\X≠{} and P∩X≠{}", "rl: attr(P1)∩X={}", "rl: attr(P1)∩attr(P2)={}"),
    examples=(gen(noise(AB, A="1/4", B="1/3"), "A", 2),),
)  # fmt: skip
def gd2(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Where only a part of the noise is in the way, the other part passes; back, noise merges across αG.

    Split by D5 into noise inside and outside X, then GD1 moves the latter. From right to left the outer noise
    must touch neither X nor a column that is noised below.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Randomization(child, p), x, k):
            inside = tuple(pair for pair in p if pair[0] in x)
            outside = tuple(pair for pair in p if pair[0] not in x)
            yield Rewrite(
                Randomization(Generalization(Randomization(child, inside), x, k), outside),
                EQUAL,
                {"some noised columns are generalized, others are not": bool(inside and outside)},
            )
        case Way.RIGHT_TO_LEFT, Randomization(Generalization(Randomization(child, q) as inner, x, k), p):
            yield Rewrite(
                Generalization(Randomization(child, (*q, *p)), x, k)
                if not plan.attributes & inner.attributes
                else None,
                EQUAL,
                {
                    "no generalized column is noised by the outer noise": not plan.attributes & set(x),
                    "no column is noised by both": not plan.attributes & inner.attributes,
                },
            )


@rule(
    "GD3", "GenDp", "Gen[X,a](Noise[P](r1))", "Noise[P](Gen[X,a](r1))", "partialG(X)", (LR, RL),
    Effect.EXCHANGE, prefer=RL, shape=("attr(P)∩X≠{}",), assumes=("lr lowers the released k",),
    examples=(gen(noise(AB, A="1/4"), "A", 2),),
)  # fmt: skip
def gd3(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """On a common column nothing but the other columns stays equal: the levels depend on noised values.

    Early noise changes what is counted and so the levels; late noise puts values of the lowest level among
    general labels. Columns outside X are noised alike on both sides. Generalize last: then every class has a
    rows. From left to right the promise falls, because single rows are noised out of their classes.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Randomization(child, p) as noisy, x, k):
            yield Rewrite(
                Randomization(Generalization(child, x, k), p),
                partial_generalization(child.schema & set(x)),
                {"a generalized column is noised": bool(noisy.attributes & set(x))},
                weakens="noise takes single rows out of classes that were k-anonymous before it",
            )
        case Way.RIGHT_TO_LEFT, Randomization(Generalization(child, x, k), p):
            yield Rewrite(
                Generalization(Randomization(child, p), x, k),
                partial_generalization(child.schema & set(x)),
                {"a generalized column is noised": bool(plan.attributes & set(x))},
            )


@rule(
    "GD4", "GenDp", "Noise[P](Gen[X,a](r1))", "Noise[P](r1)", "eq", (LR,), Effect.REMOVE,
    conditions=("p=1 and static for all of X",), examples=(noise(gen(AB, "A", 2), A="1"),),
)  # fmt: skip
def gd4(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Noise that keeps nothing of X forgets its generalization.

    A cell that is noised with probability 1 from a static distribution does not depend on what was there;
    αG changes cells of X only and no number of rows. Dynamic noise does look at the old cell, and noise with
    p < 1 keeps it sometimes: there the rule is false.
    """
    match plan:
        case Randomization(Generalization(child, x, _), p):
            fresh = child.schema & set(x) <= redrawn(plan, facts)
            yield Rewrite(Randomization(child, p), EQUAL, {FRESH: fresh})


@rule(
    "GD5", "GenDp", "Noise[P](Gen[X,a](r1))", "Noise[P](r1)", "noneq", (), Effect.REMOVE,
    examples=(noise(gen(AB, "A", 2), A="1/4"),),
)  # fmt: skip
def gd5(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Noise does not replace a generalization: with 1 - p the exact value is released.

    Outside X both sides agree, so this would even be partial equality: that alone is no licence to remove
    an anonymization. Only full static noise is (GD4).
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Randomization(Generalization(child), p):
            yield Rewrite(Randomization(child, p), NOT_EQUAL, {STILL_THERE: False})


@rule(
    "GD6", "GenDp", "Gen[X,a](Noise[P](r1))", "Gen[X,a](r1)", "noneq", (), Effect.REMOVE,
    examples=(gen(noise(AB, A="1/4"), "A", 2), gen(noise(AB, B="1/4"), "A", 2)),
)  # fmt: skip
def gd6(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A generalization does not absorb noise, not even noise that stays within one label most of the time.

    A noised value may cross into another label and change the counts, and so the levels of all rows. And
    with the noise its epsilon would be gone, which k-anonymity does not give.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(Randomization(child), x, k):
            yield Rewrite(Generalization(child, x, k), NOT_EQUAL, {STILL_THERE: False})


@rule(
    "GS1", "GenSlice", "Gen[X,a](Slice[V](r1))", "Slice[V](Gen[X,a](r1))", "eq", (LR, RL), Effect.EXCHANGE,
    conditions=("∃Xi∈V: X⊆Xi",), examples=(gen(cut(ABC, "AC", "B"), "AC", 2), gen(cut(AB, "A", "B"), "A", 2)),
)  # fmt: skip
def gs1(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Inside one correlation set slicing only changes places: π_X(r1) is the same bag, with the same levels.

    Lifting a cell depends on the levels and the cell, so it may happen before or after the cell moves. αG
    keeps places and the number of rows, so the buckets are the same.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(SlicingNode(child) as slicing, x, k):
            swapped: Plan = SlicingNode(Generalization(child, x, k), slicing.groups)
            yield Rewrite(swapped, EQUAL, {"X lies in one correlation set": _in_one_set(slicing, x)})
        case Way.RIGHT_TO_LEFT, SlicingNode(Generalization(child, x, k), groups):
            swapped = Generalization(SlicingNode(child, groups), x, k)
            yield Rewrite(swapped, EQUAL, {"X lies in one correlation set": _in_one_set(plan, x)})


def _in_one_set(slicing: SlicingNode, x: tuple[str, ...]) -> bool:
    there = slicing.child.schema & set(x)
    return any(there <= group for group in correlation_sets(slicing))


@rule(
    "GS2", "GenSlice", "Gen[X,a](Slice[V](r1))", "Slice[V](Gen[X,a](r1))", "partialG(X)", (LR, RL),
    Effect.EXCHANGE, prefer=RL, shape=("no Xi∈V: X⊆Xi",), assumes=("lr lowers the released k",),
    examples=(gen(cut(AC, "A", "C"), "AC", 2),),
)  # fmt: skip
def gs2(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """If slicing cuts through X, late generalization counts combinations that chance has made.

    Its levels are then random; outside X both sides slice the same cells the same way. Generalize last: then
    every class has a rows. From left to right the promise falls, because slicing takes the combinations of
    X apart that were counted; what stays k-anonymous is each X∩Xi by itself.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(SlicingNode(child) as slicing, x, k):
            yield Rewrite(
                SlicingNode(Generalization(child, x, k), slicing.groups),
                partial_generalization(child.schema & set(x)),
                {"X lies in several correlation sets": not _in_one_set(slicing, x)},
                weakens="slicing takes combinations of X apart that were k-anonymous before it",
            )
        case Way.RIGHT_TO_LEFT, SlicingNode(Generalization(child, x, k), groups):
            yield Rewrite(
                Generalization(SlicingNode(child, groups), x, k),
                partial_generalization(child.schema & set(x)),
                {"X lies in several correlation sets": not _in_one_set(plan, x)},
            )


@rule(
    "GS3", "GenSlice", "Slice[V](Gen[X,a](r1))", "Slice[V](r1)", "noneq", (), Effect.REMOVE,
    examples=(cut(gen(AB, "A", 2), "A", "B"),),
)  # fmt: skip
def gs3(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Slicing does not replace a generalization: it shows every value of X exactly, once for every row.

    A rare value still says that its owner is in the table, and the rest of his correlation set stands
    beside it. Cutting through X does not help either: each part of X is shown exactly.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, SlicingNode(Generalization(child), groups):
            yield Rewrite(SlicingNode(child, groups), NOT_EQUAL, {STILL_THERE: False})


@rule(
    "GS4", "GenSlice", "Gen[X,a](Slice[V](r1))", "Gen[X,a](r1)", "noneq", (), Effect.REMOVE,
    examples=(gen(cut(ABC, "A", "BC"), "C", 2),),
)  # fmt: skip
def gs4(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """A generalization does not replace slicing: it leaves in every row what slicing takes apart.

    Within a class of equal X the other columns stay with their row, so a homogeneous class tells the
    sensitive value; slicing would have left that to chance.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Generalization(SlicingNode(child), x, k):
            yield Rewrite(Generalization(child, x, k), NOT_EQUAL, {STILL_THERE: False})


@rule(
    "SD1", "SliceDp", "Slice[V](Noise[P](r1))", "Noise[P](Slice[V](r1))", "eq", (LR, RL), Effect.EXCHANGE,
    examples=(cut(noise(AB, A="1/4"), "A", "B"),),
)  # fmt: skip
def sd1(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Slicing moves cells without looking at them, and noise looks at one cell, wherever it stands.

    So a cell may be noised before or after it moves; the permutations depend on positions alone and are
    independent of the noise. This holds for static and dynamic noise, for all V and P, without a condition.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, SlicingNode(Randomization(child, p), groups):
            yield Rewrite(Randomization(SlicingNode(child, groups), p), EQUAL)
        case Way.RIGHT_TO_LEFT, Randomization(SlicingNode(child, groups), p):
            yield Rewrite(SlicingNode(Randomization(child, p), groups), EQUAL)


@rule(
    "SD2", "SliceDp", "Noise[P](Slice[V](r1))", "Noise[P](Slice[V without F](r1))", "eq", (LR,),
    Effect.REMOVE, conditions=("F⊆attr(P), p=1 and static on F", "V without F has fewer sets"),
    examples=(noise(cut(AB, "A", "B"), A="1"), noise(cut(ABC, "A", "B", "C"), A="1")),
)  # fmt: skip
def sd2(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Columns that are drawn anew (F) need not be permuted before: nobody sees where their cells came from.

    They may join any other correlation set, and a set that consisted of them falls away. If one set is left,
    the slicing only changes the places of rows, and as a bag of rows it is superfluous.
    """
    match plan:
        case Randomization(SlicingNode(child) as slicing, p):
            fresh = redrawn(plan, facts)
            sets = correlation_sets(slicing)
            left = sorted((group - fresh for group in sets if group - fresh), key=sorted)
            fewer = {"a set of columns that are all drawn anew falls away": len(left) < len(sets)}
            if len(left) > 1:
                merged = [left[0] | fresh, *left[1:]]
                yield Rewrite(Randomization(sliced(child, merged), p), EQUAL, fewer)
            else:
                yield Rewrite(Randomization(child, p), BAG_EQUAL, fewer)


@rule(
    "SD3", "SliceDp", "Noise[P](Slice[V](r1))", "Noise[P](r1)", "noneq", (), Effect.REMOVE,
    examples=(noise(cut(AB, "A", "B"), A="1/4"), noise(cut(AB, "A", "B"), A="1/4", B="1/4")),
)  # fmt: skip
def sd3(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Noise does not replace slicing: with (1-p)(1-q) two values are released that do belong together.

    Only noise that draws every column outside one set anew makes slicing superfluous (SD2).
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, Randomization(SlicingNode(child), p):
            yield Rewrite(Randomization(child, p), NOT_EQUAL, {STILL_THERE: False})


@rule(
    "SD4", "SliceDp", "Slice[V](Noise[P](r1))", "Slice[V](r1)", "noneq", (), Effect.REMOVE,
    examples=(cut(noise(AB, A="1/4"), "A", "B"),),
)  # fmt: skip
def sd4(plan: Plan, way: Way, facts: Facts) -> Iterator[Rewrite]:
    """Slicing does not replace noise: every column keeps exactly its values, so a single one is never denied.

    Even if every column is a set of its own, the bag of its values is released, and with it who is unique.
    """
    match way, plan:
        case Way.LEFT_TO_RIGHT, SlicingNode(Randomization(child), groups):
            yield Rewrite(SlicingNode(child, groups), NOT_EQUAL, {STILL_THERE: False})


RULES = (gd1, gd2, gd3, gd4, gd5, gd6, gs1, gs2, gs3, gs4, sd1, sd2, sd3, sd4)
