"""Joins read from either side: a rule about r1 ⋈ r2 holds for r2 ⋈ r1 as well."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from tarnkappe.algebra.nodes import Join, Plan

Joined = Callable[[Plan, Plan], Join]


def both_sides(join: Join) -> Iterator[tuple[Plan, Plan, Joined]]:
    """The two readings of a join as (r1, r2), each with how to join their replacements in the old order."""
    yield join.left, join.right, Join
    yield join.right, join.left, lambda r1, r2: Join(r2, r1)


def hides(join: Join, onto: Collection[str], distinct: bool) -> dict[str, bool]:
    """The conditions that R, the projection of a join of vertical parts, must meet."""
    return {
        "the projection hides the join columns and nothing else": set(onto) == join.schema - join.on,
        "the projection keeps duplicates": not distinct,
    }
