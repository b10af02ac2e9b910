"""A pool of witnesses: complete distributions, each of which the attacker cannot exclude.

What the pool shows is true by construction: a value counts for a tuple only if a member of the pool, a real
possibility, gives it to the tuple (or to one of the same kind, see `knowledge`). A pool in which every kind
shows at least k values is a *certificate* of k-assign anonymity that anybody can check without a solver:
`certificate`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import VerificationError
from tarnkappe.gate.knowledge import Booleans, Integers, Knowledge
from tarnkappe.gate.local_search import Scratch, enter, holders, lacking_holders
from tarnkappe.gate.problem import component
from tarnkappe.gate.seeking import seek, show

ROOM = 16
"""For how many more witnesses there is room before the least useful ones are dropped."""


class Pool:
    """Witnesses of a history, and what they show.

    Attributes:
        values: the value of each tuple in each witness.
        frees: what is left of each cell in each witness.
        shown: in how many ways a value is shown for a kind.
        state: of the random numbers, and how many steps all searches took.
        degree: how many different values are shown for each kind; never more than its degree of anonymity.
    """

    def __init__(self, knowledge: Knowledge, seed: int = 0, room: int = ROOM) -> None:
        self.knowledge = knowledge
        self.count = 0
        self._values = np.empty((room, knowledge.tuples), dtype=np.int32)
        self._frees = np.empty((room, len(knowledge.view.capacity)), dtype=np.int32)
        self.shown = np.zeros((knowledge.kinds, knowledge.values), dtype=np.int32)
        self.degree = np.zeros(knowledge.kinds, dtype=np.int32)
        self.state = np.array([2 * seed + 88172645463325253, 0], dtype=np.uint64)

    @property
    def values(self) -> Integers:
        """The value of each tuple in each witness."""
        return self._values[: self.count]

    @property
    def frees(self) -> Integers:
        """What is left of each cell in each witness."""
        return self._frees[: self.count]

    def degrees(self) -> Integers:
        """How many values are shown for each tuple."""
        return self.degree[self.knowledge.view.kind]

    def unsettled(self, k: int) -> Booleans:
        """Which values nobody has shown or excluded yet, for each kind that shows fewer than k."""
        view = self.knowledge.view
        open_ = np.zeros(self.shown.shape, dtype=np.bool_)
        open_[view.kind] = view.allowed
        open_ &= (self.shown == 0) & (self.degree < k)[:, None]
        return open_

    def carried(self, truth: Integers, k: int, steps: int, state: NDArray[np.uint64] | None = None) -> Pool:
        """The pool of the knowledge with its newest result.

        The true distribution is always its first witness. A witness that cannot be mended takes over the
        truth in the component of the newest result; elsewhere it is as good as before. This pool stays as
        it is; the state of the random numbers can be given to go on with it.
        """
        knowledge, view = self.knowledge, self.knowledge.view
        other = Pool(knowledge, room=self.count + ROOM)
        other.state = self.state.copy() if state is None else state
        other.add(truth)
        known, cells = self._values.shape[1], self._frees.shape[1]
        tuples, results = component(view, int(knowledge.members(knowledge.results - 1)[0]))
        inside = results[view.holder]
        scratch = Scratch.of(view)
        for witness in range(1, self.count):
            value, free = other._values[other.count], other._frees[other.count]
            value[:known], value[known:] = self._values[witness], -1
            free[:cells], free[cells:] = self._frees[witness], view.capacity[cells:]
            shown, degree = other.shown, other.degree
            floors, spare = knowledge.binding_floors, knowledge.unreturned
            if not enter(
                view, value, free, floors, spare, scratch, -1, -1, shown, degree, k, steps, other.state
            ):
                value[tuples], free[inside] = truth[tuples], other._frees[0][inside]
            show(view, value, shown, degree, 1)
            other.count += 1
        return other

    def gains(self, value: Integers, k: int) -> bool:
        """Whether a witness would show a value for a kind that shows fewer than k, and not yet this one."""
        kind = self.knowledge.view.kind
        return bool(((self.shown[kind, value] == 0) & (self.degree[kind] < k)).any())

    def fits(self, value: Integers) -> bool:
        """Whether a distribution does not contradict the knowledge."""
        try:
            self._count(value, np.empty(len(self.knowledge.view.capacity), dtype=np.int32))
        except VerificationError:
            return False
        return True

    def add(self, value: Integers) -> None:
        """Add a witness; one that contradicts the knowledge is an error in whatever made it."""
        self._make_room()
        self._values[self.count] = value
        self._count(value, self._frees[self.count])
        show(self.knowledge.view, self._values[self.count], self.shown, self.degree, 1)
        self.count += 1

    def refresh(self) -> None:
        """Count again what is left of each cell: the newest result got other counts than before."""
        capacity = self.knowledge.view.capacity
        self._frees = np.empty((len(self._values), len(capacity)), dtype=np.int32)
        for value, free in zip(self.values, self._frees, strict=False):
            self._count(value, free)

    def seek(self, tuples: Integers, k: int, steps: int) -> None:
        """Look by local search for witnesses that show more values for some tuples, up to k for each."""
        scratch = Scratch.of(self.knowledge.view)
        floors = self.knowledge.binding_floors
        while len(tuples):
            self._make_room()
            before = self.count
            origin = np.zeros(len(self._values), dtype=np.int32)
            self.count = seek(
                self.knowledge.view,
                self._values,
                self._frees,
                self.count,
                origin,
                floors[None],
                self.knowledge.unreturned,
                scratch,
                tuples,
                self.shown,
                self.degree,
                k,
                steps,
                self.state,
            )
            tuples = tuples[self.degree[self.knowledge.view.kind[tuples]] < k]
            if self.count < len(self._values) or self.count == before:
                return

    def trim(self, k: int, keep: int = 0) -> None:
        """Drop witnesses without which every kind still shows all it shows, or at least k values.

        The first witness (the truth) stays, and so do at least `keep`.
        """
        view = self.knowledge.view
        for witness in range(self.count - 1, 0, -1):
            if self.count <= keep:
                return
            value = self._values[witness]
            target = np.minimum(self.degree, k)
            show(view, value, self.shown, self.degree, -1)
            if (self.degree < target).any():
                show(view, value, self.shown, self.degree, 1)
                continue
            self.count -= 1
            self._values[witness : self.count] = self._values[witness + 1 : self.count + 1].copy()
            self._frees[witness : self.count] = self._frees[witness + 1 : self.count + 1].copy()

    def _count(self, value: Integers, free: Integers) -> None:
        view = self.knowledge.view
        cells = view.cell[view.result, value[view.member]]
        if value.shape != view.newest.shape or value.min() < 0 or cells.min() < 0:
            raise VerificationError(
                "gate.witness-gives-somebody-value", "a witness gives somebody a value that was not published"
            )
        free[:] = view.capacity - np.bincount(cells, minlength=len(view.capacity))
        if free.min() < 0:
            raise VerificationError(
                "gate.witness-uses-value-more-often",
                "a witness uses a value more often than it was published",
            )
        floors = self.knowledge.binding_floors
        if lacking_holders(floors, holders(view, value, len(floors))) > self.knowledge.unreturned:
            raise VerificationError(
                "gate.witness-leaves-too-few-holders",
                "a witness leaves too few holders to a value of the list",
            )

    def _make_room(self) -> None:
        if self.count == len(self._values):
            more = max(ROOM, self.count)
            self._values = np.vstack([self._values, np.empty((more, self._values.shape[1]), dtype=np.int32)])
            self._frees = np.vstack([self._frees, np.empty((more, self._frees.shape[1]), dtype=np.int32)])
