"""Refusals that tell nothing: the gate refuses whenever *some* table that is possible would be betrayed.

Such a decision is *simulatable*: the analyst could make it himself, from what he already knows. So a refusal
tells him nothing, and an answer tells him what it says and no more.

Looking at all possible tables is hopeless in general, but easy as long as answers only ever divide people.
The gate begins with the spread of the sensitive values in the whole table, which everybody is told: one
*cell* of people whose values are known together, and of nobody alone. A query

- that consists of whole cells can be answered: its values are known already;
- that divides one cell (and may have others whole) tells the values of both halves, and both become cells;
- that divides more cells than one is refused.

A cell has the values c; dividing it off a set of s people is safe in every possible table if and only if
any s of these values, and any |c| - s of them, have at least k different ones: that is, if s and |c| - s
are both larger than the k - 1 most frequent values of c together.

**Claim.** Whoever sees everything the gate said, refusals included, and knows this rule, is left with
exactly the tables that fit the published results, and in these everybody has at least k values.

**Proof.** The decision uses the cells and the query, and no true value; the cells follow from the published
results, since the values of the one divided part are those of the answer less those of the whole cells. So
in every table that fits the results the gate would have said the same. What fits is every way to deal out
the values of each cell to its people, so somebody can have every value of his cell, and those are at least
k.    []

Without the spread in the whole table to begin with nothing could ever be answered: all people of a query
might have the same value. For the same reason people who came later, or whose value changed, are in no
answer.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.errors import GuaranteeError
from tarnkappe.gate.decision import DecisionRule
from tarnkappe.gate.knowledge import Integers, Knowledge
from tarnkappe.gate.strategy import AnswerProposal, Strategy


class DivideOnly(DecisionRule):
    """Answer only what divides one cell of people safely in every possible table. See this module's text."""

    def __init__(self) -> None:
        self._cells = KnownGroups()

    def decide(
        self, strategy: Strategy, members: Integers, truth: Integers, at_least: int = 0
    ) -> AnswerProposal | None:
        knowledge = strategy.knowledge
        if self.foresees_refusal(knowledge, members, strategy.k):
            return None
        proposal = strategy.propose(members, truth, may_add=False)
        if proposal is None:
            if knowledge.results:
                raise GuaranteeError(
                    "gate.strategy-gave-up-answer",
                    "the strategy gave up on an answer that is safe: use the strategy 'exact'",
                )
            raise GuaranteeError(
                "gate.whole-table-fewer-different",
                "the whole table has fewer than {k} different values",
                k=strategy.k,
            )
        return proposal

    def foresees_refusal(self, knowledge: Knowledge, members: Integers, k: int) -> bool:
        self._cells.follow(knowledge)
        return knowledge.results > 0 and not self._cells.allow(members, k)


class KnownGroups:
    """The people whose values are known together, as they follow from published results."""

    def __init__(self) -> None:
        self._seen = 0
        self._cell: Integers = np.empty(0, dtype=np.int32)
        self._values: list[Integers] = []

    def follow(self, knowledge: Knowledge) -> None:
        """Take over the results that were published since the last time."""
        for result in range(self._seen, knowledge.results):
            members, counts = knowledge.members(result), knowledge.counts(result)
            if result == 0:
                self._cell = np.zeros(len(members), dtype=np.int32)
                self._values = [counts]
            else:
                self._divide(members, counts)
        self._seen = knowledge.results

    def allow(self, members: Integers, k: int) -> bool:
        """Whether people may be returned together, whatever their values are."""
        if members.max() >= len(self._cell):
            return False  # somebody who came later
        divided = self._divided(members)
        if len(divided) != 1:
            return not divided
        cell, inside = divided[0]
        values = self._values[cell]
        most = int(np.sort(values)[::-1][: k - 1].sum())
        return min(inside, int(values.sum()) - inside) > most

    def _divided(self, members: Integers) -> list[tuple[int, int]]:
        """The cells of which some are asked for and some are not, and how many are."""
        inside = np.bincount(self._cell[members], minlength=len(self._values))
        return [
            (cell, int(asked))
            for cell, asked in enumerate(inside)
            if 0 < asked < int(self._values[cell].sum())
        ]

    def _divide(self, members: Integers, counts: Integers) -> None:
        for cell, _ in self._divided(members):
            whole = [other for other in np.unique(self._cell[members]).tolist() if other != cell]
            width = len(counts) - len(self._values[cell])  # values that turned up later
            self._values = [np.pad(values, (0, max(0, width))) for values in self._values]
            part = counts - sum((self._values[other] for other in whole), np.zeros_like(counts))
            self._values[cell] = self._values[cell] - part
            self._values.append(part.astype(np.int32))
            self._cell[members[self._cell[members] == cell]] = len(self._values) - 1
