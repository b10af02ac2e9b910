"""Whether a class holds against sites that take out their own rows (m-privacy, see docs/reference/models.md).

For every coalition the rows of the others in a class are none or at least k, and so are their sensitive
values. All coalitions are tried side by side, so that they take the rounds of one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tarnkappe.federation.oblivious import gates
from tarnkappe.federation.oblivious.computer import Computer, Shared, Steps
from tarnkappe.federation.oblivious.criterion import Criterion


def coalitions_of(sites: int, most: int) -> tuple[tuple[int, ...], ...]:
    """All sets of at most so many sites that leave somebody, by their places, small ones first.

    >>> coalitions_of(3, 1), len(coalitions_of(8, 2))
    (((0,), (1,), (2,)), 36)
    """
    sizes = range(1, min(most, sites - 1) + 1)
    return tuple(taken for size in sizes for taken in itertools.combinations(range(sites), size))


def holds_against_insiders(
    c: Computer, counts: Sequence[Shared], values: Sequence[Sequence[Shared]], criterion: Criterion
) -> Steps[Shared]:
    """Which classes hold against every coalition.

    Args:
        c: who computes.
        counts: the sizes of each site, clipped at k: a sum of them is at least k where the sum of sizes is,
            and none where that is none.
        values: for each sensitive column which values each site has.
        criterion: what a class must have.
    """
    flags = []
    for _, coalitions in itertools.groupby(criterion.coalitions, len):
        left = [[p for p in range(len(counts)) if p not in taken] for taken in coalitions]
        if criterion.k > 1:
            total = yield from gates.add_all(c, _side_by_side(counts, left), criterion.k)
            flags.append((yield from _none_or(c, total, criterion.k)))
        for (_, least), present in zip(criterion.diversity, values, strict=True):
            there = yield from gates.any_of(c, _side_by_side(present, left))
            counted = yield from gates.count_of(c, there)
            flags.append((yield from _none_or(c, counted, least)))
    return (yield from gates.all_of(c, [each[:, i] for each in flags for i in range(each.shape[1])]))


def _side_by_side(planes: Sequence[Shared], left: Sequence[Sequence[int]]) -> list[Shared]:
    """The planes of the sites that coalitions leave: (2, bits, coalitions, words)."""
    return [np.stack([planes[p] for p in sites], axis=2) for sites in zip(*left, strict=True)]


def _none_or(c: Computer, number: Shared, least: int) -> Steps[Shared]:
    """Whether numbers are 0 or at least this one."""
    enough = yield from gates.at_least(c, number, least)
    some = yield from gates.any_of(c, [number[:, bit] for bit in range(number.shape[1])])
    return c.invert(some) ^ enough  # never both: the least is above 0
