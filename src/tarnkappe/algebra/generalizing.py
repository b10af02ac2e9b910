"""The reference algorithm of generalization: every node of the level lattice, the best by a fixed key.

The key is (sum of squared class sizes, sum of normalized levels, levels in the order of column names): the
smallest groups first, then the lowest levels, then a fixed order. It reads the generalized columns alone,
so that rules may move columns, other rows' order and sensitive values about without changing the choice.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from tarnkappe.algebra.distribution import Row, Rows
from tarnkappe.algebra.world import Ladder, World
from tarnkappe.errors import NoSolutionError


def generalize(rows: Rows, columns: tuple[str, ...], by: Sequence[str], k: int, world: World) -> Rows:
    """The rows with the columns `by` lifted to the best levels on which they are k-anonymous.

    A column that is general already is lifted from the highest level found in it, so a column of mixed
    levels is brought to one level first. Names that are no columns are passed over.

    Raises:
        NoSolutionError: there are fewer than k rows.
    """
    names = sorted(set(by) & set(columns))
    if not names or k == 1:
        return rows
    if len(rows) < k:
        raise NoSolutionError(f"a generalization to k = {k} needs at least {k} rows; there are {len(rows)}")
    positions = [columns.index(name) for name in names]
    ladders = [world.ladder(name) for name in names]
    levels = best_levels(Counter(tuple(row[i] for i in positions) for row in rows), ladders, k)
    return tuple(_lifted(row, positions, ladders, levels) for row in rows)


def best_levels(counts: Counter[Row], ladders: Sequence[Ladder], k: int) -> tuple[int, ...]:
    """The levels that the key prefers among those on which all classes have at least k rows."""
    starts = [max(ladder.level(row[i]) for row in counts) for i, ladder in enumerate(ladders)]
    lattice = itertools.product(
        *(range(start, ladder.height + 1) for start, ladder in zip(starts, ladders, strict=True))
    )
    best = None
    for levels in lattice:
        sizes: Counter[Row] = Counter()
        for row, times in counts.items():
            sizes[_lifted(row, range(len(row)), ladders, levels)] += times
        if min(sizes.values()) < k:
            continue
        heights = (Fraction(level, ladder.height) for level, ladder in zip(levels, ladders, strict=True))
        height = sum(heights, Fraction(0))
        key = (sum(size * size for size in sizes.values()), height, levels)
        best = key if best is None else min(best, key)
    if best is None:
        raise NoSolutionError(f"no levels of the hierarchies reach k = {k}")
    return best[2]


def _lifted(row: Row, positions: Sequence[int], ladders: Sequence[Ladder], levels: Sequence[int]) -> Row:
    cells = list(row)
    for i, ladder, level in zip(positions, ladders, levels, strict=True):
        cells[i] = ladder.lift(cells[i], level)
    return tuple(cells)
