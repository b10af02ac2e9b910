"""Plans made small enough to be enumerated, without losing what can make them differ.

All small relations of eight columns have one row, and no small relation has fifty. So for a comparison

- columns that always stand together (in the same projections, the same correlation sets, and in no predicate,
  generalization, randomization, renaming, aggregate or join) are one column: a block of columns that nobody
  tells apart behaves as one of them;
- the degrees k become 2, 3, 4, ... in their order: generalizations are compared by which k is larger.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Join,
    Plan,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
    ThetaJoin,
)

LEAST_K = 2


def abridged(left: Plan, right: Plan) -> tuple[Plan, Plan, tuple[str, ...]]:
    """Two plans with fewer columns and smaller degrees, and in words what was changed.

    >>> wide = Relation("r", ("A", "B", "C", "D"))
    >>> plan, _, notes = abridged(Generalization(wide, ("A",), 50), wide)
    >>> plan.columns, plan.k, notes
    (('A', 'B'), 2, ('k = 50 is tried as 2', 'B stands for C, D as well'))
    """
    degrees = _degrees(left, right)
    blocks = _blocks(left, right)
    dropped = {column for others in blocks.values() for column in others}
    notes = [f"k = {k} is tried as {small}" for k, small in degrees.items() if k != small]
    notes += [f"{kept} stands for {', '.join(others)} as well" for kept, others in blocks.items()]
    return _smaller(left, dropped, degrees), _smaller(right, dropped, degrees), tuple(notes)


def _degrees(*plans: Plan) -> dict[int, int]:
    found = {node.k for plan in plans for node in plan.walk() if isinstance(node, Generalization)} - {1}
    return {k: small for small, k in enumerate(sorted(found), LEAST_K)}


def _blocks(*plans: Plan) -> dict[str, list[str]]:
    """For the first column of each block that nobody tells apart, the others."""
    nodes = [node for plan in plans for node in plan.walk()]
    told_apart = {column for node in nodes for column in _told_apart(node)}
    places: dict[str, list[object]] = defaultdict(list)
    for number, node in enumerate(nodes):
        for column in node.columns:
            places[column].append((number, _set_of(node, column)))
    blocks: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for column in sorted(set(places) - told_apart):
        blocks[tuple(places[column])].append(column)
    return {block[0]: block[1:] for block in blocks.values() if len(block) > 1}


def _told_apart(node: Plan) -> Iterator[str]:
    match node:
        case Generalization() | Randomization():
            yield from node.attributes
        case Selection() | ThetaJoin():
            yield from node.predicate.columns
        case Rename(_, names):
            yield from (name for pair in names for name in pair)
        case Grouping(_, by, aggregates):
            yield from by
            yield from (name for each in aggregates for name in (each.name, each.column) if name)
        case Join():
            yield from node.on


def _set_of(node: Plan, column: str) -> int | None:
    """Which correlation set of a slicing a column is in."""
    if not isinstance(node, SlicingNode):
        return None
    return next((number for number, group in enumerate(node.groups) if column in group), None)


def _smaller(plan: Plan, dropped: set[str], degrees: Mapping[int, int]) -> Plan:
    if isinstance(plan, Relation):
        return Relation(plan.name, tuple(c for c in plan.declared if c not in dropped))
    children = tuple(_smaller(child, dropped, degrees) for child in plan.children)
    match plan:
        case Projection(_, onto, distinct):
            return Projection(children[0], tuple(c for c in onto if c not in dropped), distinct)
        case SlicingNode(_, groups):
            return SlicingNode(children[0], tuple(tuple(c for c in g if c not in dropped) for g in groups))
        case Generalization(_, by, k):
            return Generalization(children[0], by, degrees.get(k, k))
        case Selection() | Rename() | Grouping() | Randomization():
            return replace(plan, child=children[0])
    return plan.with_children(*children)
