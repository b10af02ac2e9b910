"""Climbing from a value set to better ones: remove values, add values, exchange one for another.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from tarnkappe.native import compiled
from tarnkappe.recoding.partitions import Keys, MergedRows, Numbering
from tarnkappe.recoding.value_classes import Places, Price, Values, empty_table, find, table_size
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Counts


class Standing(NamedTuple):
    """What a value set costs and how many rows it suppresses; less is better, too many rows come first."""

    excess: int
    cost: int


class Flips(NamedTuple):
    """What value sets cost, and the rows they suppress: the own one first, then with each value flipped."""

    costs: Counts
    suppressed: Counts

    def standing(self, price: Price, index: int) -> Standing:
        """How good one of them is."""
        return Standing(max(0, int(self.suppressed[index]) - price.limit), int(self.costs[index]))

    def best(self, price: Price, allowed: Mask) -> tuple[Standing, int]:
        """The best of the flips of some values, and its value; equally good ones by number."""
        values = np.flatnonzero(allowed)
        excess = np.maximum(self.suppressed[values + 1] - price.limit, 0)
        chosen = int(values[np.lexsort((values, self.costs[values + 1], excess))[0]])
        return self.standing(price, chosen + 1), chosen


@compiled
def _note(flips: Flips, index: int, size: int, most: int, sign: int, price: Price) -> None:
    """Count a class (or take one away) in what a value set costs; -1 stands for no labels."""
    # What a flip costs is the cost of all classes with those taken away that change and those added that come
    # of them: sign -1 and 1 of the same rule, so rounding cannot differ. All in whole numbers.
    if size < price.least_size:
        flips.costs[index] += sign * size * price.suppressed
        flips.suppressed[index] += sign * size
    else:
        flips.costs[index] += sign * (size * size if most < 0 else size - most)


@compiled
def _most(classes: MergedRows, own: int, other: int) -> int:
    """How many rows have the most frequent label in a class, or in two together; -1 without labels."""
    # -1 says that there are no labels, which `_note` charges by size. Two classes are added label by label:
    # the most frequent of both need not be that of either.
    most = -1
    for label in range(classes.labels.shape[1]):
        count = int(classes.labels[own, label])
        if other >= 0:
            count += classes.labels[other, label]
        most = max(most, count)
    return most


@compiled
def flip_each(cells: MergedRows, head: Mask, numbering: Numbering, price: Price) -> Flips:
    """What a value set costs, and what it would cost with each value added or removed, in a few passes."""
    # Every flip changes few classes, so all of them start from the cost as it is and note differences: a few
    # passes instead of one grouping for each value. `before` is taken before the value itself becomes the
    # last.
    first, keys = numbering.first, numbering.keys
    number, columns = cells.codes.shape
    values = len(head)
    flips = Flips(np.zeros(values + 1, np.int64), np.zeros(values + 1, np.int64))
    target, before = np.empty(values, np.int16), np.empty(values, np.int16)
    for column in range(columns):
        last = first[column]
        for value in range(first[column], first[column + 1]):
            before[value] = last
            if head[value]:
                last = value
            target[value] = last
    slots = np.empty(table_size(number), np.int64)
    members = np.empty(number, np.int64)
    classes = MergedRows(
        np.empty((number, columns), np.int16),
        np.zeros(number, np.int64),
        np.zeros((number, cells.labels.shape[1]), np.int64),
        np.zeros(number, np.uint64),
    )
    found = _group(cells, target, keys, classes, members, slots)
    for own in range(found):
        _note(flips, 0, classes.sizes[own], _most(classes, own, -1), 1, price)
    for index in range(1, values + 1):
        flips.costs[index], flips.suppressed[index] = flips.costs[0], flips.suppressed[0]
    _note_removals(classes, found, head, before, target, numbering, price, slots, flips)
    _note_additions(cells, classes, found, members, head, first, price, flips)
    return flips


@compiled
def _group(
    cells: MergedRows, target: Values, keys: Keys, classes: MergedRows, members: Places, slots: Places
) -> int:
    """Put every cell into its class; how many classes there are."""
    # A hash table of classes, in the order in which they first occur. The hash is the sum of the keys of
    # targets, from the start; later it changes by differences. Sizes and labels must come as zeros.
    empty_table(slots, len(cells.sizes))
    found = 0
    for cell in range(len(cells.sizes)):
        sought = np.uint64(0)
        for column in range(cells.codes.shape[1]):
            sought += keys[target[cells.codes[cell, column]]]
        place = find(classes, slots, cells, cell, target, -1, 0, sought)
        if slots[place] < 0:
            slots[place] = found
            classes.hashes[found] = sought
            for column in range(cells.codes.shape[1]):
                classes.codes[found, column] = target[cells.codes[cell, column]]
            found += 1
        own = slots[place]
        members[cell] = own
        classes.sizes[own] += cells.sizes[cell]
        for label in range(cells.labels.shape[1]):
            classes.labels[own, label] += cells.labels[cell, label]
    return found


@compiled
def _note_removals(
    classes: MergedRows,
    found: int,
    head: Mask,
    before: Values,
    same: Values,
    numbering: Numbering,
    price: Price,
    slots: Places,
    flips: Flips,
) -> None:
    # Without a value, a class that begins with it joins the one whose value comes before: found by the hash,
    # if it exists. Noted from the upper class only, so each pair is counted once.
    keys = numbering.keys
    for own in range(found):
        for column in range(classes.codes.shape[1]):
            value = classes.codes[own, column]
            if not head[value]:
                continue
            sought = classes.hashes[own] + keys[before[value]] - keys[value]
            other = slots[find(classes, slots, classes, own, same, column, before[value], sought)]
            if other >= 0:
                size = classes.sizes[own] + classes.sizes[other]
                _note(flips, value + 1, size, _most(classes, own, other), 1, price)
                _note(flips, value + 1, classes.sizes[own], _most(classes, own, -1), -1, price)
                _note(flips, value + 1, classes.sizes[other], _most(classes, other, -1), -1, price)


@compiled
def _note_additions(
    cells: MergedRows,
    classes: MergedRows,
    found: int,
    members: Places,
    head: Mask,
    first: Counts,
    price: Price,
    flips: Flips,
) -> None:
    # Cells are put side by side by class, by a counting sort. Running sums over the values of an interval are
    # the two parts that each further value makes: all of them in one pass. Counts are cleared as they are
    # read.
    number, columns = cells.codes.shape
    kinds = cells.labels.shape[1]
    starts = np.zeros(found + 1, np.int64)
    for cell in range(number):
        starts[members[cell] + 1] += 1
    for own in range(found):
        starts[own + 1] += starts[own]
    order, at = np.empty(number, np.int64), np.zeros(found, np.int64)
    for cell in range(number):
        order[starts[members[cell]] + at[members[cell]]] = cell
        at[members[cell]] += 1
    rows, labels = np.zeros(len(head), np.int64), np.zeros((len(head), kinds), np.int64)
    below_labels = np.zeros(kinds, np.int64)
    for own in range(found):
        size, most = classes.sizes[own], _most(classes, own, -1)
        for place in range(starts[own], starts[own + 1]):
            cell = order[place]
            for column in range(columns):
                value = cells.codes[cell, column]
                rows[value] += cells.sizes[cell]
                for label in range(kinds):
                    labels[value, label] += cells.labels[cell, label]
        for column in range(columns):
            value = classes.codes[own, column]
            below = 0
            for label in range(kinds):
                below_labels[label] = 0
            while True:
                if 0 < below < size:
                    most_below, most_above = -1, -1
                    for label in range(kinds):
                        most_below = max(most_below, below_labels[label])
                        most_above = max(most_above, classes.labels[own, label] - below_labels[label])
                    _note(flips, value + 1, below, most_below, 1, price)
                    _note(flips, value + 1, size - below, most_above, 1, price)
                    _note(flips, value + 1, size, most, -1, price)
                below += rows[value]
                rows[value] = 0
                for label in range(kinds):
                    below_labels[label] += labels[value, label]
                    labels[value, label] = 0
                value += 1
                if value == first[column + 1] or head[value]:
                    break


@dataclasses.dataclass(frozen=True, eq=False)
class Hill:
    """A table on which to climb.

    Attributes:
        cells: its rows.
        numbering: its values.
        free: the values that may be added and removed.
        price: what rows cost.
    """

    cells: MergedRows
    numbering: Numbering
    free: Mask
    price: Price

    def flips(self, head: Mask) -> Flips:
        """What a value set costs, and with each value flipped."""
        return flip_each(self.cells, head, self.numbering, self.price)

    def standing(self, head: Mask) -> Standing:
        """What a value set costs."""
        return self.flips(head).standing(self.price, 0)

    def two_phases(self, head: Mask) -> tuple[Standing, Mask]:
        """Remove values, the costliest first, until nothing gets better; then add values likewise."""
        head = head.copy()
        for adding in (False, True):
            while True:
                flips = self.flips(head)
                candidates = self.free & (head != adding)
                if not candidates.any():
                    break
                standing, value = flips.best(self.price, candidates)
                if standing >= flips.standing(self.price, 0):
                    break
                head[value] = not head[value]
        return self.standing(head), head

    def exchange(self, head: Mask) -> tuple[Standing, Mask]:
        """The two phases, then one value for another, again and again, until nothing gets better."""
        standing, head = self.two_phases(head)
        while True:
            best, chosen = standing, head
            for removed in np.flatnonzero(head & self.free):
                other = head.copy()
                other[removed] = False
                candidates = self.free & ~other
                found, value = self.flips(other).best(self.price, candidates)
                if found < best:
                    best, chosen = found, other
                    chosen[value] = True
            if best == standing:
                return standing, head
            standing, head = self.two_phases(chosen)
