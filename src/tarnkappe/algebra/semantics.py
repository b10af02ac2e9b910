"""What a plan means: its exact result on small relations, as a distribution over bags of rows.

This is the slow and obviously correct reading of every operator. The rules are checked against it, and so
are the engines. Two occurrences of the same random operator draw independently.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from tarnkappe.algebra.distribution import OutcomeDistribution, Row, Rows, as_bag
from tarnkappe.algebra.generalizing import generalize
from tarnkappe.algebra.grouping import group_rows
from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    Plan,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SetOperation,
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.world import World
from tarnkappe.errors import HierarchyError, NoSolutionError, ParameterError

ONE = Fraction(1)


def evaluate(plan: Plan, world: World, *, ordered: bool = False) -> OutcomeDistribution:
    """The exact distribution of a plan's result.

    Args:
        plan: any plan without noisy aggregates (their results are not finitely many).
        world: the data and what belongs to its columns.
        ordered: whether the order of rows is part of the result.

    Raises:
        NoSolutionError: a generalization meets fewer rows than its k, or a slicing fewer than a bucket.
    """
    result = _evaluate(plan, world, ordered)
    return result if ordered else result.unordered()


def possible_result(plan: Plan, world: World) -> OutcomeDistribution | None:
    """The exact distribution of a plan's result; None if it has none in this world.

    A plan has none where a generalization meets too few rows, or a text that its hierarchy has no line for.
    """
    try:
        return evaluate(plan, world)
    except (NoSolutionError, HierarchyError):
        return None


def _evaluate(plan: Plan, world: World, ordered: bool) -> OutcomeDistribution:
    match plan:
        case Relation(name, columns):
            result = OutcomeDistribution.certain(columns, world.rows(name))
        case SlicingNode():
            result = _slicing(plan, world, ordered)
        case Randomization(child):
            result = _evaluate(child, world, ordered).then(_randomizer(plan, world, ordered))
        case Generalization(child, by, k, person):
            columns = child.columns
            result = _evaluate(child, world, ordered).map(
                columns, lambda rows: generalize(rows, columns, by, k, world, person)
            )
        case Rename(child):
            result = _evaluate(child, world, ordered).map(plan.columns, lambda rows: rows)
        case Projection() | Selection() | Grouping():
            result = _evaluate(plan.child, world, ordered).map(plan.columns, _unary(plan))
        case SetOperation() | Join() | ThetaJoin():
            combine = _binary(plan)
            left, right = (_evaluate(child, world, ordered) for child in plan.children)
            result = OutcomeDistribution.of(
                plan.columns,
                ((combine(l_rows, r_rows), p * q) for l_rows, p in left for r_rows, q in right),
            )
        case _:
            raise ParameterError(
                "algebra.no-reference-evaluation",
                "there is no reference evaluation for {name}",
                name=type(plan).__name__,
            )
    return result if ordered else result.unordered()


def _unary(plan: Projection | Selection | Grouping) -> Callable[[Rows], Rows]:
    columns = plan.child.columns
    match plan:
        case Projection(_, onto, distinct):
            positions = [columns.index(column) for column in onto]

            def project(rows: Rows) -> Rows:
                kept = (tuple(row[i] for i in positions) for row in rows)
                return tuple(dict.fromkeys(kept)) if distinct else tuple(kept)

            return project
        case Selection(_, predicate):
            return lambda rows: tuple(
                row for row in rows if predicate.holds(dict(zip(columns, row, strict=True)))
            )
        case Grouping(_, by, aggregates):
            return lambda rows: group_rows(rows, columns, by, aggregates)


def _binary(plan: Plan) -> Callable[[Rows, Rows], Rows]:
    left, right = (child.columns for child in plan.children)
    match plan:
        case Join() | ThetaJoin():
            common = [(left.index(column), right.index(column)) for column in left if column in right]
            added = [i for i, column in enumerate(right) if column not in left]
            predicate = plan.predicate if isinstance(plan, ThetaJoin) else None

            def join(rows: Rows, others: Rows) -> Rows:
                pairs = (
                    row + tuple(other[i] for i in added)
                    for row in rows
                    for other in others
                    if all(row[i] is not None and row[i] == other[j] for i, j in common)
                )
                if predicate is None:
                    return tuple(pairs)
                return tuple(
                    pair for pair in pairs if predicate.holds(dict(zip(plan.columns, pair, strict=True)))
                )

            return join
        case Union():
            return lambda rows, others: rows + _aligned(others, right, left)
        case Intersection():
            return lambda rows, others: _common(rows, _aligned(others, right, left))
        case Difference():
            return lambda rows, others: _without(rows, _aligned(others, right, left))
        case _:
            raise ParameterError(
                "algebra.no-reference-evaluation",
                "there is no reference evaluation for {name}",
                name=type(plan).__name__,
            )


def _aligned(rows: Rows, columns: tuple[str, ...], wanted: tuple[str, ...]) -> Rows:
    positions = [columns.index(column) for column in wanted]
    return tuple(tuple(row[i] for i in positions) for row in rows)


def _common(rows: Rows, others: Rows) -> Rows:
    left = Counter(others)
    kept = []
    for row in rows:
        if left[row]:
            left[row] -= 1
            kept.append(row)
    return tuple(kept)


def _without(rows: Rows, others: Rows) -> Rows:
    taken = Counter(others)
    kept = []
    for row in rows:
        if taken[row]:
            taken[row] -= 1
        else:
            kept.append(row)
    return tuple(kept)


def _randomizer(
    plan: Randomization, world: World, ordered: bool
) -> Callable[[Rows], Iterable[tuple[Rows, Fraction]]]:
    columns = plan.child.columns
    noised = [(columns.index(c), world.noise_of(c), p) for c, p in plan.probabilities if p and c in columns]

    def cells(row: Row) -> list[tuple[Row, Fraction]]:
        outcomes = [(row, ONE)]
        for i, noise, p in noised:
            drawn = noise.outcomes(row[i], p).items()
            outcomes = [((*r[:i], v, *r[i + 1 :]), q * chance) for r, q in outcomes for v, chance in drawn]
        return outcomes

    def draw(rows: Rows) -> Iterable[tuple[Rows, Fraction]]:
        reached: dict[Rows, Fraction] = {(): ONE}
        for row in rows:
            further: dict[Rows, Fraction] = {}
            for (start, p), (new, q) in itertools.product(reached.items(), cells(row)):
                grown = (*start, new)
                grown = grown if ordered else as_bag(grown)
                further[grown] = further.get(grown, Fraction(0)) + p * q
            reached = further
        return reached.items()

    return draw


def bucket_ranges(rows: int, least: int) -> list[range]:
    """The positions of each bucket: consecutive, `least` rows each; the remainder joins the last one.

    >>> bucket_ranges(7, 3)
    [range(0, 3), range(3, 7)]
    """
    number = rows // least
    return [range(i * least, (i + 1) * least if i < number - 1 else rows) for i in range(number)]


def _slicing(plan: SlicingNode, world: World, ordered: bool) -> OutcomeDistribution:
    columns = plan.child.columns
    groups = [[columns.index(c) for c in group if c in columns] for group in plan.groups]
    groups = [group for group in groups if group]
    if sorted(i for group in groups for i in group) != list(range(len(columns))):
        plan.check()  # says which column is left out
    if len(groups) == 1:
        return _evaluate(plan.child, world, ordered)

    def draw(rows: Rows) -> Iterable[tuple[Rows, Fraction]]:
        if len(rows) < world.bucket:
            raise NoSolutionError(
                "algebra.slicing-needs-least-rows-bucket",
                "slicing needs at least {bucket} rows, a bucket; there {rows:is|are} {rows}",
                bucket=world.bucket,
                rows=len(rows),
            )
        reached: list[tuple[Rows, Fraction]] = [((), ONE)]
        for bucket in bucket_ranges(len(rows), world.bucket):
            arrangements = _permuted(tuple(rows[i] for i in bucket), groups, ordered)
            reached = [(start + part, p * q) for start, p in reached for part, q in arrangements]
        if ordered and not world.stable_buckets:
            return ((mixed, p * q) for result, p in reached for mixed, q in _orders(result))
        return reached

    return _evaluate(plan.child, world, True).then(draw)


def _permuted(bucket: Rows, groups: list[list[int]], ordered: bool) -> list[tuple[Rows, Fraction]]:
    """All arrangements of a bucket: every group has its own uniform permutation.

    As a bag, the result does not change if one group stays in place.
    """
    parts = [[tuple(row[i] for i in group) for row in bucket] for group in groups]
    choices = [_orders(part) for part in parts]
    if not ordered:
        choices[0] = [(tuple(parts[0]), ONE)]
    order = [i for group in groups for i in group]
    place = [order.index(i) for i in range(len(order))]
    total: dict[Rows, Fraction] = {}
    for chosen in itertools.product(*choices):
        joined = (sum(pieces, ()) for pieces in zip(*(part for part, _ in chosen), strict=True))
        rows = tuple(tuple(row[i] for i in place) for row in joined)
        rows = rows if ordered else as_bag(rows)
        total[rows] = total.get(rows, Fraction(0)) + math.prod((p for _, p in chosen), start=ONE)
    return list(total.items())


def _orders(rows: Iterable[Row]) -> list[tuple[Rows, Fraction]]:
    """All orders of some rows, with the probability of each."""
    counted = Counter(itertools.permutations(rows))
    total = sum(counted.values())
    return [(order, Fraction(times, total)) for order, times in counted.items()]


def is_k_anonymous(rows: Rows, columns: tuple[str, ...], by: Iterable[str], k: int) -> bool:
    """Whether every combination of values in the columns `by` occurs at least k times (an empty bag: yes)."""
    positions = [columns.index(column) for column in by]
    return all(n >= k for n in Counter(tuple(row[i] for i in positions) for row in rows).values())


def possible_degree(result: OutcomeDistribution, by: Iterable[str]) -> int | None:
    """The k of the least anonymous result that may come out; None if all results are empty."""
    positions = [result.columns.index(column) for column in by]
    return min(_class_sizes(result, positions), default=None)


def _class_sizes(result: OutcomeDistribution, positions: list[int]) -> Iterator[int]:
    for rows, _ in result:
        yield from Counter(tuple(row[i] for i in positions) for row in rows).values()
