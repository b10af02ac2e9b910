"""The slow twin of the lowering: a plan run row by row in plain Python, with the same key.

It says what every row's id is and what its hash decides. An engine must give the very same bag of rows.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

from tarnkappe.algebra.generalizing import generalize
from tarnkappe.algebra.grouping import group_rows
from tarnkappe.algebra.lowering.keyed import Randomness
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
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.semantics import bucket_ranges
from tarnkappe.algebra.world import World
from tarnkappe.errors import NoSolutionError

Id = tuple[int, ...]
Numbered = list[tuple[Id, tuple[Any, ...]]]


class Twin:
    """Runs plans on one world with one key."""

    def __init__(self, world: World, key: bytes) -> None:
        self.world, self._randomness = world, Randomness(key)

    def number(self, path: tuple[int, ...], purpose: str, row: Id) -> Fraction:
        """The number between 0 and 1 that the keyed hash gives."""
        text = self._randomness.secret(path, purpose) + ".".join(map(str, row))
        return Fraction(int(hashlib.sha256(text.encode()).hexdigest(), 16), 2**256)

    def rows(self, plan: Plan, path: tuple[int, ...] = ()) -> Numbered:
        """The rows in their order, each with its id."""
        sides = [self.rows(child, (*path, n)) for n, child in enumerate(plan.children)]
        match plan:
            case Relation(name):
                return [((n,), row) for n, row in enumerate(self.world.rows(name))]
            case Projection(child, onto, distinct):
                at = [child.columns.index(c) for c in onto]
                kept = [(i, tuple(row[n] for n in at)) for i, row in sides[0]]
                return first_ones(plain(kept, width(child))) if distinct else kept
            case Selection(child, predicate):
                return [
                    (i, r) for i, r in sides[0] if predicate.holds(dict(zip(child.columns, r, strict=True)))
                ]
            case Rename():
                return sides[0]
            case Grouping(child, by, aggregates):
                rows = plain(sides[0], width(child))
                found = group_rows(tuple(row for _, row in rows), child.columns, by, aggregates)
                keys = [tuple(row[child.columns.index(c)] for c in by) for _, row in rows]
                firsts = [rows[keys.index(row[: len(by)])][0] if rows else (0,) for row in found]
                return list(zip(firsts, found, strict=True))
            case Generalization(child, by, k):
                lifted = generalize(tuple(r for _, r in sides[0]), child.columns, by, k, self.world)
                return list(zip((i for i, _ in sides[0]), lifted, strict=True))
            case SlicingNode():
                return self._sliced(plan, path, sides[0])
            case Randomization():
                for column, p in plan.probabilities:  # a column without noise is refused, rows or none
                    _ = self.world.noise_of(column) if p else None
                return [(i, self._noised(plan, path, i, row)) for i, row in sides[0]]
        return self._binary(plan, *sides)

    def _sliced(self, plan: SlicingNode, path: tuple[int, ...], given: Numbered) -> Numbered:
        plan.check()
        if len(plan.groups) == 1:
            return given
        rows = [((n,), row) for n, (_, row) in enumerate(given)]
        if len(rows) < self.world.bucket:
            raise NoSolutionError("test.too-few", "too few rows for a bucket")
        result = [list(row) for _, row in rows]
        for group in plan.groups[1:]:
            at = [plan.columns.index(column) for column in group]
            for bucket in bucket_ranges(len(rows), self.world.bucket):
                order = sorted(bucket, key=lambda n: self.number(path, repr(group), (n,)))
                for place, source in zip(bucket, order, strict=True):
                    for n in at:
                        result[place][n] = rows[source][1][n]
        return [((n,), tuple(row)) for n, row in enumerate(result)]

    def _noised(self, plan: Randomization, path: tuple[int, ...], row: Id, cells: tuple[Any, ...]) -> Any:
        new = list(cells)
        for column, p in plan.probabilities:
            if p:
                place = plan.columns.index(column)
                new[place] = self._drawn(column, p, cells[place], self.number(path, column, row))
        return tuple(new)

    def _drawn(self, column: str, p: Fraction, old: Any, u: Fraction) -> Any:
        noise = self.world.noise_of(column)
        chances = (
            {value: p * q for value, q in noise.drawn(old).items()}
            if noise.is_static
            else noise.outcomes(old, p)
        )
        for value, top in zip(chances, itertools.accumulate(chances.values()), strict=True):
            if u < top:
                return value
        return old

    def _binary(self, plan: Plan, left: Numbered, right: Numbered) -> Numbered:
        lefts, rights = (child.columns for child in plan.children)
        if isinstance(plan, Join | ThetaJoin):
            return joined(plan, left, right)
        aligned = [(i, tuple(row[rights.index(c)] for c in lefts)) for i, row in right]
        if isinstance(plan, Union):
            longest = max(map(width, plan.children))
            return [
                ((side, *i, *[0] * (longest - len(i))), row)
                for side, rows in enumerate((left, aligned))
                for i, row in rows
            ]
        partners = Counter(row for _, row in aligned)
        matched, rest = [], []
        for i, row in left:
            (matched if partners[row] > 0 else rest).append((i, row))
            partners[row] -= 1
        assert isinstance(plan, Intersection | Difference)
        return matched if isinstance(plan, Intersection) else rest


def joined(plan: Join | ThetaJoin, left: Numbered, right: Numbered) -> Numbered:
    lefts, rights = (child.columns for child in plan.children)
    pairs = []
    for i, row in left:
        for j, other in right:
            cells = dict(zip(lefts, row, strict=True))
            others = dict(zip(rights, other, strict=True))
            if isinstance(plan, Join):
                fits = all(cells[c] is not None and cells[c] == others[c] for c in plan.on)
            else:
                fits = plan.predicate.holds(cells | others)
            if fits:
                pairs.append((i + j, tuple((others | cells)[c] for c in plan.columns)))
    return pairs


def width(plan: Plan) -> int:
    """How many numbers the ids of a plan's rows have."""
    match plan:
        case Relation() | Grouping():
            return 1
        case Projection(child, _, distinct):
            return 1 if distinct else width(child)
        case SlicingNode(child, groups):
            return 1 if len(groups) > 1 else width(child)
        case Union():
            return 1 + max(map(width, plan.children))
        case Join() | ThetaJoin():
            return sum(map(width, plan.children))
    return width(plan.children[0])


def plain(rows: Numbered, ids: int) -> Numbered:
    """With ids of one number: those of several are counted anew."""
    return rows if ids == 1 else [((n,), row) for n, (_, row) in enumerate(rows)]


def first_ones(rows: Numbered) -> Numbered:
    firsts: dict[tuple[Any, ...], Id] = {}
    for i, row in rows:
        firsts.setdefault(row, i)
    return [(i, row) for row, i in firsts.items()]
