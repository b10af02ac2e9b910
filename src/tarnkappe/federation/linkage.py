"""Private linkage: parties that have the same people find out who is known to all of them, and nothing of
anybody else.

The keys of all these parties go around the ring and are encrypted by everybody, as in protocol A. Then the
sets are intersected to the left, the intersection is decrypted to the right, and its hashes go to all:
each party finds its own people among them. Whoever is not known to all stays a ciphertext.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from tarnkappe.errors import ColumnError
from tarnkappe.federation.arrow_wire import Tables, facts_of, facts_table, token_table, tokens_of
from tarnkappe.federation.ciphers import GROUPS
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.party_share import key_tokens, without_repeats
from tarnkappe.federation.share import Tokens
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Table

SUBSET, PARTIAL, RESULT, COMMON = "link subset", "link partial", "link result", "link common"


class LinkedParty(Participant):
    """A party that first links its people with those of the others, and then takes part with the common ones.

    Args:
        name: its name in the contract.
        contract: what all have agreed on.
        table: its data.
        take_part: makes the state machine of the run that follows, from the rows of common people.
        chance: the source of random orders.
    """

    def __init__(
        self,
        name: str,
        contract: Contract,
        table: Table,
        take_part: Callable[[Table], Participant],
        chance: Chance | None = None,
    ) -> None:
        super().__init__(name, contract, chance)
        assert contract.key is not None
        self._parties = contract.people_with(name)
        place = self._parties.index(name)
        self._left, self._right = self._parties[place - 1], self._parties[(place + 1) % len(self._parties)]
        self._table = table = without_repeats(table, contract, name)
        self._take_part = take_part
        self._group = GROUPS[contract.group]()
        self._key = self._group.new_key()
        own = key_tokens(table, contract.key)
        self._hashes = self._group.embed(contract.digest + b"link", own)
        self._held: set[bytes] | None = None
        self._partial: set[bytes] | None = None
        self._inner: Participant | None = None
        self._early: list[Message] = []
        self.handlers = {
            SUBSET: self._on_subset,
            PARTIAL: self._on_partial,
            RESULT: self._on_result,
            COMMON: self._on_common,
        }

    # ------------------------------------------------------------------ both stages

    def receive(self, message: Message) -> list[Message]:
        """Take a message of either stage; what comes early for the second one waits."""
        if message.kind in self.handlers:
            return super().receive(message)
        if self._inner is None:
            self._early.append(message)
            return []
        replies = self._inner.receive(message)
        self.outcome = self._inner.outcome
        return replies

    def _begin(self, common: set[bytes]) -> list[Message]:
        mask = pa.array([element in common for element in self._hashes])
        table = self._table.with_data(self._table.data.filter(mask))
        if table.num_rows == 0:
            raise ColumnError(
                "federation.nobody-known-all-parties", "nobody is known to all parties: the run ends"
            )
        inner = self._take_part(table)
        inner.transcript, inner._sent, inner._received = self.transcript, self._sent, self._received
        inner.work, inner.sent = self.work, self.sent
        self._inner = inner
        replies = inner.start()
        for message in self._early:
            replies += self.receive(message)
        self._early.clear()
        return replies

    # ------------------------------------------------------------------ linkage

    def start(self) -> list[Message]:
        """Encrypt the own keys and pass them on, if there is anybody to be linked with."""
        if len(self._parties) == 1:
            return self._begin(set(self._hashes))
        return [self._pass_on(self._hashes, self.name, 1)]

    def _encrypted(self, elements: Tokens) -> Tokens:
        self.count("keys encrypted", len(elements))
        mixed = [elements[i] for i in self.chance.order(len(elements)).tolist()]
        return self._group.apply(self._key, mixed)

    def _pass_on(self, elements: Tokens, owner: str, hop: int) -> Message:
        tables = {"facts": facts_table(owner=owner, hop=hop), "keys": token_table(self._encrypted(elements))}
        return self.send(self._right, SUBSET, tables)

    def _elements(self, sender: str, tables: Tables, expected: str) -> Tokens:
        elements = tokens_of(tables, "keys", sender)
        self._group.require_elements(elements, sender)
        if sender != expected:
            raise self.refuse(sender, "federation.sent-keys-out-turn", "sent keys out of turn")
        return elements

    def _on_subset(self, sender: str, tables: Tables) -> list[Message]:
        elements = self._elements(sender, tables, self._left)
        facts, parties = facts_of(tables, sender), self._parties
        hop, owner = facts.get("hop"), facts.get("owner")
        if not isinstance(hop, int) or owner not in parties or not 0 < hop < len(parties):
            raise self.refuse(sender, "federation.sent-keys-out-turn", "sent keys out of turn")
        if hop < len(parties) - 1:
            return [self._pass_on(elements, owner, hop + 1)]
        self._held = set(self._encrypted(elements))
        if self._right == self._parties[0]:
            return [self._send_keys(self._left, PARTIAL, self._held)]
        return self._intersect()

    def _send_keys(self, receiver: str, kind: str, elements: set[bytes]) -> Message:
        return self.send(receiver, kind, {"keys": token_table(sorted(elements))})

    def _on_partial(self, sender: str, tables: Tables) -> list[Message]:
        self._partial = set(self._elements(sender, tables, self._right))
        return self._intersect()

    def _intersect(self) -> list[Message]:
        if self._held is None or self._partial is None:
            return []
        common = self._held & self._partial
        if self.name != self._parties[0]:
            return [self._send_keys(self._left, PARTIAL, common)]
        return self._take_off(common)

    def _take_off(self, common: set[bytes]) -> list[Message]:
        bare = set(self._group.apply(self._group.invert(self._key), sorted(common)))
        if self._right != self._parties[0]:
            return [self._send_keys(self._right, RESULT, bare)]
        return [self._send_keys(self._right, COMMON, bare), *self._begin(bare)]

    def _on_result(self, sender: str, tables: Tables) -> list[Message]:
        return self._take_off(set(self._elements(sender, tables, self._left)))

    def _on_common(self, sender: str, tables: Tables) -> list[Message]:
        common = set(self._elements(sender, tables, self._left))
        passed = [] if self._right == self._parties[-1] else [self._right]
        return [self._send_keys(each, COMMON, common) for each in passed] + self._begin(common)
