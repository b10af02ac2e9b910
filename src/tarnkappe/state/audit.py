"""The audit log: what was decided and when, append-only and hash-chained.

Every entry carries the hash of the one before, so nothing can be changed or taken out of the middle
without breaking the chain, and the database itself refuses changes. Taking entries off the end leaves a
whole chain: whoever must notice that keeps the `head` elsewhere and verifies against it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import VerificationError
from tarnkappe.state.store import METADATA, Store

BEGINNING = "0" * 64

AUDIT = sa.Table(
    "audit_log",
    METADATA,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String, nullable=False),
    sa.Column("event", sa.String, nullable=False),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)

TRIGGERS = {
    "sqlite": [
        f"CREATE TRIGGER audit_log_no_{action.lower()} BEFORE {action} ON audit_log "
        "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
        for action in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION audit_log_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$",
        "CREATE TRIGGER audit_log_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()",
    ],
}
"""By which the database itself refuses changes."""


@sa.event.listens_for(AUDIT, "after_create")
def _refuse_changes(_: sa.Table, connection: sa.Connection, **__: Any) -> None:
    for statement in TRIGGERS.get(connection.dialect.name, ()):
        connection.exec_driver_sql(statement)


@dataclasses.dataclass(frozen=True)
class AuditEntry:
    """One entry of the log."""

    number: int
    time: str
    event: str
    details: Mapping[str, Any]
    previous: str
    hash: str


class AuditLog:
    """The log of a store.

    >>> log = AuditLog(Store.in_memory())
    >>> log.append("released", {"name": "March", "rows": 120}).number
    1
    >>> [entry.event for entry in log.entries()], log.verify()
    (['released'], 1)
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def append(
        self, event: str, details: Mapping[str, Any], connection: sa.Connection | None = None
    ) -> AuditEntry:
        """Add an entry; it is durable when this returns.

        Args:
            event: what happened.
            details: plain data about it; never put cells of a table here.
            connection: the transaction of `Store.writing` that the entry belongs to, so that both are
                written or neither.
        """
        if connection is None:
            with self.store.writing() as opened:
                return self.append(event, details, opened)
        last = connection.execute(
            sa.select(AUDIT.c.number, AUDIT.c.hash).order_by(AUDIT.c.number.desc()).limit(1)
        ).first()
        number, previous = (1, BEGINNING) if last is None else (last.number + 1, last.hash)
        text = json.dumps(details, sort_keys=True, ensure_ascii=False)
        time = datetime.now(UTC).isoformat(timespec="microseconds")
        row = {"number": number, "time": time, "event": event, "details": text, "previous": previous}
        own = _hash(row)
        connection.execute(sa.insert(AUDIT).values(row | {"hash": own}))
        return AuditEntry(number, time, event, json.loads(text), previous, own)

    def entries(self) -> Iterator[AuditEntry]:
        """All entries, the oldest first."""
        for row in self._rows():
            yield AuditEntry(**{**row, "details": json.loads(row["details"])})

    @property
    def head(self) -> str:
        """The hash of the last entry, which stands for the whole log."""
        rows = self._rows()
        return rows[-1]["hash"] if rows else BEGINNING

    def verify(self, head: str | None = None) -> int:
        """Check the whole chain and return its length; refuse a log that was tampered with.

        Args:
            head: a head that was kept elsewhere; the log must still contain it.
        """
        previous, seen = BEGINNING, {BEGINNING}
        for place, row in enumerate(self._rows(), start=1):
            if row["number"] != place or row["previous"] != previous or row["hash"] != _hash(row):
                raise VerificationError(f"the audit log was tampered with at entry {place}")
            previous = row["hash"]
            seen.add(previous)
        if head is not None and head not in seen:
            raise VerificationError("the audit log lacks entries that it had: its end was cut off")
        return len(seen) - 1

    def _rows(self) -> list[dict[str, Any]]:
        with self.store.reading() as connection:
            found = connection.execute(sa.select(AUDIT).order_by(AUDIT.c.number))
            return [dict(row._mapping) for row in found]


def _hash(row: Mapping[str, Any]) -> str:
    parts = [row[name] for name in ("number", "time", "event", "details", "previous")]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
