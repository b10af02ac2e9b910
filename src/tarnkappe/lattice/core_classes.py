"""The classes of the compiled search (`core.py`): how nodes are grouped, and what is kept for later ones.

Classes are a word of packed labels and a size. One arena holds those of the lowest node, of the last two
tests, and a ring of snapshots, of which the oldest give way. Slots of the hash table carry the number of the
test, so that they need not be cleared.

Explained in docs/explanation/searches.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.lattice.packing import Words
from tarnkappe.lattice.space import Facts, Indices
from tarnkappe.loss.grid import Grid
from tarnkappe.native import compiled

SNAPSHOTS = 256
FEW_CLASSES = 5000
"""From so few classes a test is made at once, without a node in between."""

Numbers = npt.NDArray[np.int64]

# Places of whole numbers that change.
TESTS, STACK, HEAD, EPOCH, LAST, RING, NEXT, POSITION, REACHED, ROLLED, HITS, VISITS, ROWS = range(13)
SUPPRESSED = 13
# Places of other numbers that change.
BEST, CHARGED = range(2)


class Core(NamedTuple):
    """All that a compiled search works on; see `compiled_sweep.py` for how it is laid out.

    Attributes:
        known, bounds, least, by_bound, by_levels, rank, shape, strides: the nodes, as in `Space`.
        low, starts, labels: the lowest levels; where the terms of a column begin; logarithms of label counts.
        terms, spread: the forecast.
        axis_low, axis_high, axis_starts, axis_strides: the part of the lattice with open nodes.
        words, sizes: the arena; `room` is how many classes the lowest node has.
        shifts, masks, lifts, tables, counts: how labels are packed and lifted, and how many a level has.
        slot_words, slot_marks: the hash table.
        snap_levels, snap_starts, snap_sizes: the snapshots; 0 to 2 are the lowest node and the last tests.
        wheels, useless: columns in the order of stepping stones, and nodes that are useless as such.
        tested, suppressed, kept, losses: the tests in their order; and for each node its suppressed rows, its
            kept classes and its loss.
        stack: nodes to be visited.
        whole, real: numbers that change, by their places above.
    """

    known: Facts
    bounds: Grid
    least: Grid
    by_bound: Indices
    by_levels: Grid
    rank: Indices
    shape: Indices
    strides: Indices
    low: Indices
    starts: Indices
    labels: Grid
    terms: Grid
    spread: Grid
    axis_low: Indices
    axis_high: Indices
    axis_starts: Indices
    axis_strides: Indices
    words: Words
    sizes: Numbers
    shifts: Words
    masks: Words
    lifts: Numbers
    tables: Words
    counts: Numbers
    slot_words: Words
    slot_marks: Words
    snap_levels: Numbers
    snap_starts: Numbers
    snap_sizes: Numbers
    wheels: Numbers
    useless: Facts
    tested: Numbers
    suppressed: Numbers
    kept: Numbers
    losses: Grid
    stack: Numbers
    whole: Numbers
    real: Grid


@compiled
def group(core: Core, base: int, levels: Numbers, target: int) -> int:
    """Make the classes of a node from a snapshot, at a place of the arena; returns how many there are."""
    # Marks have the test's number above and the class below: a slot of an earlier test counts as empty, and
    # no table is cleared. `target` must not overlap the snapshot read, whose rows are still needed.
    words, sizes = core.words, core.sizes
    start, number = core.snap_starts[base], core.snap_sizes[base]
    before = core.snap_levels[base]
    same, most = np.uint64(0), 1
    for column in range(len(levels)):
        if levels[column] == before[column]:
            same |= core.masks[column] << core.shifts[column]
        if most < number:
            most *= core.counts[column, levels[column]]
    lifted = np.empty(number, np.uint64)
    for row in range(number):
        lifted[row] = words[start + row] & same
    # Column by column: with all columns in one loop, this takes twice the time.
    for column in range(len(levels)):
        low, high = before[column], levels[column]
        if low != high and core.counts[column, high] > 1:
            shift, mask = core.shifts[column], core.masks[column]
            first = np.uint64(core.lifts[column, low, high])
            for row in range(number):
                lifted[row] |= core.tables[first + (words[start + row] >> shift & mask)]
    bits = 6
    while 1 << bits < 2 * min(most, number):
        bits += 1
    down, wrap = np.uint64(64 - bits), np.uint64((1 << bits) - 1)
    core.whole[EPOCH] += 1
    epoch = np.uint64(core.whole[EPOCH]) << np.uint64(32)
    low_bits = np.uint64(0xFFFFFFFF)
    groups = 0
    for row in range(number):
        word = lifted[row]
        slot = word * np.uint64(0x9E3779B97F4A7C15) >> down
        while core.slot_marks[slot] & ~low_bits == epoch and core.slot_words[slot] != word:
            slot = slot + np.uint64(1) & wrap
        if core.slot_marks[slot] & ~low_bits == epoch:
            sizes[target + np.int64(core.slot_marks[slot] & low_bits)] += sizes[start + row]
        else:
            core.slot_marks[slot] = epoch | np.uint64(groups)
            core.slot_words[slot] = word
            words[target + groups] = word
            sizes[target + groups] = sizes[start + row]
            groups += 1
    core.whole[VISITS] += number
    return groups


@compiled
def base_for(core: Core, levels: Numbers) -> int:
    """The snapshot with the fewest classes of a node below the given one."""
    # Fewer classes are less to lift and merge. Sizes are compared first, levels only of what would be better;
    # the lowest node, at place 0, is below everything, so there is always one. At most 256 snapshots are
    # looked at.
    best = 0
    for place in range(1, len(core.snap_sizes)):
        if 0 < core.snap_sizes[place] < core.snap_sizes[best]:
            is_below = True
            for column in range(len(levels)):
                if core.snap_levels[place, column] > levels[column]:
                    is_below = False
                    break
            if is_below:
                best = place
    return best


@compiled
def keep(core: Core, levels: Numbers, start: int, number: int) -> int:
    """Copy classes into the ring; the oldest snapshots give way."""
    # A ring in the arena: what the copy would overwrite is forgotten first (size 0), then the copy is made.
    # The first three places are fixed and outside. Nothing is kept that is larger than the ring; memory never
    # grows.
    room = core.whole[ROWS]
    first, whole = 3 * room, len(core.sizes)
    if first + number > whole:
        return -1
    ring = core.whole[RING]
    if ring + number > whole:
        ring = first
    for place in range(3, len(core.snap_sizes)):
        begin, size = core.snap_starts[place], core.snap_sizes[place]
        if size > 0 and begin < ring + number and ring < begin + size:
            core.snap_sizes[place] = 0
    oldest: int = core.whole[NEXT]
    core.whole[NEXT] = oldest + 1 if oldest + 1 < len(core.snap_sizes) else 3
    core.words[ring : ring + number] = core.words[start : start + number]
    core.sizes[ring : ring + number] = core.sizes[start : start + number]
    core.snap_levels[oldest, :] = levels
    core.snap_starts[oldest] = ring
    core.snap_sizes[oldest] = number
    core.whole[RING] = ring + number
    return oldest


@compiled
def step(core: Core, base: int, levels: Numbers, target: int) -> int:
    """Make the classes of a node in between, for the sake of later tests; returns from where to go on."""
    # Only where classes are many: a node in between costs a grouping now and saves one in each later test
    # that finds it. If it merges too little it is marked, so that the same node is never tried in vain again.
    if core.snap_sizes[base] < FEW_CLASSES:
        return base
    before = core.snap_levels[base]
    for column in core.wheels:
        if before[column] < levels[column]:
            between = before.copy()
            between[column] = levels[column]
            if np.all(between == levels):
                return base
            index = ((between - core.low) * core.strides).sum()
            if core.useless[index]:
                continue
            number = group(core, base, between, target)
            if number > 0.8 * core.snap_sizes[base]:
                core.useless[index] = 1
                return base
            place = keep(core, between, target, number)
            return base if place < 0 else place
    return base
