"""What was released before: packages must keep their promises all together, whoever got them.

The attacker is the strongest there can be: he has all packages, knows in which of them somebody is, and
recognizes her row from one to the next. To him all packages together are one, in which people are told apart
by the group that they are in, in each package, or by not being in it. So this one package must be k-anonymous
and l-diverse in everything that any of them tells. Then neither one requester who splits a question into
many, nor several who compare their packages, nor one who asks again when a patient has come or gone, gets
more than one package may tell. A policy may trust institutions not to compare their packages (`together =
"recipient"`); then all packages that one of them got are like one.

A package that was accepted and has not left yet counts too, but can still be taken back. Once it has left,
only the groups of everybody over all packages are kept, and what each package told of everybody.

What a package tells is more than its rows: also that they are people with the selected value, and that nobody
else who looks like them is. `checking.told` compares that for all packages, of people in them or not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import sqlalchemy as sa

from tarnkappe.errors import AccessError
from tarnkappe.exchange.checking.told import Told
from tarnkappe.exchange.checking.told import objection as objection_to_told
from tarnkappe.exchange.cohorts.joint import (
    MAGIC,
    ToldTable,
    ToldTables,
    as_told,
    exposed_to_insiders,
    joint_objection,
    read_ledger,
)
from tarnkappe.exchange.cohorts.plan import CohortPlan
from tarnkappe.exchange.desk.cohort_book import CohortBook
from tarnkappe.exchange.desk.exposure import Trails, joined, objection
from tarnkappe.exchange.desk.logged import TOLD, Logged
from tarnkappe.exchange.desk.people import PatientRegister
from tarnkappe.exchange.desk.tables import LEDGER, PENDING, TELLINGS, TRAILS
from tarnkappe.exchange.policy import Thresholds, Together
from tarnkappe.state import AuditLog, Key, Store
from tarnkappe.table import Table

EVERYBODY = ""
"""Stands for all recipients together."""


class EarlierReleases:
    """The packages of an institution that have left, or may leave any time.

    Args:
        store: where they are kept.
        key: what people and values are marked with.
        register: knows the marks of patients.
        institution: whose packages they are.
        book: its cohorts, if packages are made from them.
    """

    def __init__(
        self,
        store: Store,
        key: Key,
        register: PatientRegister,
        institution: str,
        book: CohortBook | None = None,
    ) -> None:
        self._store, self._key, self._register = store, key, register
        self._institution, self._book = institution, book

    def objection(
        self,
        release: Table,
        patients: Sequence[str],
        limits: Thresholds,
        recipient: str,
        told: Told | ToldTables,
    ) -> str:
        """Why a package must not follow the earlier ones; nothing if it may.

        Args:
            release: the package.
            patients: whose row each of its rows is.
            limits: what must be left to everybody over all packages.
            recipient: who would get it.
            told: what it tells of everybody.
        """
        with self._store.reading() as connection:
            Logged.read(AuditLog(self._store), connection).require_register(connection, TOLD)
            return self.objection_within(
                connection, release, self._register.marks(patients), limits, recipient, told
            )

    def objection_within(
        self,
        connection: sa.Connection,
        release: Table,
        marks: Sequence[bytes],
        limits: Thresholds,
        recipient: str,
        told: Told | ToldTables,
    ) -> str:
        """The same in a transaction, by the marks of the patients."""
        compared = recipient if limits.together == Together.RECIPIENT else EVERYBODY
        others, tables = read_ledger(self._told(connection, compared))
        plan = None if self._book is None else self._book.plan_within(connection)
        if isinstance(told, ToldTables):
            if plan is None:
                return "There are no cohorts that the package could be compared by."
            if any(table.epoch != plan.epoch for table in told.tables):
                return "The cohorts were renewed since it was made."
            if wrong := joint_objection(plan, [*tables, *told.tables], limits):
                return wrong
            if not others:
                return ""
        before = joined([self._left(connection, compared), *self._pending(connection, compared)])
        if wrong := objection(before, Trails.of_package(release, marks, self._key), limits):
            return wrong
        others = [*others, *self._as_told(plan, tables)]
        for each in [told] if isinstance(told, Told) else self._as_told(plan, told.tables):
            if wrong := objection_to_told(others, each, limits):
                return wrong
            others = [*others, each]
        return ""

    def exposed(
        self, connection: sa.Connection, told: Told | ToldTables, limits: Thresholds, recipient: str
    ) -> int | None:
        """Of how many people of a package all packages together may tell another value to who knows the one
        that they were selected by; None where packages are not made from cohorts.
        """
        plan = None if self._book is None else self._book.plan_within(connection)
        if plan is None or isinstance(told, Told):
            return None
        compared = recipient if limits.together == Together.RECIPIENT else EVERYBODY
        _, before = read_ledger(self._told(connection, compared))
        return exposed_to_insiders(plan, before, told.tables, limits)

    def _as_told(self, plan: CohortPlan | None, tables: Sequence[ToldTable]) -> list[Told]:
        """What tables from cohorts tell of everybody; those of earlier epochs are not compared."""
        if plan is None:
            return []
        return [as_told(plan, table, self._key) for table in tables if table.epoch == plan.epoch]

    def note(self, connection: sa.Connection, digest: str, told: Told | ToldTables) -> str:
        """Keep what the package of a check tells, until somebody decides; what stands for it."""
        content = told.to_bytes()
        connection.execute(sa.delete(TELLINGS).where(TELLINGS.c.digest == digest))
        connection.execute(sa.insert(TELLINGS).values(digest=digest, told=content))
        return hashlib.sha256(content).hexdigest()

    def noted(self, connection: sa.Connection, digest: str, expected: str | None) -> Told | ToldTables:
        """What the package of the last check tells.

        Raises:
            AccessError: if it is not what the check found.
        """
        found = connection.execute(sa.select(TELLINGS.c.told).where(TELLINGS.c.digest == digest)).scalar()
        if found is None or hashlib.sha256(found).hexdigest() != expected:
            raise AccessError(
                "exchange.what-package-tells-not-what-check",
                "what the package tells is not what the check found: check the request again",
            )
        return ToldTables.from_bytes(found) if found.startswith(MAGIC) else Told.from_bytes(found)

    def _told(self, connection: sa.Connection, recipient: str) -> list[bytes]:
        mine = LEDGER.c.institution == self._institution
        if recipient != EVERYBODY:
            mine = sa.and_(mine, LEDGER.c.recipient == recipient)
        found = connection.execute(sa.select(LEDGER.c.told).where(mine).order_by(LEDGER.c.digest)).scalars()
        return [bytes(content) for content in found]

    def accept(
        self,
        connection: sa.Connection,
        digest: str,
        release: Table,
        marks: Sequence[bytes],
        recipient: str,
        told: Told | ToldTables,
    ) -> None:
        """Note a package that may leave from now on."""
        connection.execute(
            sa.insert(LEDGER).values(
                digest=digest, institution=self._institution, recipient=recipient, told=told.to_bytes()
            )
        )
        if isinstance(told, ToldTables):
            return  # cohorts are what people are known by: nobody has a trail of her own
        connection.execute(
            sa.insert(PENDING).values(
                digest=digest,
                institution=self._institution,
                recipient=recipient,
                trails=Trails.of_package(release, marks, self._key).to_bytes(),
            )
        )

    def take_back(self, connection: sa.Connection, digest: str) -> None:
        """A package will not leave after all."""
        connection.execute(sa.delete(LEDGER).where(LEDGER.c.digest == digest))
        connection.execute(sa.delete(PENDING).where(PENDING.c.digest == digest))

    def leave(self, connection: sa.Connection, digest: str) -> None:
        """An accepted package leaves: what it tells is known from now on."""
        row = connection.execute(sa.select(PENDING).where(PENDING.c.digest == digest)).first()
        if row is None:
            return
        package = Trails.from_bytes(row.trails)
        for recipient in (EVERYBODY, row.recipient):
            self._keep(connection, recipient, self._left(connection, recipient).joined(package))
        connection.execute(sa.delete(PENDING).where(PENDING.c.digest == digest))

    def _keep(self, connection: sa.Connection, recipient: str, trails: Trails) -> None:
        mine = sa.and_(TRAILS.c.institution == self._institution, TRAILS.c.recipient == recipient)
        connection.execute(sa.delete(TRAILS).where(mine))
        connection.execute(
            sa.insert(TRAILS).values(
                institution=self._institution, recipient=recipient, trails=trails.to_bytes()
            )
        )

    def _left(self, connection: sa.Connection, recipient: str) -> Trails:
        mine = sa.and_(TRAILS.c.institution == self._institution, TRAILS.c.recipient == recipient)
        found = connection.execute(sa.select(TRAILS.c.trails).where(mine)).scalar()
        return Trails.none() if found is None else Trails.from_bytes(found)

    def _pending(self, connection: sa.Connection, recipient: str) -> list[Trails]:
        mine = PENDING.c.institution == self._institution
        if recipient != EVERYBODY:
            mine = sa.and_(mine, PENDING.c.recipient == recipient)
        found = connection.execute(sa.select(PENDING.c.trails).where(mine).order_by(PENDING.c.digest))
        return [Trails.from_bytes(row.trails) for row in found]
