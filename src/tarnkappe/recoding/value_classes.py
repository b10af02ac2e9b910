"""Kernels on the classes of a value set: split and merge them, and what each further value would do.

A state is a table of cells, sorted by the class they are in: cells are the finest that the values still
allowed can make, classes are what the values already chosen make. `starts` tells where each class starts;
classes with too few rows are not in the table, since they stay suppressed whatever is added. So a table
shrinks while a search goes down: a value that is chosen drops small classes, one given up merges cells.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.recoding.partitions import MergedRows, Numbering
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Counts

Values = npt.NDArray[np.int16]
Places = npt.NDArray[np.int64]


class Price(NamedTuple):
    """What rows cost.

    Attributes:
        least_size: how many rows a class needs to be released.
        suppressed: what a suppressed row costs.
        limit: how many rows may be suppressed.
    """

    least_size: int
    suppressed: int
    limit: int


@compiled
def least_cost(cells: MergedRows, cell: int, least_size: int) -> int:
    """What the rows of a cell cost at least while they are released; exact for a class that is large enough.

    A row is charged the size of its class, which has at least `least_size` rows. Where labels are given, it
    is charged 1 if its label is not the most frequent one of its class.
    """
    return least_cost_together(cells, cell, cells, -1, least_size)


@compiled
def least_cost_together(cells: MergedRows, cell: int, others: MergedRows, other: int, least_size: int) -> int:
    """The same for two cells that are one; without a second (-1) for the first alone."""
    # Costs of cells are a lower bound of what their rows cost in any class above: sizes only grow, and no
    # class is charged for fewer than k rows. With labels, whoever is not of the most frequent one is charged.
    size = int(cells.sizes[cell])
    if other >= 0:
        size += others.sizes[other]
    if cells.labels.shape[1] == 0:
        return size * max(size, least_size)
    most = 0
    for label in range(cells.labels.shape[1]):
        count = int(cells.labels[cell, label])
        if other >= 0:
            count += others.labels[other, label]
        most = max(most, count)
    return size - most


@compiled
def find(
    cells: MergedRows,
    slots: Places,
    model: MergedRows,
    cell: int,
    target: Values,
    skip: int,
    value: int,
    sought: np.uint64,
) -> int:
    """The slot of the cell with some values, or the free slot where it would be.

    Sought is the cell that has `target` of each value of a model, but `value` in the column `skip`.
    """
    # Hashes are sums of keys, so the hash of a changed cell is known without its values; equal hashes are
    # compared value by value. Linear probing in a table at most half full, or it would not end.
    mask = np.uint64(len(slots) - 1)
    place = (sought >> np.uint64(17)) & mask
    while slots[place] != -1:
        other = slots[place]
        if cells.hashes[other] == sought:
            same = True
            for column in range(cells.codes.shape[1]):
                wanted = value if column == skip else target[model.codes[cell, column]]
                if cells.codes[other, column] != wanted:
                    same = False
                    break
            if same:
                break
        place = (place + np.uint64(1)) & mask
    return int(place)


@compiled
def table_size(number: int) -> int:
    """How many slots a table of so many cells needs."""
    # A power of two, so that a mask does for a remainder, and at most half full, so that probing is short. At
    # least 2: a full table of one slot would let `find` run for ever.
    size = 2
    while size < 2 * number:
        size *= 2
    return size


@compiled
def empty_table(slots: Places, number: int) -> Places:
    """A table without any of so many cells."""
    # Only as many slots as are needed are cleared, of room that is made once. The part is shared, not copied:
    # what the caller writes is in `slots`.
    table = slots[: table_size(number)]
    for slot in range(len(table)):
        table[slot] = -1
    return table


@compiled
def merge(
    cells: MergedRows,
    begin: int,
    end: int,
    starts: Places,
    target: Values,
    numbering: Numbering,
    slots: Places,
) -> int:
    """Replace every value by its target and merge cells that have become equal; the new end is returned."""
    # In place: `out` never passes `cell`, so nothing is overwritten that is still to be read. Cells of
    # different classes differ in a value of the head, which is its own target: they never merge. Hashes
    # change by differences.
    keys = numbering.keys
    table = empty_table(slots, end - begin)
    out, current = begin, 0
    for cell in range(begin, end):
        if starts[current] == cell:
            starts[current] = out
            current += 1
        sought = cells.hashes[cell]
        for column in range(cells.codes.shape[1]):
            value = cells.codes[cell, column]
            sought += keys[target[value]] - keys[value]
        place = find(cells, table, cells, cell, target, -1, 0, sought)
        found = table[place]
        if found >= 0:
            cells.sizes[found] += cells.sizes[cell]
            for label in range(cells.labels.shape[1]):
                cells.labels[found, label] += cells.labels[cell, label]
        else:
            table[place] = out
            copy_cell(cells, cell, cells, out)
            for column in range(cells.codes.shape[1]):
                cells.codes[out, column] = target[cells.codes[out, column]]
            cells.hashes[out] = sought
            out += 1
    starts[current] = out
    return out


@compiled
def copy_cell(source: MergedRows, index: int, target: MergedRows, place: int) -> None:
    """Copy one cell."""
    # Column by column instead of by slices, which would make array objects for a handful of numbers. Source
    # and target may be the same table, as long as the places differ or are equal.
    for column in range(source.codes.shape[1]):
        target.codes[place, column] = source.codes[index, column]
    for label in range(source.labels.shape[1]):
        target.labels[place, label] = source.labels[index, label]
    target.sizes[place] = source.sizes[index]
    target.hashes[place] = source.hashes[index]


@compiled
def column_of(first: Counts, value: int) -> int:
    """The column of a value."""
    # A walk over the columns, which are few; `first` has one entry more, where the last one ends. Values are
    # numbered through all columns, so a value tells its column.
    column = 0
    while first[column + 1] <= value:
        column += 1
    return column


@compiled
def split(
    cells: MergedRows,
    starts: Places,
    classes: int,
    value: int,
    head: Mask,
    first: Counts,
    least_size: int,
    spare: MergedRows,
    spare_starts: Places,
) -> tuple[int, int]:
    """Let an interval start at a value: split the classes that have it inside, drop parts that are too small.

    Returns how many classes are left and how many rows were dropped.
    """
    column = column_of(first, value)
    low, high = value - 1, value + 1
    while low > first[column] and not head[low]:
        low -= 1
    while high < first[column + 1] and not head[high]:
        high += 1
    out, parts, dropped = 0, 0, 0
    for index in range(classes):
        begin, end = starts[index], starts[index + 1]
        inside = low <= cells.codes[begin, column] < high
        below, above = least_size, 0  # a class that is not touched stays as it is
        if inside:
            below = 0
            for cell in range(begin, end):
                if cells.codes[cell, column] < value:
                    below += cells.sizes[cell]
                else:
                    above += cells.sizes[cell]
        for side in range(2):
            rows = above if side else below
            if 0 < rows < least_size:
                dropped += rows
            elif rows > 0:
                spare_starts[parts] = out
                parts += 1
                for cell in range(begin, end):
                    if not inside or (cells.codes[cell, column] < value) == (side == 0):
                        copy_cell(cells, cell, spare, out)
                        out += 1
    spare_starts[parts] = out
    base = starts[0]
    for cell in range(out):
        copy_cell(spare, cell, cells, base + cell)
    for index in range(parts + 1):
        starts[index] = base + spare_starts[index]
    return parts, dropped


class Effects(NamedTuple):
    """For each value that may still be added: what choosing it or giving it up does at least.

    Attributes:
        splits: how many classes it splits.
        suppressed: how many more rows are suppressed with it.
        with_it: by how much the bound rises with it.
        without_it: by how much the bound rises without it.
        useful: whether it leaves a part that is large enough; without that, nothing is gained by it.
        rows, costs: room for counting, 0 between two calls.
        low, high: room for the interval of the chosen values that each value is in.
    """

    splits: Counts
    suppressed: Counts
    with_it: Counts
    without_it: Counts
    useful: Mask
    rows: Counts
    costs: Counts
    low: Places
    high: Places


@compiled
def choosing(
    cells: MergedRows,
    starts: Places,
    classes: int,
    head: Mask,
    tail: Mask,
    first: Counts,
    price: Price,
    effects: Effects,
) -> int:
    """Note what choosing each value does; returns what the cells cost at least.

    One pass over the cells counts, for each class, the rows with each value. Running sums of these counts
    over an interval are the sizes of the two parts that each value makes.
    """
    columns = len(first) - 1
    for value in range(len(head)):
        effects.splits[value] = effects.suppressed[value] = effects.with_it[value] = 0
        effects.useful[value] = False
    for column in range(columns):
        low, high = first[column], first[column + 1]
        for value in range(first[column], first[column + 1]):
            if head[value]:
                low = value
            effects.low[value] = low
        for value in range(first[column + 1] - 1, first[column] - 1, -1):
            effects.high[value] = high
            if head[value]:
                high = value
    total = 0
    for index in range(classes):
        begin, end = starts[index], starts[index + 1]
        rows, cost = 0, 0
        for cell in range(begin, end):
            own = least_cost(cells, cell, price.least_size)
            rows += cells.sizes[cell]
            cost += own
            for column in range(columns):
                effects.rows[cells.codes[cell, column]] += cells.sizes[cell]
                effects.costs[cells.codes[cell, column]] += own
        total += cost
        for column in range(columns):
            low = effects.low[cells.codes[begin, column]]
            below, below_cost = 0, 0
            for value in range(low, effects.high[low]):
                if 0 < below < rows and tail[value]:
                    effects.splits[value] += 1
                    above, above_cost = rows - below, cost - below_cost
                    if below < price.least_size:
                        effects.suppressed[value] += below
                        effects.with_it[value] += below * price.suppressed - below_cost
                    if above < price.least_size:
                        effects.suppressed[value] += above
                        effects.with_it[value] += above * price.suppressed - above_cost
                    if below >= price.least_size or above >= price.least_size:
                        effects.useful[value] = True
                below += effects.rows[value]
                below_cost += effects.costs[value]
                effects.rows[value] = 0
                effects.costs[value] = 0
    return total


@compiled
def giving_up(
    cells: MergedRows,
    begin: int,
    end: int,
    head: Mask,
    tail: Mask,
    numbering: Numbering,
    price: Price,
    same: Values,
    slots: Places,
    effects: Effects,
) -> None:
    """Note what giving up each value does: cells that differ by it alone become one, which costs more."""
    # A table of the cells as they are; a cell without a value has the hash of its neighbour, so one look
    # finds whether it exists. Its rise is what both cost together above what they cost alone, counted at the
    # cell with the value and therefore once. `before` uses room of `effects.low`, which `choosing` fills
    # anew.
    first, keys = numbering.first, numbering.keys
    before = effects.low
    for column in range(len(first) - 1):
        last = first[column]
        for value in range(first[column], first[column + 1]):
            before[value] = last
            if tail[value] or head[value]:
                last = value
    table = empty_table(slots, end - begin)
    for cell in range(begin, end):
        table[find(cells, table, cells, cell, same, -1, 0, cells.hashes[cell])] = cell
    for value in range(len(head)):
        effects.without_it[value] = 0
    for cell in range(begin, end):
        own = least_cost(cells, cell, price.least_size)
        for column in range(len(first) - 1):
            value = cells.codes[cell, column]
            if not tail[value]:
                continue
            sought = cells.hashes[cell] + keys[before[value]] - keys[value]
            other = table[find(cells, table, cells, cell, same, column, before[value], sought)]
            if other >= 0:
                joined = least_cost_together(cells, cell, cells, other, price.least_size)
                effects.without_it[value] += joined - own - least_cost(cells, other, price.least_size)


@compiled
def cost_of_classes(cells: MergedRows, starts: Places, classes: int, least_size: int) -> int:
    """What the classes cost when nothing is added."""
    # The true cost of the head alone, so it may become the best; bounds are other numbers. The most frequent
    # label can be taken in passing, since counts only grow. Cells times labels in time.
    total = 0
    kinds = cells.labels.shape[1]
    labels = np.zeros(kinds, np.int64)
    for index in range(classes):
        rows, most = 0, 0
        for label in range(kinds):
            labels[label] = 0
        for cell in range(starts[index], starts[index + 1]):
            rows += cells.sizes[cell]
            for label in range(kinds):
                labels[label] += cells.labels[cell, label]
                most = max(most, labels[label])
        total += rows - most if kinds else rows * max(rows, least_size)
    return total
