"""The search for possible worlds that fit a new result, from those that fit all before it.

It sees what was published and what is going to be, worlds and coins; nothing here knows a true value. So
what is found may be told to anybody, and it may end at any time.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.carrying import carry_some
from tarnkappe.gate.exact_test import ContradictionError, any_distribution, settle
from tarnkappe.gate.knowledge import Booleans, Integers, Knowledge, KnowledgeArrays
from tarnkappe.gate.local_moves import draw
from tarnkappe.gate.local_search import Scratch
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.seeking import seek, show
from tarnkappe.native import compiled

CHUNK = 8
"""For how many people labels are sought before those of one kind exchange theirs again."""


@dataclasses.dataclass(frozen=True)
class SearchEffort:
    """How hard to try.

    Attributes:
        steps: how long the local search tries to mend one world.
        work: how many steps all searches for one answer take, about.
        until: when it ends, by `time.monotonic`; None for never.
    """

    steps: int
    work: int
    until: float | None = None


@dataclasses.dataclass(frozen=True)
class FreeCells:
    """What worlds leave of the cells of the first results, so that these are not counted for every question.

    A result that was published does not change, nor does a world: what was counted once stays true.

    Attributes:
        free: for each world, what is left of each cell.
        results: for each world, how many results were counted; what it says of others means nothing.
    """

    free: Integers
    results: Integers

    @classmethod
    def none(cls, worlds: int) -> FreeCells:
        """Nothing was counted."""
        return cls(np.zeros((worlds, 0), dtype=np.int32), np.zeros(worlds, dtype=np.int32))

    @classmethod
    def chosen(cls, parts: list[FreeCells], numbers: NDArray[np.int64]) -> FreeCells:
        """Those of some worlds, whose numbers go through all parts."""
        rows = [row for part in parts for row in part.free]
        width = max(part.free.shape[1] for part in parts)
        free = np.empty((len(numbers), width), dtype=np.int32)
        for place, number in enumerate(numbers.tolist()):
            free[place, : len(rows[number])] = rows[number]
        return cls(free, np.concatenate([part.results for part in parts])[numbers])


class WorldSearch:
    """The search for one answer, which is the newest result of the knowledge.

    Args:
        knowledge: what every world must fit.
        base: worlds that fit all but the newest result.
        base_origin: the rows of the floors that they meet.
        base_free: what they leave of cells, as far as it was counted.
        floors: how many founders must have each label in a world, by row; no columns if nothing binds.
        anybody: tuples that no result had before, who may have anything.
        goal: how many labels everybody should have.
        effort: how hard to try.
        state: of the random numbers.

    Attributes:
        found: worlds that fit, and `parent` the rows of the base from which they were made; -1 if of none.
        origin: their rows of the floors.
        free: what they leave of cells, without those of the newest result.
        near: worlds that fit all but the newest result, and nearly fit that; `near_parent` likewise.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        base: Integers,
        base_origin: Integers,
        base_free: FreeCells,
        floors: Integers,
        anybody: list[int],
        goal: int,
        effort: SearchEffort,
        state: NDArray[np.uint64],
    ) -> None:
        self.knowledge, self._base, self._base_origin = knowledge, base, base_origin
        self._base_free = base_free
        self._floors, self._anybody, self._goal = floors, anybody, goal
        self._effort, self._state = effort, state
        self._view = knowledge.view
        # each tuple by itself: the pool must show k labels for everybody, not for every kind
        self._single = self._view._replace(kind=np.arange(knowledge.tuples, dtype=np.int32))
        self.found = self.near = base[:0]
        self.origin = base_origin[:0]
        self.parent = self.near_parent = np.zeros(0, dtype=np.int32)
        self.free = FreeCells.none(0)

    def carry(self) -> None:
        """Carry the worlds over, and seek labels for who then lacks some."""
        knowledge, single = self.knowledge, self._single
        newest = knowledge.results - 1
        room = 2 * len(self._base) + 4 * self._goal + CHUNK * knowledge.values
        values, frees, parent, shown, degree = self._arrays(room, len(single.capacity))
        floors = self._floors[
            self._base_origin
        ]  # by parent: a world keeps the floors of the one it came from
        scratch, state = Scratch.of(single), self._state
        state[1] = 0
        known = self._base_free
        cells = np.searchsorted(single.holder, known.results)  # how many the results have that were counted
        near = np.zeros(len(self._base), dtype=np.bool_)
        nearly = np.empty_like(self._base)
        number = count = 0
        while number < len(self._base) and not (number and self._is_late):
            number, count = carry_some(
                single,
                self._base,
                number,
                np.array(self._anybody, dtype=np.int32),
                floors,
                known.free,
                known.results,
                cells,
                values,
                frees,
                count,
                parent,
                near,
                nearly,
                scratch,
                shown,
                degree,
                self._goal,
                self._effort.steps,
                self._effort.work,
                state,
            )
        tried = np.zeros(knowledge.tuples, dtype=np.bool_)
        kinds = by_kind(self._view.kind)
        while count and not self._is_late:
            count = exchange(
                self._view, *kinds, values, frees, count, parent, shown, degree, self._goal, state
            )
            wanted = np.flatnonzero(self._lacking(degree) & ~tried)[:CHUNK].astype(np.int32)
            if count > room - CHUNK * knowledge.values or not len(wanted):
                break
            tried[wanted] = True
            for one in range(len(wanted)):
                if self._is_over:
                    break
                count = seek(
                    single,
                    values,
                    frees,
                    count,
                    parent,
                    floors,
                    0,
                    scratch,
                    wanted[one : one + 1],
                    shown,
                    degree,
                    self._goal,
                    self._effort.steps,
                    state,
                )
        self.found, self.parent = values[:count].copy(), parent[:count].copy()
        self.origin = self._base_origin[self.parent]
        earlier = np.searchsorted(single.holder, newest)
        self.free = FreeCells(frees[:count, :earlier], np.full(count, newest, dtype=np.int32))
        self.near, self.near_parent = nearly[near], np.flatnonzero(near).astype(np.int32)

    def solve(self) -> None:
        """Ask the exact solver for worlds where local search found none."""
        knowledge, view = self.knowledge, self._view
        pool = Pool(knowledge, seed=int(draw(self._state, 2**31)))
        for world in self.found:
            pool.add(world)
        if not pool.count:
            try:
                pool.add(any_distribution(knowledge))
            except ContradictionError:
                return
        # from which labels surplus is drawn must be the same after a restart: proofs are not kept
        settle(pool, self._goal, keeps_proofs=False)
        width = self._floors.shape[1]
        held = counted_rows(np.where(view.founder, pool.values, -1), knowledge.values)[:, :width]
        rows = [np.flatnonzero((held[place] >= self._floors).all(axis=1)) for place in range(pool.count)]
        meet = [place for place, mine in enumerate(rows) if len(mine)]
        values, frees, origin, shown, degree = self._arrays(len(meet) + 4 * self._goal, 0)
        for place, number in enumerate(meet):
            values[place], origin[place] = pool.values[number], rows[number][place % len(rows[number])]
            show(self._single, values[place], shown, degree, 1)
        count = exchange(
            view,
            *by_kind(view.kind),
            values,
            frees,
            len(meet),
            origin,
            shown,
            degree,
            self._goal,
            self._state,
        )
        self.found, self.origin = values[:count].copy(), origin[:count].copy()
        self.parent = np.full(count, -1, dtype=np.int32)
        self.free = FreeCells.none(count)

    def _arrays(
        self, room: int, cells: int
    ) -> tuple[Integers, Integers, Integers, NDArray[np.int8], Integers]:
        tuples, values = self.knowledge.tuples, self.knowledge.values
        return (
            np.empty((room, tuples), dtype=np.int32),
            np.empty((room, cells), dtype=np.int32),
            np.zeros(room, dtype=np.int32),
            np.zeros((tuples, values), dtype=np.int8),
            np.zeros(tuples, dtype=np.int32),
        )

    def _lacking(self, degree: Integers) -> Booleans:
        lacking = degree < self._goal
        lacking[list(self.knowledge.known)] = False
        return lacking

    @property
    def _is_over(self) -> bool:
        """Whether the time is up, by the clock."""
        return self._effort.until is not None and time.monotonic() > self._effort.until

    @property
    def _is_late(self) -> bool:
        return self._is_over or int(self._state[1]) > self._effort.work


def counted_rows(rows: Integers, values: int) -> Integers:
    """How often each row has each value; negative ones are left out."""
    counts = np.zeros((len(rows), values), dtype=np.int32)
    for number, row in enumerate(rows):
        counts[number] = np.bincount(row[row >= 0], minlength=values)
    return counts


def could_have(knowledge: Knowledge, members: Integers) -> list[int]:
    """The labels that the history leaves to some tuples at a glance; all, if one of them is new."""
    if (members >= knowledge.tuples).any():
        return list(range(knowledge.values))
    left: list[int] = np.flatnonzero(knowledge.view.allowed[members].any(axis=0)).tolist()
    return left


@compiled
def by_kind(kind: Integers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tuples in the order of their kinds, and where each kind begins."""
    # Once for a search, whose kinds do not change; sorting took longer than the exchanges. Which of equals is
    # first decides who exchanges with whom, so the order must be the same for the same kinds.
    order = np.argsort(kind)
    first = np.zeros(len(order) + 1, dtype=np.int64)
    for tuple_ in range(len(order)):
        first[kind[tuple_] + 1] += 1
    for one in range(len(order)):
        first[one + 1] += first[one]
    return order, first


@compiled
def exchange(
    view: KnowledgeArrays,
    order: NDArray[np.int64],
    first: NDArray[np.int64],
    values: Integers,
    frees: Integers,
    count: int,
    origin: Integers,
    shown: NDArray[np.int8],
    degree: Integers,
    goal: int,
    state: NDArray[np.uint64],
) -> int:
    """Make worlds in which people of one kind have exchanged their labels, as long as this shows more.

    `order` and `first` are from `by_kind`, `shown` and `degree` of each tuple. Returns how many worlds there
    are now.
    """
    # People of one kind are interchangeable in every result, so no cell changes and `frees` is copied
    # unchanged. Nobody is touched twice in a world, or an exchange could be undone by the next one; so who is
    # not touched has the label of the base, and a world is copied only when it gains. It ends after as many
    # tries in vain as there are worlds, or when there is no more room.
    touched = np.zeros(len(order), dtype=np.bool_)
    lacking = np.flatnonzero(degree < goal)
    failed = 0
    while count > 0 and failed < count and count < len(values):
        base = draw(state, count)
        before, value = values[base], values[count]
        gained = False
        for tuple_ in lacking:
            if touched[tuple_]:
                continue
            begin, end = first[view.kind[tuple_]], first[view.kind[tuple_] + 1]
            offset = draw(state, end - begin)
            for turn in range(end - begin):
                other = order[begin + (turn + offset) % (end - begin)]
                if not touched[other] and other != tuple_ and shown[tuple_, before[other]] == 0:
                    if not gained:
                        value[:] = before
                    value[tuple_], value[other] = before[other], before[tuple_]
                    touched[tuple_] = touched[other] = True
                    gained = True
                    break
        if not gained:
            failed += 1
            continue
        failed = 0
        frees[count] = frees[base]
        origin[count] = origin[base]
        touched[:] = False
        for person in range(len(value)):
            if shown[person, value[person]] == 0:
                degree[person] += 1
                shown[person, value[person]] = 1
        lacking = np.flatnonzero(degree < goal)
        count += 1
    return count
