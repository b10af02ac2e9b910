"""Kernels that exchange rows between the classes of a block, as long as that lowers the loss.

Every step is taken only if all classes that it changes are allowed and the sum of size x cost over the
classes falls by at least one unit of the fixed point. So it comes to an end, breaks no promise on classes,
and never loses more than the cuts it began with.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.native import compiled
from tarnkappe.recoding.block import (
    ClassBlock,
    allowed_after,
    box_without,
    cost_exchanged,
    count_row,
    make_block,
    put,
    refresh,
)
from tarnkappe.recoding.box_costs import ONE, BoxCosts, box_cost, cell_cost, cost_with
from tarnkappe.recoding.class_rules import Rules, Values, class_holds
from tarnkappe.recoding.resplit import resplit, split
from tarnkappe.table.encoding import Codes, Counts

WORTHWHILE = 100_000
"""A sweep that lowers the loss of a block by less than one part in so many is the last one."""
AFTERWARDS = 2
"""Sweeps after the re-splits."""
NOWHERE = np.iinfo(np.int64).max


@compiled
def refine(
    codes: Codes,
    values: Values,
    classes: Codes,
    starts: Counts,
    stops: Counts,
    num_counts: int,
    room: int,
    least: int,
    costs: BoxCosts,
    rules: Rules,
    sweeps: int,
) -> None:
    """Refine the classes of some blocks; in each block they are numbered from 0, before and afterwards."""
    # Blocks share nothing, so threads can take one each. A sweep that gains less than a hundred-thousandth
    # ends the work: the rest would take most of the time. Splitting anew comes after sweeping, from a better
    # start.
    for number in range(len(starts)):
        rows = slice(starts[number], stops[number])
        block = make_block(codes[rows], values[rows], classes[rows], num_counts, room, least, costs)
        enough = max(1, ONE // WORTHWHILE * len(block.of))
        for _ in range(sweeps):
            if sweep(block, costs, rules) < enough:
                break
        if resplit(block, costs, rules) > 0:
            for _ in range(AFTERWARDS):
                if sweep(block, costs, rules) < enough:
                    break


@compiled
def dispensable(
    codes: Codes,
    values: Values,
    classes: Codes,
    starts: Counts,
    stops: Counts,
    num_counts: int,
    room: int,
    least: int,
    costs: BoxCosts,
    rules: Rules,
    price: int,
    saving: Counts,
) -> None:
    """For each class the row whose leaving saves most, if that is more than a price: its saving, else 0.

    Rows of class -1 have left already.
    """
    # Nothing is changed here; one row a class, since after it has left, the savings of the others are other
    # ones.
    saving[:] = 0
    for number in range(len(starts)):
        rows = slice(starts[number], stops[number])
        if classes[rows].max() < 0:
            continue
        block = make_block(codes[rows], values[rows], classes[rows], num_counts, room, least, costs)
        best = np.full(len(block.size), -1)
        for row in range(len(block.of)):
            own = block.of[row]
            if own < 0 or block.saving[row] <= price:
                continue
            better = best[own] < 0 or block.saving[row] > block.saving[best[own]]
            if better and allowed_after(block, rules, own, row, -1):
                best[own] = row
        for own in range(len(best)):
            if best[own] >= 0:
                saving[starts[number] + best[own]] = block.saving[best[own]]


@compiled
def sweep(block: ClassBlock, costs: BoxCosts, rules: Rules) -> int:
    """Try every step once; by how much the sum has fallen.

    What was tried in vain is tried again only if its class has changed since: most classes settle in the
    first sweep, and the later ones look at the others alone.
    """
    gain = 0
    for row in range(len(block.of)):
        if block.changed[block.of[row]] > block.tried[row]:
            block.tried[row] = block.clock[0]
            gain += _place(block, costs, rules, row)
    for own in range(len(block.size)):
        if block.size[own] > 0 and block.cost[own] > 0 and block.changed[own] > block.settled[0, own]:
            block.settled[0, own] = block.clock[0]
            gain += _dissolve(block, costs, rules, own)
    for own in range(len(block.size)):
        large = block.size[own] >= 2 * block.least and block.cost[own] > 0
        if large and block.changed[own] > block.settled[1, own]:
            block.settled[1, own] = block.clock[0]
            gain += split(block, costs, rules, own)
    return gain


@compiled
def _place(block: ClassBlock, costs: BoxCosts, rules: Rules, row: int) -> int:
    """Move a row to where it costs least; exchange it, or let a third class help, if its class needs it."""
    own, saving = block.of[row], block.saving[row]
    if saving <= 0:
        return 0
    may_leave = allowed_after(block, rules, own, row, -1)
    best, price = -1, saving
    codes = block.codes[row]
    # The loop over cells stands here, and in `_chain`, since a call copies the heads of thirty arrays: that
    # took three times as long as everything else.
    for other in range(len(block.size)):
        size, cost = block.size[other], block.cost[other]
        if other == own or size == 0 or cost >= price:
            continue  # size + 1 boxes of at least the old cost, instead of size, cost at least one more
        limit, new = price + size * cost, 0
        for d in range(len(codes)):
            low, high = min(block.low[other, d], codes[d]), max(block.high[other, d], codes[d])
            new += (size + 1) * cell_cost(costs, d, low, high)
            if new >= limit:
                break
        if new < limit and (not may_leave or allowed_after(block, rules, other, -1, row)):
            best, price = other, new - size * cost
    if best < 0:
        return 0
    if may_leave:
        put(block, costs, row, best)
        return int(saving - price)
    gain = _exchange(block, costs, rules, row, best)
    return gain if gain > 0 else _chain(block, costs, rules, row, best, price)


@compiled
def _exchange(block: ClassBlock, costs: BoxCosts, rules: Rules, row: int, other: int) -> int:
    """Exchange a row with the row of another class that lowers the sum most."""
    # The sum over both classes is what must fall. The own class is priced first, with what is left of the
    # best as a limit; only then the other one. Rules are asked last, and of both classes: they take longest.
    own = block.of[row]
    size, size_there = block.size[own], block.size[other]
    best, least = -1, size * block.cost[own] + size_there * block.cost[other]
    before = least
    low, high = box_without(block, own, row)
    for partner in range(len(block.of)):
        if block.of[partner] != other:
            continue
        here = size * cost_with(costs, low, high, block.codes[partner], least // size + 1)
        if here >= least:
            continue
        limit = (least - here) // size_there + 1
        total = here + size_there * cost_exchanged(block, costs, other, partner, row, limit)
        if (
            total < least
            and allowed_after(block, rules, own, row, partner)
            and allowed_after(block, rules, other, partner, row)
        ):
            best, least = partner, total
    if best < 0:
        return 0
    block.of[row], block.of[best] = other, own
    refresh(block, costs, own)
    refresh(block, costs, other)
    return int(before - least)


@compiled
def _chain(block: ClassBlock, costs: BoxCosts, rules: Rules, row: int, other: int, price: int) -> int:
    """Let a row go where it costs least while a row of a third class takes its place."""
    own = block.of[row]
    if not allowed_after(block, rules, other, -1, row):
        return 0
    size, cost = block.size[own], block.cost[own]
    low, high = box_without(block, own, row)
    # The place of the row costs at least this much, whoever takes it.
    base = price + size * (box_cost(costs, low, high) - cost)
    helpful = np.zeros(len(block.size), np.bool_)
    for third in range(len(block.size)):
        if third != own and third != other and block.size[third] > block.least:
            # No row of a class helps if the one that saves most does not, were it as near as its corner.
            needed = price - size * cost
            for d in range(len(low)):
                least = min(low[d], block.high[third, d])
                most = max(high[d], block.low[third, d])
                needed += size * cell_cost(costs, d, least, most)
            helpful[third] = block.most_saving[third] > needed
    best, gain = -1, 0
    for partner in range(len(block.of)):
        third = block.of[partner]
        if not helpful[third] or block.saving[partner] - base <= gain:
            continue
        new, codes = block.saving[partner] - price + size * cost, block.codes[partner]
        for d in range(len(low)):
            new -= size * cell_cost(costs, d, min(low[d], codes[d]), max(high[d], codes[d]))
            if new <= gain:
                break
        if (
            new > gain
            and allowed_after(block, rules, third, partner, -1)
            and allowed_after(block, rules, own, row, partner)
        ):
            best, gain = partner, new
    if best < 0:
        return 0
    third = block.of[best]
    block.of[row], block.of[best] = other, own
    refresh(block, costs, own)
    refresh(block, costs, other)
    refresh(block, costs, third)
    return gain


@compiled
def _dissolve(block: ClassBlock, costs: BoxCosts, rules: Rules, own: int) -> int:
    """Give the rows of a class to others, one by one, each where it costs least, if that pays."""
    # On trial: boxes, costs and sizes are copies, but the counts are the block's own and are taken back in
    # any case, also where it pays, as `refresh` counts anew. `price` is what is left until nothing is gained,
    # so it stops as soon as one row finds no place.
    before = block.size[own] * block.cost[own]
    low, high, cost, size = block.low.copy(), block.high.copy(), block.cost.copy(), block.size.copy()
    target = np.full(len(block.of), -1, np.int32)
    total = 0
    for row in range(len(block.of)):
        if block.of[row] != own:
            continue
        best, price = -1, before - total
        for other in range(len(size)):
            if other == own or size[other] == 0 or cost[other] >= price:
                continue
            limit = (price + size[other] * cost[other]) // (size[other] + 1) + 1
            new = cost_with(costs, low[other], high[other], block.codes[row], limit)
            rise = (size[other] + 1) * new - size[other] * cost[other]
            if rise < price and _bears_more(block, rules, other, row):
                best, price = other, rise
        if best < 0:
            total = NOWHERE
            break
        total += price
        target[row] = best
        count_row(block, best, row, 1)
        for d in range(low.shape[1]):
            low[best, d] = min(low[best, d], block.codes[row, d])
            high[best, d] = max(high[best, d], block.codes[row, d])
        cost[best] = (price + size[best] * cost[best]) // (size[best] + 1)
        size[best] += 1
    for row in range(len(block.of)):
        if target[row] >= 0:
            count_row(block, target[row], row, -1)
    if total >= before:
        return 0
    changed = np.zeros(len(block.size), np.bool_)
    changed[own] = True
    for row in range(len(block.of)):
        if target[row] >= 0:
            block.of[row] = target[row]
            changed[target[row]] = True
    for each in range(len(changed)):
        if changed[each]:
            refresh(block, costs, each)
    return int(before - total)


@compiled
def _bears_more(block: ClassBlock, rules: Rules, own: int, row: int) -> bool:
    """Whether a class may take one more row, those that it was given on trial included."""
    # Counts include what the class was given on trial, `size` does not: a class that grows cannot become too
    # small, so only the rules are asked.
    if len(rules.kind) == 0:
        return True
    count_row(block, own, row, 1)
    good = class_holds(rules, block.counts[own], block.room)
    count_row(block, own, row, -1)
    return good
