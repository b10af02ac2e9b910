"""The steps of the desk from version to version, with the tables as they were then."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import VerificationError
from tarnkappe.exchange.desk.logged import (
    CONSENTED,
    REGISTERS,
    TAKEN_OVER,
    TOLD,
    WITHDRAWN,
    digest_of_marks,
    digest_of_rows,
    row_digest,
)
from tarnkappe.state import Statement
from tarnkappe.state.audit import CARRIED_OVER
from tarnkappe.state.component import Upgrade, create_tables

THEN = sa.MetaData()
TELLINGS = sa.Table(
    "exchange_tellings",
    THEN,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("told", sa.LargeBinary, nullable=False),
)
LEDGER = sa.Table(
    "exchange_ledger",
    THEN,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("institution", sa.String, nullable=False),
    sa.Column("recipient", sa.String, nullable=False),
    sa.Column("told", sa.LargeBinary, nullable=False),
)


def _table(name: str, keys: int, *columns: str) -> sa.Table:
    """A table of version 1 as far as it is read here; its first columns are its key."""
    parts: list[sa.Column[Any]] = [
        sa.Column(column, primary_key=place < keys) for place, column in enumerate(columns)
    ]
    return sa.Table(f"exchange_{name}", THEN, *parts)


REQUESTS = _table("requests", 1, "digest", "state")
RECOMMENDATIONS = _table("recommendations", 1, "digest", "package")
PEOPLE, ANSWERS = _table("people", 1, "digest"), _table("answers", 1, "digest")
RELEASE_LOG = _table("release_log", 1, "number", "mark", "digest")
RELEASES = _table("releases", 1, "digest", "recipient", "purpose", "columns", "time")
TRAILS = _table("trails", 2, "institution", "recipient", "trails")
PENDING = _table("pending", 1, "digest", "institution", "recipient", "trails")
WITHDRAWALS, CONSENTS = _table("withdrawals", 1, "mark", "time"), _table("consents", 1, "mark", "content")
REGISTER_TABLES = {WITHDRAWN: (WITHDRAWALS,), CONSENTED: (CONSENTS,), TOLD: (TRAILS, PENDING, LEDGER)}
FINISHED = ("delivered", "withdrawn", "expired")


def to_sealed(upgrade: Upgrade) -> None:
    """Version 2: what counts is bound to the sealed log.

    Withdrawals, consents and the notes of earlier packages count as they stand on this day. Requests that
    were not finished are closed: nobody can tell whether their checks and decisions are those that were
    made. That happens once: whoever can write to the database, and lets it look like one of version 1 again,
    is told so by the log.

    Raises:
        VerificationError: the log is not whole, or it says that this is no store of version 1.
    """
    connection = upgrade.connection
    create_tables(connection, TELLINGS, LEDGER)
    entries = upgrade.log.verified(connection)
    sealed_before = any(entry.event == TAKEN_OVER or REGISTERS in entry.details for entry in entries)
    has_chain = any(entry.event == CARRIED_OVER for entry in entries) or not upgrade.log.has_tree(connection)
    if sealed_before or not (has_chain or _is_empty(connection)):
        raise VerificationError(
            "exchange.store-looks-like-version",
            "{store}: this store looks like one of version 0.1.0, and its log says that it is none: it was "
            "changed, and not by this program",
            store=upgrade.log.store.place,
        )
    if not entries:
        return
    closed = _close(connection)
    noted = set(connection.execute(sa.select(RELEASES.c.digest)).scalars())
    every = connection.execute(sa.select(REQUESTS.c.digest)).scalars()
    known = {digest: _release_digest(connection, digest) if digest in noted else None for digest in every}
    registers = {name: _register_digest(connection, name) for name in REGISTER_TABLES}
    upgrade.log.append(
        TAKEN_OVER, {"requests": known, "closed": closed, REGISTERS: registers}, connection=connection
    )


def _is_empty(connection: sa.Connection) -> bool:
    return not any(
        connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first()
        for table in THEN.sorted_tables
    )


def _close(connection: sa.Connection) -> int:
    """Close what is not finished; how many requests that were. What may have left stays noted as told."""
    query = sa.select(REQUESTS.c.digest).where(REQUESTS.c.state.not_in(FINISHED))
    closed = list(connection.execute(query).scalars())
    for table in (ANSWERS, PEOPLE, PENDING):
        connection.execute(sa.delete(table).where(table.c.digest.in_(closed)))
    mine = RECOMMENDATIONS.c.digest.in_(closed)
    connection.execute(sa.update(RECOMMENDATIONS).where(mine).values(package=None))
    connection.execute(sa.update(REQUESTS).where(REQUESTS.c.digest.in_(closed)).values(state="expired"))
    return len(closed)


def _register_digest(connection: sa.Connection, name: str) -> str:
    return digest_of_rows(connection, name, REGISTER_TABLES[name])


def _release_digest(connection: sa.Connection, digest: str) -> str:
    rows = connection.execute(sa.select(RELEASES).where(RELEASES.c.digest == digest)).all()
    marks = sa.select(RELEASE_LOG.c.mark).where(RELEASE_LOG.c.digest == digest)
    people = digest_of_marks(sorted(bytes(mark) for mark in connection.execute(marks).scalars()))
    return Statement(
        "release", {"rows": [row_digest(row, RELEASES) for row in rows], "people": people}
    ).digest
