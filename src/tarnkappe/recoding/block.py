"""The classes of a block of rows while rows are exchanged between them.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.recoding.box_costs import BoxCosts, box_cost, cell_cost
from tarnkappe.recoding.class_rules import Rules, Values, class_holds
from tarnkappe.table.encoding import Codes, Counts

Matrix = npt.NDArray[np.int32]


class ClassBlock(NamedTuple):
    """Some rows and their classes.

    Invariant: between two steps every class has at least `least` rows and all rules allow it; `low`, `high`,
    `low2`, `high2`, `cost` and `saving` are those of its members. Removing a row from a box needs to know
    only what is next to its ends, so both the least and the second least place are kept (equal where two
    rows share the least). Members are found by looking through all rows of the block in their order: blocks
    are so small that lists would take longer, and ties are then broken by that order.

    Attributes:
        codes: the places of each row.
        values: the counts that each row adds to.
        of: the class of each row.
        size: the rows of each class; 0 for one that is no more.
        low, high, low2, high2: the box of each class, and the places next to its ends.
        cost: what the box of each class costs.
        saving: for each row, by how much the sum falls if it leaves its class.
        most_saving: the greatest of these in each class.
        changed: when each class changed for the last time, on a clock that counts changes.
        tried: for each row, when it was last tried to place it elsewhere.
        settled: for each class, when it was last tried to dissolve it, and to split it.
        clock: the number of changes.
        counts: the values of each class.
        room: for the rules.
        least: how many rows a class has at least.
    """

    codes: Matrix
    values: Values
    of: Codes
    size: Counts
    low: Matrix
    high: Matrix
    low2: Matrix
    high2: Matrix
    cost: Counts
    saving: Counts
    most_saving: Counts
    changed: Counts
    tried: Counts
    settled: npt.NDArray[np.int64]
    clock: Counts
    counts: npt.NDArray[np.int64]
    room: Counts
    least: int


@compiled
def make_block(
    codes: Matrix, values: Values, of: Codes, num_counts: int, room: int, least: int, costs: BoxCosts
) -> ClassBlock:
    """The block of some rows that are in classes already."""
    # Everything is allocated here, once for a block: the steps that follow allocate next to nothing. There is
    # room for one class more than can exist, so that splitting always finds a free number. `of` is the
    # caller's array and is changed in place.
    num_dimensions = codes.shape[1]
    most = max(of.max() + 1, len(of) // max(least, 1)) + 1
    box = (most, num_dimensions)
    block = ClassBlock(
        codes,
        values,
        of,
        np.zeros(most, np.int64),
        np.zeros(box, np.int32),
        np.zeros(box, np.int32),
        np.zeros(box, np.int32),
        np.zeros(box, np.int32),
        np.zeros(most, np.int64),
        np.zeros(len(of), np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(len(of), np.int64),
        np.zeros((2, most), np.int64),
        np.zeros(1, np.int64),
        np.zeros((most, num_counts), np.int64),
        np.zeros(room, np.int64),
        least,
    )
    for own in range(of.max() + 1):
        refresh(block, costs, own)
    return block


@compiled
def refresh(block: ClassBlock, costs: BoxCosts, own: int) -> None:
    """Look at the members of a class anew."""
    # From the members anew rather than by differences: a class is changed seldom and asked often, and nothing
    # can drift. Savings are computed after the box, since `cost_without` reads both its ends and their
    # neighbours. Rows of the block in time; a class is found by looking through them (see `ClassBlock`).
    low, high, low2, high2 = block.low[own], block.high[own], block.low2[own], block.high2[own]
    far = np.iinfo(np.int32).max
    low[:], low2[:], high[:], high2[:] = far, far, -1, -1
    block.counts[own, :] = 0
    size = 0
    for row in range(len(block.of)):
        if block.of[row] != own:
            continue
        size += 1
        count_row(block, own, row, 1)
        for d in range(len(low)):
            place = block.codes[row, d]
            if place < low[d]:
                low2[d], low[d] = low[d], place
            elif place < low2[d]:
                low2[d] = place
            if place > high[d]:
                high2[d], high[d] = high[d], place
            elif place > high2[d]:
                high2[d] = place
    block.clock[0] += 1
    block.changed[own] = block.clock[0]
    block.size[own] = size
    block.most_saving[own] = 0
    if size == 0:
        block.cost[own] = 0
        return
    block.cost[own] = box_cost(costs, low, high)
    for row in range(len(block.of)):
        if block.of[row] == own:
            rest = cost_without(block, costs, own, row) if size > 1 else 0
            block.saving[row] = size * block.cost[own] - (size - 1) * rest
            block.most_saving[own] = max(block.most_saving[own], block.saving[row])


@compiled
def cost_without(block: ClassBlock, costs: BoxCosts, own: int, row: int) -> int:
    """What the box of a class costs once one of its rows has left."""
    # No row is looked at: only if the row is at an end does the box shrink there, to the second place. Where
    # two rows share the end, the second is equal to it and nothing shrinks. The class has another row, or
    # there is no box.
    total = 0
    for d in range(block.codes.shape[1]):
        place = block.codes[row, d]
        low = block.low2[own, d] if place == block.low[own, d] else block.low[own, d]
        high = block.high2[own, d] if place == block.high[own, d] else block.high[own, d]
        total += cell_cost(costs, d, low, high)
    return total


@compiled
def box_without(block: ClassBlock, own: int, row: int) -> tuple[Codes, Codes]:
    """The box of a class once one of its rows has left."""
    # As `cost_without`, but the box itself, for steps that let another row join it. Copies, since the class
    # is as it was until a step is taken.
    low, high = block.low[own].copy(), block.high[own].copy()
    for d in range(len(low)):
        if block.codes[row, d] == low[d]:
            low[d] = block.low2[own, d]
        if block.codes[row, d] == high[d]:
            high[d] = block.high2[own, d]
    return low, high


@compiled
def cost_exchanged(block: ClassBlock, costs: BoxCosts, own: int, leaves: int, joins: int, limit: int) -> int:
    """What the box of a class costs once one row has left and another has joined; see `cost_with`."""
    # One row leaves before the other joins: the other way round, a leaving row at the end would be taken for
    # the end of the larger box. It stops at the limit, as most exchanges are worse after one or two
    # dimensions.
    total = 0
    for d in range(block.codes.shape[1]):
        place, other = block.codes[leaves, d], block.codes[joins, d]
        low = block.low2[own, d] if place == block.low[own, d] else block.low[own, d]
        high = block.high2[own, d] if place == block.high[own, d] else block.high[own, d]
        total += cell_cost(costs, d, min(low, other), max(high, other))
        if total >= limit:
            break
    return total


@compiled
def count_row(block: ClassBlock, own: int, row: int, times: int) -> None:
    """Count the values of a row in a class."""
    # `times` is 1 or -1, so trying a step and taking it back are the same few additions. A suppressed cell
    # (-1) has no count; writing there would change the last one.
    for column in range(block.values.shape[1]):
        value = block.values[row, column]
        if value >= 0:
            block.counts[own, value] += times


@compiled
def allowed_after(block: ClassBlock, rules: Rules, own: int, leaves: int, joins: int) -> bool:
    """Whether a class may be one after a row has left and another has joined (-1: none)."""
    # The counts are changed, asked and changed back: no copy of a class is made for millions of tries. The
    # size is looked at first, it costs nothing and refuses most. What is undone must be exactly what was
    # done.
    size = block.size[own] - (leaves >= 0) + (joins >= 0)
    if size < block.least:
        return False
    if len(rules.kind) == 0:
        return True
    if leaves >= 0:
        count_row(block, own, leaves, -1)
    if joins >= 0:
        count_row(block, own, joins, 1)
    good = class_holds(rules, block.counts[own], block.room)
    if leaves >= 0:
        count_row(block, own, leaves, 1)
    if joins >= 0:
        count_row(block, own, joins, -1)
    return good


@compiled
def put(block: ClassBlock, costs: BoxCosts, row: int, other: int) -> None:
    """Bring a row into another class."""
    # The row changes hands before either class is looked at anew: `refresh` reads `of`. Both must follow, or
    # the invariant of the block is broken.
    before = block.of[row]
    block.of[row] = other
    refresh(block, costs, before)
    refresh(block, costs, other)
