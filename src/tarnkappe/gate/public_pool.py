"""The public pool: possible worlds that are chosen without looking at the true one.

A *world* gives a label to everybody who was returned, in a way that nothing that is known contradicts. The
pool holds some of them, in which everybody has at least k labels. It follows from what was published and from
coins that nothing else uses: **the true table is never put into it**, and no search starts from it. So the
pool may be told to anybody (`surplus` says what this is good for), and a search may end at any time.

For a question the worlds are carried over to what is going to be published, by local search. Where that
does not leave k labels to everybody, the answer grows until worlds of the pool fit it as they are; since
all of them together give everybody k labels, this always ends.

Whoever is new gets random labels in the worlds. If labels have floors (`knowledge`), everybody who was there
when the list was made has labels from the start, so that each world meets the floors: the *reserve* has those
of founders who were never returned, in rows, and each world counts with one of the rows, its *origin*.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from tarnkappe.errors import GuaranteeError, ParameterError
from tarnkappe.gate.exact_test import ContradictionError, any_distribution, settle
from tarnkappe.gate.knowledge import Booleans, Integers, Knowledge, View
from tarnkappe.gate.local_search import Scratch, draw, enter, seek, show
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.strategy import Proposal, Strategy
from tarnkappe.native import compiled
from tarnkappe.schema import Positive, param

CHUNK = 8
"""For how many people labels are sought before the time is looked at."""


class PublicPool(Strategy):
    """Possible worlds that are chosen without looking at the true one. See the text of this module."""

    name: ClassVar[str] = "public-pool"
    completes: ClassVar[bool] = True

    steps: Annotated[
        int, param("how long the local search tries to mend one world", ge=0, le=10**9, unit="steps")
    ] = 200
    work: Annotated[
        int,
        param("how many steps all searches for one answer take, about", ge=0, le=10**12, unit="steps"),
    ] = 20_000
    seconds: Annotated[Positive | None, param("when a search ends by the clock", unit="seconds")] = None
    largest: Annotated[
        Annotated[int, Meta(ge=0, le=10**12)],
        param("for how many people in an answer a search is worth its time", unit="people"),
    ] = 10_000
    is_exact: Annotated[bool, param("whether the exact solver helps where local search finds nothing")] = (
        False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.classes: Integers | None = None
        """The class of each value, if values of one class count as one; set before it begins."""
        self.fixed: Mapping[int, int] = {}
        """Founders whose values are known, by place; set before it begins."""

    def _start(self) -> None:
        knowledge = self.knowledge
        self._chance = np.random.default_rng(self.seed)
        self._state = np.array([self.seed % 2**62 * 2 + 88172645463325253, 0], dtype=np.uint64)
        self._class: Integers = (
            np.arange(knowledge.values, dtype=np.int32) if self.classes is None else self.classes
        )
        if self._classes < self.k:
            raise GuaranteeError(f"there are {self._classes} different values: nobody can keep {self.k}")
        self.values: Integers = np.zeros((3 * self.k, 0), dtype=np.int32)
        self.origin: Integers = np.arange(3 * self.k, dtype=np.int32)
        self.reserve: Integers = self._founded(3 * self.k)
        self._waiting = np.ones(knowledge.founders, dtype=np.bool_)
        self._degrees: Integers = np.zeros(0, dtype=np.int32)
        self._forget()

    def _forget(self) -> None:
        self._found = self._base = self.values[:0]
        self._found_origin = self._base_origin = self.origin[:0]
        self._next: tuple[Integers, Integers] | None = None
        self._arrived: dict[int, int] = {}
        self._members: Integers = np.zeros(0, dtype=np.int32)

    @property
    def _classes(self) -> int:
        return len(np.unique(self._class))

    # ------------------------------------------------------------------------------------------------ events

    def note_change(self, old: int, new: int) -> None:
        """The knowledge has a new tuple, of somebody who had another value before.

        In each world the labels of all go round: no two that differed become equal, and none stays.
        """
        self._take_from_reserve(old)
        ring = self._chance.permutation(np.unique(self._class))
        if len(ring) > 1:
            follows = dict(zip(ring.tolist(), np.roll(ring, -1).tolist(), strict=True))
            classes = [follows[one] for one in self._class[self.values[:, old]].tolist()]
            column = [self._chance.choice(np.flatnonzero(self._class == one)) for one in classes]
        else:
            column = ((self.values[:, old] + 1) % self.knowledge.values).tolist()
        assert new == self.values.shape[1], "the new value has the next number"
        self._append(np.array(column, dtype=np.int32)[:, None])
        self._count_degrees()

    def note_known(self, tuple_: int, value: int) -> None:
        """The value of a tuple, which may be new, counts as known."""
        self._take_from_reserve(tuple_)
        if tuple_ == self.values.shape[1]:
            self._append(np.zeros((len(self.values), 1), dtype=np.int32))
        self.values[:, tuple_] = value
        self._count_degrees()

    def _take_from_reserve(self, tuple_: int) -> None:
        """A founder becomes a tuple with the labels that he has in the worlds."""
        if tuple_ == self.values.shape[1] and tuple_ in self.knowledge.arriving:
            place = self.knowledge.arriving[tuple_]
            self._append(self.reserve[self.origin, place][:, None])
            self._waiting[place] = False

    def _append(self, columns: Integers) -> None:
        self.values = np.hstack([self.values, columns]).astype(np.int32)

    # ------------------------------------------------------------------------------------------ the decision

    def propose(self, members: Integers, truth: Integers, may_add: bool) -> Proposal | None:
        raise ParameterError("the public pool answers by its own rule: with surplus values")

    def search(self, members: Integers, published: Integers) -> None:
        """Look for worlds that fit an answer with these values, which may be fewer than it will have.

        What is found follows from them, from what was published before and from coins. It is kept for `grow`.
        """
        knowledge = self.knowledge
        self._begin(members)
        if len(members) <= self.largest and self.steps:
            knowledge.publish(members, published)
            try:
                self._carry()
            finally:
                knowledge.retract()

    def grow(self, counts: Integers) -> Integers:
        """The values of the answer: at least these, and what it takes to leave everybody k labels."""
        candidates, origin = self._base, self._base_origin
        used = _counted(candidates[:, self._members], self.knowledge.values)
        grown = counts.copy()
        found = self._shown(self._found, self._found_origin)
        while True:
            fits = (used <= grown).all(axis=1)
            shown = self._shown(candidates[fits], origin[fits], found.copy())
            lacking = self._protected(shown.sum(axis=1) < self.k)
            if not lacking.any():
                break
            whole = self._whole(candidates, origin)[:, lacking]
            news = ~shown[lacking][np.arange(whole.shape[1])[None, :], self._class[whole]]
            helps = np.where(fits, 0, news.sum(axis=1))
            if not helps.any():
                raise GuaranteeError("the pool does not leave k values to everybody: this is a defect")
            missing = np.maximum(used - grown, 0).sum(axis=1)
            best = np.argmin(np.where(helps > 0, missing / np.maximum(helps, 1), np.inf))
            grown = np.maximum(grown, used[best])
        self._next = (
            np.vstack([self._found, candidates[fits]]),
            np.concatenate([self._found_origin, origin[fits]]),
        )
        self.knowledge.publish(self._members, grown)
        try:
            self._certify(*self._next)
        finally:
            self.knowledge.retract()
        return grown

    def accept(self) -> None:
        assert self._next is not None, "nothing was proposed"
        self._take_over(*self._next)

    def reject(self) -> None:
        self._forget()

    def degrees(self) -> Integers:
        return self._degrees

    # ------------------------------------------------------------------------------------------- an old life

    def follow(self, truth: Integers) -> None:
        knowledge = self.knowledge
        self._begin(knowledge.members(knowledge.results - 1), known=self.values.shape[1])
        self._carry(is_exact=True)
        used = _counted(self._base[:, self._members], knowledge.values)
        fits = (used <= knowledge.counts(knowledge.results - 1)).all(axis=1)
        worlds = np.vstack([self._found, self._base[fits]])
        origin = np.concatenate([self._found_origin, self._base_origin[fits]])
        self._certify(worlds, origin)
        self._take_over(worlds, origin)

    def state(self) -> dict[str, NDArray[Any]]:
        worlds, origin = (self.values, self.origin) if self._next is None else self._next
        waiting = self._waiting.copy()
        waiting[list(self._arrived.values())] = False
        return {"worlds": worlds, "origin": origin, "reserve": self.reserve, "waiting": waiting}

    def restore(self, truth: Integers, state: Mapping[str, NDArray[Any]]) -> None:
        self.values = np.asarray(state["worlds"], dtype=np.int32)
        self.origin = np.asarray(state["origin"], dtype=np.int32)
        self.reserve = np.asarray(state["reserve"], dtype=np.int32)
        self._waiting = np.asarray(state["waiting"], dtype=np.bool_)
        if self.values.shape != (len(self.origin), self.knowledge.tuples):
            raise GuaranteeError("the saved worlds do not belong to this history")
        self._forget()
        self._certify(self.values, self.origin)
        self._count_degrees()

    # --------------------------------------------------------------------------------------------- searching

    def _begin(self, members: Integers, known: int | None = None) -> None:
        """Give labels to whoever is new: founders those of the reserve, others random ones."""
        first = self.knowledge.tuples if known is None else known
        self._forget()
        self._members = members
        new = np.sort(members[members >= first])
        self._arrived = {
            number: self.knowledge.arriving[number]
            for number in new.tolist()
            if number in self.knowledge.arriving
        }
        dealt = self._dealt(len(new), len(self.values))
        for column, number in enumerate(new.tolist()):
            if number in self._arrived:
                dealt[:, column] = self.reserve[self.origin, self._arrived[number]]
        self._base = np.hstack([self.values, dealt]).astype(np.int32)
        self._base_origin = self.origin
        self._found = self._base[:0]
        self._first_new = first

    def _dealt(self, people: int, worlds: int) -> Integers:
        """Random labels for new people: no two of the first worlds give somebody the same class."""
        ring = self._chance.permutation(np.unique(self._class))
        steps = np.array([step for step in range(1, len(ring) + 1) if math.gcd(step, len(ring)) == 1])
        start = self._chance.integers(len(ring), size=people)
        step = self._chance.choice(steps, size=people)
        classes = ring[(start[None, :] + np.arange(worlds)[:, None] * step[None, :]) % len(ring)]
        if self.classes is None:
            return classes.astype(np.int32)
        labels = np.zeros_like(classes)
        for one in ring.tolist():
            mine = classes == one
            labels[mine] = self._chance.choice(np.flatnonzero(self._class == one), size=int(mine.sum()))
        return labels.astype(np.int32)

    def _carry(self, is_exact: bool = False) -> None:
        """Carry the worlds over to the newest result of the knowledge, and seek labels for who lacks some."""
        knowledge, view = self.knowledge, self.knowledge.view
        single = view._replace(kind=np.arange(knowledge.tuples, dtype=np.int32))
        newest = knowledge.results - 1
        goal = self.k if self.classes is None else knowledge.values
        floors = self._floors()
        room = 2 * len(self._base) + 4 * self.k + CHUNK * knowledge.values
        values = np.empty((room, knowledge.tuples), dtype=np.int32)
        frees = np.empty((room, len(view.capacity)), dtype=np.int32)
        origin = np.zeros(room, dtype=np.int32)
        shown = np.zeros((knowledge.tuples, knowledge.values), dtype=np.int32)
        degree = np.zeros(knowledge.tuples, dtype=np.int32)
        scratch, state = Scratch.of(single), self._state
        state[1] = 0
        until = None if self.seconds is None else time.monotonic() + self.seconds
        free_to_deal = [
            number for number in range(self._first_new, knowledge.tuples) if number not in self._arrived
        ]
        near: list[int] = []
        nearly = np.empty_like(self._base)
        count = 0
        for number, world in enumerate(self._base):
            value, free = values[count], frees[count]
            value[:] = world
            value[free_to_deal] = -1
            _free_before(single, value, free, newest)
            floor = floors[self._base_origin[number]]
            if enter(
                single, value, free, floor, 0, scratch, -1, newest, shown, degree, goal, self.steps, state
            ):
                origin[count] = self._base_origin[number]
                show(single, value, shown, degree, 1)
                count += 1
            elif value.min() >= 0 and self._fits_before(single, value, newest, floor):
                nearly[number] = value
                near.append(number)
            if self._is_late(until):
                break
        wanted = self._protected(degree < goal)
        while count and wanted.any() and not self._is_late(until):
            count = _exchange(view, values, frees, count, origin, shown, degree, goal, state)
            wanted = np.flatnonzero(self._protected(degree < goal))[:CHUNK].astype(np.int32)
            if count > room - CHUNK * knowledge.values or not len(wanted):
                break
            before = degree[wanted].copy()
            count = seek(
                single,
                values,
                frees,
                count,
                origin,
                floors,
                0,
                scratch,
                wanted,
                shown,
                degree,
                goal,
                self.steps,
                state,
            )
            if (degree[wanted] == before).all():
                break
            wanted = self._protected(degree < goal)
        self._found, self._found_origin = values[:count].copy(), origin[:count].copy()
        if (self.is_exact or is_exact) and self._lacks(self._found, self._found_origin):
            self._solve(goal, floors)
        self._base = np.vstack([self._base, nearly[near]])
        self._base_origin = np.concatenate([self._base_origin, self._base_origin[near]])

    def _is_late(self, until: float | None) -> bool:
        return int(self._state[1]) > self.work or (until is not None and time.monotonic() > until)

    def _fits_before(self, view: View, value: Integers, newest: int, floor: Integers) -> bool:
        """Whether a world contradicts nothing but the newest result."""
        cells = view.cell[view.result, value[view.member]]
        mine = view.result != newest
        if (cells[mine] < 0).any():
            return False
        over = view.capacity - np.bincount(cells[mine], minlength=len(view.capacity))
        held = np.bincount(value[view.founder], minlength=self.knowledge.values)[: len(floor)]
        return bool(over.min() >= 0) and bool((held >= floor).all())

    def _lacks(self, worlds: Integers, origin: Integers) -> bool:
        return bool(self._protected(self._shown(worlds, origin).sum(axis=1) < self.k).any())

    def _solve(self, goal: int, floors: Integers) -> None:
        """Ask the exact solver for worlds where local search found none."""
        knowledge, view = self.knowledge, self.knowledge.view
        pool = Pool(knowledge, seed=int(draw(self._state, 2**31)))
        for world in self._found:
            pool.add(world)
        if not pool.count:
            try:
                pool.add(any_distribution(knowledge))
            except ContradictionError:
                return
        settle(pool, goal)
        held = _counted(np.where(view.founder, pool.values, -1), knowledge.values)[:, : floors.shape[1]]
        rows = [np.flatnonzero((held[place] >= floors).all(axis=1)) for place in range(pool.count)]
        meet = [place for place, mine in enumerate(rows) if len(mine)]
        room = len(meet) + 4 * goal
        values = np.empty((room, knowledge.tuples), dtype=np.int32)
        frees = np.empty((room, 0), dtype=np.int32)
        origin = np.zeros(room, dtype=np.int32)
        shown = np.zeros((knowledge.tuples, knowledge.values), dtype=np.int32)
        degree = np.zeros(knowledge.tuples, dtype=np.int32)
        single = view._replace(kind=np.arange(knowledge.tuples, dtype=np.int32))
        for place, number in enumerate(meet):
            values[place], origin[place] = pool.values[number], rows[number][place % len(rows[number])]
            show(single, values[place], shown, degree, 1)
        count = _exchange(view, values, frees, len(meet), origin, shown, degree, goal, self._state)
        self._found, self._found_origin = values[:count].copy(), origin[:count].copy()

    # -------------------------------------------------------------------------------------- what worlds show

    def _floors(self) -> Integers:
        """What founders who are tuples must have in a world, for each row of the reserve; no columns if they
        may have anything.
        """
        knowledge = self.knowledge
        if not knowledge.has_floors:
            return np.zeros((len(self.reserve), 0), dtype=np.int32)
        waiting = self._waiting.copy()
        waiting[list(self._arrived.values())] = False
        kept = _counted(self.reserve[:, waiting], knowledge.values)
        floors = np.maximum(knowledge.floors[None, :] - kept, 0).astype(np.int32)
        return floors if floors.any() else floors[:, :0]

    def _whole(self, worlds: Integers, origin: Integers) -> Integers:
        """The labels of everybody: where floors bind, also of founders who were never returned."""
        if not self._floors().shape[1]:
            return worlds
        waiting = self._waiting.copy()
        waiting[list(self._arrived.values())] = False
        return np.hstack([worlds, self.reserve[origin][:, waiting]])

    def _shown(self, worlds: Integers, origin: Integers, shown: Booleans | None = None) -> Booleans:
        """Which classes the worlds show for everybody."""
        whole = self._whole(worlds, origin)
        if shown is None:
            shown = np.zeros((whole.shape[1], int(self._class.max()) + 1), dtype=np.bool_)
        people = np.arange(whole.shape[1])
        for world in whole:
            shown[people, self._class[world]] = True
        return shown

    def _protected(self, people: Booleans) -> Booleans:
        """Those of some people whose values do not count as known."""
        people[list(self.knowledge.known)] = False
        if len(people) > self._base.shape[1] and self.fixed:
            waiting = np.flatnonzero(self._waiting)
            rest = np.array([w for w in waiting.tolist() if w not in self._arrived.values()], dtype=np.int64)
            people[self._base.shape[1] :] &= ~np.isin(rest, list(self.fixed))
        return people

    def _certify(self, worlds: Integers, origin: Integers) -> None:
        """Check, by counting alone, that worlds fit the knowledge and leave k labels to everybody."""
        knowledge, view = self.knowledge, self.knowledge.view
        for world in worlds:
            cells = view.cell[view.result, world[view.member]]
            if len(cells) and (
                cells.min() < 0 or (np.bincount(cells, minlength=len(view.capacity)) > view.capacity).any()
            ):
                raise GuaranteeError("a world of the pool contradicts an answer or a change")
        floors = self._floors()
        held = _counted(np.where(view.founder, worlds, -1), knowledge.values)[:, : floors.shape[1]]
        if (held < floors[origin]).any():
            raise GuaranteeError("a world of the pool leaves too few holders to a value of the list")
        if self._lacks(worlds, origin):
            raise GuaranteeError(f"the history does not leave {self.k} possible values to everybody")

    def _take_over(self, worlds: Integers, origin: Integers) -> None:
        """These are the worlds now; those that nobody needs go, in a random order."""
        for place in self._arrived.values():
            self._waiting[place] = False
        self._arrived = {}
        self._base = worlds
        kept = np.ones(len(worlds), dtype=np.bool_)
        whole = self._class[self._whole(worlds, origin)]
        people = np.arange(whole.shape[1])
        often = np.zeros((whole.shape[1], int(self._class.max()) + 1), dtype=np.int32)
        for world in whole:
            often[people, world] += 1
        degree = np.count_nonzero(often, axis=1)
        for number in self._chance.permutation(len(worlds)).tolist():
            if np.count_nonzero(kept) <= 3 * self.k:
                break
            last = often[people, whole[number]] == 1
            if not self._protected(degree - last < self.k).any():
                often[people, whole[number]] -= 1
                degree = degree - last
                kept[number] = False
        self.values, self.origin = worlds[kept], origin[kept]
        if not self._floors().shape[1]:
            self.origin = (np.arange(len(self.values)) % max(1, len(self.reserve))).astype(np.int32)
        self._forget()
        self._count_degrees()

    def _count_degrees(self) -> None:
        tuples = self.values.shape[1]
        degrees = self._shown(self.values, self.origin)[:tuples].sum(axis=1).astype(np.int32)
        degrees[list(self.knowledge.known)] = self.knowledge.values
        self._degrees = degrees

    def _founded(self, rows: int) -> Integers:
        """Labels for all founders in each row, such that every row meets the floors, and the first k rows,
        and every next k, give everybody different labels.
        """
        knowledge = self.knowledge
        founders = knowledge.founders
        reserve = np.zeros((rows, founders), dtype=np.int32)
        if not founders:
            return reserve
        places = np.array([place for place in range(founders) if place not in self.fixed], dtype=np.int64)
        floors = knowledge.floors.copy()
        for place, value in self.fixed.items():
            reserve[:, place] = value
            floors[value] = max(0, floors[value] - 1)
        for first in range(0, rows, self.k):
            group = self._group(len(places), floors, min(self.k, rows - first))
            reserve[first : first + self.k, places] = group
        return reserve

    def _group(self, people: int, floors: Integers, rows: int) -> Integers:
        for labels in (np.arange(len(floors)), np.flatnonzero(floors)):
            for _ in range(20):
                ring = self._chance.permutation(labels)
                shifted = [np.roll(floors[ring], -row) for row in range(self.k)]
                sizes = np.max(shifted, axis=0) if len(ring) else np.zeros(0, dtype=np.int32)
                spare = people - int(sizes.sum())
                windows = [
                    len(set(np.roll(self._class[ring], -at)[: self.k].tolist())) for at in range(len(ring))
                ]
                if len(ring) < self.k or spare < 0 or min(windows) < self.k:
                    continue
                sizes = sizes + self._chance.multinomial(spare, np.full(len(ring), 1 / len(ring)))
                colour = self._chance.permutation(np.repeat(np.arange(len(ring)), sizes))
                return np.array([ring[(colour + row) % len(ring)] for row in range(rows)], dtype=np.int32)
        raise GuaranteeError(
            f"the floors leave nobody {self.k} values: {people:,} people for a list that tells of "
            f"{int(floors.sum()):,}; take fewer values, fewer holders or a public list"
        )


def _counted(rows: Integers, values: int) -> Integers:
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
def _free_before(view: View, value: Integers, free: Integers, newest: int) -> None:
    """What is left of each cell, without the newest result."""
    free[:] = view.capacity
    for membership in range(len(view.member)):
        result, tuple_ = view.result[membership], view.member[membership]
        if result != newest and value[tuple_] >= 0:
            free[view.cell[result, value[tuple_]]] -= 1


@compiled
def _exchange(
    view: View,
    values: Integers,
    frees: Integers,
    count: int,
    origin: Integers,
    shown: Integers,
    degree: Integers,
    goal: int,
    state: NDArray[np.uint64],
) -> int:
    """Make worlds in which people of one kind have exchanged their labels, as long as this shows more.

    `shown` and `degree` are of each tuple. Returns how many worlds there are now.
    """
    order = np.argsort(view.kind)
    first = np.zeros(len(order) + 1, dtype=np.int64)
    for tuple_ in range(len(order)):
        first[view.kind[tuple_] + 1] += 1
    for kind in range(len(order)):
        first[kind + 1] += first[kind]
    touched = np.zeros(len(order), dtype=np.bool_)
    failed = 0
    while count > 0 and failed < count and count < len(values):
        base = draw(state, count)
        value = values[count]
        value[:] = values[base]
        frees[count] = frees[base]
        origin[count] = origin[base]
        touched[:] = False
        gained = False
        for tuple_ in range(len(value)):
            if degree[tuple_] >= goal or touched[tuple_]:
                continue
            begin, end = first[view.kind[tuple_]], first[view.kind[tuple_] + 1]
            offset = draw(state, end - begin)
            for turn in range(end - begin):
                other = order[begin + (turn + offset) % (end - begin)]
                if not touched[other] and other != tuple_ and shown[tuple_, value[other]] == 0:
                    value[tuple_], value[other] = value[other], value[tuple_]
                    touched[tuple_] = touched[other] = True
                    gained = True
                    break
        if not gained:
            failed += 1
            continue
        failed = 0
        for tuple_ in range(len(value)):
            if shown[tuple_, value[tuple_]] == 0:
                degree[tuple_] += 1
            shown[tuple_, value[tuple_]] += 1
        count += 1
    return count
