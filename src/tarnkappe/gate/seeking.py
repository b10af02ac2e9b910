"""Kernels that make witnesses for a value that somebody is wanted to have, and count what witnesses show.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.knowledge import Integers, KnowledgeArrays
from tarnkappe.gate.local_moves import draw, move, price
from tarnkappe.gate.local_search import Scratch, gather, repair
from tarnkappe.native import compiled


@compiled
def show(
    view: KnowledgeArrays, value: Integers, shown: NDArray[np.signedinteger], degree: Integers, sign: int
) -> None:
    """Count (sign 1) or discount (-1) what a witness shows."""
    # A degree is the number of values that at least one witness shows: it changes only between 0 and 1, hence
    # before adding and after taking away. Everybody has a value here; -1 would count for the last one. Who
    # never discounts may count in a narrow type, which stays near the processor: a full count stays full.
    most = np.iinfo(shown.dtype).max
    for tuple_ in range(len(value)):
        kind, v = view.kind[tuple_], value[tuple_]
        if sign > 0 and shown[kind, v] == 0:
            degree[kind] += 1
        if sign < 0 or shown[kind, v] < most:
            shown[kind, v] += sign
        if sign < 0 and shown[kind, v] == 0:
            degree[kind] -= 1


@compiled
def impose(
    view: KnowledgeArrays,
    values: Integers,
    frees: Integers,
    count: int,
    origin: Integers,
    scratch: Scratch,
    tuple_: int,
    new: int,
    state: NDArray[np.uint64],
) -> None:
    """Give a tuple another value in a copy of the witness that it disturbs least, put behind the others."""
    # Written behind the last witness, in room that exists: nothing is allocated, and a failed repair is
    # forgotten by not raising the count. The copy must be whole before the move, which reads and writes it.
    best, base, ties = 1 << 30, 0, 0
    for witness in range(count):
        growth = price(view, frees[witness], scratch.weight, tuple_, values[witness, tuple_], new)
        if growth < best:
            best, ties = growth, 0
        if growth == best:
            ties += 1
            if draw(state, ties) == 0:
                base = witness
    values[count] = values[base]
    frees[count] = frees[base]
    origin[count] = origin[base]
    move(view, values[count], frees[count], tuple_, new)


@compiled
def seek(
    view: KnowledgeArrays,
    values: Integers,
    frees: Integers,
    count: int,
    origin: Integers,
    floors: Integers,
    spare: int,
    scratch: Scratch,
    wanted: Integers,
    shown: NDArray[np.signedinteger],
    degree: Integers,
    k: int,
    steps: int,
    state: NDArray[np.uint64],
) -> int:
    """Make witnesses that show more values for the wanted tuples, until each has k or all were tried.

    `values` and `frees` have room for more witnesses than the `count` that they hold. Each witness has an
    `origin`, which is the row of the floors that it must meet; a new one has that of the one it was made of.
    Returns the new count.
    """
    for tuple_ in wanted:
        kind = view.kind[tuple_]
        width = view.allowed.shape[1]
        offset = draw(state, width)
        for turn in range(width):
            new = (turn + offset) % width
            if degree[kind] >= k:
                break
            if not view.allowed[tuple_, new] or shown[kind, new] > 0:
                continue
            if count == len(values):
                return count
            impose(view, values, frees, count, origin, scratch, tuple_, new, state)
            value, free, floor = values[count], frees[count], floors[origin[count]]
            bad = gather(view, value, free, tuple_, scratch, 0)
            if repair(
                view, value, free, floor, spare, scratch, bad, tuple_, -1, shown, degree, k, steps, state
            ):
                show(view, values[count], shown, degree, 1)
                count += 1
    return count
