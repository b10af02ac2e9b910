"""Whether a rewritten plan still promises what the plan as written promised.

Equal plans return the same results with the same probabilities, so they promise the same. Partial equality
says nothing of that: here three promises are read from both plans and compared.

- Degrees: every combination of some columns occurs k times (`algebra/promises.py`).
- Separations: pairs of columns that a slicing cut apart, so that which values belong together is chance.
  Every slicing runs on at least a bucket of rows, or it is refused when it runs.
- Noise: the probability with which the cells of a column were drawn anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from tarnkappe.algebra.nodes import (
    Grouping,
    Join,
    Plan,
    PostProcessing,
    Projection,
    Randomization,
    Relation,
    Rename,
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.promises import promises

Pairs = frozenset[frozenset[str]]


def lost(before: Plan, after: Plan) -> Iterator[str]:
    """What the first plan promises and the second does not, in words."""
    kept = promises(after)
    for promise in promises(before):
        if not any(promise.columns <= other.columns and promise.k <= other.k for other in kept):
            yield f"it is not known from the plan whether the result is {promise}"
    for pair in sorted(map(sorted, separated(before) - separated(after))):
        yield f"{pair[0]} and {pair[1]} would no longer be cut apart"
    noise = noised(after)
    for column, probability in sorted(noised(before).items()):
        if noise.get(column, Fraction(0)) < probability:
            yield f"the noise of {column} would be weaker"


def separated(plan: Plan) -> Pairs:
    """The pairs of columns of the result that a slicing cut apart.

    >>> slicing = SlicingNode(Relation("r", ("A", "B", "C")), (("A",), ("B", "C")))
    >>> sorted("".join(sorted(pair)) for pair in separated(slicing))
    ['AB', 'AC']
    """
    match plan:
        case Relation() | Grouping() | PostProcessing():
            return frozenset()
        case SlicingNode(child, groups):
            there = [child.schema & set(group) for group in groups]
            cut = {frozenset({a, b}) for g, h in combinations(there, 2) for a in g for b in h}
            return separated(child) | cut
        case Projection(child, onto):
            return frozenset(pair for pair in separated(child) if pair <= set(onto))
        case Rename(child, names):
            new = dict(names)
            return frozenset(frozenset(new.get(c, c) for c in pair) for pair in separated(child))
        case Union(left, right):
            return separated(left) & separated(right)
        case Join(left, right):
            return separated(left) | separated(right) | _apart_by_key(left, right, plan.on)
        case ThetaJoin(left, right):
            return separated(left) | separated(right)
    return separated(plan.children[0])


def _apart_by_key(left: Plan, right: Plan, key: frozenset[str]) -> Pairs:
    """Columns of two parts that meet by a key from which one of them was cut apart."""
    if not key:
        return frozenset()
    loose = [
        {c for c in part.schema - key if all(frozenset({c, k}) in separated(part) for k in key)}
        for part in (left, right)
    ]
    return frozenset(
        frozenset({a, b})
        for a in left.schema - key
        for b in right.schema - key
        if a in loose[0] or b in loose[1]
    )


def noised(plan: Plan) -> dict[str, Fraction]:
    """The probability with which each column's cells were drawn anew at least once."""
    match plan:
        case Randomization(child):
            below = noised(child)
            return below | {
                column: 1 - (1 - below.get(column, Fraction(0))) * (1 - probability)
                for column, probability in plan.probabilities
                if column in child.schema
            }
        case Projection(child, onto):
            return {column: p for column, p in noised(child).items() if column in onto}
        case Rename(child, names):
            new = dict(names)
            return {new.get(column, column): p for column, p in noised(child).items()}
        case Grouping() | PostProcessing():
            return {}
        case Union(left, right):
            mine, its = noised(left), noised(right)
            return {column: min(p, its[column]) for column, p in mine.items() if column in its}
        case Join(left, right) | ThetaJoin(left, right):
            return noised(right) | noised(left)
    return noised(plan.children[0]) if plan.children else {}
