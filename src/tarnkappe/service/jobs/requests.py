"""Requests that came with a key: one that comes twice, by a double click or a second try, makes one job."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import ParameterError
from tarnkappe.service.people import Account
from tarnkappe.service.tables import REQUESTS
from tarnkappe.state.canonical import canonical_json

LONGEST_KEY = 200


def digest_of(kind: str, document: Mapping[str, Any]) -> str:
    """What stands for a request; the document itself goes with its job."""
    return hashlib.sha256(canonical_json([kind, document])).hexdigest()


def answered(connection: sa.Connection, who: Account, key: str, digest: str) -> str | None:
    """The job that a request with this key made before.

    Raises:
        ParameterError: that was another request.
    """
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        raise ParameterError(
            "service.idempotency-key-1-letters",
            "an idempotency key has 1 to {longest_key} letters",
            longest_key=LONGEST_KEY,
        )
    mine = sa.select(REQUESTS).where(REQUESTS.c.owner == who.id, REQUESTS.c.key == key)
    row = connection.execute(mine).first()
    if row is not None and row.digest != digest:
        raise ParameterError(
            "service.idempotency-key-came-another-request",
            "this idempotency key came with another request before: take a new one",
        )
    return None if row is None else str(row.job)


def note_request(connection: sa.Connection, who: Account, key: str, digest: str, job_id: str) -> None:
    """A request has made a job."""
    connection.execute(sa.insert(REQUESTS).values(owner=who.id, key=key, digest=digest, job=job_id))
