"""Patients and their rights: who withdrew, who consented, and who learned what about whom."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from tarnkappe.exchange.desk.tables import CONSENTS, RELEASE_LOG, RELEASES, WITHDRAWALS
from tarnkappe.exchange.request import Request
from tarnkappe.pseudonym.models.consent import Consent, Scope
from tarnkappe.state import AuditLog, Key, Store
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import as_text


@dataclasses.dataclass(frozen=True)
class Disclosure:
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
            connection.execute(sa.insert(WITHDRAWALS).values(mark=mark, time=_now()))
            self._log.append("a patient withdrew", {}, connection)
        return None

    def consent(self, patient: str, consent: Consent) -> None:
        """Somebody consents to being identified again, or changes the consent that he gave."""
        mark, content = self.mark(patient), json.dumps(consent.to_dict())
        with self.store.writing() as connection:
            connection.execute(sa.delete(CONSENTS).where(CONSENTS.c.mark == mark))
            connection.execute(sa.insert(CONSENTS).values(mark=mark, content=content))
            self._log.append("a patient consented", {"scope": int(consent.scope)}, connection)

    def has_withdrawn(self, patients: Sequence[str]) -> list[bool]:
        """Who withdrew."""
        with self.store.reading() as connection:
            gone = set(connection.execute(sa.select(WITHDRAWALS.c.mark)).scalars())
        return [mark in gone for mark in self.marks(patients)] if gone else [False] * len(patients)

    def may_be_released(self, patients: pa.Array, request: Request) -> Mask:
        """Who has not withdrawn, and where somebody may have to be identified again, consented to that."""
        names = as_text(patients).to_pylist()
        may = ~np.array(self.has_withdrawn(names), dtype=bool)
        if not request.reidentification:
            return may
        now = datetime.now(UTC)
        with self.store.reading() as connection:
            given = {row.mark: row.content for row in connection.execute(sa.select(CONSENTS))}
        covered = [
            mark in given and Consent.from_dict(json.loads(given[mark])).covers(Scope.THIS_STUDY, now)
            for mark in self.marks(names)
        ]
        return np.asarray(np.logical_and(may, covered))

    def note_release(
        self, connection: sa.Connection, request: Request, columns: Sequence[str], marks: Sequence[bytes]
    ) -> None:
        """Note for every patient in a package who gets it; in the transaction that lets it go."""
        connection.execute(
            sa.insert(RELEASES).values(
                digest=request.digest,
                recipient=request.institution,
                purpose=str(request.purpose),
                columns=json.dumps(list(columns)),
                time=_now(),
            )
        )
        connection.execute(
            sa.insert(RELEASE_LOG), [{"mark": mark, "digest": request.digest} for mark in marks]
        )

    def forget_release(self, connection: sa.Connection, digest: str) -> None:
        """A package did not leave after all."""
        connection.execute(sa.delete(RELEASE_LOG).where(RELEASE_LOG.c.digest == digest))
        connection.execute(sa.delete(RELEASES).where(RELEASES.c.digest == digest))

    def disclosures(self, patient: str) -> list[Disclosure]:
        """Every package that somebody's data were in, the oldest first."""
        with self.store.reading() as connection:
            found = connection.execute(
                sa.select(RELEASES)
                .join(RELEASE_LOG, RELEASE_LOG.c.digest == RELEASES.c.digest)
                .where(RELEASE_LOG.c.mark == self.mark(patient))
                .order_by(RELEASES.c.time)
            ).all()
        return [Disclosure(r.recipient, r.purpose, tuple(json.loads(r.columns)), r.time) for r in found]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
