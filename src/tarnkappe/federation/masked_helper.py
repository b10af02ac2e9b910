"""The helper of the masked star: it groups, adds what it cannot read, and asks."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pyarrow as pa

from tarnkappe.federation.arrow_wire import Tables, facts_of, facts_table, read_share, share_tables
from tarnkappe.federation.cells import CellTable, CounterTable
from tarnkappe.federation.ciphers import PublicKey
from tarnkappe.federation.contract import Contract, Partitioning, Protocol
from tarnkappe.federation.counters import GROUP, VALUE, counter_table, read_public_key
from tarnkappe.federation.counting import counted_columns
from tarnkappe.federation.dummy_rows import block_size
from tarnkappe.federation.engine import no_solution, problem_of, rows_of
from tarnkappe.federation.integration import integrate
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.remote_search import RemoteSearch
from tarnkappe.federation.share import PartyShare
from tarnkappe.federation.star import RESULT, SUBSET
from tarnkappe.federation.support import COMPARED_WITH_TABLE, needs_value_counts
from tarnkappe.lattice import Node
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Column
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import group_codes

PUBLIC_KEY, MARGINALS, TEST, ANSWER = "public key", "marginals", "test", "answer"
PRIVATE_KEY, PART, COUNTS = "private key", "part", "counts"
CHOOSE, CHOICE, FINAL, KEEP = "choose", "choice", "final", "keep"

ANY_NUMBER = 2**20
"""Stands for the counts of the problem that the search is told about: it must not depend on them."""


class MaskedHelper(Participant):
    """The party that anonymizes ciphertexts without knowing how often they truly occur."""

    def __init__(self, name: str, contract: Contract, chance: Chance | None = None) -> None:
        super().__init__(name, contract, chance)
        self.warnings: list[str] = []
        self._public: PublicKey | None = None
        self._subsets: dict[str, Tables] = {}
        self._share: PartyShare | None = None
        self._tested: list[Node] = []
        self._satisfying: dict[int, Node] = {}
        self._order: Counts | None = None
        self._node: Node = ()
        self._search: RemoteSearch | None = None
        self.handlers = {
            PUBLIC_KEY: self._on_public_key,
            SUBSET: self._on_subset,
            ANSWER: self._on_answer,
            CHOICE: self._on_choice,
            KEEP: self._on_keep,
        }

    def forget(self) -> None:
        """End the search too, which waits for an answer."""
        search: RemoteSearch | None = vars(self).get("_search")
        if search is not None:
            search.close()
        super().forget()

    # ------------------------------------------------------------------ integrate

    def _on_public_key(self, sender: str, tables: Tables) -> list[Message]:
        self._public = read_public_key(tables, sender, self.contract)
        return self._begin()

    def _on_subset(self, sender: str, tables: Tables) -> list[Message]:
        if sender in self._subsets or sender not in self.contract.parties or self._share is not None:
            raise self.refuse(sender, "federation.sent-subset-out-turn", "sent a subset out of turn")
        self._subsets[sender] = tables
        return self._begin()

    def _begin(self) -> list[Message]:
        if self._public is None or len(self._subsets) < len(self.contract.parties):
            return []
        public = self._public
        shares = {
            self._owner(sender): read_share(tables, sender, public)
            for sender, tables in self._subsets.items()
        }
        self._subsets.clear()
        self._share = integrate(
            shares,
            self.contract,
            {},
            lambda counters: [public.add(each) for each in zip(*counters, strict=True)],
        )
        rows = rows_of(self._share, self.contract)
        unknown = dataclasses.replace(rows, counts=np.full(rows.num_tuples, ANY_NUMBER))
        self._problem = problem_of(unknown, self.contract)
        self._values = [rows.columns[name] for name in counted_columns(self.contract)]
        assert self._share.counters is not None
        columns = [rows.columns[name] for name in self.contract.quasi_identifiers]
        self._cells = CellTable(columns, self._values, self._share.counters, public)
        self._search = RemoteSearch(self._problem, self.contract.search)
        marginals = self.send(self.contract.key_holder, MARGINALS, self._marginals())
        return [marginals, *self._go_on(self._search.start())]

    def _owner(self, sender: str) -> str:
        """Whose rows a party has sent: in a ring they come from who has put on the last layer."""
        is_ring = self.contract.protocol is Protocol.MASKED_RING
        return self.contract.right_of(sender) if is_ring else sender

    def _marginals(self) -> dict[str, pa.Table]:
        """How often each value of each quasi-identifier occurs, where the loss depends on it."""
        assert self._public is not None
        tables = {"facts": facts_table(columns=len(self.contract.quasi_identifiers))}
        if not needs_value_counts(self.contract.loss):
            return tables
        bottom = self._cells.bottom
        for column, codes in zip(self._problem.columns, bottom.labels, strict=True):
            levels = column.levels
            assert levels is not None
            groups = group_codes([codes], [column.cardinality])
            sums, first = self._cells.sums(groups, bottom.counters), codes[groups.representatives]
            order = self.chance.order(len(sums))
            lines = {
                f"{level}": self._renumbered(levels.maps[level][first[order]])
                for level in range(levels.height + 1)
            }
            tables[column.name] = counter_table([sums[i] for i in order.tolist()], self._public, **lines)
        return tables

    def _renumbered(self, codes: Codes) -> Codes:
        """The same partition under random numbers."""
        return self.chance.order(int(codes.max(initial=-1)) + 1)[codes].astype(np.int32)

    # ------------------------------------------------------------------ search

    def _go_on(self, node: Node | None) -> list[Message]:
        if node is not None:
            self._tested.append(node)
            return self._ask(TEST, node)
        if not self._satisfying:
            raise no_solution(self.contract)
        return [self.send(self.contract.key_holder, CHOOSE, {"facts": facts_table(tests=len(self._tested))})]

    def _ask(self, kind: str, node: Node) -> list[Message]:
        """Ask the holder of the key about a node; other parties may decrypt some counters for him."""
        tables = self._test(node)
        if not self.contract.shared_tests:
            return [self.send(self.contract.key_holder, kind, tables)]
        parties, sizes = self.contract.parties, tables["sizes"]
        cuts = np.linspace(0, sizes.num_rows, len(parties) + 1).astype(int).tolist()
        parts = [sizes.slice(low, high - low) for low, high in itertools.pairwise(cuts)]
        facts = facts_table(test=len(self._tested))
        helping = zip(parties[1:], parts[1:], strict=True)
        return [
            self.send(self.contract.key_holder, kind, tables | {"sizes": parts[0]}),
            *(self.send(party, PART, {"facts": facts, "sizes": part}) for party, part in helping),
        ]

    def _test(self, node: Node) -> dict[str, pa.Table]:
        """The counters of the groups of a node, re-randomized, in a random order and without names."""
        assert self._public is not None
        cells = self._cells.at(node)
        groups = self._cells.groups(cells)
        sums = self._cells.sums(groups, cells.counters)
        self._order = self.chance.order(len(sums))
        place = np.empty(len(sums), np.int32)
        place[self._order] = np.arange(len(sums), dtype=np.int32)
        tables = {
            "facts": facts_table(test=len(self._tested), node=list(node)),
            "sizes": counter_table([sums[i] for i in self._order.tolist()], self._public),
        }
        for index, column in enumerate(self._values):
            tables |= self._value_tables(column, place[groups.ids], cells, cells.values[index])
        return tables

    def _value_tables(
        self, column: Column, groups: Codes, cells: CounterTable, values: Codes
    ) -> dict[str, pa.Table]:
        """The counters of the values in each group. Values keep their identity only if a model needs it."""
        assert self._public is not None
        pairs = group_codes([groups, values], [int(groups.max(initial=0)) + 1, column.cardinality])
        sums = self._cells.sums(pairs, cells.counters)
        order = self.chance.order(len(sums))
        first = pairs.representatives[order]
        number, tables = self.chance.order(column.cardinality), {}
        if column.levels is not None and self._compares(column.name):
            lines = [self._renumbered(maps)[np.argsort(number)] for maps in column.levels.maps]
            tables[f"lines/{column.name}"] = pa.table({f"{i}": line for i, line in enumerate(lines)})
        shown: Codes = (
            number[values[first]].astype(np.int32)
            if self._compares(column.name)
            else _numbered_within(groups[first])
        )
        tables[f"values/{column.name}"] = counter_table(
            [sums[i] for i in order.tolist()], self._public, **{GROUP: groups[first], VALUE: shown}
        )
        return tables

    def _compares(self, column: str) -> bool:
        return any(
            m.name in COMPARED_WITH_TABLE and (column,) in m.distributions for m in self.contract.models
        )

    def _on_answer(self, sender: str, tables: Tables) -> list[Message]:
        good = bool(facts_of(tables, self._key_holder(sender)).get("satisfied"))
        if good:
            self._satisfying[len(self._tested)] = self._tested[-1]
            self._warn_of_visible_groups(self._tested[-1])
        if self._search is None:
            raise self.refuse(
                sender, "federation.answered-before-anything-asked", "answered before anything was asked"
            )
        return self._go_on(self._search.answer(good))

    def _key_holder(self, sender: str) -> str:
        if sender != self.contract.key_holder:
            raise self.refuse(sender, "federation.no-part-counting", "has no part in counting")
        return sender

    def _warn_of_visible_groups(self, node: Node) -> None:
        """A group with fewer rows than a class must have, at a node that passes, is made up throughout."""
        if self.contract.distribution is Partitioning.HORIZONTAL or self.contract.suppression_limit > 0:
            return
        cells = self._cells.at(node)
        groups = self._cells.groups(cells)
        visible = np.bincount(groups.ids, weights=cells.visible, minlength=groups.num_groups)
        small = int(np.count_nonzero(visible < block_size(self.contract)))
        if small:
            self.warnings.append(
                f"at the levels {node} {small} groups have too few visible rows to be true: the helper knows "
                "that they are made up"
            )

    # ------------------------------------------------------------------ release

    def _on_choice(self, sender: str, tables: Tables) -> list[Message]:
        tests = facts_of(tables, self._key_holder(sender)).get("tests") or []
        if not tests or not set(tests) <= set(self._satisfying):
            raise self.refuse(
                sender, "federation.chose-levels-not-satisfy", "chose levels that do not satisfy"
            )
        self._node = min((self._satisfying[test] for test in tests), key=self._problem.order)
        if self.contract.suppression_limit == 0:
            return [self._result(None)]
        self._tested.append(self._node)
        return self._ask(FINAL, self._node)

    def _on_keep(self, sender: str, tables: Tables) -> list[Message]:
        kept = np.array(facts_of(tables, self._key_holder(sender)).get("kept") or [], bool)
        if self._order is None or len(kept) != len(self._order):
            raise self.refuse(sender, "federation.kept-other-groups", "kept other groups than there are")
        by_group = np.empty(len(kept), bool)
        by_group[self._order] = kept
        return [self._result(by_group)]

    def _result(self, kept: Mask | None) -> Message:
        """The rows of the groups that stay, equal ones added up, so that only the release can be read."""
        public, share = self._public, self._share
        assert public is not None
        assert share is not None
        assert share.counters is not None
        level = dict(zip(self.contract.quasi_identifiers, self._node, strict=True))
        parts = {name: part.at(level.get(name, 0)) for name, part in share.parts.items()}
        rows = np.arange(share.num_rows)
        if kept is not None:
            rows = rows[kept[self._cells.group_of_rows(self._cells.at(self._node))]]
        chosen = {name: part.take(rows).without_rules() for name, part in parts.items()}
        same = group_codes([p.codes for p in chosen.values()], [len(p.tokens) for p in chosen.values()])
        counters = self._cells.sums(same, [share.counters[i] for i in rows.tolist()])
        result = PartyShare(
            {name: part.take(same.representatives) for name, part in chosen.items()},
            same.num_groups,
            counters=public.rerandomize(counters),
        ).mixed(self.chance)
        if self._search is not None:
            self._search.close()
        self.has_done_its_part = True
        tables = {"facts": facts_table(node=list(self._node)), **share_tables(result, public)}
        return self.send(self.contract.key_holder, RESULT, tables)


def _numbered_within(groups: Codes) -> Codes:
    """Numbers 0, 1, ... for the entries of each group."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], groups[order])
    numbers = np.empty(len(groups), np.int32)
    numbers[order] = np.arange(len(groups)) - starts
    return numbers
