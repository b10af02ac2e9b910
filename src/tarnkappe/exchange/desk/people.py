"""Patients and their rights: who withdrew, who consented, and who learned what about whom."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from tarnkappe.errors import Reason, VerificationError
from tarnkappe.exchange.desk.logged import (
    COHORTS,
    CONSENTED,
    RELEASE_ROW,
    TOLD,
    WITHDRAWN,
    Logged,
    digest_of_marks,
    registers,
    row_digest,
)
from tarnkappe.exchange.desk.tables import CONSENTS, EXCHANGE, RELEASE_LOG, RELEASES, WITHDRAWALS
from tarnkappe.exchange.request import DataRequest
from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
from tarnkappe.state import AuditLog, Key, Statement, Store
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import as_text


@dataclasses.dataclass(frozen=True)
class DisclosureRecord:
    """One package that somebody's data were in: what a patient is told who asks."""

    recipient: str
    purpose: str
    columns: tuple[str, ...]
    time: str


class PatientRegister:
    """What an institution keeps of its patients' rights, by marks under a key.

    >>> register = PatientRegister(Store.in_memory(), Key(bytes(32)))
    >>> register.withdraw("P01")
    >>> register.has_withdrawn(["P01", "P02"])
    [True, False]
    """

    def __init__(self, store: Store, key: Key) -> None:
        store.ensure(EXCHANGE)
        self.store, self._key, self._log = store, key, AuditLog(store)

    def mark(self, patient: str) -> bytes:
        """What stands for a patient in the store."""
        return self._key.mark("patient of the exchange", [patient])

    def marks(self, patients: Iterable[str]) -> list[bytes]:
        """The marks of some patients."""
        return [self.mark(patient) for patient in patients]

    def withdraw(self, patient: str, connection: sa.Connection | None = None) -> None:
        """Somebody wants no data about him to leave any more; it holds from now on."""
        if connection is None:
            with self.store.writing() as opened:
                return self.withdraw(patient, opened)
        mark = self.mark(patient)
        known = connection.execute(sa.select(WITHDRAWALS.c.mark).where(WITHDRAWALS.c.mark == mark)).first()
        if known is None:
            logged = Logged.read(self._log, connection)
            logged.require_register(connection, WITHDRAWN)
            connection.execute(sa.insert(WITHDRAWALS).values(mark=mark, time=_now()))
            self._log.append("a patient withdrew", registers(connection, WITHDRAWN), connection)
        return None

    def consent(self, patient: str, consent: Consent) -> None:
        """Somebody consents to being identified again, or changes the consent that he gave."""
        mark = self.mark(patient)
        with self.store.writing() as connection:
            Logged.read(self._log, connection).require_register(connection, CONSENTED)
            before = connection.execute(sa.select(CONSENTS.c.content).where(CONSENTS.c.mark == mark)).scalar()
            content = json.dumps(json.loads(before or "{}") | consent.to_dict())
            connection.execute(sa.delete(CONSENTS).where(CONSENTS.c.mark == mark))
            connection.execute(sa.insert(CONSENTS).values(mark=mark, content=content))
            told = {"scope": int(consent.scope), **registers(connection, CONSENTED)}
            self._log.append("a patient consented", told, connection)

    def has_withdrawn(self, patients: Sequence[str], connection: sa.Connection | None = None) -> list[bool]:
        """Who withdrew, as a transaction sees it, if one is given."""
        if connection is None:
            with self.store.reading() as opened:
                return self.has_withdrawn(patients, opened)
        Logged.read(self._log, connection).require_register(connection, WITHDRAWN)
        gone = set(connection.execute(sa.select(WITHDRAWALS.c.mark)).scalars())
        return [mark in gone for mark in self.marks(patients)] if gone else [False] * len(patients)

    def may_be_released(self, patients: pa.Array, request: DataRequest) -> Mask:
        """Who has not withdrawn, and where somebody may have to be identified again, consented to that."""
        names = as_text(patients).to_pylist()
        may = ~np.array(self.has_withdrawn(names), dtype=bool)
        if not request.reidentification:
            return may
        return np.asarray(np.logical_and(may, self.has_consented(names)))

    def has_consented(self, patients: Sequence[str], connection: sa.Connection | None = None) -> list[bool]:
        """Who consented to being identified again, as a transaction sees it, if one is given."""
        if connection is None:
            with self.store.reading() as opened:
                return self.has_consented(patients, opened)
        now = datetime.now(UTC)
        Logged.read(self._log, connection).require_register(connection, CONSENTED)
        given = {row.mark: json.loads(row.content) for row in connection.execute(sa.select(CONSENTS))}
        if not given:
            return [False] * len(patients)
        return [
            "scope" in given.get(mark, {})
            and Consent.from_dict(given[mark]).covers(ConsentScope.THIS_STUDY, now)
            for mark in self.marks(patients)
        ]

    def note_release(
        self, connection: sa.Connection, request: DataRequest, columns: Sequence[str], marks: Sequence[bytes]
    ) -> str:
        """Note for every patient in a package who gets it, in the transaction that lets it go; a digest for
        the log.
        """
        digest = request.digest
        connection.execute(
            sa.insert(RELEASES).values(
                digest=digest,
                recipient=request.institution,
                purpose=str(request.purpose),
                columns=json.dumps(list(columns)),
                time=_now(),
            )
        )
        connection.execute(sa.insert(RELEASE_LOG), [{"mark": mark, "digest": digest} for mark in marks])
        return release_digest(connection, digest)

    def forget_release(self, connection: sa.Connection, digest: str) -> None:
        """A package did not leave after all."""
        connection.execute(sa.delete(RELEASE_LOG).where(RELEASE_LOG.c.digest == digest))
        connection.execute(sa.delete(RELEASES).where(RELEASES.c.digest == digest))

    def disclosures(self, patient: str) -> list[DisclosureRecord]:
        """Every package that somebody's data were in, the oldest first.

        Raises:
            VerificationError: if the notes of who got what were changed in the database.
        """
        with self.store.reading() as connection:
            if wrong := self._wrong_releases(connection, Logged.read(self._log, connection)):
                raise VerificationError.because(wrong[0])
            found = connection.execute(
                sa.select(RELEASES)
                .join(RELEASE_LOG, RELEASE_LOG.c.digest == RELEASES.c.digest)
                .where(RELEASE_LOG.c.mark == self.mark(patient))
                .order_by(RELEASES.c.time)
            ).all()
        return [DisclosureRecord(r.recipient, r.purpose, tuple(json.loads(r.columns)), r.time) for r in found]

    def audit(self, connection: sa.Connection, logged: Logged) -> list[Reason]:
        """What is wrong with the notes of patients' rights, by what the log says of them."""
        wrong = self._wrong_releases(connection, logged)
        for name in (WITHDRAWN, CONSENTED, TOLD, COHORTS):
            try:
                logged.require_register(connection, name)
            except VerificationError as error:
                wrong.append(error.reason)
        return wrong

    def _wrong_releases(self, connection: sa.Connection, logged: Logged) -> list[Reason]:
        known = {digest: logged.detail(digest, RELEASE_ROW) for digest in logged.requests} | logged.before
        there = set(connection.execute(sa.select(RELEASES.c.digest)).scalars())
        there |= set(connection.execute(sa.select(RELEASE_LOG.c.digest).distinct()).scalars())
        return [
            Reason(
                "exchange.notes-package-changed-database",
                "{digest}: the notes of who is in this package were changed in the database",
                digest=digest[:12],
            )
            for digest in sorted({digest for digest, said in known.items() if said is not None} | there)
            if known.get(digest) != release_digest(connection, digest)
        ]


def release_digest(connection: sa.Connection, digest: str) -> str:
    """Stands for what is noted of a package and of who is in it."""
    rows = connection.execute(sa.select(RELEASES).where(RELEASES.c.digest == digest)).all()
    marks = sa.select(RELEASE_LOG.c.mark).where(RELEASE_LOG.c.digest == digest)
    people = digest_of_marks(sorted(bytes(mark) for mark in connection.execute(marks).scalars()))
    said = {"rows": [row_digest(row, RELEASES) for row in rows], "people": people}
    return Statement("release", said).digest


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
