"""A party of an oblivious run: it agrees on keys, takes its part in all steps, and gets the release.

Keys: two neighbours among the computing parties agree on one by X25519; a site that does not compute seals
two seeds for two of them each, so that none of the three gets more than two shares of its inputs.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tarnkappe.errors import AccessError
from tarnkappe.federation.arrow_wire import Tables
from tarnkappe.federation.ciphers import derive
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.engine import FederatedSolution
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.oblivious.common_labels import OwnData, RowFormat, common_labels
from tarnkappe.federation.oblivious.computer import (
    COMPUTING,
    DIGEST,
    GATES,
    INPUT,
    SHUFFLE,
    Computer,
    MessageRound,
    Opening,
    Steps,
)
from tarnkappe.federation.oblivious.persons import tags_of
from tarnkappe.federation.oblivious.plan import FoundRelease, ObliviousRun, RunShape
from tarnkappe.federation.oblivious.streams import KEY_SIZE, KeyStream, Words
from tarnkappe.federation.party_share import Rule, local_share
from tarnkappe.federation.result import outcome_of
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Table

OFFER, SEED, ROWS = "offer", "seed", "number of rows"
KINDS = (OFFER, SEED, ROWS, INPUT, GATES, DIGEST, SHUFFLE, *Opening)
WORDS = "words"
KEY_WORDS = SEALED_WORDS = 4
MOST_ROWS = 1 << 40


class ObliviousParty(Participant):
    """A site, or a helper that computes without data.

    Args:
        name: its name in the contract.
        contract: what all have agreed on.
        table: its data; a helper has none.
        hierarchies: how its columns generalize: those that the contract names, with all possible values.
        chance: the source of random orders.
    """

    def __init__(
        self,
        name: str,
        contract: Contract,
        table: Table | None,
        hierarchies: Mapping[str, Hierarchy | Rule],
        chance: Chance | None = None,
    ) -> None:
        super().__init__(name, contract, chance)
        self._own: OwnData | None = None
        if name != contract.helper:
            if table is None:
                raise AccessError(
                    "federation.no-data-say-input",
                    "'{name}' has no data: say [input] path in its configuration",
                    name=name,
                )
            labels = common_labels(contract, hierarchies)
            share = local_share(table, name, contract, hierarchies)
            self._own = OwnData(contract, share, labels, tags_of(table, contract))
        self._private = X25519PrivateKey.generate()
        self._arrived: dict[str, deque[tuple[str, Words]]] = {other: deque() for other in contract.everybody}
        self._steps = self._all_steps()
        self._round: MessageRound | None = None
        self.rounds = 0
        self.handlers = {kind: self._taker(kind) for kind in KINDS}

    # ------------------------------------------------------------------ rounds

    def start(self) -> list[Message]:
        """The messages of the first round."""
        return self._go_on(None)

    def _taker(self, kind: str) -> Callable[[str, Tables], list[Message]]:
        def take(sender: str, tables: Tables) -> list[Message]:
            try:
                words = tables[WORDS].column(WORDS).to_numpy().astype(np.uint64, casting="safe", copy=False)
            except (KeyError, TypeError):
                raise self.refuse(
                    sender, "federation.sent-message-without-bits", "sent a message without its bits"
                ) from None
            self._arrived[sender].append((kind, words))
            return self._take_part()

        return take

    def _take_part(self) -> list[Message]:
        """Go on as long as everything has come that the round waits for."""
        messages: list[Message] = []
        while self._round is not None and (words := self._all_arrived(self._round)) is not None:
            messages += self._go_on(words)
        return messages

    def _all_arrived(self, awaited: MessageRound) -> list[Words] | None:
        needed: dict[str, int] = {}
        for sender, _, _ in awaited.expect:
            needed[sender] = needed.get(sender, 0) + 1
        if any(len(self._arrived[sender]) < number for sender, number in needed.items()):
            return None
        found = []
        for sender, kind, size in awaited.expect:
            came, words = self._arrived[sender].popleft()
            if came != kind or len(words) != size:
                raise self.refuse(
                    sender,
                    "federation.sent-other-bits-protocol",
                    "sent other bits than the protocol says, or more or fewer",
                )
            found.append(words)
        return found

    def _go_on(self, words: list[Words] | None) -> list[Message]:
        """Run to the next round; returns its messages."""
        try:
            self._round = next(self._steps) if words is None else self._steps.send(words)
        except StopIteration:
            self._round = None
            return []
        self.rounds += 1
        messages = [self.send(to, kind, _table(sent)) for to, kind, sent in self._round.send]
        return messages + (self._take_part() if words is None else [])

    # ------------------------------------------------------------------ steps

    def _all_steps(self) -> Steps[None]:
        computing = self.name in self.contract.compute
        partners = [n for n in self.contract.everybody if n != self.name]
        partners = [n for n in partners if computing or n in self.contract.compute]
        public = np.frombuffer(self._private.public_key().public_bytes_raw(), np.uint64)
        offers = yield MessageRound(
            [(name, OFFER, public) for name in partners], [(name, OFFER, KEY_WORDS) for name in partners]
        )
        agreed = {
            name: self._agreed(name, offer.tobytes()) for name, offer in zip(partners, offers, strict=True)
        }
        rows = yield from self._numbers_of_rows()
        shape = RunShape(self.contract, rows)
        computer, seeds = None, None
        if computing:
            computer = self._computer(agreed)
        outside = [name for name in self.contract.parties if name not in self.contract.compute]
        if computer is not None:
            yield from self._take_seeds(computer, outside, agreed)
        else:
            seeds = yield from self._send_seeds(agreed)
        found = yield from ObliviousRun(self.name, shape, self._own, computer, seeds).run()
        self._end(found, shape)

    def _agreed(self, name: str, offer: bytes) -> bytes:
        try:
            return self._private.exchange(X25519PublicKey.from_public_bytes(offer))
        except ValueError:
            raise self.refuse(name, "federation.offered-key-none", "offered a key that is none") from None

    def _computer(self, agreed: Mapping[str, bytes]) -> Computer:
        """The engine, with the keys that this party has in common with its neighbours."""
        three, keys = self.contract.compute, []
        place = three.index(self.name)
        for index, other in ((place, three[place - 1]), (place + 1, three[(place + 1) % COMPUTING])):
            info = b"tarnkappe oblivious" + self.contract.digest + bytes([index % COMPUTING])
            keys.append(HKDF(SHA256(), KEY_SIZE, salt=None, info=info).derive(agreed[other]))
        return Computer(three, self.name, *keys)

    def _numbers_of_rows(self) -> Steps[dict[str, int]]:
        """How many rows each site has: everybody is told."""
        parties, everybody = self.contract.parties, self.contract.everybody
        own = None if self._own is None else np.array([self._own.share.num_rows], np.uint64)
        sites = [name for name in parties if name != self.name]
        send = [] if own is None else [(name, ROWS, own) for name in everybody if name != self.name]
        told = yield MessageRound(send, [(name, ROWS, 1) for name in sites])
        rows = {name: int(number[0]) for name, number in zip(sites, told, strict=True)}
        if own is not None:
            rows[self.name] = int(own[0])
        for name, number in rows.items():
            if number > MOST_ROWS:
                raise self.refuse(
                    name, "federation.says-more-rows-anybody", "says that it has more rows than anybody has"
                )
        return {name: rows[name] for name in parties}

    def _seal(self, name: str, other: str, agreed: bytes) -> tuple[AESSIV, list[bytes]]:
        key = derive(agreed, self.contract.digest, "oblivious seed")
        return AESSIV(key), [name.encode(), other.encode()]

    def _send_seeds(self, agreed: Mapping[str, bytes]) -> Steps[tuple[KeyStream, KeyStream]]:
        """Share 0 is expanded by the parties 0 and 2, share 1 by the parties 1 and 0."""
        seeds = secrets.token_bytes(KEY_SIZE), secrets.token_bytes(KEY_SIZE)
        send = []
        for share, holders in enumerate(((0, 2), (1, 0))):
            for holder in holders:
                name = self.contract.compute[holder]
                cipher, bound = self._seal(self.name, name, agreed[name])
                sealed = cipher.encrypt(seeds[share], [*bound, bytes([share])])
                send.append((name, SEED, np.frombuffer(sealed, np.uint64)))
        yield MessageRound(send, [])
        return KeyStream(seeds[0]), KeyStream(seeds[1])

    def _take_seeds(self, computer: Computer, outside: list[str], agreed: Mapping[str, bytes]) -> Steps[None]:
        held = [share for share, holders in enumerate(((0, 2), (1, 0))) if computer.index in holders]
        expect = [(name, SEED, SEALED_WORDS) for name in outside for _ in held]
        arrived = yield MessageRound([], expect)
        sealed = iter(arrived)
        for name in outside:
            cipher, bound = self._seal(name, self.name, agreed[name])
            for share in held:
                try:
                    seed = cipher.decrypt(next(sealed).tobytes(), [*bound, bytes([share])])
                except InvalidTag:
                    raise self.refuse(
                        name, "federation.sent-seed-damaged", "sent a seed that is damaged"
                    ) from None
                computer.take_seed(name, share, seed)

    def _end(self, found: FoundRelease, shape: RunShape) -> None:
        if self._own is None or found.rows is None:
            self.has_done_its_part = True
            return
        level = dict(zip(self.contract.quasi_identifiers, found.node, strict=True))
        release = RowFormat(self.contract, level).read(found.rows, self._own.labels)
        suppressed = shape.criterion.rows - release.num_rows
        ranking = shape.ranking
        loss = ranking.public_loss(found.node) if ranking.loss_is_public else None
        finding = FederatedSolution(found.node, suppressed, loss)
        self.outcome = outcome_of(release, self.contract, finding, self._own.share)


def _table(words: Words) -> Tables:
    return {WORDS: pa.table({WORDS: pa.array(words)})}
