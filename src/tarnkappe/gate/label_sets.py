"""A set of labels for everybody, drawn once: what bounds how probable a value becomes.

**The rule** (`veil` in a policy). When a value of somebody is answered for the first time, a set of k labels
is drawn for it, once and for ever: the true one, a, and k - 1 others, every such set equally likely. The
answer to a question is the sum of the sets of its people: k values for each of them. Nothing else is ever
computed from true values, and nothing depends on what was asked before.

**Claim.** Let B be all that somebody knew before, and all that was ever said of other people, even their true
values. For any two labels u, v of the set A of somebody, the odds of u and v are, for whoever sees everything
that the gate said and even all sets, what they are for B alone.

**Proof.** All that the gate says is a function of the sets. Given the true label a of A, the set has the
probability 1 / C(|D| - 1, k - 1), the same for every a in A; the sets of others do not depend on a. So the
likelihood ratio of u and v is 1.    []

Hence everybody keeps k possible values, whatever is known of others. Whoever believed in each label alike
believes in each label of A with 1/k; with other weights p, in v with p(v) / p(A) (`belief` bounds it).
From answers alone, without the sets, less is known of A, and the greatest of these bounds holds. A list of
labels that was read from the table would link people: if nobody else's set has a label that somebody must
have, the last one is betrayed. So the list must be public.

**A changed value.** The new set is s(A), where s is drawn evenly from the injections of A into D that fix no
label (but those that stand for several values) and take the old true label to the new one. Now the *paths*
u, s(u) are what is possible. The set of pairs has the probability 1 / N, where N is the number of such
injections; with the path u for the true one, N depends on how many of the k - 1 others must not be fixed:
not those that stand for several values, nor the one that is u's new label. So the odds of two paths change by
at most N(k - 2 - m) / N(k - 1), where m labels stand for several values (`change_factor`).

The draws follow from a secret, the number of the value in its history, and nothing else (a stream of
SHAKE-256). So they need not be stored, and after a crash they are the same.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import GuaranteeError, ParameterError
from tarnkappe.gate.decision import DecisionRule
from tarnkappe.gate.knowledge import Integers
from tarnkappe.gate.strategy import AnswerProposal, ResultPart, Strategy, counted


class LabelSets(Strategy):
    """The sets of all values that were answered. See the text of this module.

    >>> sets = LabelSets()
    >>> sets.secret = b"for tests"
    >>> sorted(sets.drawn(number=0, true=2, labels=5, k=3).tolist())[:3].count(2)
    1
    """

    name: ClassVar[str] = "veil"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.secret = b""
        """From which the draws follow; set before it begins."""
        self.merged: frozenset[int] = frozenset()
        """Labels that stand for several values; set before it begins."""

    def _start(self) -> None:
        if self.knowledge.has_floors:
            raise ParameterError(
                "gate.sets-labels-need-list",
                "sets of labels need a list that is public: one of the table links people",
            )
        if self.knowledge.values < self.k:
            raise GuaranteeError(
                "gate.values-nobody-can-keep",
                "there {values:is|are} {values} {values:value|values}: nobody can keep {k}",
                values=self.knowledge.values,
                k=self.k,
            )
        self.sets: Integers = np.zeros((0, self.k), dtype=np.int32)
        """The set of each tuple, the true label first. Only the owner may see it."""
        self.changes: Integers = np.zeros(0, dtype=np.int32)
        """How often the value of the person had changed, for each tuple."""

    # ----------------------------------------------------------------------------------------------- drawing

    def drawn(self, number: int, true: int, labels: int, k: int) -> Integers:
        """The set of a new value: the true label, then k - 1 others, every choice of them equally likely."""
        order = np.argsort(self._stream(number, 0, labels), kind="stable").astype(np.int32)
        return np.concatenate([[true], order[order != true][: k - 1]]).astype(np.int32)

    def moved(self, number: int, old: Integers, new: int, labels: int) -> Integers:
        """The set after a change: an injection of the old set, whose first label goes to the new one, that
        fixes no label but merged ones; each is equally likely. Those that fix one are drawn again.
        """
        fixed = np.isin(old, list(self.merged))
        attempt = 0
        while True:
            order = np.argsort(self._stream(number, attempt, labels), kind="stable").astype(np.int32)
            found = np.concatenate([[new], order[order != new][: len(old) - 1]]).astype(np.int32)
            if not ((found == old) & ~fixed).any():
                return found
            attempt += 1

    def _stream(self, number: int, attempt: int, length: int) -> NDArray[np.uint64]:
        """Secret numbers of a tuple, as random as SHAKE-256."""
        seed = b"%s|%d|%d" % (self.secret, number, attempt)
        return np.frombuffer(hashlib.shake_256(seed).digest(8 * length), dtype=np.uint64)

    # --------------------------------------------------------------------------------------------- answering

    def note_change(self, old: int, new: int, true: int, label: int) -> None:
        """The person of a tuple has another value now.

        Args:
            old: the tuple.
            new: the tuple of the new value.
            true: the label of the old value.
            label: of the new one.
        """
        assert old < len(self.sets), "only who was answered has a value that can change"
        assert new == len(self.sets), "the new value has the next number"
        assert self.sets[old, 0] == true, "the true label comes first"
        moved = self.moved(new, self.sets[old], label, self.knowledge.values)
        self.sets = np.vstack([self.sets, moved])
        self.changes = np.append(self.changes, self.changes[old] + 1).astype(np.int32)

    def answer(self, members: Integers, truth: Integers) -> Integers:
        """How often each label is in the answer for some tuples."""
        self._draw_up_to(len(truth) - 1, truth)
        return counted(self.sets[members].ravel(), self.knowledge.values)

    def _draw_up_to(self, last: int, truth: Integers) -> None:
        first = len(self.sets)
        if last < first:
            return
        labels, k = self.knowledge.values, self.k
        new = [self.drawn(number, int(truth[number]), labels, k) for number in range(first, last + 1)]
        self.sets = np.vstack([self.sets, *new])
        self.changes = np.append(self.changes, np.zeros(last + 1 - first, dtype=np.int32)).astype(np.int32)

    @property
    def largest_odds(self) -> Fraction:
        """By how much the odds of two possibilities can have changed, at most: a factor for each change."""
        most = int(self.changes.max()) if len(self.changes) else 0
        return change_factor(self.knowledge.values, self.k, len(self.merged)) ** most

    # ----------------------------------------------------------------------------- the contract of strategies

    def propose(self, members: Integers, truth: Integers, may_add: bool) -> AnswerProposal | None:
        if not may_add:
            raise ParameterError(
                "gate.sets-labels-answered-whole", "sets of labels are answered whole: values are added"
            )
        return AnswerProposal((ResultPart(members, self.answer(members, truth)),))

    def accept(self) -> None:
        """The sets stay."""

    def reject(self) -> None:
        """Who is new was not answered: the numbers will be those of others."""
        known = self.knowledge.tuples
        self.sets, self.changes = self.sets[:known], self.changes[:known]

    def degrees(self) -> Integers:
        return np.full(self.knowledge.tuples, self.k, dtype=np.int32)

    def follow(self, truth: Integers) -> None:
        knowledge = self.knowledge
        newest = knowledge.results - 1
        if (self.answer(knowledge.members(newest), truth) != knowledge.counts(newest)).any():
            raise GuaranteeError(
                "gate.answer-not-sum-sets", "an answer is not the sum of the sets of its people"
            )

    def state(self) -> dict[str, NDArray[Any]]:
        return {"worlds": self.sets.T, "changes": self.changes}

    def restore(self, truth: Integers, state: Mapping[str, NDArray[Any]]) -> None:
        sets = np.asarray(state["worlds"], dtype=np.int32).T
        if sets.shape != (len(truth), self.k) or (sets[:, 0] != truth).any():
            raise GuaranteeError("gate.saved-sets-not-belong", "the saved sets do not belong to this history")
        self.sets, self.changes = sets, np.asarray(state["changes"], dtype=np.int32)
        knowledge = self.knowledge
        for result in knowledge.answers:
            said = counted(sets[knowledge.members(result)].ravel(), knowledge.values)
            if (said != knowledge.counts(result)).any():
                raise GuaranteeError(
                    "gate.answer-not-sum-sets", "an answer is not the sum of the sets of its people"
                )


class SumOfSets(DecisionRule):
    """Answer everything with the sets of its people. See the text of this module."""

    def decide(
        self, strategy: Strategy, members: Integers, truth: Integers, at_least: int = 0
    ) -> AnswerProposal | None:
        return strategy.propose(members, truth, may_add=True)


def injections(labels: int, k: int, other: int) -> int:
    """How many injections of k labels take the first to a given one and fix none of `other` labels, whose
    images are not that one.

    >>> injections(5, 3, 1), injections(5, 3, 2)
    (9, 7)
    """
    return sum(
        (-1) ** i * math.comb(other, i) * math.factorial(labels - 1 - i) // math.factorial(labels - k)
        for i in range(other + 1)
    )


def change_factor(labels: int, k: int, merged: int = 0) -> Fraction:
    """By how much one change of a value can change the odds of two paths, at most.

    >>> change_factor(5, 3), change_factor(8, 3), change_factor(4, 2), change_factor(20, 5)
    (Fraction(9, 7), Fraction(36, 31), Fraction(3, 2), Fraction(79136, 75009))
    """
    if k < 2:
        return Fraction(1)
    most, least = injections(labels, k, max(0, k - 2 - merged)), injections(labels, k, k - 1)
    return Fraction(most, least) if least else Fraction(most)
