"""The exact question: is there a distribution that gives one of some kinds one of some values?

Two forms are equivalent. One has a 0/1 variable for each tuple and value (`ilp`). This one counts: how many
tuples of a kind have a value. Tuples of one kind are interchangeable, so the counts can be dealt to them in
any way. Only the connected component of the question is looked at, since results that share no tuple,
directly or through others, do not constrain each other.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.knowledge import Booleans, Integers, Knowledge, View
from tarnkappe.native import compiled


@dataclasses.dataclass(frozen=True)
class Row:
    """The counts of some pairs add up to a number, or to at most that number.

    A row with a label belongs to the result that is still open: artificial values of that label raise its
    limit.
    """

    pairs: list[int]
    limit: int
    exact: bool
    label: int | None = None


@dataclasses.dataclass(frozen=True)
class Problem:
    """Counting variables (one for each kind and value that it may have) and their constraints.

    Attributes:
        kinds: the kind of each pair.
        values: the value of each pair.
        most: the largest possible count of each pair.
        rows: the constraints; the first ones say how many tuples each kind has.
        component: which tuples the problem is about.
    """

    kinds: list[int]
    values: list[int]
    most: list[int]
    rows: list[Row]
    component: Booleans

    def pairs_of(self, wanted: Booleans) -> list[int]:
        """The pairs that are marked in a matrix of kinds and values."""
        return [
            p
            for p, (kind, value) in enumerate(zip(self.kinds, self.values, strict=True))
            if wanted[kind, value]
        ]

    def deal(self, counts: list[int], knowledge: Knowledge, elsewhere: Integers) -> Integers:
        """A distribution with these counts, and with the given values outside the component."""
        view = knowledge.view
        distribution = elsewhere.copy()
        inside = np.flatnonzero(self.component)
        order = inside[np.argsort(view.kind[inside], kind="stable")]
        pairs = np.lexsort((self.values, self.kinds))
        dealt = np.repeat(np.asarray(self.values)[pairs], np.asarray(counts)[pairs])
        distribution[order] = dealt
        return distribution


def problem(knowledge: Knowledge, tuple_: int, real: Integers | None = None) -> Problem:
    """The exact problem of the component of a tuple.

    If the real counts of the newest result are given, that result is open: how often a value is published
    there is not taken from the knowledge, but is the real count and as many artificial values as the
    question allows.
    """
    view = knowledge.view
    tuples, results = component(view, tuple_)
    inside = np.flatnonzero(tuples)
    kinds, representatives, sizes = np.unique(view.kind[inside], return_index=True, return_counts=True)
    allowed = view.allowed[inside[representatives]]
    owner, values = np.nonzero(allowed)
    index = np.full(allowed.shape, -1, dtype=np.int64)
    index[owner, values] = np.arange(len(owner))
    local = np.full(knowledge.kinds, -1, dtype=np.int64)
    local[kinds] = np.arange(len(kinds))
    most = sizes[owner].astype(np.int64)
    rows = [Row(index[kind, allowed[kind]].tolist(), int(size), True) for kind, size in enumerate(sizes)]
    for result in np.flatnonzero(results).tolist():
        members = local[np.unique(view.kind[knowledge.members(result)])]
        counts = knowledge.counts(result)
        exact = int(counts.sum()) == len(knowledge.members(result))
        is_open = real is not None and result == knowledge.results - 1
        for value in np.flatnonzero(counts).tolist():
            pairs = index[members, value]
            pairs = pairs[pairs >= 0]
            if is_open and real is not None:
                rows.append(Row(pairs.tolist(), int(real[value]), False, value))
                continue
            np.minimum.at(most, pairs, counts[value])
            if exact or sizes[owner[pairs]].sum() > counts[value]:
                rows.append(Row(pairs.tolist(), int(counts[value]), exact))
    return Problem(kinds[owner].tolist(), values.tolist(), most.tolist(), rows, tuples)


@compiled
def component(view: View, tuple_: int) -> tuple[Booleans, NDArray[np.bool_]]:
    """Which tuples and results are connected with a tuple."""
    tuples = np.zeros(len(view.newest), dtype=np.bool_)
    results = np.zeros(len(view.cell), dtype=np.bool_)
    waiting = np.empty(len(view.newest), dtype=np.int32)
    waiting[0], count = tuple_, 1
    tuples[tuple_] = True
    while count > 0:
        count -= 1
        membership = view.newest[waiting[count]]
        while membership >= 0:
            result = view.result[membership]
            if not results[result]:
                results[result] = True
                for other in range(view.first[result], view.first[result + 1]):
                    if not tuples[view.member[other]]:
                        tuples[view.member[other]] = True
                        waiting[count] = view.member[other]
                        count += 1
            membership = view.earlier[membership]
    return tuples, results
