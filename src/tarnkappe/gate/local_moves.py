"""Kernels of single moves: one tuple takes another value, and what that costs.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.knowledge import Integers, KnowledgeArrays
from tarnkappe.native import compiled


@compiled
def draw(state: NDArray[np.uint64], below: int) -> int:
    """A random number from 0 to below - 1 (xorshift; reproducible, no secrets rest on it).

    The first entry of the state is the generator's; the second counts the steps of all searches.
    """
    # The state must not be 0, of which xorshift makes 0 for ever. The remainder is uneven by less than
    # 2**-50.
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return int(x % np.uint64(below))


@compiled
def price(view: KnowledgeArrays, free: Integers, weight: Integers, tuple_: int, old: int, new: int) -> int:
    """By how much the weighted overflow grows if a tuple goes from its old value (-1: none) to a new one."""
    # Only cells of the tuple's own results change, which `newest` and `earlier` chain: time is its results,
    # never the history. A full cell (0) overflows by the next unit, an overflowing one (below 0) is relieved
    # by it. It must agree with `move`, or the search would be led by prices that no move has.
    growth = 0
    membership = view.newest[tuple_]
    while membership >= 0:
        cells = view.cell[view.result[membership]]
        if free[cells[new]] <= 0:
            growth += weight[cells[new]]
        if old >= 0 and free[cells[old]] < 0:
            growth -= weight[cells[old]]
        membership = view.earlier[membership]
    return growth


@compiled
def prices(
    view: KnowledgeArrays,
    free: Integers,
    weight: Integers,
    tuple_: int,
    old: int,
    options: Integers,
    count: int,
    growth: NDArray[np.int64],
) -> None:
    """What `price` says of each of the first so many options, written to `growth`."""
    # The chain of the tuple's results is walked once for all options: the cells of a result are neighbours in
    # memory, those of a value in many results are not. What the old value gives back is the same for all.
    for place in range(count):
        growth[place] = 0
    relief = 0
    membership = view.newest[tuple_]
    while membership >= 0:
        cells = view.cell[view.result[membership]]
        if old >= 0 and free[cells[old]] < 0:
            relief += weight[cells[old]]
        for place in range(count):
            cell = cells[options[place]]
            if free[cell] <= 0:
                growth[place] += weight[cell]
        membership = view.earlier[membership]
    for place in range(count):
        growth[place] -= relief


@compiled
def options_of(view: KnowledgeArrays, tuple_: int, old: int, wanted: int, options: Integers) -> int:
    """Write the values to `options` that a tuple may have instead of its old one; returns how many.

    If one is wanted (-1: none is), it is the only one.
    """
    # In the order of the values: of equally good moves one is drawn in this order, which must not change.
    count = 0
    for new in range(view.allowed.shape[1]):
        if new != old and view.allowed[tuple_, new] and (wanted < 0 or new == wanted):
            options[count] = new
            count += 1
    return count


@compiled
def move(view: KnowledgeArrays, value: Integers, free: Integers, tuple_: int, new: int) -> None:
    """Give a tuple another value. The newest result need not have its old value."""
    # `free` and `value` change together and nowhere else: what is left of every cell stays true. In the
    # newest result the old value may have no cell (-1), which must not be written to: Python would take it
    # for the last.
    old = value[tuple_]
    value[tuple_] = new
    membership = view.newest[tuple_]
    while membership >= 0:
        cells = view.cell[view.result[membership]]
        free[cells[new]] -= 1
        if old >= 0 and cells[old] >= 0:
            free[cells[old]] += 1
        membership = view.earlier[membership]
