"""What a gate must never forget: every answer, before it leaves.

People are in it by keyed marks, not by name. Their true values are in it as labels, since the audit must see
that they were answered, and as keyed marks of what the table has, since the gate must notice when that
changes: whoever has both the store and the key knows as much as the owner of the table.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.exc import IntegrityError

from tarnkappe.errors import GuaranteeError, ParameterError, VerificationError
from tarnkappe.gate.answer import Block, HistoryEntry
from tarnkappe.gate.population import Version
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.canonical import canonical_json
from tarnkappe.state.component import Component
from tarnkappe.state.store import Store
from tarnkappe.table.formats.address import is_address
from tarnkappe.table.staging import try_lock

ANSWERED = "gate answered"
"""The event of the audit log."""
VERSIONED = "gate versions"
"""The event when people have other values than before, or values that count as known, before an answer."""
LISTED = "gate list"
"""The event when a list of values was read from the table."""

METADATA = sa.MetaData()
GATE = Component("gate", METADATA, ("tarnkappe.gate.steps:to_versions", "tarnkappe.gate.steps:to_roster"))
ANSWERS = sa.Table(
    "gate_answers",
    METADATA,
    sa.Column("history", sa.String, primary_key=True),
    sa.Column("column", sa.String, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String, nullable=False),
    sa.Column("entry", sa.LargeBinary, nullable=False),
)
STATES = sa.Table(
    "gate_states",
    METADATA,
    sa.Column("history", sa.String, primary_key=True),
    sa.Column("column", sa.String, primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("strategy", sa.String, nullable=False),
    sa.Column("labels", sa.Text, nullable=False),
    sa.Column("state", sa.LargeBinary, nullable=False),
)
PROMISES = sa.Table(
    "gate_promises",
    METADATA,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
VERSIONS = sa.Table(
    "gate_versions",
    METADATA,
    sa.Column("history", sa.String, primary_key=True),
    sa.Column("column", sa.String, primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("versions", sa.LargeBinary, nullable=False),
)
FOUNDERS = sa.Table(
    "gate_founders",
    METADATA,
    sa.Column("column", sa.String, primary_key=True),
    sa.Column("founders", sa.LargeBinary, nullable=False),
)
ROSTERS = sa.Table(
    "gate_roster",
    METADATA,
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("came", sa.LargeBinary, nullable=False),
    sa.Column("went", sa.LargeBinary, nullable=False),
    sa.Column("answers", sa.Text, nullable=False),
)


@dataclasses.dataclass(frozen=True)
class Founder:
    """Somebody who was there when a list of values was read from the table.

    Attributes:
        label: how his value is shown.
        stored: a mark of it.
    """

    label: str = dataclasses.field(repr=False)
    stored: str = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True)
class SavedState:
    """The state of a strategy after a number of answers, and the values in the order of their codes."""

    answers: int
    strategy: str
    labels: list[str]
    arrays: Mapping[str, NDArray[Any]]


LEASE = 7_461_726_111
"""The advisory lock of PostgreSQL that a gate has as long as it is open."""


class Lease:
    """The right to answer from a store. One gate has it at a time, until it or its process ends."""

    def __init__(self, end: Callable[[], None]) -> None:
        self.end = end

    @classmethod
    def take(cls, store: Store) -> Lease:
        """Take it, or refuse because another gate has it."""
        if store.engine.dialect.name == "postgresql":
            connection = store.engine.connect()
            locked = sa.text("SELECT pg_try_advisory_lock(:lock)")
            taken = bool(connection.execute(locked, {"lock": LEASE}).scalar())
            lease = cls(lambda: connection.invalidate())  # back in the pool it would keep the lock
        elif store.engine.url.database:
            file = os.open(f"{store.engine.url.database}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            taken = try_lock(file)
            lease = cls(lambda: os.close(file))
        else:
            return cls(lambda: None)
        if not taken:
            lease.end()
            raise ParameterError(
                "gate.another-gate-open-store",
                "{store}: another gate is open on this store, and only one may answer: stop it, or name "
                "another store for another table",
                store=store.place,
            )
        return lease


def store_to_look_at(place: str) -> Store:
    """The store of a gate, to be read only; an empty one if no gate was ever opened there."""
    if not is_address(place) and not Path(place).exists():
        return Store.in_memory(GATE)
    return Store.open(place, GATE, mode="read")


class HistoryStore:
    """The answers of all histories of a gate.

    >>> store = HistoryStore(Store.in_memory())
    >>> store.add("everyone", "disease", 1, HistoryEntry((("a", "flu"),), (Block(("a",), ("flu", "cold")),)))
    >>> [entry.blocks[0].values for entry in store.entries("everyone", "disease")]
    [('flu', 'cold')]
    """

    def __init__(self, store: Store) -> None:
        store.ensure(GATE)
        self.store = store

    def bind(self, promises: Mapping[str, Any]) -> None:
        """Hold a gate to what was promised when the first answers were given."""
        looks = self.store.mode == "read"
        with self.store.reading() if looks else self.store.writing() as connection:
            kept = {row.name: row.value for row in connection.execute(sa.select(PROMISES))}
            for name, value in promises.items():
                text = canonical_json(value).decode()
                if name not in kept:
                    if not looks:
                        connection.execute(sa.insert(PROMISES).values(name=name, value=text))
                elif json.loads(kept[name]) != json.loads(text):  # however it was written
                    raise ParameterError(
                        "gate.answers-given-under-another-policy",
                        "{store}: these answers were given under another policy: '{name}' was {kept} and is"
                        " now {text}. Answers cannot be taken back: keep the policy, or protect a table "
                        "that nobody has asked about with a new store",
                        store=self.store.place,
                        name=name,
                        kept=kept[name],
                        text=text,
                    )

    def promise(self, name: str) -> Any:
        """What was promised under a name; None if nothing was."""
        with self.store.reading() as connection:
            found = sa.select(PROMISES.c.value).where(PROMISES.c.name == name)
            text = connection.execute(found).scalar()
        return None if text is None else json.loads(text)

    def add_versions(self, history: str, column: str, number: int, versions: Sequence[Version]) -> None:
        """Keep that people have other values than before, before the answer of a number; it is durable when
        this returns.
        """
        told = [[one.person, one.label, one.stored, one.is_change] for one in versions]
        data = _compressed(told)
        with self.store.writing() as connection:
            ours = sa.and_(VERSIONS.c.history == history, VERSIONS.c.column == column)
            place = connection.execute(sa.select(sa.func.count()).select_from(VERSIONS).where(ours)).scalar()
            key = {"history": history, "column": column, "place": int(place or 0) + 1, "number": number}
            connection.execute(sa.insert(VERSIONS).values({**key, "versions": data}))
            AuditLog(self.store).append(VERSIONED, {**key, "digest": _digest(data)}, connection)

    def versions(self, history: str, column: str) -> dict[int, list[Version]]:
        """Whose values were noted before the answer of a number, by number, in their order."""
        ours = sa.select(VERSIONS).where(VERSIONS.c.history == history, VERSIONS.c.column == column)
        with self.store.reading() as connection:
            rows = connection.execute(ours.order_by(VERSIONS.c.place)).all()
        found: dict[int, list[Version]] = {}
        for row in rows:
            told = json.loads(zlib.decompress(row.versions))
            found.setdefault(row.number, []).extend(Version(*one) for one in told)
        return found

    def found(self, column: str, details: Mapping[str, Any], founders: Mapping[str, Founder]) -> None:
        """Keep that a list was read from the table, and who was there then."""
        data = _compressed([[who, one.label, one.stored] for who, one in founders.items()])
        with self.store.writing() as connection:
            connection.execute(sa.delete(FOUNDERS).where(FOUNDERS.c.column == column))
            connection.execute(sa.insert(FOUNDERS).values(column=column, founders=data))
            told = {"column": column, **details, "founders": _digest(data)}
            AuditLog(self.store).append(LISTED, told, connection)

    def founders(self, column: str) -> dict[str, Founder]:
        """Who was there when the list of a column was read from the table; nobody if it was not."""
        with self.store.reading() as connection:
            mine = sa.select(FOUNDERS.c.founders).where(FOUNDERS.c.column == column)
            data = connection.execute(mine).scalar()
        told = [] if data is None else json.loads(zlib.decompress(data))
        return {who: Founder(label, stored) for who, label, stored in told}

    def add(
        self, history: str, column: str, number: int, entry: HistoryEntry, state: SavedState | None = None
    ) -> None:
        """Keep an answer, and the state of the strategy after it if there is one; both are durable when this
        returns.
        """
        data = _packed(entry)
        place = {"history": history, "column": column, "number": number}
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            with self.store.writing() as connection:
                connection.execute(sa.insert(ANSWERS).values({**place, "time": now, "entry": data}))
                told = {**place, "digest": _digest(data)}
                AuditLog(self.store).append(ANSWERED, told, connection)
                if state is not None:
                    _put_state(connection, history, column, state)
        except IntegrityError:
            raise GuaranteeError(
                "gate.another-gate-works-history",
                "{store}: another gate works on this history; only one may answer",
                store=self.store.place,
            ) from None

    def entries(self, history: str, column: str) -> Iterator[HistoryEntry]:
        """The answers of a history, in their order."""
        ours = sa.select(ANSWERS.c.number, ANSWERS.c.entry).where(
            ANSWERS.c.history == history, ANSWERS.c.column == column
        )
        with self.store.reading() as connection:
            rows = connection.execute(ours.order_by(ANSWERS.c.number)).all()
        for place, row in enumerate(rows, start=1):
            if row.number != place:
                raise GuaranteeError(
                    "gate.answer-history-missing",
                    "{store}: answer {place} of a history is missing",
                    store=self.store.place,
                    place=place,
                )
            yield _unpacked(row.entry)

    def verify(self, head: str | None = None) -> int:
        """Check that no answer was changed, taken out or put in; returns how many there are.

        Args:
            head: of the audit log, if it was kept elsewhere: shows whether the end was cut off.
        """
        log = AuditLog(self.store)
        log.verify(head)
        self._verify_versions(log)
        logged = {
            (entry.details["history"], entry.details["column"], entry.details["number"]): entry.details[
                "digest"
            ]
            for entry in log.entries()
            if entry.event == ANSWERED
        }
        with self.store.reading() as connection:
            rows = connection.execute(sa.select(ANSWERS)).all()
        kept = {(r.history, r.column, r.number): _digest(r.entry) for r in rows}
        if kept != logged:
            raise VerificationError(
                "gate.answers-not-logged-changed",
                "{store}: the answers are not those that were logged: {items} were changed or are missing, "
                "{keys} were put in",
                store=self.store.place,
                items=len(logged.items() - kept.items()),
                keys=len(kept.keys() - logged.keys()),
            )
        return len(kept)

    def _verify_versions(self, log: AuditLog) -> None:
        """Check that who changed, and who was there when a list was made, are those that were logged."""
        logged: dict[tuple[Any, ...], str] = {}
        for entry in log.entries():
            told = entry.details
            if entry.event == VERSIONED:
                logged[told["history"], told["column"], told["place"], told["number"]] = told["digest"]
            if entry.event == LISTED and "founders" in told:
                logged[(told["column"],)] = told["founders"]
        with self.store.reading() as connection:
            changes = connection.execute(sa.select(VERSIONS)).all()
            lists = connection.execute(sa.select(FOUNDERS)).all()
        kept: dict[tuple[Any, ...], str] = {(row.column,): _digest(row.founders) for row in lists}
        kept |= {(r.history, r.column, r.place, r.number): _digest(r.versions) for r in changes}
        if kept != logged:
            what = {
                "changes of values" if len(place) > 1 else "people of a list"
                for place, _ in kept.items() ^ logged.items()
            }
            raise VerificationError(
                "gate.not-logged",
                "{store}: the {what} are not those that were logged",
                store=self.store.place,
                what=" and the ".join(sorted(what)),
            )

    def histories(self) -> list[tuple[str, str]]:
        """The histories that have answers, with their sensitive columns."""
        with self.store.reading() as connection:
            found = sa.select(ANSWERS.c.history, ANSWERS.c.column).distinct()
            return sorted((row.history, row.column) for row in connection.execute(found))

    def save(self, history: str, column: str, state: SavedState) -> None:
        """Keep the state of a strategy after some answers, in place of the one before."""
        with self.store.writing() as connection:
            _put_state(connection, history, column, state)

    def saved(self, history: str, column: str) -> SavedState | None:
        """The last state that was kept."""
        with self.store.reading() as connection:
            ours = sa.select(STATES).where(STATES.c.history == history, STATES.c.column == column)
            row = connection.execute(ours).first()
        if row is None:
            return None
        with np.load(io.BytesIO(row.state), allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays}
        return SavedState(row.number, row.strategy, json.loads(row.labels), found)


def _put_state(connection: sa.Connection, history: str, column: str, state: SavedState) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **state.arrays)  # type: ignore[arg-type]
    ours = sa.and_(STATES.c.history == history, STATES.c.column == column)
    connection.execute(sa.delete(STATES).where(ours))
    connection.execute(
        sa.insert(STATES).values(
            history=history,
            column=column,
            number=state.answers,
            strategy=state.strategy,
            labels=json.dumps(state.labels),
            state=buffer.getvalue(),
        )
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _compressed(told: object) -> bytes:
    # Mostly marks, of which no effort makes less: the fastest level writes 3 % more in a third of the time.
    return zlib.compress(json.dumps(told, ensure_ascii=False).encode(), level=1)


def _packed(entry: HistoryEntry) -> bytes:
    blocks = [[list(block.people), list(block.values)] for block in entry.blocks]
    parts = [list(entry.newcomers), blocks, *([list(entry.stored)] if entry.stored else [])]
    return _compressed(parts)


def _unpacked(data: bytes) -> HistoryEntry:
    newcomers, blocks, *stored = json.loads(zlib.decompress(data))
    return HistoryEntry(
        tuple((person, label) for person, label in newcomers),
        tuple(Block(tuple(people), tuple(values)) for people, values in blocks),
        tuple(stored[0]) if stored else (),
    )
