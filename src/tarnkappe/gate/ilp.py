"""The exact strategy as the theory states it: one integer program for every tuple and value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import GuaranteeError
from tarnkappe.gate.integer_program import is_k_assign_anonymous, signatures_by_program
from tarnkappe.gate.knowledge import Integers
from tarnkappe.gate.strategy import AnswerProposal, ResultPart, Strategy, counted


class Ilp(Strategy):
    """Try multisets of artificial values, smaller ones first, until everybody keeps k values.

    Takes minutes where `exact` takes milliseconds. It is here to be compared with.
    """

    name: ClassVar[str] = "ilp"
    minimal: ClassVar[bool] = True

    def _start(self) -> None:
        self._truth: Integers = np.empty(0, dtype=np.int32)
        self._next: Integers | None = None

    def propose(self, members: Integers, truth: Integers, may_add: bool) -> AnswerProposal | None:
        real = counted(truth[members], self.knowledge.values)
        for added in self._multisets(members, real) if may_add else [np.zeros_like(real)]:
            self.knowledge.publish(members, real + added)
            enough = is_k_assign_anonymous(self.knowledge, self.k, truth)
            self.knowledge.retract()
            if enough:
                self._next = truth.copy()
                return AnswerProposal((ResultPart(members, real + added),), int(added.sum()))
        return None

    def accept(self) -> None:
        assert self._next is not None, "nothing was proposed"
        self._truth, self._next = self._next, None

    def reject(self) -> None:
        self._next = None

    def degrees(self) -> Integers:
        signatures = signatures_by_program(self.knowledge, self._truth)
        return np.array([len(signature) for signature in signatures], dtype=np.int32)

    def follow(self, truth: Integers) -> None:
        self._truth = truth.copy()
        if not is_k_assign_anonymous(self.knowledge, self.k, truth):
            raise GuaranteeError(
                "gate.history-not-leave-possible",
                "the history does not leave {k} possible values to everybody",
                k=self.k,
            )

    def state(self) -> dict[str, NDArray[Any]]:
        return {}

    def restore(self, truth: Integers, state: Mapping[str, NDArray[Any]]) -> None:
        if self.knowledge.tuples:
            self.follow(truth)

    def _multisets(self, members: Integers, real: Integers) -> Iterator[Integers]:
        """All multisets by increasing size, up to the one that leaves the old tuples all their values."""
        labels = range(self.knowledge.values)
        for size in range(len(members) * len(labels) + 1):
            for chosen in combinations_with_replacement(labels, size):
                added = counted(np.array(chosen, dtype=np.int32), len(labels))
                if (real + added <= max(len(members), 1)).all():
                    yield added
