"""Who was in the table, and when: everybody may know it, and the owner must be able to show it.

People are in it by their marks. Each entry says who came and who went, and before which answer of each
history that was; the first one has everybody. It is part of the chained log, before any answer that was given
from a table with these people.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping

import sqlalchemy as sa

from tarnkappe.errors import VerificationError
from tarnkappe.gate.history_store import ROSTERS, HistoryStore
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.canonical import canonical_json

ROSTER = "gate roster"
"""The event of the audit log when people came or went."""
WIDTH = 16
"""The bytes of a mark."""


@dataclasses.dataclass(frozen=True)
class RosterEntry:
    """Who came and went, by their marks, and how many answers each history and column had before."""

    came: frozenset[str]
    went: frozenset[str]
    answers: Mapping[str, int]

    def precedes(self, history: str, column: str, number: int) -> bool:
        """Whether it was noted before the answer of a number."""
        return self.answers.get(place_of(history, column), 0) < number


def place_of(history: str, column: str) -> str:
    """How entries call a column of a history."""
    return f"{history}/{column}"


class RosterLog:
    """The entries of a store."""

    def __init__(self, histories: HistoryStore) -> None:
        self._store = histories.store

    def entries(self) -> Iterator[RosterEntry]:
        """All entries, in their order."""
        with self._store.reading() as connection:
            rows = connection.execute(sa.select(ROSTERS).order_by(ROSTERS.c.place)).all()
        for row in rows:
            yield RosterEntry(_marks(row.came), _marks(row.went), json.loads(row.answers))

    def present(self) -> set[str]:
        """Who is in the table after the last entry."""
        here: set[str] = set()
        for entry in self.entries():
            here = (here | entry.came) - entry.went
        return here

    def add(self, entry: RosterEntry) -> None:
        """Keep who came and went; it is durable when this returns."""
        came, went = (b"".join(map(bytes.fromhex, sorted(who))) for who in (entry.came, entry.went))
        answers = canonical_json(entry.answers).decode()
        with self._store.writing() as connection:
            count = connection.execute(sa.select(sa.func.count()).select_from(ROSTERS)).scalar()
            row = {"place": int(count or 0) + 1, "came": came, "went": went, "answers": answers}
            connection.execute(sa.insert(ROSTERS).values(row))
            told = {"place": row["place"], "digest": _digest(came, went, answers)}
            AuditLog(self._store).append(ROSTER, told, connection)

    def verify(self) -> None:
        """Check that no entry was changed, taken out or put in."""
        logged = {
            entry.details["place"]: entry.details["digest"]
            for entry in AuditLog(self._store).entries()
            if entry.event == ROSTER
        }
        with self._store.reading() as connection:
            rows = connection.execute(sa.select(ROSTERS)).all()
        if {row.place: _digest(row.came, row.went, row.answers) for row in rows} != logged:
            raise VerificationError(
                "gate.people-came-went-not-logged",
                "{store}: the people who came and went are not those that were logged",
                store=self._store.place,
            )


def _marks(data: bytes) -> frozenset[str]:
    return frozenset(data[place : place + WIDTH].hex() for place in range(0, len(data), WIDTH))


def _digest(came: bytes, went: bytes, answers: str) -> str:
    whole = b"%d %d %s" % (len(came), len(went), came + went + answers.encode())
    return hashlib.sha256(whole).hexdigest()
