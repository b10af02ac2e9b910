"""One of three computing parties: bits shared among them, AND gates, and openings.

A bit x is x_0 ^ x_1 ^ x_2, each of them uniformly random; computing party i holds x_i and x_{i+1} (indices
modulo 3). XOR, NOT and constants are local. AND costs one bit sent by each party and one round (Araki,
Furukawa, Lindell, Nof, Ohara 2016, doi:10.1145/2976749.2978331). Sixty-four bits are one word.

What a party receives before an opening is masked by a key stream that it does not have, so it looks the same
whatever the data are. Any two of the three can read everything together.

Explained in docs/explanation/federation.md.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Generator, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

import numpy as np

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.oblivious.streams import KeyStream, Words
from tarnkappe.native import compiled

COMPUTING = 3
DIGEST_WORDS = 4

Shared = Words
"""Two of the three shares of an array of words, along the first axis: the own one and the next one."""

INPUT, GATES, DIGEST, SHUFFLE = "input", "gates", "digest", "shuffle"


class Opening(StrEnum):
    """All that is ever opened."""

    PERSONS = "open persons"
    """Whether somebody is known to several sites."""
    TESTS = "open tests"
    """Whether some nodes of the lattice satisfy."""
    LEVELS = "open levels"
    """Which node is released, or that there is none."""
    CLASSES = "open classes"
    """Which classes of that node are released."""
    ROWS = "open rows"
    """The rows of the release, in an order that nobody knows."""


@dataclasses.dataclass(frozen=True, eq=False)
class MessageRound:
    """One round: what a party sends, and what it waits for.

    Attributes:
        send: receiver, kind and words of each message.
        expect: sender, kind and number of words of each message that must come.
    """

    send: Sequence[tuple[str, str, Words]]
    expect: Sequence[tuple[str, str, int]]


Result = TypeVar("Result")
Steps = Generator[MessageRound, list[Words], Result]
"""A computation that stops at every round and goes on with the words that came."""


@compiled
def masked_and(x: Words, y: Words, own_mask: Words, next_mask: Words, z: Words) -> None:
    """One party's share of x & y: three of the nine products, and masks that cancel over the parties.

    One pass over the words instead of six: the arrays of a large test do not fit the cache.
    """
    # Written without a branch: what a party does must not depend on the bits, not even in its time.
    for i in range(z.size):
        z[i] = (x[0, i] & (y[0, i] ^ y[1, i])) ^ (x[1, i] & y[0, i]) ^ own_mask[i] ^ next_mask[i]


class Computer:
    """The engine at one computing party.

    Every operation takes the next stream number at all three parties alike, since all run the same steps.

    Args:
        names: the three computing parties.
        name: which of them this is.
        own_key: the key that it shares with the party before it.
        next_key: the key that it shares with the party after it.
    """

    def __init__(self, names: Sequence[str], name: str, own_key: bytes, next_key: bytes) -> None:
        self.names = tuple(names)
        self.index = self.names.index(name)
        self.before = self.names[self.index - 1]
        self.after = self.names[(self.index + 1) % COMPUTING]
        self.gates = 0
        """How many words of AND gates were computed."""
        self._own = KeyStream(own_key)
        self._next = KeyStream(next_key)
        self._number = -1
        self._seeds: dict[str, dict[int, KeyStream]] = {}
        self._inputs: dict[str, int] = {}

    # ------------------------------------------------------------------ local

    def public(self, words: Words) -> Shared:
        """Words that everybody knows, as shares."""
        zero = np.zeros_like(words)
        return np.stack([words if self.index == 0 else zero, words if self.index == COMPUTING - 1 else zero])

    def invert(self, x: Shared) -> Shared:
        """NOT: the first share is flipped, by the two parties that hold it."""
        if self.index == 1:
            return x
        held = 0 if self.index == 0 else 1
        flipped = x.copy()
        np.invert(flipped[held], out=flipped[held])
        return flipped

    # ------------------------------------------------------------------ rounds

    def both(self, x: Shared, y: Shared) -> Steps[Shared]:
        """AND of two arrays of the same shape, all in one round."""
        z = np.empty(x.shape, np.uint64)
        size = z[0].size
        number = self._next_number()
        flat = z.reshape(2, size)
        masked_and(
            np.ascontiguousarray(x).reshape(2, size),
            np.ascontiguousarray(y).reshape(2, size),
            self._own.words(number, size),
            self._next.words(number, size),
            flat[0],
        )
        self.gates += size
        (flat[1],) = yield MessageRound([(self.before, GATES, flat[0])], [(self.after, GATES, size)])
        return z

    def take_seed(self, site: str, share: int, seed: bytes) -> None:
        """Keep what a site that does not compute expands its shares from."""
        self._seeds.setdefault(site, {})[share] = KeyStream(seed)

    def inputs(self, own: Words | None, name: str, sizes: Mapping[str, int]) -> Steps[dict[str, Shared]]:
        """The inputs of all sites as shares, in one round.

        Args:
            own: the words of this party; None if it has no data.
            name: its name.
            sizes: how many words each site shares.
        """
        number = self._next_number()
        send, expect = [], []
        shares: dict[str, list[Words | None]] = {}
        for site, size in sizes.items():
            held: list[Words | None] = [None, None]
            if site == name:
                assert own is not None
                mask = self._own.words(number, size)
                held = [mask, own ^ mask]
                send.append((self.after, INPUT, own ^ mask))
            elif site == self.after:  # it masks with the common key, and the share between is zero
                held = [np.zeros(size, np.uint64), self._next.words(number, size)]
            elif site == self.before:
                held = [None, np.zeros(size, np.uint64)]
                expect.append((site, INPUT, size))
            else:
                count = self._inputs[site] = self._inputs.get(site, -1) + 1
                for place in range(2):
                    stream = self._seeds[site].get((self.index + place) % COMPUTING)
                    held[place] = None if stream is None else stream.words(count, size)
                if self.index != 0:
                    expect.append((site, INPUT, size))
            shares[site] = held
        arrived = yield MessageRound(send, expect)
        came = {sender: words for (sender, _, _), words in zip(expect, arrived, strict=True)}
        return {
            site: np.stack([came[site] if words is None else words for words in held])
            for site, held in shares.items()
        }

    def open(self, x: Shared, why: Opening, receivers: Sequence[str], name: str) -> Steps[Words | None]:
        """The words themselves, for those who may know them.

        The missing share comes from one holder and its SHA-256 from the other, so that one party alone
        cannot change what is opened.
        """
        shape, size = x[0].shape, x[0].size
        own, following = (np.ascontiguousarray(share).reshape(size) for share in x)
        send: list[tuple[str, str, Words]] = []
        expect: list[tuple[str, str, int]] = []
        for receiver in receivers:
            if receiver == name:
                expect += [(self.after, why, size), (self.before, DIGEST, DIGEST_WORDS)]
            elif receiver == self.before:
                send.append((receiver, why, following))
            elif receiver == self.after:
                send.append((receiver, DIGEST, digest_of(own)))
            else:
                send += [(receiver, why, own), (receiver, DIGEST, digest_of(following))]
        arrived = yield MessageRound(send, expect)
        if not arrived:
            return None
        missing, digest = arrived
        require_same(missing, digest)
        return (own ^ following ^ missing).reshape(shape)

    def shuffle(self, rows: Shared) -> Steps[Shared]:
        """Rows in a random order: each of three permutations is unknown to one party, so all are to all."""
        for step in range(COMPUTING):
            rows = yield from self._permuted(rows, (self.index - step) % COMPUTING)
        return rows

    def _permuted(self, x: Shared, role: int) -> Steps[Shared]:
        """One step: the parties with the roles 0 and 1 permute, the one with the role 2 only draws masks."""
        drawing, masking = self._next_number(), self._next_number()
        count, size = len(x[0]), x[0].size
        fresh = np.empty_like(x)
        if role == 2:
            fresh[0] = self._own.words(masking, size).reshape(x[0].shape)
            fresh[1] = self._next.words(masking, size).reshape(x[0].shape)
            yield MessageRound([], [])
            return fresh
        held = x[0] ^ x[1] if role == 0 else x[1]
        seed, mask = (self._next, self._own) if role == 0 else (self._own, self._next)
        order = permutation(seed, drawing, count)
        masks = mask.words(masking, size).reshape(x[0].shape)
        mine = held[order] ^ masks
        other = self.after if role == 0 else self.before
        (theirs,) = yield MessageRound([(other, SHUFFLE, mine.reshape(size))], [(other, SHUFFLE, size)])
        both = mine ^ theirs.reshape(x[0].shape)
        fresh[0], fresh[1] = (masks, both) if role == 0 else (both, masks)
        return fresh

    def _next_number(self) -> int:
        self._number += 1
        return self._number


def permutation(stream: KeyStream, number: int, count: int) -> Words:
    """A uniform permutation of so many rows, the same for both who have the key.

    Rows are sorted by random words; if two were equal, their order would not be random, so all are refused.
    """
    keys = stream.words(number, count)
    order = np.argsort(keys, kind="stable")
    if count > 1 and (np.diff(keys[order]) == 0).any():
        raise ProtocolError(
            "federation.random-order-rows-not-random",
            "the random order of the rows was not random: the run ends; propose it anew",
        )
    return order.astype(np.uint64)


def digest_of(words: Words) -> Words:
    """The SHA-256 of some words, as words."""
    return np.frombuffer(hashlib.sha256(np.ascontiguousarray(words).data).digest(), np.uint64)


def require_same(words: Words, digest: Words) -> None:
    """Refuse an opened share on which its two holders do not agree."""
    if not np.array_equal(digest_of(words), digest):
        raise ProtocolError(
            "federation.two-computing-parties-opened",
            "two computing parties opened different shares: the run ends",
        )
