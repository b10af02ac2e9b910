"""The audit log of earlier versions: a chain, each entry of which carries the hash of the one before.

It stays in its table, is only read, and can still be verified; the log goes on in a tree, whose first entry
names its last hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import VerificationError
from tarnkappe.state.log_tables import CHAIN

BEGINNING = "0" * 64
"""The head of an empty log."""
TAMPERED = "the audit log was tampered with"


def chain_entries(connection: sa.Connection) -> list[dict[str, Any]]:
    """Its entries as they stand; none in a store that is newer, or if somebody has dropped the table."""
    if not sa.inspect(connection).has_table(CHAIN.name):
        return []
    return [dict(row._mapping) for row in connection.execute(sa.select(CHAIN).order_by(CHAIN.c.number))]


def last_of_chain(connection: sa.Connection) -> tuple[int, str] | None:
    """The number and the hash of its last entry."""
    last = sa.select(CHAIN.c.number, CHAIN.c.hash).order_by(CHAIN.c.number.desc()).limit(1)
    row = connection.execute(last).first()
    return None if row is None else (row.number, row.hash)


def verified_chain(entries: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Its entries, if each contains the hash of the one before."""
    previous = BEGINNING
    for place, row in enumerate(entries, start=1):
        parts = [row[name] for name in ("number", "time", "event", "details", "previous")]
        own = hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
        if row["number"] != place or row["previous"] != previous or row["hash"] != own:
            raise VerificationError(
                "state.tampered-place-entry", "{tampered} at entry {place}", tampered=TAMPERED, place=place
            )
        previous = own
    return entries
