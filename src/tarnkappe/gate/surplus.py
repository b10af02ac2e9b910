"""Artificial values in every answer, so that needing some is nothing special.

The attacker knows the quasi-identifiers of everybody, hence who is in each answer and how many of its values
are artificial. He knows this program, who came, went or changed, where the list of labels comes from, and the
values that the policy declares as known. He does not know the gate's random numbers.

**The rule.** For a query q of n people with the real values r, after all that was published, H:

1. The size. m = floor(n) + G, where floor is fixed by the policy and G is geometric: any size from the
   floor on can come up, whatever the table says.
2. The draw. S is a multiset of m values out of L, the values that H leaves to the people of q; for somebody
   new these are all values. Each multiset can come up: all equally likely (*even*), or each value drawn by
   itself (*independent*), as n and the number of labels say. P = r + S. This is the only use of the truth.
3. The search. Q is P without a random number of random values, mostly none. With H, q, Q, the public pool and
   coins, worlds are looked for that fit H and Q. What is found may depend on the time that there was.
4. Growth. Worlds of the pool that fit P are added to those that were found. As long as somebody has fewer
   than k labels in them, P gets the values that one more world of the pool needs. P is published, and the
   worlds that fit it are the next pool.

**Claim.** Let K(H) be the worlds that fit the published results, the changes, the floors and the known values
(`knowledge`). Whoever sees everything the gate said, the pool included, and knows the rule, is left with
exactly K(H): in every world of K(H), what happened could have happened.

**Proof.** By induction over the answers. Let P be published for q after H, and let w be in K(H, (q, P)),
with the values r' for q. By hypothesis w could have led to H and to the pool; changes and floors are
possible in w as they are part of K. Since w fits P, r' is contained in P; let S' = P - r'. It has |P| - n
values, at least floor(n), and all of them are in L: r and S are, and growth takes values that a world of
K(H) gives to somebody of q. So in w the size and S' come up with a probability above 0, and the draw gives
P at once. Let Q be what was searched with in truth. It is a part of the P before growth, hence of P, and
has at least n values: in w it comes up as well. With the same coins the search finds the same. Now the
worlds of the pool that fit P are in w at once what they were in truth at the end. So everybody has k
labels, nothing grows, P is published, and the next pool is the same.    []

The rule of simulatable auditing (Kenthapadi, Mishra, Nissim 2005, doi:10.1145/1065167.1065183): what is
decided after the draw follows from what the asker could know. Therefore the search may be cut off at any
time, by the clock too: how fast the machine was is one more coin.

**How much more likely** a world becomes is bounded for answers that did not grow. If each multiset of a size
is equally likely, the odds of two worlds that both can have given P stay as they were; if values are drawn
one by one, a world counts as often as there are ways to deal the values of P to the people. Growth has no
such bound; `grown` counts these answers, for the owner.
"""

from __future__ import annotations

import math
import secrets
from random import Random

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.gate.decision import DecisionRule
from tarnkappe.gate.knowledge import Integers
from tarnkappe.gate.policy_columns import Surplus
from tarnkappe.gate.public_pool import PublicPool
from tarnkappe.gate.strategy import AnswerProposal, ResultPart, Strategy, counted
from tarnkappe.gate.world_search import could_have


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

    def independent(self, labels: list[int], size: int) -> list[int]:
        """Labels that are drawn one by one."""
        return self._random.choices(labels, k=size)

    def left_out(self, counts: Integers, most: int) -> Integers:
        """Which values the search does without: none half of the time, and never more than so many."""
        number = min(self.beyond(1.0), most)
        places = self._random.sample(range(int(counts.sum())), number) if number else []
        values = np.searchsorted(np.cumsum(counts), np.array(places, dtype=np.int64), side="right")
        return counted(values.astype(np.int32), len(counts))


class Veiled(DecisionRule):
    """Answer everything, with surplus values that hide which ones were needed. See the text of this module.

    Attributes:
        grown: how many answers needed more than was drawn. Only the owner may know.
    """

    def __init__(self, surplus: Surplus, coins: Coins | None = None) -> None:
        self.surplus, self.coins = surplus, coins or Coins()
        self.grown = 0

    def floor(self, people: int, k: int, labels: int) -> int:
        """How many artificial values an answer has at least; it depends on nothing secret."""
        least = k if self.surplus.least is None else self.surplus.least
        root = math.ceil(self.surplus.root * math.sqrt(people * labels))
        return max(least, min(math.ceil(self.surplus.share * people), root))

    def is_independent(self, people: int, k: int, labels: int) -> bool:
        """Whether each surplus value is drawn by itself; it depends on nothing secret either."""
        if self.surplus.draw == "auto":
            return self.floor(people, k, labels) >= 2 * labels
        return self.surplus.draw == "independent"

    def decide(
        self, strategy: Strategy, members: Integers, truth: Integers, at_least: int = 0
    ) -> AnswerProposal | None:
        if not isinstance(strategy, PublicPool):
            raise ParameterError(
                "gate.strategy-adds-only-what-needed-takes",
                "the strategy '{strategy}' adds only what is needed: it takes no surplus",
                strategy=strategy.name,
            )
        knowledge = strategy.knowledge
        labels = could_have(knowledge, members)
        public = len(members), strategy.k, len(labels)
        size = max(self.floor(*public) + self.coins.beyond(self.surplus.spread), at_least - len(members))
        draw = self.coins.independent if self.is_independent(*public) else self.coins.multiset
        drawn = draw(labels, size)
        counts = counted(truth[members], knowledge.values) + counted(
            np.array(drawn, dtype=np.int32), knowledge.values
        )
        strategy.search(members, counts - self.coins.left_out(counts, size))
        published = strategy.grow(counts)
        self.grown += bool((published > counts).any())
        return AnswerProposal((ResultPart(members, published),))
