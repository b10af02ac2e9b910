"""Strategies that keep a matching table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import GuaranteeError, ParameterError
from tarnkappe.gate.delta_top.artificial import enter_with_artificial
from tarnkappe.gate.delta_top.extension import CLONE_MATCHING, MAX_ANONYMITY, MAX_EDGES, SIMPLE_MATCHING
from tarnkappe.gate.delta_top.proof import proven_degrees
from tarnkappe.gate.delta_top.table import FULL, MatchingTable, undo
from tarnkappe.gate.delta_top.update import enter, lowest
from tarnkappe.gate.knowledge import Integers
from tarnkappe.gate.strategy import AnswerProposal, ResultPart, Strategy, counted
from tarnkappe.schema import param


class TableStrategy(Strategy):
    """What all strategies with a matching table share: its life, and its proof after a restart."""

    def _start(self) -> None:
        self._table = MatchingTable(self.knowledge.values)

    def propose(self, members: Integers, truth: Integers, may_add: bool) -> AnswerProposal | None:
        known = self._open(truth)
        proposal = self._answer(members, known, may_add)
        if proposal is None:
            self._table.roll_back()
        return proposal

    @abstractmethod
    def _answer(self, members: Integers, known: int, may_add: bool) -> AnswerProposal | None:
        """The proposal, with the table as it will be; what it is if there is none does not matter."""

    @abstractmethod
    def _follow(self, members: Integers, known: int, added: Integers) -> bool:
        """Bring the table to where it is after a published result; whether everybody keeps k values."""

    def _open(self, truth: Integers) -> int:
        """Rows for the new tuples; returns the number of the first one."""
        if self.knowledge.values > self._table.values:
            self._table.widen(self.knowledge.values)
        known = self._table.tuples
        self._table.add_tuples(truth[known:])
        return known

    def accept(self) -> None:
        self._table.keep()

    def reject(self) -> None:
        self._table.roll_back()

    def degrees(self) -> Integers:
        return self._table.arrays.degree.copy()

    def follow(self, truth: Integers) -> None:
        known = self._open(truth)
        result = self.knowledge.results - 1
        members = self.knowledge.members(result)
        added = self.knowledge.counts(result) - counted(truth[members], self.knowledge.values)
        if added.min() < 0 or not self._follow(members, known, added):
            self._table.roll_back()
            raise GuaranteeError(
                "gate.not-clear-history-leaves",
                "it is not clear that the history leaves {k} values to everybody",
                k=self.k,
            )
        self._table.keep()

    def state(self) -> dict[str, NDArray[Any]]:
        return self._table.state()

    def restore(self, truth: Integers, state: Mapping[str, NDArray[Any]]) -> None:
        self._start()
        self._table.load(truth, state)
        if (self.proven_degrees() < self.k).any():
            raise GuaranteeError(
                "gate.state-not-prove-everybody",
                "the state does not prove that everybody keeps {k} values",
                k=self.k,
            )

    def proven_degrees(self) -> Integers:
        """How many values each tuple has by distributions that were made from the table and checked."""
        return proven_degrees(self._table.arrays, self.knowledge.view)


class DeltaTop(TableStrategy):
    """Swaps that live on from answer to answer: a distribution is modelled as pairs of tuples that exchange
    their values, and a new answer extends it by new tuples, never by old ones.
    """

    extension: ClassVar[int]

    alternatives: Annotated[
        int,
        param(
            "how many edges of one tuple and value are made, beyond those that nobody can lose",
            ge=0,
            le=1_000_000,
            unit="edges",
        ),
    ] = 8

    def _start(self) -> None:
        if self.alternatives < 1:
            raise ParameterError(
                "gate.alternatives-must-least-1",
                "alternatives must be at least 1, not {alternatives}",
                alternatives=self.alternatives,
            )
        super()._start()

    completes: ClassVar[bool] = True

    def complete(
        self, members: Integers, truth: Integers, counts: Integers, may_add: bool
    ) -> AnswerProposal | None:
        known = self._open(truth)
        given = counts - counted(truth[members], self.knowledge.values)
        proposal = self._proposal(members, self._enter(members, known, given, may_add))
        if proposal is None:
            self._table.roll_back()
        return proposal

    def _answer(self, members: Integers, known: int, may_add: bool) -> AnswerProposal | None:
        nothing = np.zeros(self.knowledge.values, dtype=np.int32)
        return self._proposal(members, self._enter(members, known, nothing if may_add else None))

    def _follow(self, members: Integers, known: int, added: Integers) -> bool:
        truth = self._table.arrays.truth[known:].copy()
        if (self._enter(members, known, np.zeros_like(added)) > added).any():  # somebody else has answered
            self._table.roll_back()
            self._table.add_tuples(truth)
            self._enter(members, known, added, may_add=False)
        return lowest(self._table.arrays, members) >= self.k

    def _proposal(self, members: Integers, added: Integers) -> AnswerProposal | None:
        if lowest(self._table.arrays, members) < self.k:
            return None
        real = counted(self._table.arrays.truth[members], self.knowledge.values)
        return AnswerProposal((ResultPart(members, real + added),))

    def _enter(self, members: Integers, known: int, given: Integers | None, may_add: bool = True) -> Integers:
        """Process an answer, with more room if there is too little; returns the artificial values."""
        self._table.use(unique=False)
        while True:
            table = self._table.arrays
            inside = np.zeros(self._table.tuples, dtype=np.bool_)
            added = np.zeros(self.knowledge.values, dtype=np.int32)
            how = (self.extension, self.alternatives)
            if given is None:
                enter(table, members, known, *how, inside)
            else:
                added = enter_with_artificial(table, members, known, self.k, *how, given, may_add, inside)
            if not table.size[FULL]:
                return added
            undo(table, 0)
            self._table.grow()


class MaxEdges(DeltaTop):
    """As many edges as possible live on. The oldest of the four, and the worst: edges are no degrees."""

    name: ClassVar[str] = "max-edges"
    extension: ClassVar[int] = MAX_EDGES


class MaxAnonymity(DeltaTop):
    """Greedily, whoever has the fewest values gets the next new tuple."""

    name: ClassVar[str] = "max-anonymity"
    extension: ClassVar[int] = MAX_ANONYMITY


class SimpleMatching(DeltaTop):
    """In each round a largest matching serves all who have the fewest values."""

    name: ClassVar[str] = "simple-matching"
    extension: ClassVar[int] = SIMPLE_MATCHING


class CloneMatching(DeltaTop):
    """The smallest degree becomes as large as it can within an answer: the best of the four."""

    name: ClassVar[str] = "clone-matching"
    extension: ClassVar[int] = CLONE_MATCHING
