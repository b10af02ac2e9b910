"""Kernels that divide the rows of one class, or of two, anew.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.recoding.block import ClassBlock, refresh
from tarnkappe.recoding.box_costs import BoxCosts, box_cost, cell_cost
from tarnkappe.recoding.class_rules import Rules, class_holds
from tarnkappe.table.encoding import Codes, Counts

NEIGHBOURS = 3
SEEDS = 4
"""Each class is divided anew with so many others, starting from so many rows (6 and 8 gain 2 % more in
five times the time)."""
LARGEST = 2048
"""Growing is quadratic: classes of more rows are left as they are."""


@compiled
def split(block: ClassBlock, costs: BoxCosts, rules: Rules, own: int) -> int:
    """Divide a class into two, grown from the row that is farthest from its first one, if that pays."""
    # One seed, the row farthest from the first: two classes grow best from opposite ends, and trying all rows
    # would be quadratic in their number twice. `make_block` has left room for one more class, so a free
    # number is found.
    if block.size[own] > LARGEST:
        return 0
    pool = np.flatnonzero(block.of == own)
    first, seed, farthest = block.codes[pool[0]], 0, -1
    for place in range(len(pool)):
        other, apart = block.codes[pool[place]], 0
        for d in range(len(first)):
            apart += cell_cost(costs, d, min(first[d], other[d]), max(first[d], other[d]))
        if apart > farthest:
            seed, farthest = place, apart
    before = block.size[own] * block.cost[own]
    total, size, order = _grow(block, costs, rules, pool, seed, before)
    if total >= before:
        return 0
    new = 0
    while block.size[new] > 0:
        new += 1
    for place in range(size):
        block.of[pool[order[place]]] = new
    refresh(block, costs, own)
    refresh(block, costs, new)
    return int(before - total)


@compiled
def resplit(block: ClassBlock, costs: BoxCosts, rules: Rules) -> int:
    """Divide each class anew together with those that are nearest to it; by how much the sum has fallen."""
    # Each class with its few nearest, as distant ones never gain. Larger pairs are left alone: growing is
    # quadratic in their rows. Gains are added as they come; a class may have changed when its turn comes,
    # which is meant.
    gain = 0
    for own in range(len(block.size)):
        if block.size[own] == 0 or block.cost[own] == 0:
            continue
        for other in _nearest(block, costs, own):
            if other >= 0 and block.size[own] + block.size[other] <= LARGEST:
                gain += _divide(block, costs, rules, own, other)
    return gain


@compiled
def _divide(block: ClassBlock, costs: BoxCosts, rules: Rules, own: int, other: int) -> int:
    # Seeds evenly spread over the pool, not drawn: the same on every run. `best` falls from seed to seed and
    # ends the growing of the next ones early. All rows go to `other` first, then the part back to `own`.
    before = block.size[own] * block.cost[own] + block.size[other] * block.cost[other]
    pool = np.flatnonzero((block.of == own) | (block.of == other))
    best, best_size, best_order = before, 0, pool
    for seed in range(SEEDS):
        total, size, order = _grow(block, costs, rules, pool, seed * len(pool) // SEEDS, best)
        if total < best:
            best, best_size, best_order = total, size, order
    if best >= before:
        return 0
    block.of[pool] = other
    for place in range(best_size):
        block.of[pool[best_order[place]]] = own
    refresh(block, costs, own)
    refresh(block, costs, other)
    return int(before - best)


@compiled
def _nearest(block: ClassBlock, costs: BoxCosts, own: int) -> Counts:
    """The classes that raise the sum least if they are united with a class; -1 where there are no more."""
    # An insertion into three places instead of a sort. Rises are of the sum that is lowered everywhere here,
    # so size counts. Copies are needed: without them the shift would read what it has just written.
    found, rises = np.full(NEIGHBOURS, -1), np.zeros(NEIGHBOURS, np.int64)
    low, high = block.low[own], block.high[own]
    for other in range(len(block.size)):
        if other == own or block.size[other] == 0:
            continue
        both = 0
        for d in range(len(low)):
            both += cell_cost(
                costs, d, min(low[d], block.low[other, d]), max(high[d], block.high[other, d])
            )  # fmt: skip
        rise = block.size[own] * (both - block.cost[own]) + block.size[other] * (both - block.cost[other])
        place = NEIGHBOURS
        while place > 0 and (found[place - 1] < 0 or rise < rises[place - 1]):
            place -= 1
        if place < NEIGHBOURS:
            found[place + 1 :], rises[place + 1 :] = found[place:-1].copy(), rises[place:-1].copy()
            found[place], rises[place] = other, rise
    return found


@compiled
def _grow(
    block: ClassBlock, costs: BoxCosts, rules: Rules, pool: Counts, seed: int, best: int
) -> tuple[int, int, Counts]:
    """Grow a part from a row, always by the row that costs least, and find the size at which two parts cost
    least together.

    Returns the sum (`best` if none is less), the size of the part and the places of the pool in the order in
    which they joined. Growing ends once the part alone costs as much as the best sum: it only gets dearer.
    """
    number, num_dimensions = len(pool), block.codes.shape[1]
    order, joined = np.arange(number), np.zeros(number, np.bool_)
    cost_at = np.zeros(number + 1, np.int64)
    low, high = block.codes[pool[seed]].copy(), block.codes[pool[seed]].copy()
    order[0], joined[seed] = seed, True
    # What the part would cost with each row, dimension by dimension: only those that a row has stretched are
    # counted anew, and most rows stretch one or two.
    cells, costs_with = np.zeros((number, num_dimensions), np.int64), np.zeros(number, np.int64)
    for d in range(num_dimensions):
        _stretch(block, costs, pool, low, high, d, cells, costs_with)
    grown = 1
    while grown < number - block.least:
        nearest, least = -1, np.iinfo(np.int64).max
        for place in range(number):
            if costs_with[place] < least and not joined[place]:
                nearest, least = place, costs_with[place]
        if (grown + 1) * least >= best:
            break
        row = block.codes[pool[nearest]]
        for d in range(num_dimensions):
            if row[d] < low[d] or row[d] > high[d]:
                low[d], high[d] = min(low[d], row[d]), max(high[d], row[d])
                _stretch(block, costs, pool, low, high, d, cells, costs_with)
        order[grown], joined[nearest] = nearest, True
        grown += 1
        cost_at[grown] = least
    # Whoever never joined is in the rest at every size; the others return one by one, the last first.
    low[:], high[:] = np.iinfo(np.int32).max, -1
    for place in range(number):
        if not joined[place]:
            row = block.codes[pool[place]]
            for d in range(num_dimensions):
                low[d], high[d] = min(low[d], row[d]), max(high[d], row[d])
    found = 0
    for size in range(grown, block.least - 1, -1):
        if size < grown:
            row = block.codes[pool[order[size]]]
            for d in range(num_dimensions):
                low[d], high[d] = min(low[d], row[d]), max(high[d], row[d])
        if size * cost_at[size] >= best:
            continue
        total = size * cost_at[size] + (number - size) * box_cost(costs, low, high)
        if total < best and _parts_hold(block, rules, pool, order, size):
            best, found = total, size
    return best, found, order


@compiled
def _stretch(
    block: ClassBlock,
    costs: BoxCosts,
    pool: Counts,
    low: Codes,
    high: Codes,
    d: int,
    cells: npt.NDArray[np.int64],
    costs_with: Counts,
) -> None:
    """Count anew what a part costs with each row in one dimension."""
    # One dimension for all rows: what they cost with the part is kept as a sum, from which the old cell is
    # taken and the new one added. Only stretched dimensions are called for; `cells` must be written after it
    # was read.
    for place in range(len(pool)):
        own = block.codes[pool[place], d]
        new = cell_cost(costs, d, min(low[d], own), max(high[d], own))
        costs_with[place] += new - cells[place, d]
        cells[place, d] = new


@compiled
def _parts_hold(block: ClassBlock, rules: Rules, pool: Counts, order: Counts, size: int) -> bool:
    """Whether the rules allow both parts."""
    # Counted anew for both parts, as sizes are tried downward and only few are asked. Without rules nothing
    # is allocated. The order of `order` matters only up to `size`.
    if len(rules.kind) == 0:
        return True
    part, rest = np.zeros(block.counts.shape[1], np.int64), np.zeros(block.counts.shape[1], np.int64)
    joined = np.zeros(len(pool), np.bool_)
    for place in range(size):
        joined[order[place]] = True
    for place in range(len(pool)):
        for column in range(block.values.shape[1]):
            value = block.values[pool[place], column]
            if value >= 0 and joined[place]:
                part[value] += 1
            elif value >= 0:
                rest[value] += 1
    return class_holds(rules, part, block.room) and class_holds(rules, rest, block.room)
