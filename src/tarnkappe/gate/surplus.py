"""Artificial values in every answer, so that needing some is nothing special.

The attacker knows the quasi-identifiers of everybody, hence who is in each answer and how many of its
values are artificial. He knows this program. He does not know the gate's random numbers.

**The rule.** For a query q of n people with the real values r, after the published history H:

1. The size. m = floor(n) + G, where floor is fixed by the policy and G is geometric: any size from the
   floor on can come up, whatever the table says.
2. The draw. S is uniform among the multisets of m values out of L(H, q), the values that the results so far
   leave to the people of q; for somebody new these are all values. If H and (q, r + S) leave everybody k
   possible values, r + S is published. Otherwise S is drawn again.
3. If that fails too often, part of S is given up for the values that are needed, and, if they are more than
   m, the answer grows.

**Claim.** Let K(H) be the tables that fit the published results. Whoever sees everything the gate said, and
knows the rule, is left with exactly K(H): in every table of K(H), what happened could have happened.

**Proof.** By induction over the answers. Let P be published for q after H, and w be in K(H, (q, P)), with
the values r' for q. By hypothesis w could have led to H. Since w fits P, r' is contained in P; let S' = P -
r'. It has m' = |P| - n values, and m' is at least floor(n), since no step publishes fewer. So m' comes up
in step 1 with a probability above 0: in the table w as in the true one, since floor and G do not depend on
the table. Every value of P is in L(H, q), since r is, and since steps 2 and 3 take values from nowhere
else; so S' comes up in step 2 with a probability above 0. Whether H and (q, r' + S') = (q, P) leave
everybody k values depends on H and P alone, and in the true table they did. So P is published in w with a
probability above 0.    []

Nothing was assumed about what the attacker knows of the number of artificial values, so telling it costs
nothing here. The floor need not be large for the claim, but for this:

**How much more likely.** In step 2 every surplus that would do is equally likely, and so P is 1 / Z(w)
likely in w, where Z(w) is the number of those that would do there. The odds of two possible tables are
changed by no more than the ratio of their Z, and not at all if any surplus would do in both, as is usual for
answers of more than a few people. Step 3 puts values in by hand: the claim holds, but there is no such bound.
`mended` counts these answers; if there are many, the floor is too low.

A draw that fails is never tried again in another form: the solver says which labels were lacking, and draws
with no more of them are turned down at a glance (`ConflictSet.excludes`). They would have failed as well, so
the rule is the same, only faster, and few answers need step 3.

**Its limits.** The test in step 2 must be exact. With the strategy `exact` it is. `witness-pool` may give
up on a draw that would have done (`unproven` counts how often). A table is then excluded only if the search
gives up on P in this table whatever its random numbers are, which are secret, although in the true table it
did not. Other strategies turn down by rules that depend on the true values, and a policy cannot name them.
The values that a column may have are presumed to be public, and so is who was inserted, deleted or changed,
and when; `labels` and `roster` see to it that this tells nothing.
"""

from __future__ import annotations

import math
import secrets
from random import Random

import numpy as np

from tarnkappe.gate.decision import DecisionRule
from tarnkappe.gate.hitting_set import ConflictSet
from tarnkappe.gate.knowledge import Booleans, Integers, Knowledge
from tarnkappe.gate.policy import Surplus
from tarnkappe.gate.signature_check import Unlike
from tarnkappe.gate.strategy import AnswerProposal, ResultPart, Strategy, counted

DRAWS, TRIES = 200, 4
"""How many draws are turned down at a glance, and how many after a test, before one is mended."""


class Coins:
    """Random numbers that nobody else knows.

    >>> coins = Coins(Random(1))
    >>> sorted(coins.multiset([4, 7], 3)) in [[4, 4, 4], [4, 4, 7], [4, 7, 7], [7, 7, 7]]
    True
    """

    def __init__(self, random: Random | None = None) -> None:
        self._random = secrets.SystemRandom() if random is None else random

    def beyond(self, mean: float) -> int:
        """A geometric number: each is mean / (1 + mean) times as likely as the one before it."""
        return int(math.log(1.0 - self._random.random()) / math.log(mean / (1.0 + mean)))

    def multiset(self, labels: list[int], size: int) -> list[int]:
        """A multiset of this size, each with the same probability."""
        bars = sorted(self._random.sample(range(len(labels) + size - 1), size)) if size else []
        return [labels[bar - place] for place, bar in enumerate(bars)]

    def some(self, values: list[int], size: int) -> list[int]:
        """Some of the values."""
        return self._random.sample(values, size)


class Veiled(DecisionRule):
    """Answer everything, with surplus values that hide which ones were needed. See the text of this module.

    Attributes:
        mended: how many answers needed step 3.
        unproven: how many draws were turned down because the strategy gave up, not because they had to be.
    """

    def __init__(self, surplus: Surplus, coins: Coins | None = None, unlike: Unlike | None = None) -> None:
        self.surplus, self.coins, self.unlike = surplus, coins or Coins(), unlike
        self.mended = self.unproven = 0

    def floor(self, people: int, k: int) -> int:
        """How many artificial values an answer has at least; it depends on nothing secret."""
        least = k if self.surplus.least is None else self.surplus.least
        return max(least, math.ceil(self.surplus.share * people))

    def decide(
        self, strategy: Strategy, members: Integers, truth: Integers, at_least: int = 0
    ) -> AnswerProposal | None:
        values = strategy.knowledge.values
        could = possible_values(strategy.knowledge, members)
        labels = np.flatnonzero(could.any(axis=0)).tolist()
        real = counted(truth[members], values)
        size = self.floor(len(members), strategy.k) + self.coins.beyond(self.surplus.spread)
        size = max(size, at_least - len(members))
        drawn, tries = self.coins.multiset(labels, size), TRIES
        turned_down: list[tuple[Integers, ConflictSet]] = []
        for _ in range(DRAWS):
            counts = real + counted(np.array(drawn, dtype=np.int32), values)
            if ((could & (counts > 0)).sum(axis=1) >= strategy.k).all() and not any(
                reason.excludes(counts - before) for before, reason in turned_down
            ):  # else no need to ask
                proposal = strategy.complete(members, truth, counts, may_add=False)
                if proposal is not None and self._enough(strategy, members, counts, truth):
                    return proposal
                tries -= 1
                self.unproven += strategy.gave_up
                if proposal is None:
                    turned_down += [(counts, reason) for reason in strategy.reasons]
                if not tries:
                    break
            drawn = self.coins.multiset(labels, size)
        self.mended += 1
        return self._mended(strategy, members, truth, real, labels, drawn)

    def _mended(
        self,
        strategy: Strategy,
        members: Integers,
        truth: Integers,
        real: Integers,
        labels: list[int],
        drawn: list[int],
    ) -> AnswerProposal | None:
        """Give up as much of the surplus for the values that are needed as it takes, by halves."""
        values, kept = strategy.knowledge.values, len(drawn)
        while True:
            kept //= 2
            some = self.coins.some(drawn, kept)
            counts = real + counted(np.array(some, dtype=np.int32), values)
            proposal = strategy.complete(members, truth, counts, may_add=True)
            if proposal is None:
                return None
            counts = proposal.parts[0].counts
            missing = len(members) + len(drawn) - int(counts.sum())
            if missing >= 0 or not kept:
                break
        while True:
            fill = self.coins.multiset(labels, max(0, missing))
            full = counts + counted(np.array(fill, dtype=np.int32), values)
            if self._enough(strategy, members, full, truth):
                return AnswerProposal((ResultPart(members, full),), proposal.least)
            missing = max(1, 2 * missing)  # with more and more values everybody keeps all that he had

    def _enough(self, strategy: Strategy, members: Integers, counts: Integers, truth: Integers) -> bool:
        """Whether the values that everybody keeps are also unlike each other."""
        return self.unlike is None or self.unlike.holds(strategy.knowledge, members, counts, truth)


def possible_values(knowledge: Knowledge, members: Integers) -> Booleans:
    """Which values the results so far leave to each of some tuples at a glance; equal ones once."""
    cell = knowledge.view.cell
    left = np.ones((len(members), knowledge.values), dtype=np.bool_)
    for row, member in zip(left, members.tolist(), strict=True):
        if member < knowledge.tuples:
            row[:] = (cell[knowledge.results_of(member)] >= 0).all(axis=0)
    return np.unique(left, axis=0)
