"""Answers: signed, for who asked only, and given out until the requester says that he has them.

A package counts as having left from the first byte that may have left: that is written before. It can be
fetched in parts, and again after a cut connection; it is always the same one, and once it is confirmed it is
deleted here and never sent again.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import VerificationError
from tarnkappe.exchange.desk.checked import Checked, Whole
from tarnkappe.exchange.desk.decisions import public_part
from tarnkappe.exchange.desk.earlier import EarlierReleases
from tarnkappe.exchange.desk.logged import MOVES, TOLD, registers, row_digest
from tarnkappe.exchange.desk.records import RequestRecords
from tarnkappe.exchange.desk.states import RequestEvent, RequestState
from tarnkappe.exchange.desk.tables import ANSWERS
from tarnkappe.exchange.desk.whole import WholeReader
from tarnkappe.state import Signer, Statement

PART = 2**20
"""How many bytes of a package are sent at once."""


@dataclasses.dataclass(frozen=True)
class SignedAnswer:
    """What the requester gets: verdict and package, and no reasons, which would tell about patients."""

    content: Mapping[str, Any]
    signature: str
    package: bytes | None


class Delivery:
    """Gives out the answers of an institution.

    Args:
        records: its requests.
        reader: verifies them.
        earlier: what has left it.
        signer: signs its answers.
        institution: its name.
    """

    def __init__(
        self,
        records: RequestRecords,
        reader: WholeReader,
        earlier: EarlierReleases,
        signer: Signer,
        institution: str,
    ) -> None:
        self._records, self._reader, self._earlier = records, reader, earlier
        self._signer, self._institution = signer, institution
        self._verified: tuple[str, bytes] = "", b""
        """The package that is being fetched: its parts come from bytes that were verified as a whole."""

    def write(
        self,
        connection: sa.Connection,
        whole: Whole,
        check: Checked | None,
        decisions: Sequence[tuple[Mapping[str, Any], str]],
    ) -> str:
        """Make the answer to a request: the package of its last check, or a refusal; its digest for the log.

        Args:
            connection: the transaction of the last decision.
            whole: the request.
            check: the check whose package leaves; None for a refusal.
            decisions: the decisions that let it go, with their signatures.
        """
        package = None if check is None else check.content["check"]["package"]
        content = {
            "request": whole.row.digest,
            "id": whole.row.id,
            "from": self._institution,
            "verdict": "refused" if check is None else "released",
            "package": None if check is None else check.row.package_digest,
            "bytes": None if package is None else package["bytes"],
            "rows": None if package is None else package["rows"],
            "columns": None if check is None else [name for name, _ in check.content["check"]["columns"]],
            "check": None if check is None else check.digest,
            "decisions": [
                {"content": public_part(each), "signature": signature} for each, signature in decisions
            ],
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        values = {
            "digest": whole.row.digest,
            "content": json.dumps(content, ensure_ascii=False),
            "signature": self._signer.sign(Statement("answer", content)),
            "package": None if check is None else check.row.package,
        }
        connection.execute(sa.insert(ANSWERS).values(values))
        return row_digest(values, ANSWERS, "package")

    def take_back(self, connection: sa.Connection, digest: str) -> None:
        """There is no answer after all; none has left."""
        connection.execute(sa.delete(ANSWERS).where(ANSWERS.c.digest == digest))
        self._earlier.take_back(connection, digest)

    def answer(self, digest: str, institution: str) -> SignedAnswer:
        """The signed answer, for who asked only; the same one until it is confirmed.

        Raises:
            VerificationError: if anything of it is not as it was left, or a decision does not count any
                more. It is logged, and nothing leaves.
        """
        self._records.require_own(digest, institution)
        try:
            with self._records.store.writing() as connection:
                whole, found = self._verified_answer(connection, digest)
                if whole.state is not RequestState.DELIVERED:
                    told = {"request": digest, "to": institution, "again": whole.state is RequestState.SENT}
                    if found.package is not None:
                        self._records.move(connection, digest, RequestEvent.SEND)
                        self._earlier.leave(connection, digest)
                        told |= {MOVES: str(RequestEvent.SEND), **registers(connection, TOLD)}
                    self._records.log.append("answer sent", told, connection)
        except VerificationError as error:
            self._records.tampered(error, digest)
            raise
        if whole.state is RequestState.DELIVERED:
            raise self._records.refused(
                digest, "exchange.answer-delivered-not-sent", "the answer was delivered and is not sent again"
            )
        package = None if found.package is None else bytes(found.package)
        self._verified = digest, package or b""
        return SignedAnswer(json.loads(found.content), found.signature, package)

    def _verified_answer(self, connection: sa.Connection, digest: str) -> tuple[Whole, sa.Row[Any]]:
        whole = self._reader.read(connection, digest)
        return whole, self._reader.require_answer(connection, whole)

    def part(self, digest: str, institution: str, begin: int) -> bytes:
        """A part of a package whose answer was sent, from some byte on; nothing behind its end."""
        self._records.require_own(digest, institution)
        state = self._records.state(digest)
        if state is not RequestState.SENT:
            raise self._records.refused(
                digest, "exchange.no-package-fetched", "there is no package to be fetched"
            )
        if self._verified[0] != digest:
            try:
                with self._records.store.reading() as connection:
                    whole, found = self._verified_answer(connection, digest)
            except VerificationError as error:
                self._records.tampered(error, digest)
                raise
            if whole.state is not RequestState.SENT or found.package is None:
                raise self._records.refused(
                    digest, "exchange.no-package-fetched", "there is no package to be fetched"
                )
            self._verified = digest, bytes(found.package)
        return self._verified[1][begin : begin + PART]

    def confirm(self, digest: str, institution: str) -> RequestState:
        """The requester has the answer; the package is deleted here. Confirming again changes nothing."""
        self._records.require_own(digest, institution)
        with self._records.store.writing() as connection:
            if self._records.row(connection, digest).state != RequestState.DELIVERED:
                self._records.move(connection, digest, RequestEvent.CONFIRM)
                connection.execute(sa.update(ANSWERS).where(ANSWERS.c.digest == digest).values(package=None))
                self._records.forget_packages(connection, digest)
                told = {"request": digest, "to": institution, MOVES: str(RequestEvent.CONFIRM)}
                self._records.log.append("answer delivered", told, connection)
                self._verified = "", b""
        return RequestState.DELIVERED
