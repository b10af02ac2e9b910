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

import time
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from tarnkappe.errors import GuaranteeError, ParameterError
from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.gate.policy_columns import WorldEffort
from tarnkappe.gate.pool_counts import drop_needless, is_contradicted, mark_shown, marked
from tarnkappe.gate.reserve import dealt, founded, gone_round
from tarnkappe.gate.strategy import AnswerProposal, Strategy
from tarnkappe.gate.world_search import FreeCells, SearchEffort, WorldSearch, counted_rows
from tarnkappe.schema import param


class PublicPool(Strategy):
    """Possible worlds that are chosen without looking at the true one. See the text of this module."""

    name: ClassVar[str] = "public-pool"
    completes: ClassVar[bool] = True

    steps: Annotated[
        int, param("how long the local search tries to mend one world", ge=0, le=10**9, unit="steps")
    ] = WorldEffort.steps
    work: Annotated[
        int,
        param("how many steps all searches for one answer take, about", ge=0, le=10**12, unit="steps"),
    ] = WorldEffort.work
    largest: Annotated[
        Annotated[int, Meta(ge=0, le=10**12)],
        param("for how many people in an answer a search is worth its time", unit="people"),
    ] = WorldEffort.largest
    is_exact: Annotated[bool, param("whether the exact solver helps where local search finds nothing")] = (
        False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.classes: Integers | None = None
        """The class of each value, if values of one class count as one; set before it begins."""
        self.fixed: Mapping[int, int] = {}
        """Founders whose values are known, by place; set before it begins."""
        self.until: float | None = None
        """When the next search ends by the clock, by `time.monotonic`."""

    def _start(self) -> None:
        knowledge = self.knowledge
        self._chance = np.random.default_rng(self.seed)
        self._state = np.array([self.seed % 2**62 * 2 + 88172645463325253, 0], dtype=np.uint64)
        self._class: Integers = (
            np.arange(knowledge.values, dtype=np.int32) if self.classes is None else self.classes
        )
        if self._classes < self.k:
            raise GuaranteeError(
                "gate.public-pool-different-values-nobody-can-keep",
                "there {classes:is|are} {classes} different {classes:value|values}: nobody can keep {k}",
                classes=self._classes,
                k=self.k,
            )
        self.values: Integers = np.zeros((3 * self.k, 0), dtype=np.int32)
        self.origin: Integers = np.arange(3 * self.k, dtype=np.int32)
        self.reserve: Integers = founded(
            self._chance,
            self._class,
            knowledge.floors,
            knowledge.founders,
            self.k,
            3 * self.k,
            self.fixed,
        )
        self._waiting = np.ones(knowledge.founders, dtype=np.bool_)
        self._degrees: Integers = np.zeros(0, dtype=np.int32)
        self._checked = 0
        """How many results, from the first on, all worlds of the pool were seen to fit."""
        self._free = FreeCells.none(len(self.values))
        self._forget()

    def _forget(self) -> None:
        self._found = self._base = self.values[:0]
        self._found_origin = self._base_origin = self.origin[:0]
        self._found_parent = self._base_parent = np.zeros(0, dtype=np.int32)
        self._found_free = FreeCells.none(0)
        self._fits: Booleans = np.zeros(0, dtype=np.bool_)
        self._next: tuple[Integers, Integers] | None = None
        self._arrived: dict[int, int] = {}
        self._members: Integers = np.zeros(0, dtype=np.int32)

    @property
    def _classes(self) -> int:
        return len(np.unique(self._class))

    @property
    def _width(self) -> int:
        return int(self._class.max()) + 1

    # ------------------------------------------------------------------------------------------------ events

    def note_change(self, old: int, new: int) -> None:
        """The knowledge has a new tuple, of somebody who had another value before.

        In each world the labels of all go round: no two that differed become equal, and none stays.
        """
        self._take_from_reserve(old)
        assert new == self.values.shape[1], "the new value has the next number"
        self._append(gone_round(self._chance, self._class, self.values[:, old])[:, None])
        self._count_degrees()

    def note_known(self, tuple_: int, value: int) -> None:
        """The value of a tuple, which may be new, counts as known."""
        self._take_from_reserve(tuple_)
        if tuple_ == self.values.shape[1]:
            self._append(np.zeros((len(self.values), 1), dtype=np.int32))
        else:
            self._checked, self._free = 0, FreeCells.none(len(self.values))  # worlds change that were counted
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

    def propose(self, members: Integers, truth: Integers, may_add: bool) -> AnswerProposal | None:
        raise ParameterError(
            "gate.public-pool-answers-own", "the public pool answers by its own rule: with surplus values"
        )

    def search(self, members: Integers, published: Integers) -> None:
        """Look for worlds that fit an answer with these values, which may be fewer than it will have.

        What is found follows from them, from what was published before and from coins. It is kept for `grow`.
        """
        knowledge = self.knowledge
        self._begin(members)
        late = self.until is not None and time.monotonic() >= self.until
        if len(members) <= self.largest and self.steps and not late:
            knowledge.publish(members, published)
            try:
                self._carry()
            finally:
                knowledge.retract()

    def grow(self, counts: Integers) -> Integers:
        """The values of the answer: at least these, and what it takes to leave everybody k labels."""
        candidates, origin = self._base, self._base_origin
        used = counted_rows(candidates[:, self._members], self.knowledge.values)
        grown = counts.copy()
        everything = self._whole(candidates, origin)
        shown = self._shown(self._found, self._found_origin)
        fits: Booleans = np.zeros(len(candidates), dtype=np.bool_)
        while True:
            fitted, fits = fits, np.asarray((used <= grown).all(axis=1))
            mark_shown(everything, fits & ~fitted, self._class, shown)  # what fits goes on fitting: it grows
            lacking = self._protected(marked(shown) < self.k)
            if not lacking.any():
                break
            whole = everything[:, lacking]
            news = ~shown[lacking][np.arange(whole.shape[1])[None, :], self._class[whole]]
            helps = np.where(fits, 0, news.sum(axis=1))
            if not helps.any():
                raise GuaranteeError(
                    "gate.pool-not-leave-k", "the pool does not leave k values to everybody: this is a defect"
                )
            missing = np.maximum(used - grown, 0).sum(axis=1)
            best = np.argmin(np.where(helps > 0, missing / np.maximum(helps, 1), np.inf))
            grown = np.maximum(grown, used[best])
        self._fits = fits
        self._next = (
            np.vstack([self._found, candidates[fits]]),
            np.concatenate([self._found_origin, origin[fits]]),
        )
        self.knowledge.publish(self._members, grown)
        try:
            self._certify(*self._next, np.concatenate([self._found_parent, self._base_parent[fits]]))
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
        used = counted_rows(self._base[:, self._members], knowledge.values)
        fits = np.asarray((used <= knowledge.counts(knowledge.results - 1)).all(axis=1))
        self._fits = fits
        worlds = np.vstack([self._found, self._base[fits]])
        origin = np.concatenate([self._found_origin, self._base_origin[fits]])
        self._certify(worlds, origin, np.concatenate([self._found_parent, self._base_parent[fits]]))
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
            raise GuaranteeError(
                "gate.saved-worlds-not-belong", "the saved worlds do not belong to this history"
            )
        self._forget()
        self._certify(self.values, self.origin)
        self._checked, self._free = self.knowledge.results, FreeCells.none(len(self.values))
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
        labels = dealt(self._chance, self._class, len(new), len(self.values))
        for column, number in enumerate(new.tolist()):
            if number in self._arrived:
                labels[:, column] = self.reserve[self.origin, self._arrived[number]]
        self._base = np.hstack([self.values, labels]).astype(np.int32)
        self._base_origin = self.origin
        self._base_parent = np.arange(len(self.values), dtype=np.int32)
        self._found = self._base[:0]
        self._first_new = first

    def _carry(self, is_exact: bool = False) -> None:
        """Carry the worlds over to the newest result of the knowledge, and seek labels for who lacks some."""
        search = WorldSearch(
            self.knowledge,
            self._base,
            self._base_origin,
            self._free,
            self._floors(),
            [n for n in range(self._first_new, self.knowledge.tuples) if n not in self._arrived],
            self.k if self.classes is None else self.knowledge.values,
            SearchEffort(self.steps, self.work, self.until),
            self._state,
        )
        search.carry()
        if (self.is_exact or is_exact) and self._lacks(search.found, search.origin):
            search.solve()
        self._found, self._found_origin, self._found_parent = search.found, search.origin, search.parent
        self._found_free = search.free
        self._base = np.vstack([self._base, search.near])
        self._base_origin = np.concatenate([self._base_origin, self._base_origin[search.near_parent]])
        self._base_parent = np.concatenate([self._base_parent, search.near_parent])

    def _lacks(self, worlds: Integers, origin: Integers) -> bool:
        return bool(self._protected(marked(self._shown(worlds, origin)) < self.k).any())

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
        kept = counted_rows(self.reserve[:, waiting], knowledge.values)
        floors: Integers = np.maximum(knowledge.floors[None, :] - kept, 0).astype(np.int32)
        return floors if floors.any() else floors[:, :0]

    def _whole(self, worlds: Integers, origin: Integers) -> Integers:
        """The labels of everybody: where floors bind, also of founders who were never returned."""
        if not self._floors().shape[1]:
            return worlds
        waiting = self._waiting.copy()
        waiting[list(self._arrived.values())] = False
        return np.hstack([worlds, self.reserve[origin][:, waiting]])

    def _shown(self, worlds: Integers, origin: Integers) -> Booleans:
        """Which classes the worlds show for everybody."""
        whole = self._whole(worlds, origin)
        shown = np.zeros((whole.shape[1], self._width), dtype=np.bool_)
        mark_shown(whole, np.ones(len(whole), dtype=np.bool_), self._class, shown)
        return shown

    def _protected(self, people: Booleans) -> Booleans:
        """Those of some people whose values do not count as known."""
        people[list(self.knowledge.known)] = False
        if len(people) > self._base.shape[1] and self.fixed:
            waiting = np.flatnonzero(self._waiting)
            rest = np.array([w for w in waiting.tolist() if w not in self._arrived.values()], dtype=np.int64)
            people[self._base.shape[1] :] &= ~np.isin(rest, list(self.fixed))
        return people

    def _certify(self, worlds: Integers, origin: Integers, parents: Integers | None = None) -> None:
        """Check, by counting alone, that worlds fit the knowledge and leave k labels to everybody.

        Of worlds that were made from others of the pool, their parents, it counts what differs from these;
        without parents, all.
        """
        parents = np.full(len(worlds), -1, dtype=np.int32) if parents is None else parents
        if is_contradicted(self.knowledge.view, worlds, parents, self.values, self._checked):
            raise GuaranteeError(
                "gate.world-pool-contradicts-answer",
                "a world of the pool contradicts an answer or a change",
            )
        floors = self._floors()
        if floors.shape[1] and self._is_short(worlds, floors[origin]):
            raise GuaranteeError(
                "gate.world-pool-leaves-too",
                "a world of the pool leaves too few holders to a value of the list",
            )
        if self._lacks(worlds, origin):
            raise GuaranteeError(
                "gate.history-not-leave-possible",
                "the history does not leave {k} possible values to everybody",
                k=self.k,
            )

    def _is_short(self, worlds: Integers, floors: Integers) -> bool:
        """Whether a world has too few founders with some label."""
        held = counted_rows(np.where(self.knowledge.view.founder, worlds, -1), self.knowledge.values)
        return bool((held < floors).any())

    def _take_over(self, worlds: Integers, origin: Integers) -> None:
        """These are the worlds now; those that nobody needs go, in a random order."""
        for place in self._arrived.values():
            self._waiting[place] = False
        self._arrived = {}
        self._base = worlds
        whole = self._whole(worlds, origin)
        protected = self._protected(np.ones(whole.shape[1], dtype=np.bool_))
        order = self._chance.permutation(len(worlds))
        kept, degree = drop_needless(whole, self._class, self._width, order, protected, self.k, 3 * self.k)
        self.values, self.origin = worlds[kept], origin[kept]
        if not self._floors().shape[1]:
            self.origin = (np.arange(len(self.values)) % max(1, len(self.reserve))).astype(np.int32)
        near = FreeCells.none(len(self._fits) - len(self._free.results))
        taken = np.concatenate([np.ones(len(self._found), dtype=np.bool_), self._fits])
        self._free = FreeCells.chosen([self._found_free, self._free, near], np.flatnonzero(taken)[kept])
        self._checked = self.knowledge.results - 1  # the newest is looked at once more, as it was published
        self._forget()
        self._set_degrees(degree)

    def _count_degrees(self) -> None:
        self._set_degrees(marked(self._shown(self.values, self.origin)))

    def _set_degrees(self, degree: Integers) -> None:
        degrees = degree[: self.values.shape[1]].copy()
        degrees[list(self.knowledge.known)] = self.knowledge.values
        self._degrees = degrees
