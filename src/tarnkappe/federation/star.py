"""Protocol B, the star: common keys for all who have data, none for the helper who anonymizes.

1. The parties with data agree on a secret. Every column has a key that is derived from it (or, where data
   are distributed vertically, one that only its owner has), and equal cells have equal ciphertexts.
2. All send their encrypted shares and rules to the helper, and to nobody else: every party with data could
   decrypt them.
3. The helper integrates, anonymizes, and sends the encrypted result to the first party.
4. It decrypts the result (where keys are private it goes from owner to owner) and sends the release to all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from tarnkappe.federation.arrow_wire import (
    Tables,
    facts_of,
    facts_table,
    read_share,
    share_tables,
    token_table,
    tokens_of,
)
from tarnkappe.federation.ciphers import Agreement, ColumnKey, derive, person_tokens
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.engine import FederatedSolution, anonymize
from tarnkappe.federation.integration import integrate
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.party_share import ABSENT, Rule, local_share
from tarnkappe.federation.result import finding_facts, finding_of, outcome_of
from tarnkappe.federation.share import PartyShare, Tokens
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Table

OFFER, CONTRIBUTION, SUBSET, RESULT, RELEASE = "offer", "contribution", "subset", "result", "release"
PLACEHOLDERS = "placeholders"


class StarParty(Participant):
    """A party with data.

    Args:
        name: its name in the contract.
        contract: what all have agreed on.
        table: its data.
        hierarchies: how its columns generalize.
        chance: the source of random orders.
    """

    def __init__(
        self,
        name: str,
        contract: Contract,
        table: Table,
        hierarchies: Mapping[str, Hierarchy | Rule],
        chance: Chance | None = None,
    ) -> None:
        super().__init__(name, contract, chance)
        self.share = local_share(table, name, contract, hierarchies)
        self._others = tuple(party for party in contract.parties if party != name)
        self._agreement = Agreement(name, self._others, contract.digest)
        self._offers: dict[str, bytes] = {}
        self._sealed: dict[str, bytes] = {}
        self.column_keys: dict[str, ColumnKey] = {}
        self.secret = b""
        self.handlers = {
            OFFER: self._on_offer,
            CONTRIBUTION: self._on_contribution,
            RESULT: self._on_result,
            RELEASE: self._on_release,
        }

    # ------------------------------------------------------------------ 1 keys

    def start(self) -> list[Message]:
        """Offer a key to all others with data."""
        offer = token_table([self._agreement.offer()])
        return [self.send(other, OFFER, {"key": offer}) for other in self._others]

    def _on_offer(self, sender: str, tables: Tables) -> list[Message]:
        self._offers[sender] = self._only(tables, sender)
        if len(self._offers) < len(self._others):
            return []
        boxes = self._agreement.accept(self._offers)
        messages = [self.send(n, CONTRIBUTION, {"key": token_table([box])}) for n, box in boxes.items()]
        return messages + self._open_contributions()

    def _on_contribution(self, sender: str, tables: Tables) -> list[Message]:
        self._sealed[sender] = self._only(tables, sender)
        return self._open_contributions()

    def _only(self, tables: Tables, sender: str) -> bytes:
        tokens = tokens_of(tables, "key", sender)
        if len(tokens) != 1 or sender not in self._others:
            raise self.refuse(
                sender, "federation.no-part-agreement-keys", "has no part in the agreement on keys"
            )
        return tokens[0]

    def _open_contributions(self) -> list[Message]:
        if not self._agreement.has_accepted:
            return []
        for sender in list(self._sealed):
            self._agreement.open(sender, self._sealed.pop(sender))
        if not self._agreement.is_complete:
            return []
        self.secret = self._agreement.secret()
        self._make_keys()
        return self.keys_are_ready()

    def _make_keys(self) -> None:
        for column in self.contract.columns:
            if not self.contract.private_keys:
                key = derive(self.secret, self.contract.digest, f"column\0{column.name}")
            elif column.owner == self.name:
                key = ColumnKey.new()
            else:
                continue
            self.column_keys[column.name] = ColumnKey(key, column.name, column.width)

    # ------------------------------------------------------------------ 2 encrypt and send

    def keys_are_ready(self) -> list[Message]:
        """Send the encrypted share to the helper."""
        return [self.send(self.helper, SUBSET, share_tables(self.sealed(self.share)) | self._placeholders())]

    @property
    def helper(self) -> str:
        """Who anonymizes."""
        assert self.contract.helper is not None
        return self.contract.helper

    def sealed(self, share: PartyShare) -> PartyShare:
        """A share with all cells, labels and keys encrypted, in a random order."""
        cells = share.with_parts(lambda name, part: part.mapped(lambda t: self._encrypt(name, t)))
        if share.keys is not None:
            self.count("encrypted", len(share.keys))
            key = derive(self.secret, self.contract.digest, "people")
            cells = dataclasses.replace(cells, keys=person_tokens(key, share.keys))
        return cells.mixed(self.chance)

    def _encrypt(self, column: str, tokens: Tokens) -> Tokens:
        self.count("encrypted", len(tokens))
        return self.column_keys[column].encrypt(tokens)

    def _placeholders(self) -> dict[str, object]:
        """What stands for the cells of people whom this party does not know: the helper has no key."""
        if not self.contract.fill_absent:
            return {}
        absent = {name: self._encrypt(name, [ABSENT])[0] for name in self.share.parts}
        return {PLACEHOLDERS: facts_table(**absent)}

    # ------------------------------------------------------------------ 4 decrypt and release

    def _on_result(self, sender: str, tables: Tables) -> list[Message]:
        if sender not in (self.helper, self.contract.left_of(self.name)):
            raise self.refuse(sender, "federation.sent-result-out-turn", "sent a result out of turn")
        share = self.opened(read_share(tables, sender), sender)
        return self.finish(share, finding_of(tables, sender))

    def opened(self, share: PartyShare, sender: str) -> PartyShare:
        """A share with all columns in plain whose keys this party has."""

        def plain(name: str, tokens: Tokens) -> Tokens:
            if self.contract.private_keys and self.contract.column(name).owner != self.name:
                return tokens
            self.count("decrypted", len(tokens))
            return self.column_keys[name].decrypt(tokens, sender)

        return share.with_parts(lambda name, part: part.mapped(lambda t: plain(name, t))).mixed(self.chance)

    def finish(self, share: PartyShare, finding: FederatedSolution) -> list[Message]:
        """Pass the result on to the next owner of a key, or the release to all."""
        facts = {"facts": finding_facts(finding)}
        right = self.contract.right_of(self.name)
        if self.contract.private_keys and right != self.contract.master:
            return [self.send(right, RESULT, facts | share_tables(share))]
        self._end(share, finding)
        return [self.send(other, RELEASE, facts | share_tables(share)) for other in self._others]

    def _on_release(self, sender: str, tables: Tables) -> list[Message]:
        self._end(read_share(tables, sender), finding_of(tables, sender))
        return []

    def _end(self, share: PartyShare, finding: FederatedSolution) -> None:
        self.outcome = outcome_of(share, self.contract, finding, self.share)
        self.column_keys.clear()
        self.secret = b""


class StarHelper(Participant):
    """The party that anonymizes ciphertexts and has no key."""

    def __init__(self, name: str, contract: Contract, chance: Chance | None = None) -> None:
        super().__init__(name, contract, chance)
        self._shares: dict[str, PartyShare] = {}
        self._absent: dict[str, bytes] = {}
        self.handlers = {SUBSET: self._on_subset}

    def _on_subset(self, sender: str, tables: Tables) -> list[Message]:
        if sender in self._shares or sender not in self.contract.parties:
            raise self.refuse(sender, "federation.sent-subset-out-turn", "sent a subset out of turn")
        self._shares[sender] = self.read(tables, sender)
        if self.contract.fill_absent:
            self._absent |= facts_of({"facts": tables[PLACEHOLDERS]}, sender)
        if len(self._shares) < len(self.contract.parties):
            return []
        shares, self._shares = self._shares, {}
        return self.all_have_come(integrate(shares, self.contract, self._absent))

    def read(self, tables: Tables, sender: str) -> PartyShare:
        """A subset as it comes."""
        return read_share(tables, sender)

    def all_have_come(self, share: PartyShare) -> list[Message]:
        """Anonymize, and send the result to the first party with data."""
        released, finding = anonymize(share, self.contract)
        tables = {"facts": finding_facts(finding), **share_tables(released.mixed(self.chance))}
        self.has_done_its_part = True
        return [self.send(self.contract.master, RESULT, tables)]
