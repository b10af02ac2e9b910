"""The attacker who knows the program: he runs the real gate on every table that could be the true one.

What is left to him are the tables in which the gate would have said (for gates with random numbers: could have
said) exactly what it said. Nothing here is simulated: it is the gate itself that answers, in every possible table.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

import numpy as np

from tarnkappe.gate import Gate, Population, Refusal
from tarnkappe.gate.knowledge import Integers
from tarnkappe.gate.surplus import Coins

World = dict[str, str]
Said = tuple[str, ...] | None
"""The values of an answer; None for a refusal."""
Transcript = list[tuple[tuple[str, ...], Said]]


class Scripted(Coins):
    """Random numbers that fell just so."""

    def __init__(self) -> None:
        super().__init__()
        self.beyond_floor = 0
        self.drawn: list[int] = []
        self.searched_with: Integers = np.zeros(0, dtype=np.int32)

    def beyond(self, mean: float) -> int:
        return self.beyond_floor

    def multiset(self, labels: list[int], size: int) -> list[int]:
        assert size == len(self.drawn), "the size of the surplus does not depend on the table"
        assert set(self.drawn) <= set(labels), "these values could not have been drawn"
        return self.drawn

    def left_out(self, counts: Integers, most: int) -> Integers:
        """What the search did without in truth; it must be able to fall so here."""
        out = counts - self.searched_with
        assert (out >= 0).all(), "the search cannot have seen this"
        assert int(out.sum()) <= most, "the search cannot have seen so little"
        return out


def worlds(people: Sequence[str], values: Sequence[str]) -> Iterator[World]:
    """All tables."""
    for secrets in itertools.product(values, repeat=len(people)):
        yield dict(zip(people, secrets, strict=True))


def fits(world: World, transcript: Transcript) -> bool:
    """Whether a table has the values that were published: all that the model of the attacker looks at."""
    return all(
        said is None or not Counter(world[person] for person in query) - Counter(said)
        for query, said in transcript
    )


def said_by(gate: Gate, queries: Sequence[tuple[str, ...]]) -> Transcript:
    """What a gate says."""
    said: Transcript = []
    for query in queries:
        answer = gate.ask(query)
        said.append((query, None if isinstance(answer, Refusal) else answer.blocks[0].values))
    return said


def left_by(
    transcript: Transcript, candidates: Iterator[World], gate_in: Callable[[World], Gate]
) -> list[World]:
    """The tables in which a gate without random numbers says the same."""
    queries = [query for query, _ in transcript]
    return [world for world in candidates if said_by(gate_in(world), queries) == transcript]


def could_have_said(
    world: World,
    transcript: Transcript,
    searched: Sequence[Integers],
    pools: Sequence[Integers],
    values: Sequence[str],
    gate_in: Callable[[World, Coins], Gate],
) -> bool:
    """Whether a gate with random numbers can say this in a table: let them fall as they must, and see.

    The coins of the search are those of the true table, and what it searched with is; after every answer, the pool
    must be the same as in truth.
    """
    coins = Scripted()
    gate = gate_in(world, coins)
    for (query, said), seen, pool in zip(transcript, searched, pools, strict=True):
        assert said is not None
        coins.searched_with = seen
        surplus = Counter(said) - Counter(world[person] for person in query)
        if len(said) - sum(surplus.values()) != len(query):
            return False
        coins.drawn = [values.index(label) for label in surplus.elements()]
        floor = gate.decision.floor(len(query), gate.k, len(values))  # type: ignore[attr-defined]
        coins.beyond_floor = len(coins.drawn) - floor
        if coins.beyond_floor < 0:
            return False
        answer = gate.ask(query)
        if isinstance(answer, Refusal) or answer.blocks[0].values != said:
            return False
        if not np.array_equal(gate.strategy.values, pool):  # type: ignore[attr-defined]
            return False
    return True


class Noted(Coins):
    """Random numbers that note what the search was given."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.searched: list[Integers] = []

    def left_out(self, counts: Integers, most: int) -> Integers:
        out = super().left_out(counts, most)
        self.searched.append(counts - out)
        return out


def kept(left: Sequence[World], people: Sequence[str]) -> dict[str, set[str]]:
    """Which values everybody can have."""
    return {person: {world[person] for world in left} for person in people}


def population(world: World, values: Sequence[str]) -> Population:
    """The gate's population for a table."""
    return Population(dict(world), values)
