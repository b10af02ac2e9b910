"""M-invariance carried over to queries: the baseline that the other strategies are compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import GuaranteeError
from tarnkappe.gate.growing import Growing
from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.gate.strategy import AnswerProposal, ResultPart, Strategy, counted, in_order_of_parts


class MInvariance(Strategy):
    """Whoever is returned again meets exactly the values that he met the first time.

    An answer is published in groups without equal values. The values of a tuple's first group, at least k,
    are its signature for ever, and all members of a group share it: what a group lacks is filled by new
    tuples or artificial values. Any permutation of the values of a signature, applied to everybody who has
    it, is a distribution; so the signatures are exact. The fastest strategy, with the most artificial
    values.
    """

    name: ClassVar[str] = "m-invariance"

    def _start(self) -> None:
        self._signature: Growing[np.bool_] = Growing(np.bool_, self.knowledge.values)
        self._next: Booleans | None = None

    def propose(self, members: Integers, truth: Integers, may_add: bool) -> AnswerProposal | None:
        self._widen()
        known = len(self._signature)
        if self.knowledge.values < self.k:
            return None
        groups, signatures = self._groups(members, known, truth)
        part = np.empty(len(members), dtype=np.int64)
        for number, group in enumerate(groups):
            part[group] = number
        renamed, order = in_order_of_parts(members, part, known)
        parts = []
        for number, (group, signature) in enumerate(zip(groups, signatures, strict=True)):
            if not may_add and len(group) < np.count_nonzero(signature):
                return None
            parts.append(ResultPart(renamed[part == number], signature.astype(np.int32)))
        self._next = np.array(
            [signatures[number] for number in np.sort(part[members >= known])], dtype=np.bool_
        ).reshape(-1, self.knowledge.values)
        return AnswerProposal(tuple(parts), order=order)

    def _groups(
        self, members: Integers, known: int, truth: Integers
    ) -> tuple[list[list[int]], list[Booleans]]:
        """The places of each group's members, and its values."""
        values = truth[members].tolist()
        left: dict[int, list[int]] = defaultdict(list)
        same: dict[bytes, list[int]] = defaultdict(list)
        for place, member in enumerate(members.tolist()):
            if member >= known:
                left[values[place]].append(place)
            else:
                same[self._signature.rows[member].tobytes()].append(place)
        groups: list[list[int]] = []
        signatures: list[Booleans] = []
        for key, places in same.items():
            signature = np.frombuffer(key, dtype=np.bool_)
            for group in without_repeats(places, values):
                present = {values[place] for place in group}
                for value in np.flatnonzero(signature).tolist():
                    if value not in present and left[value]:
                        group.append(left[value].pop(0))
                groups.append(group)
                signatures.append(signature)
        rest = [place for value in sorted(left) for place in left[value]]
        parts = max([len(places) for places in left.values()] + [len(rest) // self.k])
        frequent = np.argsort(-counted(truth[members], self.knowledge.values), kind="stable").tolist()
        for number in range(parts):
            group = rest[number::parts]
            own = {values[place] for place in group}
            filler = [value for value in frequent if value not in own][: max(0, self.k - len(own))]
            signature = np.zeros(self.knowledge.values, dtype=np.bool_)
            signature[[*own, *filler]] = True
            groups.append(group)
            signatures.append(signature)
        return groups, signatures

    def accept(self) -> None:
        assert self._next is not None, "nothing was proposed"
        self._signature.add(self._next)
        self._next = None

    def reject(self) -> None:
        self._next = None

    def degrees(self) -> Integers:
        degrees: Integers = self._signature.rows.sum(axis=1, dtype=np.int32)
        return degrees

    def follow(self, truth: Integers) -> None:
        self._widen()
        known = len(self._signature)
        result = self.knowledge.results - 1
        old = self.knowledge.members(result)[self.knowledge.members(result) < known]
        signature = self._signature.rows[old[0]] if len(old) else self.knowledge.counts(result) > 0
        self._signature.add(np.repeat(signature[None].copy(), len(truth) - known, axis=0))
        try:
            self._check(truth, [result])
        except GuaranteeError:
            self._signature.cut(known)
            raise

    def state(self) -> dict[str, NDArray[Any]]:
        more = [] if self._next is None else [self._next]
        return {"signatures": np.vstack([self._signature.rows, *more])}

    def restore(self, truth: Integers, state: Mapping[str, NDArray[Any]]) -> None:
        signatures = np.asarray(state["signatures"], dtype=np.bool_)
        if signatures.shape != (len(truth), self.knowledge.values):
            raise GuaranteeError(
                "gate.state-not-belong-history",
                "the state does not belong to this history: use the one saved with it",
            )
        self._start()
        self._signature.add(signatures)
        self._check(truth, list(range(self.knowledge.results)))

    def _check(self, truth: Integers, results: list[int]) -> None:
        """Raise GuaranteeError unless some results are invariant with at least k values."""
        for result in results:
            members, counts = self.knowledge.members(result), self.knowledge.counts(result)
            shared, own = self._signature.rows[members], truth[members]
            invariant = (shared == shared[0]).all() and (counts[shared[0]] > 0).all()
            fitting = shared[0][own].all() and len(np.unique(own)) == len(own)
            if not (invariant and fitting and np.count_nonzero(shared[0]) >= self.k):
                raise GuaranteeError(
                    "gate.history-not-invariant-values",
                    "the history is not invariant with {k} values for everybody",
                    k=self.k,
                )

    def _widen(self) -> None:
        more = self.knowledge.values - self._signature.rows.shape[1]
        if more:
            old = self._signature.rows
            self._signature = Growing(np.bool_, self.knowledge.values)
            self._signature.add(np.hstack([old, np.zeros((len(old), more), dtype=np.bool_)]))


def without_repeats(places: list[int], values: list[int]) -> list[list[int]]:
    """Split places into as few groups as possible in which no value occurs twice.

    >>> without_repeats([0, 1, 2, 3], [7, 8, 7, 9])
    [[0, 1, 3], [2]]
    """
    groups: list[list[int]] = []
    seen: dict[int, int] = defaultdict(int)
    for place in places:
        number = seen[values[place]]
        seen[values[place]] += 1
        if number == len(groups):
            groups.append([])
        groups[number].append(place)
    return groups
