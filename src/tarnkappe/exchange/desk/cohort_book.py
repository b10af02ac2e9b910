"""The cohorts of an institution, kept: encrypted, and bound to the sealed log like everything that counts.

Before a request is checked, who came is admitted, who is gone leaves, and the groups that it asks for are
made; all of that in one transaction with its entry in the log. What is kept of people never changes
otherwise.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tarnkappe.errors import AccessError, VerificationError
from tarnkappe.exchange.checking.case import Surroundings
from tarnkappe.exchange.cohorts.plan import EVERYBODY, Asked, CohortPlan
from tarnkappe.exchange.cohorts.selections import with_groups
from tarnkappe.exchange.desk.logged import COHORTS, Logged, registers
from tarnkappe.exchange.desk.people import PatientRegister
from tarnkappe.exchange.desk.tables import COHORT_BOOK, COHORT_COMPONENT
from tarnkappe.exchange.request import DataRequest, Purpose
from tarnkappe.exchange.safe_harbor import filtered
from tarnkappe.state import AuditLog, Key, Store
from tarnkappe.table import Role
from tarnkappe.table.encoding import as_text

PLAN, PEOPLE, HULLS = "plan", "people", "hulls"
NONCE = 12
MANY = 10
"""So many cohorts full of newcomers are admitted before their time: more people make better cohorts."""


class CohortBook:
    """Keeps the cohorts of an institution.

    Args:
        store: where.
        seal: what they are encrypted with.
        marks: by which those are drawn who leave together.
        around: the patients, the catalogue and the policy.
        register: who withdrew or consented.
    """

    def __init__(
        self, store: Store, seal: Key, marks: Key, around: Surroundings, register: PatientRegister
    ) -> None:
        store.ensure(COHORT_COMPONENT)
        self._store, self._marks, self._around, self._register = store, marks, around, register
        self._cipher = ChaCha20Poly1305(seal.derived("cohorts of an institution")[:32])
        self._log, self._name = AuditLog(store), around.institution.name
        self._read: dict[str, tuple[bytes, bytes]] = {}
        self._last: tuple[dict[str, bytes], CohortPlan] | None = None

    @property
    def is_used(self) -> bool:
        """Whether packages for some purpose are made from cohorts."""
        policy = self._around.policy
        return any(policy.thresholds_for(purpose).method == "cohorts" for purpose in Purpose)

    def plan(self) -> CohortPlan | None:
        """All cohorts; None before anybody is admitted."""
        with self._store.reading() as connection:
            return self.plan_within(connection)

    def plan_within(self, connection: sa.Connection) -> CohortPlan | None:
        """The same in a transaction.

        Raises:
            VerificationError: if what is kept was changed, or cannot be read with this key.
        """
        mine = sa.select(COHORT_BOOK).where(COHORT_BOOK.c.institution == self._name)
        rows = {row.part: bytes(row.content) for row in connection.execute(mine)}
        if not rows:
            return None
        if self._last is None or self._last[0] != rows:
            said = json.loads(self._opened(rows[PLAN], PLAN))
            people, hulls = (_table(self._opened(rows[part], part)) for part in (PEOPLE, HULLS))
            self._last = rows, CohortPlan.from_dict(said, people, hulls)
        return self._last[1]

    def prepare(self, request: DataRequest) -> None:
        """Admit who waits, let go who is gone, and make the groups that a request asks for, if its package is
        made from cohorts.
        """
        if self._around.policy.thresholds_for(request.purpose).method != "cohorts":
            return
        with self._store.writing() as connection:
            Logged.read(self._log, connection).require_register(connection, COHORTS)
            before = self.plan_within(connection)
            plan = self._brought_up_to_date(connection, before)
            if plan is None:
                return
            for asked in self._asked(plan, request):
                if asked not in plan.groups or _has_more(plan, asked):
                    plan = with_groups(plan, asked, request.names, self._around.policy)
            self._keep(connection, before, plan, "cohorts changed")

    def prepare_all(self, wanted: Sequence[str]) -> int:
        """Make the groups of everything that may be asked for; how many selections there are."""
        with self._store.writing() as connection:
            Logged.read(self._log, connection).require_register(connection, COHORTS)
            before = self.plan_within(connection)
            plan = self._brought_up_to_date(connection, before)
            if plan is None:
                return 0
            atoms = [(name, *atom) for name, own in plan.atoms.items() for atom in own]
            for asked in (EVERYBODY, *atoms):
                plan = with_groups(plan, asked, wanted, self._around.policy)
            self._keep(connection, before, plan, "cohorts changed")
            return len(plan.groups)

    def retire(self, connection: sa.Connection, patient: str) -> None:
        """Somebody withdraws."""
        before = self.plan_within(connection)
        if before is not None:
            self._keep(
                connection,
                before,
                before.retire(patient, self._around.policy, self._marks),
                "cohorts changed",
            )

    def renew(
        self,
        by: Sequence[str],
        now: datetime | None = None,
        signatures: Mapping[str, str] | None = None,
    ) -> int:
        """Begin a new epoch: cohorts, groups and frozen values are made anew; how many people are in both.

        Packages of different epochs are not protected together.

        Args:
            by: who wants it, two people.
            now: the time, for tests.
            signatures: by person, what she signed it with, for the log.
        """
        time = now or datetime.now(UTC)
        if len(set(by)) < 2:
            raise AccessError(
                "exchange.renewal-needs-two-people",
                "a renewal needs two people: packages of before and after are not protected together",
            )
        with self._store.writing() as connection:
            Logged.read(self._log, connection).require_register(connection, COHORTS)
            before = self.plan_within(connection)
            if before is None:
                raise AccessError(
                    "exchange.no-cohorts-yet-could-renewed", "there are no cohorts yet that could be renewed"
                )
            days = max(self._around.policy.thresholds_for(p).epoch_days for p in Purpose)
            if datetime.fromisoformat(before.started) + timedelta(days=days) > time:
                raise AccessError(
                    "exchange.cohorts-renewed-days-after-last",
                    "cohorts are renewed {days:g} days after the last time, not before",
                    days=days,
                )
            known = {who for who, own in zip(before.who, before.cohort.tolist(), strict=True) if own >= 0}
            empty = CohortPlan.new(before.known, before.hidden, before.epoch + 1, time.isoformat())
            plan = self._admitted(connection, empty, self.patients(), time)
            if plan is None:
                raise AccessError(
                    "exchange.too-few-patients-renew", "too few patients are there to renew cohorts"
                )
            both = known & {who for who, own in zip(plan.who, plan.cohort.tolist(), strict=True) if own >= 0}
            told = {"by": sorted(set(by)), "both": len(both), "signatures": dict(signatures or {})}
            self._keep(connection, before, plan, "cohorts renewed", told)
            return len(both)

    def _asked(self, plan: CohortPlan, request: DataRequest) -> list[Asked]:
        anchor = request.anchor
        if anchor.attribute not in plan.hidden:
            return [EVERYBODY]
        return [(anchor.attribute, *atom) for atom in plan.atoms_of(anchor.attribute, anchor.values)]

    def patients(self) -> list[str]:
        """Everybody who is in the patient database now."""
        institution = self._around.institution
        return [str(n) for n in as_text(institution.everybody([]).column(institution.patient)).to_pylist()]

    def _brought_up_to_date(self, connection: sa.Connection, plan: CohortPlan | None) -> CohortPlan | None:
        """The plan after newcomers were admitted, and everybody left who is gone or withdrew."""
        there = self.patients()
        plan = self._admitted(connection, plan, there, datetime.now(UTC))
        if plan is None:
            return None
        active = [who for who, own in zip(plan.who, plan.cohort.tolist(), strict=True) if own >= 0]
        withdrawn = self._register.has_withdrawn(active, connection)
        here = set(there)
        for who, gone in zip(active, withdrawn, strict=True):
            if gone or who not in here:
                plan = plan.retire(who, self._around.policy, self._marks)
        return plan

    def _admitted(
        self, connection: sa.Connection, plan: CohortPlan | None, there: Sequence[str], time: datetime
    ) -> CohortPlan | None:
        """The plan after a wave of newcomers, if one is due."""
        policy, institution = self._around.policy, self._around.institution
        limits = policy.every_purpose()
        known = set(plan.who) if plan is not None else set()
        new = [name for name in there if name not in known]
        if new:
            withdrawn = self._register.has_withdrawn(new, connection)
            new = [name for name, gone in zip(new, withdrawn, strict=True) if not gone]
        least = max(each.people_of_a_cohort for each in limits)
        due = len(new) >= least
        if due and plan is not None and plan.wave:
            days = min(each.wave_days for each in limits)
            passed = datetime.fromisoformat(plan.wave) + timedelta(days=days) <= time
            due = passed or len(new) >= MANY * least
        if not due:
            return plan
        catalogue = self._around.catalogue
        both = {
            role: [name for name in catalogue.select(role) if name != institution.patient]
            for role in (Role.QUASI_IDENTIFIER, Role.INSENSITIVE, Role.SENSITIVE)
        }
        attributes = [name for own in both.values() for name in own]
        table = institution.everybody(attributes)
        if "hipaa" in policy.rules:
            kinds = {n: k for n in attributes if (k := catalogue[n].identifier_kind) is not None}
            table = filtered(table, kinds, time.year)
            attributes = [name for name in attributes if name in table.column_names]
        chosen = set(new)
        mine = [str(name) in chosen for name in as_text(table.column(institution.patient)).to_pylist()]
        table = table.filter(pa.array(mine))
        if plan is None:
            hidden = [name for name in both[Role.SENSITIVE] if name in attributes]
            plan = CohortPlan.new([n for n in attributes if n not in hidden], hidden, 1, time.isoformat())
        consents = self._register.has_consented(
            as_text(table.column(institution.patient)).to_pylist(), connection
        )
        plan = plan.admit(table, institution.patient, consents, policy, time.isoformat())
        selecting = {
            each.name: each.conspicuous for each in catalogue if each.selects and each.name in plan.hidden
        }
        return plan.with_atoms(selecting, policy.thresholds.base)

    def _keep(
        self,
        connection: sa.Connection,
        before: CohortPlan | None,
        plan: CohortPlan,
        event: str,
        more: dict[str, object] | None = None,
    ) -> None:
        people_stay = before is not None and plan.people is before.people
        if before is not None and people_stay and plan.to_dict() == before.to_dict():
            return
        parts = {PLAN: json.dumps(plan.to_dict()).encode()}
        if not people_stay:
            parts |= {PEOPLE: _bytes(plan.people), HULLS: _bytes(plan.hulls)}
        for part, content in parts.items():
            here = sa.and_(COHORT_BOOK.c.institution == self._name, COHORT_BOOK.c.part == part)
            connection.execute(sa.delete(COHORT_BOOK).where(here))
            connection.execute(
                sa.insert(COHORT_BOOK).values(
                    institution=self._name, part=part, content=self._closed(content, part)
                )
            )
        told = {"cohorts": plan.size, "undone": plan.undone, "epoch": plan.epoch, **(more or {})}
        self._log.append(event, told | registers(connection, COHORTS), connection)

    def _closed(self, content: bytes, part: str) -> bytes:
        nonce = os.urandom(NONCE)
        return nonce + self._cipher.encrypt(nonce, content, f"{self._name} {part}".encode())

    def _opened(self, content: bytes, part: str) -> bytes:
        kept = self._read.get(part)
        if kept is not None and kept[0] == content:
            return kept[1]
        try:
            found = self._cipher.decrypt(content[:NONCE], content[NONCE:], f"{self._name} {part}".encode())
        except InvalidTag:
            raise VerificationError(
                "exchange.cohorts-changed-database-belong",
                "the cohorts were changed in the database, or belong to another key: nothing can be released",
            ) from None
        self._read[part] = content, found
        return found


def _has_more(plan: CohortPlan, asked: Asked) -> bool:
    """Whether somebody who is asked for is in a cohort without a group."""
    grouped = {cohort for part in plan.groups[asked].parts[""] for cohort in part}
    return bool(set(np.unique(plan.within(asked)).tolist()) - grouped - {-1})


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _table(content: bytes) -> pa.Table:
    return pa.ipc.open_file(content).read_all().combine_chunks()
