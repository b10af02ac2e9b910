"""Three computing parties in one process: circuits without messages, and tables cut for an oblivious run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tarnkappe.federation.contract import Partitioning, Protocol, Reveal
from tarnkappe.federation.oblivious import gates
from tarnkappe.federation.oblivious.common_labels import with_common_labels
from tarnkappe.federation.oblivious.computer import Computer, MessageRound, Shared, Steps
from tarnkappe.federation.oblivious.party import ObliviousParty
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model
from tarnkappe.table import Table
from tests.federation.federations import HELPER, Federation, Whole, federate

NAMES = ("A", "B", "C")


class Three:
    """Three engines that hand each other their words at once.

    Attributes:
        received: all words that each party has received, in order.
        rounds: how many rounds there were.
    """

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        keys = [rng.bytes(16) for _ in NAMES]
        self.parties = [Computer(NAMES, name, keys[i], keys[(i + 1) % 3]) for i, name in enumerate(NAMES)]
        self.rng = rng
        self.received: dict[str, list[np.ndarray]] = {name: [] for name in NAMES}
        self.sizes: list[tuple[str, str, str, int]] = []
        self.rounds = 0

    def share(self, words: np.ndarray) -> list[Shared]:
        """Uniformly random shares of words, two for each party."""
        first, second = (self.rng.integers(0, 2**64, words.shape, np.uint64) for _ in range(2))
        three = [first, second, words ^ first ^ second]
        return [np.stack([three[i], three[(i + 1) % 3]]) for i in range(3)]

    def numbers(self, numbers: Sequence[int], bits: int) -> list[Shared]:
        """Numbers as shares of planes, one a lane."""
        planes = np.array([[n >> bit & 1 for n in numbers] for bit in range(bits)], np.uint8)
        return self.share(gates.packed(planes.reshape(bits, len(numbers))))

    def run(self, program: Callable[..., Steps[Any]], *inputs: Sequence[Any]) -> list[Any]:
        """What the program gives at each of the three parties; an input is given as three things."""
        steps = [program(c, *(each[i] for each in inputs)) for i, c in enumerate(self.parties)]
        answers: list[list[np.ndarray] | None] = [None] * 3
        results: list[Any] = [None] * 3
        running = {0, 1, 2}
        while running:
            asked: dict[int, MessageRound] = {}
            for i in sorted(running):
                try:
                    answer = answers[i]
                    asked[i] = next(steps[i]) if answer is None else steps[i].send(answer)
                except StopIteration as end:
                    results[i] = end.value
                    running.discard(i)
            self.rounds += bool(asked)
            posted = {
                (NAMES[i], to, kind): words for i, each in asked.items() for to, kind, words in each.send
            }
            self.sizes += [(*key, len(words)) for key, words in sorted(posted.items())]
            for i, each in asked.items():
                answers[i] = [posted[sender, NAMES[i], kind] for sender, kind, _ in each.expect]
                self.received[NAMES[i]] += [np.array(words) for words in answers[i] or []]
        return results

    def plain(self, shares: Sequence[Shared]) -> np.ndarray:
        """The words that shares stand for; the two holders of each must have the same."""
        for i in range(3):
            assert np.array_equal(shares[i][1], shares[(i + 1) % 3][0])
        words: np.ndarray = shares[0][0] ^ shares[1][0] ^ shares[2][0]
        return words

    def read(self, shares: Sequence[Shared], lanes: int) -> list[int]:
        """The numbers that planes of shares stand for."""
        planes = gates.unpacked(self.plain(shares), lanes)
        return [sum(int(bit) << i for i, bit in enumerate(column)) for column in planes.T]

    def flags(self, shares: Sequence[Shared], lanes: int) -> list[bool]:
        """The bits of one plane."""
        return [bool(bit) for bit in gates.unpacked(self.plain(shares), lanes)]


@dataclasses.dataclass(frozen=True, eq=False)
class ObliviousFederation(Federation):
    """A federation whose parties compute on shared bits."""

    def participants(self, **options: Any) -> list[Any]:
        parties: list[Any] = [
            ObliviousParty(n, self.contract, None if t is None else Table(t), self.rules, **options)
            for n, t in self.tables.items()
        ]
        helper = self.contract.helper
        return parties + ([] if helper is None else [ObliviousParty(helper, self.contract, None, {})])


def obliviously(
    whole: Whole,
    models: Sequence[Model],
    loss: Loss,
    limit: float = 0.0,
    *,
    parties: int = 3,
    reveal: Reveal = Reveal.RESULT,
    seed: int = 0,
    insiders: int = 0,
    person: tuple[str, ...] = (),
) -> ObliviousFederation:
    """A whole table cut into rows of sites that compute on shared bits; two take a helper."""
    cut = federate(
        whole, Protocol.STAR, Partitioning.HORIZONTAL, models, loss, limit, parties=parties, seed=seed
    )
    contract = dataclasses.replace(
        cut.contract,
        protocol=Protocol.OBLIVIOUS,
        helper=HELPER if parties == 2 else None,
        reveal=reveal,
        insiders=insiders,
        person=person,
        weak_ciphers=False,
        counter_bits=3072,
    )
    return ObliviousFederation(with_common_labels(contract, whole.rules), cut.tables, whole.rules)
