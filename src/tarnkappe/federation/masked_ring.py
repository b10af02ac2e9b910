"""Protocols A and C together: made-up rows, and layers against collusion.

As in the masked star, but instead of common keys every share gets a layer of every party on its way
around the ring, and who puts on the last one hands it to the helper. So the helper together with one
party, or with all but one, can read nothing. The result passes the ring again to be decrypted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from tarnkappe.federation.arrow_wire import Tables, facts_of, facts_table, read_share, share_tables
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.dummy_rows import counted, made_up_rows, with_counters
from tarnkappe.federation.engine import FederatedSolution
from tarnkappe.federation.layers import Layers, as_hashes, as_values
from tarnkappe.federation.masked import MaskedParty
from tarnkappe.federation.message import Message
from tarnkappe.federation.party_share import Rule
from tarnkappe.federation.result import finding_facts, finding_of
from tarnkappe.federation.share import PartyShare
from tarnkappe.federation.star import SUBSET
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Table

LAYER, BARE, DECODE = "layer", "bare", "decode"


class MaskedRingParty(MaskedParty):
    """A party with data; the arguments are those of a `MaskedParty`."""

    def __init__(
        self,
        name: str,
        contract: Contract,
        table: Table,
        hierarchies: Mapping[str, Hierarchy | Rule],
        chance: Chance | None = None,
        made_up: Table | None = None,
    ) -> None:
        super().__init__(name, contract, table, hierarchies, chance, made_up)
        self._layers = Layers(contract, self.count)
        self._waiting: list[tuple[str, Tables]] = []
        self.handlers |= {LAYER: self._on_layer, BARE: self._on_bare, DECODE: self._on_decode}

    # ------------------------------------------------------------------ around the ring, then to the helper

    def keys_are_ready(self) -> list[Message]:
        """Pass the own rows on, true and made-up ones, and what has come too early for want of keys."""
        if self._public is None or not self.secret:
            return []
        made_up = self._made_up
        if made_up is None:
            made_up = made_up_rows(self.share, self.contract, self.name, self.secret, self.chance)
        rows, counts = counted(self.share, made_up, self.contract, self.name)
        own = with_counters(self._layers.hashed(rows), counts, self._public)
        messages = [self._pass_on(own, self.name, 1)]
        for sender, tables in self._waiting:
            messages += self._on_layer(sender, tables)
        self._waiting.clear()
        return messages

    def _pass_on(self, share: PartyShare, owner: str, hop: int) -> Message:
        """Counters are re-randomized with every layer: their maker does not know them again."""
        assert self._public is not None
        assert share.counters is not None
        fresh = dataclasses.replace(share, counters=self._public.rerandomize(share.counters))
        tables = share_tables(self._layers.put_on(fresh).mixed(self.chance), self._public)
        if hop == len(self.contract.parties):
            return self.send(self.helper, SUBSET, tables)
        facts = facts_table(owner=owner, hop=hop)
        return self.send(self.contract.right_of(self.name), LAYER, {"facts": facts, **tables})

    def _on_layer(self, sender: str, tables: Tables) -> list[Message]:
        if self._public is None:
            self._waiting.append((sender, tables))
            return []
        facts, parties = facts_of(tables, sender), self.contract.parties
        owner, hop = str(facts.get("owner")), facts.get("hop")
        steps = (parties.index(self.name) - parties.index(owner)) % len(parties) if owner in parties else 0
        if sender != self.contract.left_of(self.name) or not hop or hop != steps:
            raise self.refuse(sender, "federation.sent-subset-out-turn", "sent a subset out of turn")
        share = self._layers.require(read_share(tables, sender, self._public), sender)
        return [self._pass_on(share, owner, hop + 1)]

    # ------------------------------------------------------------------ back around the ring

    def opened(self, share: PartyShare, sender: str) -> PartyShare:
        """The layer of this party taken off."""
        return self._layers.take_off(self._layers.require(share, sender)).mixed(self.chance)

    def finish(self, share: PartyShare, finding: FederatedSolution) -> list[Message]:
        """Pass the result on to be decrypted; who takes off the last layer begins to replace hashes."""
        right = self.contract.right_of(self.name)
        if right == self.contract.master:
            return self._decode(as_hashes(share), finding)
        return [self.send(right, BARE, {"facts": finding_facts(finding), **share_tables(share)})]

    def _on_bare(self, sender: str, tables: Tables) -> list[Message]:
        if sender != self.contract.left_of(self.name):
            raise self.refuse(sender, "federation.sent-result-out-turn", "sent a result out of turn")
        return self.finish(self.opened(read_share(tables, sender), sender), finding_of(tables, sender))

    def _decode(self, share: PartyShare, finding: FederatedSolution) -> list[Message]:
        decoded = self._layers.readable(share).mixed(self.chance)
        if self.name != self.contract.master:
            tables = {"facts": finding_facts(finding), **share_tables(decoded)}
            return [self.send(self.contract.left_of(self.name), DECODE, tables)]
        self._layers.forget()
        return super().finish(as_values(decoded, self.name), finding)

    def _on_decode(self, sender: str, tables: Tables) -> list[Message]:
        if sender != self.contract.right_of(self.name):
            raise self.refuse(
                sender, "federation.sent-decoded-table-out-turn", "sent a decoded table out of turn"
            )
        return self._decode(read_share(tables, sender), finding_of(tables, sender))
