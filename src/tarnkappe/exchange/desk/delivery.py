"""Answers: signed, for who asked only, and given out until the requester says that he has them.

A package counts as having left from the first byte that may have left: that is written before. It can be
fetched in parts, and again after a cut connection; it is always the same one, and once it is confirmed it is
deleted here and never sent again.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError
from tarnkappe.exchange.desk.earlier import EarlierReleases
from tarnkappe.exchange.desk.records import Records
from tarnkappe.exchange.desk.states import Event, State
from tarnkappe.exchange.desk.tables import ANSWERS
from tarnkappe.state import Signer, Statement

PART = 2**20
"""How many bytes of a package are sent at once."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the requester gets: verdict and package, and no reasons, which would tell about patients."""

    content: Mapping[str, Any]
    signature: str
    package: bytes | None


class Delivery:
    """Gives out the answers of an institution.

    Args:
        records: its requests.
        earlier: what has left it.
        signer: signs its answers.
        institution: its name.
    """

    def __init__(self, records: Records, earlier: EarlierReleases, signer: Signer, institution: str) -> None:
        self._records, self._earlier = records, earlier
        self._signer, self._institution = signer, institution

    def write(self, connection: sa.Connection, row: sa.Row[Any], last: sa.Row[Any] | None) -> None:
        """Make the answer to a request: the package of its last check, or a refusal."""
        content = {
            "request": row.digest,
            "id": row.id,
            "from": self._institution,
            "verdict": "refused" if last is None else "released",
            "package": None if last is None else last.package_digest,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        connection.execute(
            sa.insert(ANSWERS).values(
                digest=row.digest,
                content=json.dumps(content),
                signature=self._signer.sign(Statement("answer", content)),
                package=None if last is None else last.package,
            )
        )

    def take_back(self, connection: sa.Connection, digest: str) -> None:
        """There is no answer after all; none has left."""
        connection.execute(sa.delete(ANSWERS).where(ANSWERS.c.digest == digest))
        self._earlier.take_back(connection, digest)

    def answer(self, digest: str, institution: str) -> Answer:
        """The signed answer, for who asked only; the same one until it is confirmed."""
        self._records.require_own(digest, institution)
        with self._records.store.writing() as connection:
            found = connection.execute(sa.select(ANSWERS).where(ANSWERS.c.digest == digest)).first()
            state = State(self._records.row(connection, digest).state)
            if found is not None and state is not State.DELIVERED:
                if found.package is not None:
                    self._records.move(connection, digest, Event.SEND)
                    self._earlier.leave(connection, digest)
                told = {"request": digest, "to": institution, "again": state is State.SENT}
                self._records.log.append("answer sent", told, connection)
        if found is None:
            raise AccessError("there is no answer yet")
        if state is State.DELIVERED:
            raise self._records.refused("the answer was delivered and is not sent again", digest)
        return Answer(json.loads(found.content), found.signature, found.package)

    def part(self, digest: str, institution: str, begin: int) -> bytes:
        """A part of a package whose answer was sent, from some byte on; nothing behind its end."""
        self._records.require_own(digest, institution)
        with self._records.store.reading() as connection:
            state = State(self._records.row(connection, digest).state)
            piece = sa.select(sa.func.substr(ANSWERS.c.package, begin + 1, PART))
            found = connection.execute(piece.where(ANSWERS.c.digest == digest)).scalar()
        if state is not State.SENT or found is None:
            raise self._records.refused("there is no package to be fetched", digest)
        return bytes(found)

    def confirm(self, digest: str, institution: str) -> State:
        """The requester has the answer; the package is deleted here. Confirming again changes nothing."""
        self._records.require_own(digest, institution)
        with self._records.store.writing() as connection:
            if self._records.row(connection, digest).state != State.DELIVERED:
                self._records.move(connection, digest, Event.CONFIRM)
                connection.execute(sa.update(ANSWERS).where(ANSWERS.c.digest == digest).values(package=None))
                self._records.forget_packages(connection, digest)
                told = {"request": digest, "to": institution}
                self._records.log.append("answer delivered", told, connection)
        return State.DELIVERED
