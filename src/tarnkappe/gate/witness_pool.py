"""The witness pool: complete distributions that prove everybody's anonymity, mended answer by answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from tarnkappe.errors import GuaranteeError
from tarnkappe.gate.certificate import certify
from tarnkappe.gate.exact_test import settle
from tarnkappe.gate.knowledge import Integers
from tarnkappe.gate.minimum_cover import Cover, LeastCover, OpenSolvers, SolverBudget
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.strategy import AnswerProposal, ResultPart, Strategy, counted
from tarnkappe.schema import Positive, param


class WitnessPool(Strategy):
    """Keep a pool of witnesses in which everybody takes at least k values.

    A new answer is tried without artificial values first. Every witness is carried over by local search;
    for tuples that then lack values new witnesses are made, by local search and, where that fails, by the
    exact solver within a budget. Only if the solver says that nothing else helps (or gives up) artificial
    values are added, as few as the solver's reasons demand.

    Sound by construction: every witness is a real possibility, whoever made it.
    """

    name: ClassVar[str] = "witness-pool"
    completes: ClassVar[bool] = True

    steps: Annotated[
        int, param("how long the local search tries to mend one witness", ge=1, le=10**9, unit="steps")
    ] = 300
    work: Annotated[
        Annotated[int, Meta(ge=1, le=10**12)] | None,
        param(
            "how many steps all searches for one answer may take before it settles for more values",
            unit="steps",
        ),
    ] = 100_000
    effort: Annotated[
        Positive | None,
        param("the budget of one question to the solver; 0.01 is about 50 ms on a usual machine"),
    ] = 0.02
    pairs: Annotated[
        Annotated[int, Meta(ge=1, le=10**12)] | None,
        param(
            "the largest problem, in pairs of a kind and a value, about which the solver is asked",
            unit="pairs",
        ),
    ] = 20_000

    def _start(self) -> None:
        self._pool = Pool(self.knowledge, self.seed)
        self._solvers = OpenSolvers()
        self._next: Cover | None = None

    def propose(self, members: Integers, truth: Integers, may_add: bool) -> AnswerProposal | None:
        return self.complete(members, truth, counted(truth[members], self.knowledge.values), may_add)

    def complete(
        self, members: Integers, truth: Integers, counts: Integers, may_add: bool
    ) -> AnswerProposal | None:
        effort = SolverBudget(self.steps, self.work, self.effort, self.pairs)
        search = LeastCover(self._pool, members, counts, truth, self.k, effort, self._solvers)
        self._next = search.find(may_add)
        self.gave_up = self._next is None and not search.proven
        if self._next is None:
            self.reasons = tuple(search.reasons) if search.proven else ()
            return None
        self._proposed = counts + self._next.added
        return AnswerProposal((ResultPart(members, self._proposed),), self._next.least)

    def accept(self) -> None:
        assert self._next is not None, "nothing was proposed"
        self._pool, self._next = self._next.pool, None
        if not np.array_equal(self.knowledge.counts(self.knowledge.results - 1), self._proposed):
            self._pool.refresh()  # surplus values were published
        self._pool.trim(self.k, keep=2 * self.k + 8)

    def reject(self) -> None:
        self._next = None

    def degrees(self) -> Integers:
        return self._pool.degrees()

    def follow(self, truth: Integers) -> None:
        self._pool = self._pool.carried(truth, self.k, self.steps)
        for effort in (self.effort, None):
            if self._pool.degree.min() < self.k:
                settle(self._pool, self.k, effort)
        if self._pool.degree.min() < self.k:
            raise GuaranteeError(
                "gate.history-not-leave-possible",
                "the history does not leave {k} possible values to everybody",
                k=self.k,
            )
        self._pool.trim(self.k, keep=2 * self.k + 8)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"witnesses": (self._pool if self._next is None else self._next.pool).values.copy()}

    def restore(self, truth: Integers, state: Mapping[str, NDArray[Any]]) -> None:
        witnesses = np.asarray(state["witnesses"], dtype=np.int32)
        certify(self.knowledge, witnesses, self.k)
        self._start()
        self._pool.add(truth)
        for witness in witnesses:
            self._pool.add(witness)
        self._pool.trim(self.k, keep=2 * self.k + 8)
