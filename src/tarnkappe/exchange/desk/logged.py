"""What the log says: every row that counts is bound by its digest to the sealed log.

A row in the database proves nothing: whoever can write there could have put it in, changed it, or put an
older one back. So each step logs the digests of what it writes, and whoever reads compares. The log itself
is sealed, and its newest head is kept elsewhere (`state/audit.py`), so it can be neither changed nor put
back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, VerificationError
from tarnkappe.exchange.desk.states import RequestEvent, RequestState, after
from tarnkappe.exchange.desk.tables import COHORT_BOOK, CONSENTS, LEDGER, PENDING, TRAILS, WITHDRAWALS
from tarnkappe.state import AuditEntry, AuditLog, Statement

RECEIVED, CHECKED, DECIDED = "request received", "request checked", "decided"
MOVES, ROW, ANSWER_ROW, RELEASE_ROW = "moves", "row", "answer", "release"
"""Details of an entry: what happened to the request, and the digests of the rows that were written."""
REGISTERS = "registers"
TAKEN_OVER = "registers taken over"
"""The entry that vouches for what an earlier version, which sealed nothing, has left."""

WITHDRAWN, CONSENTED, TOLD, COHORTS = "withdrawals", "consents", "told", "cohorts"


def row_digest(row: sa.Row[Any] | Mapping[str, Any], table: sa.Table, *leave_out: str) -> str:
    """Stands for a row, with the name of its table and the names of its columns."""
    values = row if isinstance(row, Mapping) else row._mapping
    names = [column.name for column in table.columns if column.name not in leave_out]
    return _digest_of(table.name, tuple((name, *_plain(values[name])) for name in names))


def _plain(value: Any) -> tuple[type, Any]:
    """A value with its type, since 1 and true are equal to Python; of bytes what stands for them."""
    if isinstance(value, bytes | memoryview):
        return bytes, hashlib.sha256(value).hexdigest()
    return type(value), value


@lru_cache(maxsize=16_384)  # a check reads all rows of a register several times
def _digest_of(table: str, cells: tuple[tuple[str, type, Any], ...]) -> str:
    said = {name: {"sha256": value} if kind is bytes else value for name, kind, value in cells}
    return Statement("row", {"table": table, "values": said}).digest


def digest_of_marks(marks: Iterable[bytes]) -> str:
    """Stands for people, in their order."""
    return hashlib.sha256(b"".join(bytes(mark) for mark in marks)).hexdigest()


def register_digest(connection: sa.Connection, name: str) -> str:
    """Stands for all rows of a register as they are now."""
    return digest_of_rows(connection, name, _TABLES[name])


def digest_of_rows(connection: sa.Connection, name: str, tables: Iterable[sa.Table]) -> str:
    """Stands for all rows of some tables, which are the register of this name."""
    found = []
    for table in tables:
        rows = connection.execute(sa.select(table).order_by(*table.primary_key.columns))
        found += [row_digest(row, table) for row in rows]
    return Statement("register", {"name": name, "rows": found}).digest


_TABLES: Mapping[str, tuple[sa.Table, ...]] = {
    WITHDRAWN: (WITHDRAWALS,),
    CONSENTED: (CONSENTS,),
    TOLD: (TRAILS, PENDING, LEDGER),
    COHORTS: (COHORT_BOOK,),
}


def registers(connection: sa.Connection, *names: str) -> dict[str, dict[str, str]]:
    """What an entry says that changes registers, after the change."""
    return {REGISTERS: {name: register_digest(connection, name) for name in names}}


class Logged:
    """The entries of a log that was verified, by what they are about."""

    def __init__(self, entries: Iterable[AuditEntry]) -> None:
        self._by_request: dict[str, list[AuditEntry]] = {}
        self._registers: dict[str, str] = {}
        self.before: dict[str, str | None] = {}
        """Requests from before the log was sealed, with the digests of what was noted of their packages."""
        for entry in entries:
            digest = entry.details.get("request")
            if isinstance(digest, str):
                self._by_request.setdefault(digest, []).append(entry)
            self._registers |= entry.details.get(REGISTERS, {})
            if entry.event == TAKEN_OVER:
                self.before = dict(entry.details.get("requests", {}))

    @classmethod
    def read(cls, log: AuditLog, connection: sa.Connection) -> Logged:
        """What the log says, as a transaction sees it.

        Raises:
            VerificationError: if the log was tampered with.
        """
        return cls(log.verified(connection))

    @property
    def requests(self) -> list[str]:
        """The digests of all requests that came in."""
        return [digest for digest in self._by_request if self.newest(digest, RECEIVED) is not None]

    def of(self, digest: str, event: str) -> list[AuditEntry]:
        """The entries of one kind about a request, the oldest first."""
        return [entry for entry in self._by_request.get(digest, ()) if entry.event == event]

    def newest(self, digest: str, event: str) -> AuditEntry | None:
        """The last entry of one kind about a request that names a row."""
        found = [entry for entry in self.of(digest, event) if ROW in entry.details]
        return found[-1] if found else None

    def detail(self, digest: str, name: str) -> Any:
        """What the last entry about a request says that says something of this name."""
        found = [entry.details[name] for entry in self._by_request.get(digest, ()) if name in entry.details]
        return found[-1] if found else None

    def state(self, digest: str) -> RequestState:
        """Where a request stands, by everything that happened to it."""
        state = RequestState.RECEIVED
        try:
            for entry in self._by_request.get(digest, ()):
                if MOVES in entry.details:
                    state = after(state, RequestEvent(entry.details[MOVES]))
        except (AccessError, ValueError):
            raise VerificationError(
                "exchange.log-tells-request-what-cannot-happened",
                "the log tells of this request what cannot have happened",
            ) from None
        return state

    def require_register(self, connection: sa.Connection, name: str) -> None:
        """Refuse a register that is not as the log says.

        Raises:
            VerificationError: if a row was put in, changed, or taken out.
        """
        empty = Statement("register", {"name": name, "rows": []}).digest
        if register_digest(connection, name) != self._registers.get(name, empty):
            raise VerificationError(
                "exchange.changed-database-not-program",
                "{what} were changed in the database, and not by this program",
                what=_WHAT[name],
            )


_WHAT = {
    WITHDRAWN: "the withdrawals of patients",
    CONSENTED: "the consents of patients",
    TOLD: "the notes of what was told before",
    COHORTS: "the cohorts of patients",
}
