"""Kernels that carry worlds over to a new result.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.knowledge import Booleans, Integers, KnowledgeArrays
from tarnkappe.gate.local_search import Scratch, enter, holders, lacking_holders
from tarnkappe.gate.pool_counts import fits_all_but
from tarnkappe.gate.seeking import show
from tarnkappe.native import compiled

CHUNK = 8
"""How many worlds are carried before somebody looks at the clock."""


@compiled
def carry_some(
    view: KnowledgeArrays,
    base: Integers,
    number: int,
    anybody: Integers,
    floors: Integers,
    known: Integers,
    results: Integers,
    cells: NDArray[np.int64],
    values: Integers,
    frees: Integers,
    count: int,
    parent: Integers,
    near: Booleans,
    nearly: Integers,
    scratch: Scratch,
    shown: NDArray[np.int8],
    degree: Integers,
    goal: int,
    steps: int,
    work: int,
    state: NDArray[np.uint64],
) -> tuple[int, int]:
    """Carry the next worlds of the base over to the newest result, from this number on.

    What fits goes behind the `count` worlds that there are, with its `parent`; what fits all but the newest
    result is marked in `near` and kept in `nearly`. Returns the number of the next world and the new count.
    """
    # A few worlds and no more, so that who calls can look at the clock; none after the work is done. One call
    # for each world took as long as the world itself. A world is written behind the last one: if it is not
    # carried it is forgotten by not raising the count.
    newest = len(view.cell) - 1
    for turn in range(number, min(number + CHUNK, len(base))):
        value, free, floor = values[count], frees[count], floors[turn]
        value[:] = base[turn]
        for tuple_ in anybody:
            value[tuple_] = -1
        free_before(view, value, free, newest, known[turn], results[turn], cells[turn])
        if enter(view, value, free, floor, 0, scratch, -1, newest, shown, degree, goal, steps, state):
            parent[count] = turn
            show(view, value, shown, degree, 1)
            count += 1
        elif (
            value.min() >= 0
            and lacking_holders(floor, holders(view, value, len(floor))) == 0
            and fits_all_but(view, value, newest)
        ):
            nearly[turn] = value
            near[turn] = True
        if state[1] > np.uint64(work):
            return turn + 1, count
    return min(number + CHUNK, len(base)), count


@compiled
def free_before(
    view: KnowledgeArrays,
    value: Integers,
    free: Integers,
    newest: int,
    known: Integers,
    results: int,
    cells: int,
) -> None:
    """What is left of each cell, without the newest result, if it is known of the first results.

    So many results, with so many cells, were counted in this world before.
    """
    # Results are numbered as they are published, their memberships and cells with them: what was counted is a
    # beginning of all. It is copied, as a search changes it. The newest result is left out, as `enter` counts
    # it.
    free[:cells] = known[:cells]
    free[cells:] = view.capacity[cells:]
    for membership in range(view.first[results], len(view.member)):
        result, tuple_ = view.result[membership], view.member[membership]
        if result != newest and value[tuple_] >= 0:
            free[view.cell[result, value[tuple_]]] -= 1
