"""Protocol A, the ring: everybody encrypts everything, so nobody can decrypt alone.

1. Every share goes once around the ring to the right, and every party adds its layer of a commutative
   cipher. At the end each party has the share of its right neighbour under the layers of all; equal values
   of a column have become equal ciphertexts, whoever they came from.
2. The shares are merged to the left, from the left neighbour of the master to the master. Columns of the
   same people are joined first; when none is missing, their rows are mixed with those of other people.
3. The master anonymizes the ciphertexts.
4. The result goes around to the right, and every party takes its layer off.
5. What is left are hashes. To the left every party puts back the values that it knows; the release then
   goes to all.

Where the master is to be checked, all parties get the merged table and anonymize it too. Decryption then
starts at the last party with its own result, if all agree, and the master only takes off the last layer.

At every step rows, dictionaries and rules are put in a random order. Only rows of which columns are still
missing keep theirs, which is that of the encrypted keys.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping

from tarnkappe.errors import ColumnError
from tarnkappe.federation.arrow_wire import Tables, facts_of, facts_table, read_share, share_tables
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.engine import FederatedSolution, anonymize
from tarnkappe.federation.layers import Layers, as_hashes, as_values
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.party_share import Rule, local_share
from tarnkappe.federation.result import finding_facts, finding_of, outcome_of
from tarnkappe.federation.share import PartyShare, concatenate, join
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Table

SUBSET, PARTIAL, INTEGRATED = "subset", "partial", "integrated"
RESULT, DECODE, RELEASE = "result", "decode", "release"
UNFINISHED = "unfinished/"


class RingParty(Participant):
    """A party of the ring.

    Args:
        name: its name in the contract.
        contract: what all have agreed on.
        table: its data, or None if it has none.
        hierarchies: how its columns generalize.
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
        if table is None and contract.key is not None and contract.columns_of(name):
            raise ColumnError(
                "federation.columns-contract-but-no-data",
                "'{name}' has columns in the contract but no data",
                name=name,
            )
        self._share = local_share(table, name, contract, hierarchies)
        self._layers = Layers(contract, self.count)
        self._held: PartyShare | None = None
        self._partial: tuple[str, Tables] | None = None
        self.handlers = {
            SUBSET: self._on_subset,
            PARTIAL: self._on_partial,
            INTEGRATED: self._on_integrated,
            RESULT: self._on_result,
            DECODE: self._on_decode,
            RELEASE: self._on_release,
        }

    # ------------------------------------------------------------------ 1 everybody encrypts

    def start(self) -> list[Message]:
        """Hash and encrypt the own share and pass it on."""
        return [self._pass_on(self._layers.hashed(self._share), self.name, 1)]

    def _pass_on(self, share: PartyShare, owner: str, hop: int) -> Message:
        tables = {"facts": facts_table(owner=owner, hop=hop), **share_tables(self._encrypted(share))}
        return self.send(self.contract.right_of(self.name), SUBSET, tables)

    def _encrypted(self, share: PartyShare) -> PartyShare:
        return self._layers.put_on(share).mixed(self.chance)

    def _on_subset(self, sender: str, tables: Tables) -> list[Message]:
        facts, share = facts_of(tables, sender), self._read(tables, sender)
        owner, hop = facts.get("owner"), facts.get("hop")
        if sender != self._left or owner not in self.contract.parties or hop != self._distance(owner):
            raise self.refuse(sender, "federation.sent-subset-out-turn", "sent a subset out of turn")
        if hop < len(self.contract.parties) - 1:
            return [self._pass_on(share, owner, hop + 1)]
        if self._held is not None:
            raise self.refuse(sender, "federation.sent-subset-twice", "sent a subset twice")
        self._held = self._aligned(self._encrypted(share))
        return self._go_on_merging()

    def _read(self, tables: Tables, sender: str) -> PartyShare:
        return self._layers.require(read_share(tables, sender), sender)

    @property
    def _left(self) -> str:
        return self.contract.left_of(self.name)

    @property
    def _next(self) -> str | None:
        """Who decrypts after this party."""
        order = self.contract.decryption_order
        place = order.index(self.name) + 1
        return order[place] if place < len(order) else None

    @property
    def _previous(self) -> str | None:
        """Who decrypts before this party."""
        order = self.contract.decryption_order
        place = order.index(self.name)
        return order[place - 1] if place else None

    def _distance(self, owner: str) -> int:
        """How many steps it takes from a party to this one."""
        parties = self.contract.parties
        return (parties.index(self.name) - parties.index(owner)) % len(parties)

    # ------------------------------------------------------------------ 2 shares are merged

    def _aligned(self, share: PartyShare) -> PartyShare:
        """Rows in the order of their encrypted keys, which is the same for all parties."""
        return share if share.keys is None else share.sorted_by_key()

    def _on_partial(self, sender: str, tables: Tables) -> list[Message]:
        is_due = sender == self.contract.right_of(self.name) != self.contract.master
        if not is_due or self._partial is not None:
            raise self.refuse(
                sender, "federation.sent-partial-table-out-turn", "sent a partial table out of turn"
            )
        self._partial = (sender, tables)
        return self._go_on_merging()

    def _go_on_merging(self) -> list[Message]:
        owner = self.contract.right_of(self.name)
        is_first = owner == self.contract.master
        if self._held is None or (self._partial is None and not is_first):
            return []
        whole, unfinished = self._read_partial(self._held)
        joined = join([*unfinished, dataclasses.replace(self._held, keys=None)], lambda c: c[0])
        is_master = self.name == self.contract.master
        if is_master or self.name not in self.contract.people_with(owner):
            whole, unfinished = [concatenate([*whole, joined]).mixed(self.chance)], []
        else:
            unfinished = [joined.with_parts(lambda _, part: part.shuffled(self.chance))]
        if not is_master:
            return [self._send_partial(whole, unfinished, self._held)]
        return self._anonymize(whole[0].in_order_of_columns([c.name for c in self.contract.columns]))

    def _read_partial(self, held: PartyShare) -> tuple[list[PartyShare], list[PartyShare]]:
        """What was merged before: whole rows, and rows of the people at hand of which columns are missing."""
        if self._partial is None:
            return [], []
        sender, tables = self._partial
        has_same_people = self.contract.people_with(sender)
        if self.contract.right_of(sender) not in has_same_people:
            return [self._read(tables, sender)], []
        if facts_of(tables, sender).get("people") != self._people(held):
            raise self.refuse(
                sender,
                "federation.neighbours-different-people-under-key",
                "and its neighbours have different people under the key",
            )
        rest = {n.removeprefix(UNFINISHED): t for n, t in tables.items() if n.startswith(UNFINISHED)}
        whole = [] if self.contract.master in has_same_people else [self._read(tables, sender)]
        return whole, [self._read(rest, sender)]

    def _send_partial(
        self, whole: list[PartyShare], unfinished: list[PartyShare], held: PartyShare
    ) -> Message:
        tables = {"facts": facts_table(people=self._people(held) if unfinished else b"")}
        for share in whole:
            tables |= share_tables(share)
        for share in unfinished:
            tables |= {UNFINISHED + name: table for name, table in share_tables(share).items()}
        return self.send(self._left, PARTIAL, tables)

    @staticmethod
    def _people(share: PartyShare) -> bytes:
        """One digest of all encrypted keys: equal if and only if two parties have the same people."""
        return hashlib.sha256(b"".join(share.keys or [])).digest()

    # ------------------------------------------------------------------ 3 the master anonymizes

    def _anonymize(self, share: PartyShare) -> list[Message]:
        released, finding = anonymize(share, self.contract)
        if not self.contract.check_master:
            return [self._take_off(released, finding)]
        return [self._pass_for_checking(share, _agreement(released, finding))]

    def _pass_for_checking(self, share: PartyShare, agreed: bytes) -> Message:
        tables = {"facts": facts_table(agreed=agreed), **share_tables(share)}
        return self.send(self.contract.right_of(self.name), INTEGRATED, tables)

    def _on_integrated(self, sender: str, tables: Tables) -> list[Message]:
        """Anonymize again what the master has anonymized; only the same result is decrypted."""
        if sender != self._left or not self.contract.check_master:
            raise self.refuse(
                sender, "federation.sent-integrated-table-out-turn", "sent an integrated table out of turn"
            )
        share = self._read(tables, sender)
        released, finding = anonymize(share, self.contract)
        agreed = _agreement(released, finding)
        if facts_of(tables, sender).get("agreed") != agreed:
            raise self.refuse(
                sender,
                "federation.anonymize-different-results-nothing-decrypted",
                "and '{name}' anonymize to different results, nothing is decrypted",
                name=self.name,
            )
        if self.contract.right_of(self.name) != self.contract.master:
            return [self._pass_for_checking(share, agreed)]
        return [self._take_off(released, finding)]

    # ------------------------------------------------------------------ 4 everybody decrypts

    def _take_off(self, share: PartyShare, finding: FederatedSolution) -> Message:
        bare = self._layers.take_off(share).mixed(self.chance)
        if self._next is not None:
            return self._result(self._next, RESULT, bare, finding)
        return self._decode(as_hashes(bare), finding)

    def _result(self, receiver: str, kind: str, share: PartyShare, finding: FederatedSolution) -> Message:
        return self.send(receiver, kind, {"facts": finding_facts(finding), **share_tables(share)})

    def _on_result(self, sender: str, tables: Tables) -> list[Message]:
        if sender != self._previous:
            raise self.refuse(sender, "federation.sent-result-out-turn", "sent a result out of turn")
        return [self._take_off(self._read(tables, sender), finding_of(tables, sender))]

    # ------------------------------------------------------------------ 5 hashes become values again

    def _decode(self, share: PartyShare, finding: FederatedSolution) -> Message:
        decoded = self._layers.readable(share).mixed(self.chance)
        if self._previous is not None:
            return self._result(self._previous, DECODE, decoded, finding)
        plain = as_values(decoded, self.name)
        self._finish(plain, finding)
        assert self._next is not None
        return self._result(self._next, RELEASE, plain, finding)

    def _on_decode(self, sender: str, tables: Tables) -> list[Message]:
        if sender != self._next:
            raise self.refuse(
                sender, "federation.sent-decoded-table-out-turn", "sent a decoded table out of turn"
            )
        return [self._decode(read_share(tables, sender), finding_of(tables, sender))]

    def _on_release(self, sender: str, tables: Tables) -> list[Message]:
        share, finding = read_share(tables, sender), finding_of(tables, sender)
        if sender != self._previous:
            raise self.refuse(sender, "federation.sent-release-out-turn", "sent a release out of turn")
        self._finish(share, finding)
        return [] if self._next is None else [self._result(self._next, RELEASE, share, finding)]

    def _finish(self, share: PartyShare, finding: FederatedSolution) -> None:
        self.outcome = outcome_of(share, self.contract, finding, self._share)
        self._held = self._partial = None
        self._layers.forget()


def _agreement(released: PartyShare, finding: FederatedSolution) -> bytes:
    """A digest of an encrypted result, whatever the order of its rows and dictionaries."""
    cells = [[part.tokens[code] for code in part.codes.tolist()] for part in released.parts.values()]
    rows = sorted(b"".join(row) for row in zip(*cells, strict=True))
    return hashlib.sha256(repr(finding.node).encode() + b"".join(rows)).digest()
