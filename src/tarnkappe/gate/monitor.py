"""The keeper stands before the protected table and lets nothing out that was not kept first.

**What holds.** Let somebody know the quasi-identifiers of everybody, this program, the policy, and all that
the keeper ever said to a circle of users (everybody, a group, one user: as the policy presumes), refusals
included. Let him also know who came, went or changed, and where the list of values comes from. For every
person who was ever in an answer, and each sensitive column, he is left with at least k possible values,
unless the policy accepts a leak by name. See `surplus`, `partition` and `roster` for the proofs; see
`docs/how-to/gate.md` for what is not promised: that the k values are equally likely, that they are unlike
each other, or that somebody who knows the values of some people is left with as many for the others.

Every question is decided while no other of the same history is: the order of answers is one order. An answer
is in the store before it leaves; if the machine dies in between, the same question gets the same answer then.

Questions are answered from a snapshot of the table (`snapshot`). Who came, went or changed since the last one
is in the store before anything is answered from the new one.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.gate.answer import Block, Refusal
from tarnkappe.gate.column_gate import ColumnGate
from tarnkappe.gate.forms import NOTICE, rows_shown, types_shown
from tarnkappe.gate.history_store import GATE, HistoryStore, Lease, store_to_look_at
from tarnkappe.gate.labels import NUMBERS, Labels
from tarnkappe.gate.people_marks import PeopleMarks
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import AnswerRows, CountedAnswer, GateQuery, RefusedQuery
from tarnkappe.gate.roster import Roster
from tarnkappe.gate.roster_log import RosterEntry, RosterLog, place_of
from tarnkappe.gate.slot import Slot
from tarnkappe.gate.snapshot import TableEvents
from tarnkappe.gate.source import ProtectedTable, SelectedPeople
from tarnkappe.gate.strategy import Strategy
from tarnkappe.gate.surplus import Coins
from tarnkappe.gate.terms import WOULD_BREAK, WOULD_BREAK_NAIVELY, known_people, outside_limits, terms_of
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.key import Key
from tarnkappe.state.store import Store

LATEST = 1.5
"""A question looks at the table itself if for so many times the seconds of the policy nobody else did."""
ASKED = "gate asked"
"""The event of the audit log for every question."""


class QueryMonitor:
    """Answers questions about the protected table of a policy.

    Args:
        policy: what is protected, and how.
        source: the table.
        store: where answers are kept.
        key: under which people are marked in the store; without it, that of the policy's file.
        coins: for tests alone.
    """

    def __init__(
        self,
        policy: GatePolicy,
        source: ProtectedTable,
        store: Store,
        key: Key | None = None,
        coins: Coins | None = None,
    ) -> None:
        policy.require_values()
        self.policy, self.source, self._coins = policy, source, coins
        self._lease: Lease | None = None
        self._key = Key.load(policy.key_file, create=True) if key is None else key
        self._histories, self._log = HistoryStore(store), AuditLog(store)
        self._roster = Roster(policy, self._histories, self._key)
        self._known = known_people(policy, self._key)
        self._histories.bind(terms_of(policy, self._key, self._known))
        self._labels = {
            column.name: Labels(column, numbers=source.types[column.name] in NUMBERS)
            for column in policy.sensitive
        }
        self._columns: dict[tuple[str, str], ColumnGate] = {}
        self._asked: dict[str, int] = {"answered": 0, "refused": 0}
        self._counting, self._renewing, self._naming = (threading.Lock() for _ in range(3))
        self._locks: dict[str, threading.Lock] = {}
        self._marks = PeopleMarks(self._key, source.snapshot)
        self._looked_at = time.monotonic()
        self._roster_log = RosterLog(self._histories)
        self._is_noted = False
        """Whether all that happened up to the snapshot is in the store; else nothing is answered from it."""
        for history, name in self._histories.histories():
            self._column(history, name)
        if store.mode != "read":
            self._note_everybody()

    @classmethod
    def open(cls, policy: GatePolicy) -> QueryMonitor:
        """The keeper of a policy, with the source, the store and the key that it names.

        As long as it is open, no other one can be opened on the same store.
        """
        policy.require_values()
        store = Store.open(policy.store, GATE)
        lease: Lease | None = None
        try:
            lease = Lease.take(store)
            keeper = cls(policy, ProtectedTable.open(policy), store)
        except BaseException:
            store.close()
            if lease is not None:
                lease.end()
            raise
        keeper._lease = lease
        return keeper

    @classmethod
    def to_look(cls, policy: GatePolicy) -> QueryMonitor:
        """One that answers nobody, for `status`: it makes and changes nothing, and waits for no open gate."""
        policy.require_values()
        store = store_to_look_at(policy.store)
        try:
            key = Key.new() if store.mode != "read" else Key.load(policy.key_file)
            return cls(policy, ProtectedTable.open(policy), store, key)
        except BaseException:
            store.close()
            raise

    @property
    def store(self) -> Store:
        """Where its answers are kept."""
        return self._histories.store

    @property
    def types(self) -> Mapping[str, str]:
        """The type of every column in answers."""
        return types_shown(self.policy, self.source.types)

    def renew(self) -> bool:
        """Look at the table, and answer from what it is now; says whether it was another than before.

        It is read beside the questions, and put in place between two of them.
        """
        with self._renewing:
            self._looked_at = time.monotonic()
            found = self.source.look()
            if found is None:
                return False
            with self._nobody_asks():
                was_noted, self._is_noted = self._is_noted, False
                events = self.source.put_in_place(found)
                self._marks = PeopleMarks(self._key, found)
                if was_noted:
                    self._note_events(events)
                    self._is_noted = True
                else:
                    self._note_everybody()
            return True

    def answer(self, user: str, question: GateQuery, slot: Slot | None = None) -> AnswerRows | RefusedQuery:
        """What a user may see; it is in the store when this returns."""
        history = self.policy.history_of(user)
        for name in question.columns:
            if name not in self.policy.columns and name not in self.policy.kinds:
                raise ParameterError(
                    "gate.protected-table-shows-no", "the protected table shows no column '{name}'", name=name
                )
        with self._turn_of(history):
            found = self._decide(history, question, slot)
            self._note(user, history, question, found)
        return found

    def figures(
        self, user: str, question: GateQuery, slot: Slot | None = None
    ) -> CountedAnswer | RefusedQuery:
        """What a user may estimate from: the same answer, counted; it is in the store when this returns."""
        history = self.policy.history_of(user)
        if not self.policy.answers_everybody:
            raise ParameterError(
                "gate.estimates-need-surplus", 'estimates need surplus values: on_violation = "add", no leak'
            )
        with self._turn_of(history):
            found = self._answered(history, question, slot)
            self._note(user, history, question, found)
        if isinstance(found, RefusedQuery):
            return found
        people, named, blocks = found
        counts = {
            name: Counter(value for block in parts for value in block.values)
            for name, parts in blocks.items()
        }
        draws = {name: self._columns[history, name].draw_of(named) for name in blocks}
        return CountedAnswer(len(people.keys), counts, draws)

    def status(self) -> dict[str, Any]:
        """What the keeper has done, for the owner; nothing about a person."""
        with self._nobody_asks():
            return {
                **self._asked,
                "table": self.policy.table,
                "left_out": dataclasses.asdict(self._roster.left_out),
                "leaks": list(self.policy.open_leaks),
                "warnings": list(self.policy.warnings),
                "histories": [
                    {
                        "history": history,
                        "column": name,
                        "answers": column.answers,
                        "people": column.gate.knowledge.tuples,
                        "k": column.column.k,
                        "least_degree": column.least_degree,
                        "grown": getattr(column.gate.decision, "grown", 0),
                        **column.gate.events,
                        **column.odds,
                    }
                    for (history, name), column in sorted(self._columns.items())
                ],
            }

    def degrees(self) -> dict[tuple[str, str], list[int]]:
        """For each history and sensitive column, how many possible values everybody keeps at least."""
        with self._nobody_asks():
            return {place: sorted(column.gate.degrees().values()) for place, column in self._columns.items()}

    def close(self) -> None:
        """Keep what makes the next start short, and let go of the table and the store."""
        with self._nobody_asks():
            for column in self._columns.values() if self.store.mode != "read" else ():
                column.save()
            self.source.close()
            self.store.close()
            if self._lease is not None:
                self._lease.end()

    @contextmanager
    def _turn_of(self, history: str) -> Iterator[None]:
        """While a question of a history is decided; a gate that leaves people out decides one at a time."""
        if time.monotonic() - self._looked_at >= LATEST * self.policy.refresh:
            self.renew()
        with self._naming:
            lock = self._locks.setdefault(history if self.policy.answers_everybody else "", threading.Lock())
        if not self._is_noted:
            with self._nobody_asks():
                self._note_everybody()
        with lock:
            yield

    @contextmanager
    def _nobody_asks(self) -> Iterator[None]:
        """While nothing is decided."""
        with self._naming, ExitStack() as held:
            for lock in self._locks.values():
                held.enter_context(lock)
            yield

    def _note_everybody(self) -> None:
        """Keep who came, went or changed since the last snapshot from which anything was kept."""
        if self._is_noted:  # somebody else did meanwhile
            return
        here, before = frozenset(self._marks.of(None)), self._roster_log.present()
        self._note_people(here - before, frozenset(before - here))
        for (_, name), column in self._columns.items():
            if self.policy.answers_everybody and column.knows_people:
                column.look(self._marks.of(None), self.source.snapshot.cells(name))
        self._is_noted = True

    def _note_events(self, events: TableEvents) -> None:
        """Keep who came, went or changed."""
        came = frozenset(self._marks.of(events.came))
        went = frozenset(self._key.mark("person", [key]).hex() for key in events.went)
        self._note_people(came, went)
        for (_, name), column in self._columns.items():
            if self.policy.answers_everybody:
                rows = np.union1d(events.changed[name], events.came)
                column.look(self._marks.of(rows), self.source.snapshot.cells(name, rows))

    def _note_people(self, came: frozenset[str], went: frozenset[str]) -> None:
        if came or went:
            answers = {place_of(*where): column.answers for where, column in self._columns.items()}
            self._roster_log.add(RosterEntry(came, went, answers))

    def _decide(self, history: str, question: GateQuery, slot: Slot | None) -> AnswerRows | RefusedQuery:
        found = self._answered(history, question, slot)
        return found if isinstance(found, RefusedQuery) else self._shown(history, question, *found)

    def _answered(
        self, history: str, question: GateQuery, slot: Slot | None
    ) -> tuple[SelectedPeople, list[str], dict[str, tuple[Block, ...]]] | RefusedQuery:
        named_too = {own for kind, own in self.policy.kinds.items() if kind in question.columns}
        asked = named_too.union(question.columns)
        shown = [column.name for column in self.policy.sensitive if column.name in asked]
        people, named = self._named(self.source.people(question), protected=bool(shown))
        if slot is not None:
            slot.count(len(people.keys))
        refused = outside_limits(self.policy, len(people.keys))
        if refused is not None:
            return refused
        blocks: dict[str, tuple[Block, ...]] = {}
        if named:
            columns = [self._column(history, name) for name in shown]
            for column in () if self.policy.answers_everybody else columns:
                column.look(named, people.secrets[column.column.name])
                if column.foresees_refusal(named):
                    return RefusedQuery(WOULD_BREAK)
            for column in columns:
                size = max([0, *(sum(len(block.values) for block in parts) for parts in blocks.values())])
                until = None if slot is None else slot.search_until
                answer = column.ask(named, people.secrets[column.column.name], size, until)
                if isinstance(answer, Refusal):
                    return RefusedQuery(WOULD_BREAK_NAIVELY)
                blocks[column.column.name] = answer
                self._roster.answered(column.column.name, named, people.secrets[column.column.name])
        return people, named, blocks

    def _named(self, people: SelectedPeople, *, protected: bool) -> tuple[SelectedPeople, list[str]]:
        """People with their marks; if sensitive values are shown, without those who are in no answer."""
        named = self._marks.of(people.rows)
        if not protected:
            return people, named
        present = self._roster.present(named, people.secrets)
        if len(present) == len(named):
            return people, named
        return people.only(present), [named[place] for place in present]

    def _note(self, user: str, history: str, question: GateQuery, found: object) -> None:
        """Who asked what, for the owner. Values in the condition are left out: they may be somebody's own."""
        refused = found.reason if isinstance(found, RefusedQuery) else None
        with self._counting:
            self._asked["answered" if refused is None else "refused"] += 1
        shown = {name: self._columns.get((history, name)) for name in question.columns}
        told = {
            "user": user,
            "history": history,
            "columns": list(question.columns),
            "where": question.where,
            "refused": refused,
            "least_degrees": {name: gate.least_degree for name, gate in shown.items() if gate is not None},
        }
        self._log.append(ASKED, told)

    def _shown(
        self,
        history: str,
        question: GateQuery,
        people: SelectedPeople,
        named: list[str],
        blocks: Mapping[str, tuple[Block, ...]],
    ) -> AnswerRows:
        told = [history, *named, *(value for parts in blocks.values() for b in parts for value in b.values)]
        order = self._key.derived("order", *told)
        rows = rows_shown(self.policy, self.source.types, question.columns, people, named, blocks, order)
        notice = NOTICE if blocks and self.policy.on_violation == "add" else ""
        if notice and self.policy.tell_artificial:
            extra = sum(len(block.values) - len(block.people) for parts in blocks.values() for block in parts)
            notice = f"{extra} values of this answer are artificial."
        return AnswerRows(rows.columns, rows.types, rows.rows, notice)

    def _column(self, history: str, name: str) -> ColumnGate:
        """The gate of a column for a history; it is there from the first question on."""
        if (history, name) not in self._columns:
            column = self.policy.sensitive_column(name)
            assert column is not None, "the policy is the one under which the history began"
            made = ColumnGate(
                self.policy,
                column,
                history,
                self._labels[name],
                self._roster.mark,
                self._histories,
                _strategy,
                self._coins,
                self._known,
                self._key.derived("sets", history, name),
            )
            if self.policy.on_violation == "refuse" and not self.policy.open_leaks and not made.answers:
                self._begin(made)
            if self.policy.answers_everybody and made.knows_people and self._is_noted:
                made.look(self._marks.of(None), self.source.snapshot.cells(name))
            self._columns[history, name] = made
        return self._columns[history, name]

    def _begin(self, column: ColumnGate) -> None:
        """Tell the values of everybody together, without which nothing could be answered."""
        people, named = self._named(self.source.everyone(), protected=True)
        secrets = people.secrets[column.column.name]
        column.look(named, secrets)
        column.ask(named, secrets)
        self._roster.answered(column.column.name, named, secrets)


def _strategy(name: str) -> Strategy:
    from tarnkappe.gate import STRATEGIES

    return STRATEGIES[name]()
