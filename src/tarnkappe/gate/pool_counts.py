"""Kernels that count what the worlds of a public pool show, and check what they must fit.

Each has an obvious twin in `tests/gate/test_pool_counts.py`.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.knowledge import Booleans, Integers, KnowledgeArrays
from tarnkappe.native import compiled


@compiled
def is_contradicted(
    view: KnowledgeArrays, worlds: Integers, parents: Integers, before: Integers, checked: int
) -> bool:
    """Whether one of the worlds contradicts a result.

    Args:
        view: the results.
        worlds: a label for everybody, row by row.
        parents: for each world, a row of `before` from which it was made; -1 if it is not known.
        before: worlds of which it was checked that they fit the first results.
        checked: how many results that are.
    """
    # A result that was checked is counted again only if somebody in it has another label than in the world
    # before: time is the people who moved, not the history. A result is counted whole, from the labels alone,
    # so that no mistake of the search can hide here. `noted` has a result once for each world.
    results = len(view.cell)
    noted_for = np.full(results, -1, dtype=np.int32)
    noted = np.empty(results, dtype=np.int32)
    used = np.zeros(view.cell.shape[1], dtype=np.int32)
    for number in range(len(worlds)):
        world, count = worlds[number], 0
        for result in range(0 if parents[number] < 0 else min(checked, results), results):
            noted_for[result], noted[count] = number, result
            count += 1
        for tuple_ in range(before.shape[1] if parents[number] >= 0 else 0):
            if world[tuple_] == before[parents[number], tuple_]:
                continue
            membership = view.newest[tuple_]
            while membership >= 0:
                result = view.result[membership]
                if noted_for[result] != number:
                    noted_for[result], noted[count] = number, result
                    count += 1
                membership = view.earlier[membership]
        for place in range(count):
            if is_overfull(view, world, noted[place], used):
                return True
    return False


@compiled
def fits_all_but(view: KnowledgeArrays, world: Integers, left_out: int) -> bool:
    """Whether a world contradicts no result but one, which is not looked at."""
    # It ends at the first contradiction, which most worlds have that could not be mended; so `used`, which a
    # contradiction leaves as it is, is made anew for every world.
    used = np.zeros(view.cell.shape[1], dtype=np.int32)
    for result in range(len(view.cell)):
        if result != left_out and is_overfull(view, world, result, used):
            return False
    return True


@compiled
def is_overfull(view: KnowledgeArrays, world: Integers, result: int, used: Integers) -> bool:
    """Whether a world gives a label more often in a result than it was published there."""
    # `used` is all zeros before, and after if nothing is wrong; else nobody needs it any more. A label that
    # is none must be noticed before it is used as an index.
    for membership in range(view.first[result], view.first[result + 1]):
        label = world[view.member[membership]]
        if label < 0 or label >= len(used) or view.cell[result, label] < 0:
            return True
        used[label] += 1
        if used[label] > view.capacity[view.cell[result, label]]:
            return True
    for membership in range(view.first[result], view.first[result + 1]):
        used[world[view.member[membership]]] = 0
    return False


@compiled
def mark_shown(worlds: Integers, chosen: Booleans, classes: Integers, shown: Booleans) -> None:
    """Mark which classes the chosen worlds show for everybody."""
    # Nothing is ever unmarked, so worlds may come in any order and in several calls. Some people at a time:
    # their rows of `shown` stay near the processor while all worlds pass, which is most of the speed.
    for begin in range(0, worlds.shape[1], 256):
        end = min(begin + 256, worlds.shape[1])
        for world in range(len(worlds)):
            if chosen[world]:
                for person in range(begin, end):
                    shown[person, classes[worlds[world, person]]] = True


@compiled
def marked(shown: Booleans) -> Integers:
    """How many classes are marked for everybody."""
    # One pass over the marks in the order of memory. It counts anew: a count that is kept beside the marks
    # could differ from them.
    degree = np.zeros(len(shown), dtype=np.int32)
    for person in range(len(shown)):
        for mark in shown[person]:
            degree[person] += mark
    return degree


@compiled
def drop_needless(
    worlds: Integers,
    classes: Integers,
    width: int,
    order: NDArray[np.int64],
    protected: Booleans,
    k: int,
    least: int,
) -> tuple[Booleans, Integers]:
    """Which worlds are kept if those without which everybody protected has k classes go, in this order, until
    so few are left; and how many classes everybody has then.
    """
    # `often` is counted once and follows every world that goes. Whether one may go is decided before anything
    # changes, and mostly by the first person who needs it: the pass ends there. A class counts for the degree
    # as long as one world shows it, so only the last one lowers it.
    people = worlds.shape[1]
    often = np.zeros((people, width), dtype=np.int32)
    for begin in range(0, people, 64):
        for world in range(len(worlds)):
            for person in range(begin, min(begin + 64, people)):
                often[person, classes[worlds[world, person]]] += 1
    degree = np.zeros(people, dtype=np.int32)
    for person in range(people):
        for one in range(width):
            degree[person] += often[person, one] > 0
    kept = np.ones(len(worlds), dtype=np.bool_)
    left = len(worlds)
    for number in order:
        if left <= least:
            break
        needed = False
        for person in range(people):
            if protected[person]:
                last = often[person, classes[worlds[number, person]]] == 1
                if degree[person] - last < k:
                    needed = True
                    break
        if needed:
            continue
        for person in range(people):
            one = classes[worlds[number, person]]
            often[person, one] -= 1
            degree[person] -= often[person, one] == 0
        kept[number] = False
        left -= 1
    return kept, degree
