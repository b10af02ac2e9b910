"""Kernels that make and mend witnesses.

A *witness* is one complete distribution: a value for every tuple, such that no cell is used more often than
its capacity. `free` holds what is left of every cell; the witness is valid if no entry is negative. A move
gives one tuple another value that it may have, and shifts one unit in each of its results. A new demand is
imposed by a move; the cells that overflow are then relieved one after the other, like a chain of ejections,
until none is left.

Where labels have floors (see `knowledge`), `used` counts the founders who have each label, and what they lack
of their floors, beyond those whom others can make up for (`spare`), counts like an overflow: the search may
pass through it, and it must be gone in the end.

Nothing here can make an unsound witness: a kernel that reports success has seen that no cell overflows and
that every value is allowed. Failing only means that another way must be tried.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.knowledge import Integers, KnowledgeArrays
from tarnkappe.gate.local_moves import draw, move, options_of, prices
from tarnkappe.native import compiled

TENURE = 3
"""For how many steps, plus a random few, a tuple does not go back to the value it has left."""
NOISE = 64
"""One step in so many is random, to leave circles that nothing else prevents."""


class Scratch(NamedTuple):
    """Notes of a repair, which leaves them as it found them: what it costs depends on what it touches.

    Attributes:
        bad: the cells that overflow, in any order.
        position: where a cell is among them, or -1.
        weight: how heavy a cell is; 1 before and after.
        heavy: the cells that are heavier than that.
        left: the value that a tuple has left last, or -1.
        until: up to which step it does not go back.
        moved: the tuples that have left a value.
    """

    bad: Integers
    position: Integers
    weight: Integers
    heavy: Integers
    left: Integers
    until: Integers
    moved: Integers

    @classmethod
    def of(cls, view: KnowledgeArrays) -> Scratch:
        """Notes for a history."""
        cells, tuples = len(view.capacity), len(view.newest)
        return cls(
            np.empty(cells, dtype=np.int32),
            np.full(cells, -1, dtype=np.int32),
            np.ones(cells, dtype=np.int32),
            np.empty(cells, dtype=np.int32),
            np.full(tuples, -1, dtype=np.int32),
            np.zeros(tuples, dtype=np.int32),
            np.empty(tuples, dtype=np.int32),
        )


@compiled
def overflow(view: KnowledgeArrays, free: Integers, bad: Integers, count: int, soft: int) -> int:
    """By how much the cells of the soft result overflow; -1 if another cell does."""
    # Only the overflowing cells are looked at, which are few. A cell outside the soft result makes it -1 at
    # once: such a state counts as no solution, however little overflows.
    total = 0
    for place in range(count):
        if view.holder[bad[place]] != soft:
            return -1
        total -= free[bad[place]]
    return total


@compiled
def holders(view: KnowledgeArrays, value: Integers, width: int) -> Integers:
    """How many founders have each label; nothing is counted if the width is 0."""
    # One pass over all tuples, made once for each repair, which then counts along with its moves. A width of
    # 0 says that no label has a floor: the array is empty and nobody may ask it.
    used = np.zeros(width, dtype=np.int32)
    if width > 0:
        for tuple_ in range(len(value)):
            if view.founder[tuple_] and value[tuple_] >= 0:
                used[value[tuple_]] += 1
    return used


@compiled
def lacking_holders(floor: Integers, used: Integers) -> int:
    """How many more founders the floors need."""
    # Surplus of one label makes up for no other, so every label is cut off at 0 by itself. Labels in time,
    # which are few; counted anew after a move, since that cannot go wrong.
    total = 0
    for label in range(len(floor)):
        total += max(0, floor[label] - used[label])
    return total


@compiled
def gather(
    view: KnowledgeArrays, value: Integers, free: Integers, tuple_: int, scratch: Scratch, count: int
) -> int:
    """Note the cells that overflow among those that a tuple is in; returns how many are noted now."""
    # `position` says whether a cell is noted already, so each is noted once however many tuples share it:
    # `bad` needs no more room than there are cells. Only cells of the tuple's value can have overflowed by
    # its move.
    membership = view.newest[tuple_]
    while membership >= 0:
        cell = view.cell[view.result[membership], value[tuple_]]
        if free[cell] < 0 and scratch.position[cell] < 0:
            scratch.position[cell] = count
            scratch.bad[count] = cell
            count += 1
        membership = view.earlier[membership]
    return count


@compiled
def repair(
    view: KnowledgeArrays,
    value: Integers,
    free: Integers,
    floor: Integers,
    spare: int,
    scratch: Scratch,
    count: int,
    pinned: int,
    soft: int,
    shown: NDArray[np.signedinteger],
    degree: Integers,
    k: int,
    steps: int,
    state: NDArray[np.uint64],
) -> bool:
    """Relieve all overflowing cells without moving the pinned tuple; True if none is left.

    The scratch has the overflowing cells, and is empty in the end. Whenever no move makes the overflow
    smaller, all overflowing cells get heavier, so that those which are hard to relieve decide more and more
    (breakout). Of equally good moves those are preferred that show a value for a tuple that still lacks some
    (fewer than k).

    One result may be soft (-1: none is). If it alone overflows at the beginning, the values are in the end
    those with which it alone overflows and does so least; `free` is then of no use.
    """
    used = holders(view, value, len(floor))
    lack = lacking_holders(floor, used)
    if count == 0 and lack <= spare:
        return True
    bad, position, weight, left, until = (
        scratch.bad,
        scratch.position,
        scratch.weight,
        scratch.left,
        scratch.until,
    )
    heavy = moved = 0
    pressure = 1
    options = np.empty(view.allowed.shape[1], dtype=np.int32)
    growth = np.empty(view.allowed.shape[1], dtype=np.int64)
    least = overflow(view, free, bad, count, soft) if soft >= 0 and lack <= spare else -1
    best_values = value.copy() if soft >= 0 else value[:0].copy()
    for step in range(steps):
        state[1] += np.uint64(1)
        best, best_tuple, best_value, ties = np.int64(1 << 40), -1, -1, 0
        random_move = draw(state, NOISE) == 0
        begin, end, v, wanted = 0, len(value), -1, -1
        if count == 0 or (lack > spare and draw(state, 2) == 0):  # a label lacks holders: give it one
            for label in range(len(floor)):
                if used[label] < floor[label]:
                    ties += 1
                    if draw(state, ties) == 0:
                        wanted = label
            ties = 0
        else:
            cell = bad[draw(state, count)]
            result, v = view.holder[cell], view.label[cell]
            begin, end = view.first[result], view.first[result + 1]
        for place in range(begin, end):
            tuple_ = place if wanted >= 0 else view.member[place]
            if tuple_ == pinned or (wanted < 0 and value[tuple_] != v):
                continue
            if wanted >= 0:
                v = value[tuple_]
                if not view.founder[tuple_] or used[v] <= floor[v]:
                    continue
            lacking = degree[view.kind[tuple_]] < k
            number = options_of(view, tuple_, v, wanted, options)
            if not random_move:
                prices(view, free, weight, tuple_, v, options, number, growth)
            for option in range(number):
                new = options[option]
                if random_move:
                    score = np.int64(0)
                else:
                    score = 2 * growth[option]
                    if len(floor) > 0 and view.founder[tuple_]:
                        after = lack + (used[v] <= floor[v]) - (used[new] < floor[new])
                        score += 2 * pressure * (max(0, after - spare) - max(0, lack - spare))
                    if lacking and shown[view.kind[tuple_], new] == 0:
                        score -= 1
                    if left[tuple_] == new and until[tuple_] > step:
                        score += 1 << 30
                if score > best:
                    continue
                if score < best:
                    best, ties = score, 0
                ties += 1
                if draw(state, ties) == 0:
                    best_tuple, best_value = tuple_, new
        if best_tuple < 0:
            break
        v = value[best_tuple]
        if best >= 0 and not random_move:
            pressure += 1 if lack > spare else 0
            for place in range(count):
                if weight[bad[place]] == 1:
                    scratch.heavy[heavy] = bad[place]
                    heavy += 1
                weight[bad[place]] += 1
        if left[best_tuple] < 0:
            scratch.moved[moved] = best_tuple
            moved += 1
        left[best_tuple] = v
        until[best_tuple] = step + TENURE + draw(state, TENURE)
        move(view, value, free, best_tuple, best_value)
        if len(floor) > 0 and view.founder[best_tuple]:
            used[v] -= 1
            used[best_value] += 1
            lack = lacking_holders(floor, used)
        membership = view.newest[best_tuple]
        while membership >= 0:
            row = view.cell[view.result[membership]]
            touched = row[best_value]
            if free[touched] < 0 and position[touched] < 0:
                position[touched] = count
                bad[count] = touched
                count += 1
            touched = row[v]
            if free[touched] >= 0 and position[touched] >= 0:
                count -= 1
                last = bad[count]
                bad[position[touched]] = last
                position[last] = position[touched]
                position[touched] = -1
            membership = view.earlier[membership]
        if count == 0 and lack <= spare:
            break
        if soft >= 0 and lack <= spare:
            now = overflow(view, free, bad, count, soft)
            if 0 <= now < least:
                least = now
                best_values[:] = value
                if least == 1:
                    break
    done = count == 0 and lack <= spare
    if not done and least >= 0:
        value[:] = best_values
    for place in range(count):
        position[bad[place]] = -1
    for place in range(heavy):
        weight[scratch.heavy[place]] = 1
    for place in range(moved):
        left[scratch.moved[place]] = -1
    return done


@compiled
def enter(
    view: KnowledgeArrays,
    value: Integers,
    free: Integers,
    floor: Integers,
    spare: int,
    scratch: Scratch,
    pinned: int,
    soft: int,
    shown: NDArray[np.signedinteger],
    degree: Integers,
    k: int,
    steps: int,
    state: NDArray[np.uint64],
) -> bool:
    """Carry a witness over into the newest result; tuples that are new there have the value -1 before.

    `free` already has the cells of the newest result, all empty. See `repair` for what is pinned and soft.
    """
    # Three steps in this order: count who keeps his value, move who may not keep it, then seat the new ones
    # in cells with room. A new one moved before all are counted would see room that is taken. What overflows
    # is left to `repair`. Ties are drawn by one pass (the i-th of equals replaces with probability 1 / i).
    newest = len(view.cell) - 1
    row = view.cell[newest]
    first, last = view.first[newest], view.first[newest + 1]
    for membership in range(first, last):
        tuple_ = view.member[membership]
        if value[tuple_] >= 0 and row[value[tuple_]] >= 0:
            free[row[value[tuple_]]] -= 1
    options = np.empty(len(row), dtype=np.int32)
    growth = np.empty(len(row), dtype=np.int64)
    for membership in range(first, last):
        tuple_ = view.member[membership]
        old = value[tuple_]
        if old < 0 or view.allowed[tuple_, old]:
            continue
        best, best_value, ties = np.int64(1 << 30), -1, 0
        number = options_of(view, tuple_, -1, -1, options)
        prices(view, free, scratch.weight, tuple_, -1, options, number, growth)
        for option in range(number):
            if growth[option] < best:
                best, ties = growth[option], 0
            if growth[option] == best:
                ties += 1
                if draw(state, ties) == 0:
                    best_value = options[option]
        if best_value < 0:
            return False
        move(view, value, free, tuple_, best_value)
    taken = np.zeros(len(row), dtype=np.bool_)
    for membership in range(first, last):
        tuple_ = view.member[membership]
        if value[tuple_] >= 0:
            continue
        best_score, best_value, ties = -1, -1, 0
        for new in range(len(row)):
            if view.allowed[tuple_, new] and free[row[new]] > 0:
                score = (2 if shown[view.kind[tuple_], new] == 0 else 0) + (0 if taken[new] else 1)
                if score > best_score:
                    best_score, ties = score, 0
                if score == best_score:
                    ties += 1
                    if draw(state, ties) == 0:
                        best_value = new
        if best_value < 0:
            return False
        taken[best_value] = True
        move(view, value, free, tuple_, best_value)
    count = 0
    for membership in range(first, last):
        count = gather(view, value, free, view.member[membership], scratch, count)
    return repair(
        view, value, free, floor, spare, scratch, count, pinned, soft, shown, degree, k, steps, state
    )
