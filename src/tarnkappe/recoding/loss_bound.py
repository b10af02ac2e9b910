"""A loss that no release goes below which writes rows as boxes.

Let delta(r) be the least v such that at least k - 1 other rows s have a pair cost c({r, s}) of at most v.
The class of r has at least k - 1 others. One of them has a pair cost of at least delta(r), and costs are
monotone, so the class costs at least delta(r), which r is charged with. So every division into classes of at
least k rows costs at least the sum of delta over all rows, and with more promises there are only fewer
divisions.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.native import compiled
from tarnkappe.native.interpreted import suited
from tarnkappe.recoding.block import Matrix
from tarnkappe.recoding.box_costs import BoxCosts, cell_cost
from tarnkappe.recoding.cut_tree import CutTree, in_threads
from tarnkappe.recoding.deadline import Patience
from tarnkappe.table.encoding import Codes, Counts

AT_ONCE = 4096
"""So many rows are looked at between two looks at the clock."""
SAMPLE = 500
"""So many rows tell about where the bound is, and how much work all rows would be."""
AFFORDABLE = 100_000_000
"""So many cells of other rows may be looked at without being asked to: a few seconds of processor time."""


@compiled
def nearest_costs(
    codes: Matrix,
    chosen: Counts,
    others: int,
    costs: BoxCosts,
    starts: Counts,
    stops: Counts,
    low: Matrix,
    high: Matrix,
    first: Counts,
    block_low: Matrix,
    block_high: Matrix,
    delta: Counts,
    looked: Counts,
) -> None:
    """The delta of each chosen row: the pair cost of the row that is nearest but `others` - 1.

    `looked` tells with how many rows each was compared, which is most of the work.

    The regions of the cut tree lie in blocks. A pair with a row of a box costs at least as much as a pair
    with the nearest corner of the box, since costs are monotone along each dimension. So a block or a region
    whose corner is no nearer than what was found is not looked into. The row's own block comes first: most
    other blocks are then too far.
    """
    near = np.empty(others, np.int64)
    for index in range(len(chosen)):
        row = chosen[index]
        near[:] = np.iinfo(np.int64).max
        looked[index] = 0
        own = np.searchsorted(first, np.searchsorted(starts, row, "right") - 1, "right") - 1
        for turn in range(len(first)):
            # The own block, then those before it, then those behind it.
            block = own if turn == 0 else turn - 1 if turn <= own else turn
            if near[-1] == 0:
                break
            if (
                turn > 0
                and _apart(costs, codes[row], block_low[block], block_high[block], near[-1]) >= near[-1]
            ):
                continue
            for region in range(first[block], first[block + 1] if block + 1 < len(first) else len(starts)):
                if _apart(costs, codes[row], low[region], high[region], near[-1]) >= near[-1]:
                    continue
                looked[index] += stops[region] - starts[region]
                for other in range(starts[region], stops[region]):
                    if other == row:
                        continue
                    apart = _apart(costs, codes[row], codes[other], codes[other], near[-1])
                    if apart < near[-1]:
                        place = others - 1
                        while place > 0 and near[place - 1] > apart:
                            near[place] = near[place - 1]
                            place -= 1
                        near[place] = apart
        delta[index] = near[-1]


@compiled
def _apart(costs: BoxCosts, row: Codes, low: Codes, high: Codes, limit: int) -> int:
    """What a pair of a row and the nearest corner of a box costs; anything from the limit on if no less."""
    # The nearest corner dimension by dimension: inside the box a dimension costs nothing. It ends as soon as
    # the limit is reached, and most pairs are too far after one or two dimensions; the value is then no
    # distance any more.
    total = 0
    for d in range(len(row)):
        if row[d] < low[d]:
            total += cell_cost(costs, d, row[d], low[d])
        elif row[d] > high[d]:
            total += cell_cost(costs, d, high[d], row[d])
        if total >= limit:
            break
    return total


def deltas(
    tree: CutTree, costs: BoxCosts, least: int, chosen: Counts, patience: Patience | None = None
) -> tuple[Counts, int] | None:
    """The delta of some rows, given by their places in the tree; None if there was no time for all.

    Beside it how many cells of other rows were looked at, at most: where rows have many columns no row is
    near, and nothing can be left out.
    """
    if least <= 1:
        return np.zeros(len(chosen), np.int64), 0
    regions = tree.regions
    starts, stops = tree.starts[regions], tree.stops[regions]
    low, high = tree.boxes(starts, stops)
    block_starts, block_stops = tree.blocks
    block_low, block_high = tree.boxes(block_starts, block_stops)
    first = np.searchsorted(starts, block_starts)
    delta, looked = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.int64)
    nearest = suited(nearest_costs, tree.codes)
    for begin in range(0, len(chosen), AT_ONCE):
        if patience is not None and patience.over:
            return None
        some_rows = slice(begin, begin + AT_ONCE)
        own, found, compared = chosen[some_rows], delta[some_rows], looked[some_rows]

        def work(some: slice, own: Counts = own, found: Counts = found, compared: Counts = compared) -> None:
            nearest(
                tree.codes, own[some], least - 1, costs, starts, stops, low, high, first, block_low,
                block_high, found[some], compared[some],
            )  # fmt: skip

        in_threads(work, np.full(len(own), 100))  # a row is looked at together with many others
    return delta, int(looked.sum()) * len(tree.dimensions)


def different_rows(codes: Matrix) -> tuple[Counts, Counts]:
    """The first of equal rows, which lie side by side, and how many they are."""
    first = np.ones(len(codes), dtype=bool)
    first[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    places = np.flatnonzero(first)
    return places, np.diff(np.append(places, len(codes)))
