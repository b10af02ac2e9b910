"""Random labels for the worlds of a public pool: of who is new, changed, or was there when a list was read.

Labels of one class count as one (`alike` in a policy); mostly each label is a class of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tarnkappe.errors import GuaranteeError
from tarnkappe.gate.knowledge import Integers

TRIES = 20
"""How many orders of the labels are tried before it is said that none does."""


def dealt(chance: np.random.Generator, classes: Integers, people: int, worlds: int) -> Integers:
    """Labels for new people, a row for each world: the first worlds give nobody the same class twice."""
    ring = chance.permutation(np.unique(classes))
    steps = np.array([step for step in range(1, len(ring) + 1) if math.gcd(step, len(ring)) == 1])
    start = chance.integers(len(ring), size=people)
    step = chance.choice(steps, size=people)
    chosen = ring[(start[None, :] + np.arange(worlds)[:, None] * step[None, :]) % len(ring)]
    return _labels(chance, classes, chosen)


def gone_round(chance: np.random.Generator, classes: Integers, labels: Integers) -> Integers:
    """Other labels for somebody in all worlds: no two that differed become equal, and none stays."""
    ring = chance.permutation(np.unique(classes))
    if len(ring) == 1:
        return ((labels + 1) % len(classes)).astype(np.int32)
    follows = np.zeros(int(classes.max()) + 1, dtype=np.int32)
    follows[ring] = np.roll(ring, -1)
    return _labels(chance, classes, follows[classes[labels]])


def _labels(chance: np.random.Generator, classes: Integers, chosen: Integers) -> Integers:
    """A label of each of some classes."""
    label_of = np.zeros(int(classes.max()) + 1, dtype=np.int32)
    label_of[classes] = np.arange(len(classes), dtype=np.int32)
    if np.array_equal(label_of[classes], np.arange(len(classes))):  # each class has one label: no choice
        return np.asarray(label_of[chosen], dtype=np.int32)
    labels = np.zeros(chosen.shape, dtype=np.int32)
    for one in np.unique(chosen).tolist():
        mine = chosen == one
        labels[mine] = chance.choice(np.flatnonzero(classes == one), size=int(mine.sum()))
    return labels


def founded(
    chance: np.random.Generator,
    classes: Integers,
    floors: Integers,
    founders: int,
    k: int,
    rows: int,
    fixed: Mapping[int, int],
) -> Integers:
    """Labels for all founders in each row, such that every row meets the floors, and the first k rows, and
    every next k, give everybody different labels.

    Args:
        chance: coins.
        classes: of the labels.
        floors: how many founders have each label, at least.
        founders: how many there are.
        k: how many labels everybody must have.
        rows: how many rows there are.
        fixed: the labels of founders whose values are known.
    """
    reserve = np.zeros((rows, founders), dtype=np.int32)
    if not founders:
        return reserve
    places = np.array([place for place in range(founders) if place not in fixed], dtype=np.int64)
    left = floors.copy()
    for place, value in fixed.items():
        reserve[:, place] = value
        left[value] = max(0, left[value] - 1)
    for first in range(0, rows, k):
        group = _group(chance, classes, left, len(places), k, min(k, rows - first))
        reserve[first : first + k, places] = group
    return reserve


def _group(
    chance: np.random.Generator, classes: Integers, floors: Integers, people: int, k: int, rows: int
) -> Integers:
    """Everybody has a place on a ring of labels, and goes on by one from row to row. So each place must have
    as many people as the labels need that come to it.
    """
    for labels in (np.arange(len(floors)), np.flatnonzero(floors)):
        for _ in range(TRIES):
            ring = chance.permutation(labels)
            if len(ring) < k:
                break
            sizes = np.max([np.roll(floors[ring], -row) for row in range(k)], axis=0)
            spare = people - int(sizes.sum())
            windows = [len(set(np.roll(classes[ring], -at)[:k].tolist())) for at in range(len(ring))]
            if spare < 0 or min(windows) < k:
                continue
            sizes = sizes + chance.multinomial(spare, np.full(len(ring), 1 / len(ring)))
            place = chance.permutation(np.repeat(np.arange(len(ring)), sizes))
            return np.array([ring[(place + row) % len(ring)] for row in range(rows)], dtype=np.int32)
    raise GuaranteeError(
        "gate.floors-leave-nobody-values",
        "the floors leave nobody {k} values: {people:,} people for a list that tells of {sum:,}; take fewer"
        " values, fewer holders or a public list",
        k=k,
        people=people,
        sum=int(floors.sum()),
    )
