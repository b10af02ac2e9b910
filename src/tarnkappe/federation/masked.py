"""Protocol C, the masked star: the helper is not told which rows are true.

As in the star, with these additions. Among the true rows are made-up ones, and every row has an encrypted
counter: 1 if it is true, 0 if not. The helper groups the rows and adds counters without being able to read
them; at each node it sends the sums, re-randomized and in a random order, to the holder of the key, who
answers whether the node satisfies. Which of the satisfying nodes loses least the holder says at the end.

No party knows at the same time which labels a group has and how many of its rows are made up. Where rows
may be suppressed, the helper learns at the last node which groups go: those with too few true rows and
those with none, without being told which is which.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from tarnkappe.federation.arrow_wire import (
    Tables,
    facts_of,
    facts_table,
    read_share,
    share_tables,
    token_table,
    tokens_of,
)
from tarnkappe.federation.ciphers import PrivateKey, PublicKey
from tarnkappe.federation.ciphers.long_numbers import mpz
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.counters import read_counters, read_counts, read_public_key, read_values
from tarnkappe.federation.counting import CounterEvaluator, NodeVerdict, counted_columns
from tarnkappe.federation.dummy_rows import counted, made_up_rows, with_counters
from tarnkappe.federation.engine import FederatedSolution
from tarnkappe.federation.masked_helper import (
    ANSWER,
    CHOICE,
    CHOOSE,
    COUNTS,
    FINAL,
    KEEP,
    MARGINALS,
    PART,
    PRIVATE_KEY,
    PUBLIC_KEY,
    TEST,
    MaskedHelper,
)
from tarnkappe.federation.message import Message
from tarnkappe.federation.party_share import Rule, local_share
from tarnkappe.federation.star import RESULT, SUBSET, StarParty
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Table

__all__ = ["MaskedHelper", "MaskedParty"]


class MaskedParty(StarParty):
    """A party with data; the first of the contract also holds the key of the counters.

    Args:
        name: its name in the contract.
        contract: what all have agreed on.
        table: its data.
        hierarchies: how its columns generalize.
        chance: the source of random orders.
        made_up: rows to mix with the true ones; without them they are drawn as the contract says.
            Vertical parties must have agreed on their keys.
    """

    def __init__(
        self,
        name: str,
        contract: Contract,
        table: Table,
        hierarchies: Mapping[str, Hierarchy | Rule],
        chance: Chance | None = None,
        made_up: Table | None = None,
    ) -> None:
        super().__init__(name, contract, table, hierarchies, chance)
        self._made_up = None if made_up is None else local_share(made_up, name, contract, hierarchies)
        self._private: PrivateKey | None = None
        self._public: PublicKey | None = None
        self._judge: CounterEvaluator | None = None
        self._asked: tuple[str, str, Tables] | None = None
        self._counts: dict[str, tuple[int, list[int]]] = {}
        self.handlers |= {PUBLIC_KEY: self._on_public_key}
        if contract.shared_tests and name != contract.key_holder:
            self.handlers |= {PRIVATE_KEY: self._on_private_key, PART: self._on_part}
        if name == contract.key_holder:
            self._private = PrivateKey.generate(contract.counter_bits)
            self._public = self._private.public
            self.handlers |= {
                MARGINALS: self._on_marginals,
                TEST: self._on_test,
                CHOOSE: self._on_choose,
                FINAL: self._on_final,
                RESULT: self._on_counted_result,
                **({COUNTS: self._on_counts} if contract.shared_tests else {}),
            }

    def start(self) -> list[Message]:
        """The holder of the key also tells all others how to encrypt counters."""
        if self._public is None or self._private is None:
            return super().start()
        key = [int(number).to_bytes(self._public.size) for number in (self._public.n, self._public.base)]
        others = [name for name in self.contract.everybody if name != self.name]
        messages = [self.send(n, PUBLIC_KEY, {"key": token_table(key)}) for n in others]
        if self.contract.shared_tests:
            factors = [int(p).to_bytes(self._public.size) for p in (self._private.p, self._private.q)]
            parties = [name for name in others if name != self.helper]
            messages += [self.send(n, PRIVATE_KEY, {"key": token_table(factors)}) for n in parties]
        return messages + super().start()

    def _on_public_key(self, sender: str, tables: Tables) -> list[Message]:
        self._public = read_public_key(tables, sender, self.contract)
        return self.keys_are_ready() if self.secret else []

    def keys_are_ready(self) -> list[Message]:
        """Send true and made-up rows with their counters, once both kinds of keys are there."""
        if self._public is None:
            return []
        made_up = self._made_up
        if made_up is None:
            made_up = made_up_rows(self.share, self.contract, self.name, self.secret, self.chance)
        rows, counts = counted(self.share, made_up, self.contract, self.name)
        sealed = self.sealed(with_counters(rows, counts, self._public))
        return [self.send(self.helper, SUBSET, share_tables(sealed, self._public))]

    # ------------------------------------------------------------------ what the holder of the key does

    def _decrypt(self, ciphertexts: list[mpz]) -> list[int]:
        assert self._private is not None
        self.count("counters decrypted", len(ciphertexts))
        return self._private.decrypt(ciphertexts)

    def _from_helper(self, sender: str) -> PublicKey:
        if sender != self.helper or self._public is None:
            raise self.refuse(sender, "federation.no-part-counting", "has no part in counting")
        return self._public

    def _on_marginals(self, sender: str, tables: Tables) -> list[Message]:
        public = self._from_helper(sender)
        marginals = {}
        for name in self.contract.quasi_identifiers:
            if name in tables:
                counts, lines = read_counts(tables[name], public, sender, self._decrypt)
                marginals[name] = counts, lines
        self._judge = CounterEvaluator(self.contract, marginals)
        return []

    def _judged(self, sender: str, tables: Tables, counted_by_others: list[int]) -> NodeVerdict:
        public, facts = self._from_helper(sender), facts_of(tables, sender)
        if self._judge is None:
            raise self.refuse(
                sender, "federation.sent-test-before-marginals", "sent a test before its marginals"
            )
        own = self._decrypt(read_counters(tables["sizes"], public, sender))
        sizes = np.array([*own, *counted_by_others], np.int64)
        values = {
            name: read_values(tables, name, public, sender, self._decrypt)
            for name in counted_columns(self.contract)
        }
        return self._judge.judge(facts["test"], tuple(facts["node"]), sizes, values)

    def _on_test(self, sender: str, tables: Tables) -> list[Message]:
        self._asked = (TEST, sender, tables)
        return self._answer()

    def _on_final(self, sender: str, tables: Tables) -> list[Message]:
        self._asked = (FINAL, sender, tables)
        return self._answer()

    def _answer(self) -> list[Message]:
        """Answer what was asked, once the counts of all who share the work are there."""
        if self._asked is None:
            return []
        kind, sender, tables = self._asked
        counted_by_others: list[int] = []
        if self.contract.shared_tests:
            test = facts_of(tables, sender).get("test")
            there = [self._counts.get(party) for party in self.contract.parties[1:]]
            if any(each is None or each[0] != test for each in there):
                return []
            counted_by_others = [count for each in there if each is not None for count in each[1]]
        self._asked = None
        verdict = self._judged(sender, tables, counted_by_others)
        if kind == TEST:
            return [self.send(sender, ANSWER, {"facts": facts_table(satisfied=verdict.satisfied)})]
        return [self.send(sender, KEEP, {"facts": facts_table(kept=verdict.kept.tolist())})]

    def _on_choose(self, sender: str, tables: Tables) -> list[Message]:
        del tables
        self._from_helper(sender)
        assert self._judge is not None
        return [self.send(sender, CHOICE, {"facts": facts_table(tests=self._judge.best())})]

    # ------------------------------------------------------------------ what others do for him

    def _on_private_key(self, sender: str, tables: Tables) -> list[Message]:
        factors = [mpz(int.from_bytes(token)) for token in tokens_of(tables, "key", sender)]
        if sender != self.contract.key_holder or len(factors) != 2:
            raise self.refuse(sender, "federation.sent-key-none", "sent a key that is none")
        self._private = PrivateKey(*factors)
        return []

    def _on_part(self, sender: str, tables: Tables) -> list[Message]:
        counts = self._decrypt(read_counters(tables["sizes"], self._from_helper(sender), sender))
        facts = facts_table(test=facts_of(tables, sender).get("test"))
        numbers = pa.table({"count": pa.array(counts, pa.int64())})
        return [self.send(self.contract.key_holder, COUNTS, {"facts": facts, "counts": numbers})]

    def _on_counts(self, sender: str, tables: Tables) -> list[Message]:
        if sender not in self.contract.parties or "counts" not in tables:
            raise self.refuse(sender, "federation.no-part-counting", "has no part in counting")
        test = int(facts_of(tables, sender).get("test") or 0)
        self._counts[sender] = test, tables["counts"].column("count").to_pylist()
        return self._answer()

    # ------------------------------------------------------------------ the end

    def _on_counted_result(self, sender: str, tables: Tables) -> list[Message]:
        public, node = self._from_helper(sender), tuple(facts_of(tables, sender)["node"])
        assert self._judge is not None
        share = read_share(tables, sender, public)
        counts = np.array(self._decrypt(share.counters or []), np.int64)
        verdict = self._judge.verdict_on(node)
        rows = share.take(np.repeat(np.arange(share.num_rows), counts))
        true = rows.with_parts(lambda _, part: part.without_rules())
        self._private = None
        return self.finish(
            self.opened(true.without_counters(), sender),
            FederatedSolution(node, verdict.suppressed, verdict.loss),
        )
