"""The compiled search: from one test to the next without the interpreter.

It is the sweep of `Sweep` and `Hunt`, test by test the same, for problems whose models ask for class sizes
alone and whose loss has a kernel (`kernels.py`). On small tables a test takes some microseconds and the
interpreter some hundred around it, so everything from choosing a node to noting what follows from its test is
compiled.

How classes are made and kept is in `core_classes.py`. The loop returns to Python after some tests, to tell
about progress and to keep time.

Explained in docs/explanation/searches.md.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.lattice.border_search import choose, climb
from tarnkappe.lattice.core_classes import (
    BEST,
    CHARGED,
    HEAD,
    HITS,
    LAST,
    POSITION,
    REACHED,
    ROLLED,
    ROWS,
    STACK,
    SUPPRESSED,
    TESTS,
    Core,
    Numbers,
    base_for,
    group,
    keep,
    step,
)
from tarnkappe.lattice.forecast import NO_ROW, take
from tarnkappe.lattice.kernels import Kernel, KernelPlan, bound_above, bound_below, charges_of, loss_of
from tarnkappe.lattice.problem import TIE
from tarnkappe.lattice.space import (
    CHECKED,
    CLOSED,
    FAILED,
    FOUND,
    NO_BETTER,
    VISITED,
    is_open_between,
    mark_between,
    next_open,
    raise_between,
    successors,
)
from tarnkappe.native import compiled


@compiled
def ceiling_of(core: Core) -> float:
    """The greatest loss that counts as equally good as the best found."""
    # Losses within `TIE` count as equal, so every search reports the same node of equally good ones: bounds
    # are compared with this and not with the best, or a tie with a smaller number would be excluded.
    best: float = core.real[BEST]
    return best + TIE * max(1.0, abs(best))


@compiled
def levels_of(core: Core, index: int) -> Numbers:
    """The levels of a node."""
    # A node's number has one digit for each column, with the radix `shape`, counted from `low`: three array
    # operations instead of a table of all nodes' levels.
    return index // core.strides % core.shape + core.low


@compiled
def examine(core: Core, plan: KernelPlan, kernel: Kernel, index: int) -> None:
    """Test a node and note what follows from it."""
    # The classes go where those of the test before the last were: `base_for` must not find these, so their
    # size is set to 0 first, and `LAST` changes only after grouping. Marks come before bounds: what is closed
    # needs none.
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
    # The features of a node: one, its labels, and one level of each column. `take` corrects by them. A row is
    # charged on average what tests so far charged; only tests that satisfied have a loss below infinity.
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
    # A suppressed row costs about so much, so with more rows than the room to the best found a node cannot
    # win. It only leads the search, and no conclusion rests on it. `POSITION` only grows: nodes never open
    # again.
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
    # The interpreter's search test by test: first what lies above a found node, depth first, then the next
    # node. The ceiling is computed anew after `examine`, which may have lowered it. All state is in `core`,
    # so it can return at any test and go on. Every round tests or closes a node.
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
