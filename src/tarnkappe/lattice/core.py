"""The compiled search: from one test to the next without the interpreter.

It is the sweep of `Sweep` and `Hunt`, test by test the same, for problems whose models ask for class sizes
alone and whose loss has a kernel (`kernels.py`). On small tables a test takes some microseconds and the
interpreter some hundred around it, so everything from choosing a node to noting what follows from its test is
compiled.

Classes are a word of packed labels and a size. One arena holds those of the lowest node, of the last two
tests, and a ring of snapshots, of which the oldest give way. Slots of the hash table carry the number of the
test, so that they need not be cleared. The loop returns to Python after some tests, to tell about progress
and to keep time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.lattice.border_search import choose, climb
from tarnkappe.lattice.forecast import NO_ROW, take
from tarnkappe.lattice.kernels import Kernel, KernelPlan, bound_above, bound_below, charges_of, loss_of
from tarnkappe.lattice.packing import Words
from tarnkappe.lattice.problem import TIE
from tarnkappe.lattice.space import (
    CHECKED,
    CLOSED,
    FAILED,
    FOUND,
    NO_BETTER,
    VISITED,
    Facts,
    Indices,
    is_open_between,
    mark_between,
    next_open,
    raise_between,
    successors,
)
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
def ceiling_of(core: Core) -> float:
    """The greatest loss that counts as equally good as the best found."""
    best: float = core.real[BEST]
    return best + TIE * max(1.0, abs(best))


@compiled
def levels_of(core: Core, index: int) -> Numbers:
    """The levels of a node."""
    return index // core.strides % core.shape + core.low


@compiled
def group(core: Core, base: int, levels: Numbers, target: int) -> int:
    """Make the classes of a node from a snapshot, at a place of the arena; returns how many there are."""
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


@compiled
def examine(core: Core, plan: KernelPlan, kernel: Kernel, index: int) -> None:
    """Test a node and note what follows from it."""
    levels = levels_of(core, index)
    place = 3 - core.whole[LAST]  # 1 and 2 take turns
    core.snap_sizes[place] = 0
    target = core.whole[ROWS] * place
    base = base_for(core, levels)
    core.whole[HITS] += np.int64(base > 2)
    base = step(core, base, levels, target)
    core.whole[ROLLED] += np.int64(base > 0)
    size_of_base = core.snap_sizes[base]
    number = group(core, base, levels, target)
    core.whole[LAST] = place
    core.snap_levels[place, :] = levels
    core.snap_starts[place] = target
    core.snap_sizes[place] = number
    words, sizes = core.words[target : target + number], core.sizes[target : target + number]
    suppressed, kept = 0, 0
    for size in sizes:
        if size < plan.k:
            suppressed += size
        else:
            kept += 1
    core.tested[core.whole[TESTS]] = index
    core.whole[TESTS] += 1
    core.suppressed[index] = suppressed
    core.kept[index] = kept
    core.known[index] |= np.uint8(CHECKED)
    satisfied, top = suppressed <= plan.limit, len(core.known) - 1
    if satisfied:
        charges = charges_of(kernel, words, sizes, plan.k, suppressed, plan.rows, levels)
        loss = loss_of(kernel, sizes, plan.k, suppressed, kept, plan.rows, levels, charges)
        core.losses[index] = loss
        core.real[BEST] = min(core.real[BEST], loss)
        mark_between(core.known, index, top, FOUND, True, core.shape, core.strides)
        if plan.loss_monotone:
            mark_between(core.known, index, top, NO_BETTER, False, core.shape, core.strides)
    else:
        mark_between(core.known, 0, index, FAILED, True, core.shape, core.strides)
    if plan.visits_above or not satisfied:
        bound = bound_above(kernel, sizes, plan.k, plan.rows)
        if bound > core.bounds[index]:
            everywhere = np.full(1, bound)
            raise_between(core.bounds, everywhere, index, top, core.shape, core.strides)
            raise_between(core.least, everywhere, index, top, core.shape, core.strides)
        if number <= 0.8 * size_of_base:
            keep(core, levels, target, number)
    if satisfied and is_open_between(
        core.known, CLOSED, core.least, ceiling_of(core), 0, index, core.shape, core.strides
    ):
        bound_below(kernel, core.least, sizes, plan, suppressed, levels, core.low, core.strides, charges)


@compiled
def learn(core: Core, index: int) -> None:
    """Correct the forecast by a test, and what rows are charged."""
    features = np.zeros(len(core.terms))
    features[0] = 1.0
    for column in range(len(core.shape)):
        place = core.starts[column] + index // core.strides[column] % core.shape[column]
        features[1] += core.labels[place]
        features[2 + place] = 1.0
    take(core.terms, core.spread, features, np.log(max(float(core.suppressed[index]), NO_ROW)))
    if core.losses[index] < np.inf:
        core.real[CHARGED] += core.losses[index] - core.by_levels[index]
        core.whole[SUPPRESSED] += core.suppressed[index]


@compiled
def effective_limit(core: Core, plan: KernelPlan) -> float:
    """As `Sweep` says: with more suppressed rows than this no node is likely to be the best."""
    if not plan.charges or core.real[CHARGED] <= 0 or core.whole[SUPPRESSED] == 0:
        return float(plan.limit)
    ceiling = ceiling_of(core)
    position = next_open(core.by_bound, core.whole[POSITION], core.known, CLOSED, core.least, ceiling)
    core.whole[POSITION] = position
    if position == len(core.by_bound):
        return float(plan.limit)
    room = max(ceiling - core.by_levels[core.by_bound[position]], 0.0)
    likely: float = room * core.whole[SUPPRESSED] / core.real[CHARGED]
    return min(float(plan.limit), likely)


@compiled
def run(core: Core, plan: KernelPlan, kernel: Kernel, until: int) -> bool:
    """Search until so many nodes are tested; whether nothing is left that could be better."""
    done = VISITED | FAILED | NO_BETTER
    settled = CHECKED | FAILED | (0 if plan.charges else FOUND)
    while core.whole[TESTS] < until:
        if core.whole[STACK] > 0:
            core.whole[STACK] -= 1
            index = core.stack[core.whole[STACK]]
            ceiling = ceiling_of(core)
            closed = core.known[index] & done or core.bounds[index] > ceiling
            if index != core.whole[HEAD] and closed:
                continue
            core.known[index] |= np.uint8(VISITED)
            if core.known[index] & CHECKED == 0 and core.least[index] <= ceiling:
                examine(core, plan, kernel, index)
            ceiling = ceiling_of(core)
            above = successors(index, core.rank, core.shape, core.strides)
            for each in above[::-1]:
                if core.known[each] & done == 0 and core.bounds[each] <= ceiling:
                    core.stack[core.whole[STACK]] = each
                    core.whole[STACK] += 1
            continue
        border = np.log(effective_limit(core, plan) + 0.75)
        by_level = core.terms[2:] + core.terms[1] * core.labels
        if plan.climbs:
            index, core.whole[POSITION], core.whole[REACHED] = climb(
                core.known,
                core.least,
                ceiling_of(core),
                core.by_bound,
                core.whole[POSITION],
                core.whole[REACHED],
                core.terms[0],
                by_level,
                border,
                settled,
                core.starts,
                core.shape,
                core.strides,
            )
        else:
            index = choose(
                core.known,
                core.least,
                ceiling_of(core),
                core.terms[0],
                by_level,
                border,
                settled,
                core.axis_low,
                core.axis_high,
                core.axis_starts,
                core.axis_strides,
            )
        if index < 0:
            return True
        examine(core, plan, kernel, index)
        learn(core, index)
        if core.known[index] & FOUND and plan.visits_above and not plan.charges:
            core.whole[HEAD] = index
            core.stack[0] = index
            core.whole[STACK] = 1
    return False
