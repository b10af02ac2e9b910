"""Kernels that count what the worlds of a public pool show, and check what they must fit.

Each has an obvious twin in `tests/gate/test_pool_counts.py`.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.native import compiled


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
