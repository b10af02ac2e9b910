"""The desk of an institution: requests come in, are checked, decided by people and answered.

Everything is written before anything leaves, each step in one transaction with its entry in the audit log: a
crash loses no request and no decision, repeating a step changes nothing. Nothing leaves without the signed
decisions of the policy about this very request and package; the database is not believed (`whole.py`).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, VerificationError
from tarnkappe.exchange.checking import Recommendation, Surroundings, check
from tarnkappe.exchange.desk.checked import Checked, Signed, Whole
from tarnkappe.exchange.desk.cohort_book import CohortBook
from tarnkappe.exchange.desk.decisions import new_decision
from tarnkappe.exchange.desk.delivery import Delivery, SignedAnswer
from tarnkappe.exchange.desk.earlier import EarlierReleases
from tarnkappe.exchange.desk.entries import check_statement, known_registers, note_decision, order_statement
from tarnkappe.exchange.desk.logged import (
    ANSWER_ROW,
    CHECKED,
    MOVES,
    RECEIVED,
    RELEASE_ROW,
    ROW,
    TOLD,
    WITHDRAWN,
    Logged,
    digest_of_marks,
    registers,
    row_digest,
)
from tarnkappe.exchange.desk.packages import packed
from tarnkappe.exchange.desk.people import PatientRegister
from tarnkappe.exchange.desk.records import RequestRecords
from tarnkappe.exchange.desk.reidentification import Reidentifications
from tarnkappe.exchange.desk.related_requests import Suspicions
from tarnkappe.exchange.desk.states import HELD_BACK, OPEN, RequestEvent, RequestState, after
from tarnkappe.exchange.desk.tables import PEOPLE, RECOMMENDATIONS, REQUESTS
from tarnkappe.exchange.desk.whole import INDEX, WholeReader
from tarnkappe.exchange.keys import InstitutionKeys
from tarnkappe.exchange.request import DataRequest
from tarnkappe.exchange.staff import DECIDING, Duty, Staff
from tarnkappe.pseudonym import Registrar
from tarnkappe.state import Key, Signer, Statement, Store, guard, require_signature
from tarnkappe.table import Role


class RequestWorkflow:
    """The desk of an institution.

    Args:
        store: where it keeps everything.
        keys: the institution's keys, or one for everything.
        around: what the checking component works with.
        staff: who may do what.
        registrar: of the vault that knows who is behind the pseudonyms in packages; without one nobody can be
            identified again.
    """

    def __init__(
        self,
        store: Store,
        keys: InstitutionKeys | Key,
        around: Surroundings,
        staff: Staff,
        registrar: Registrar | None = None,
    ) -> None:
        own = InstitutionKeys.of(keys) if isinstance(keys, Key) else keys
        self.store, self._key, self._staff, self._registrar = store, own.marks, staff, registrar
        staff.refuse_key(Signer(own.sign).public)
        if store.seals is None:
            guard(store, own.seals)
        self.records = RequestRecords(store)
        self.log, self.signer = self.records.log, Signer(own.sign)
        key = own.marks
        self.register = PatientRegister(store, key)
        self.cohorts = CohortBook(store, own.seal, key, around, self.register)
        self.earlier = EarlierReleases(store, key, self.register, around.institution.name, self.cohorts)
        self.around = dataclasses.replace(
            around,
            patients=self.register,
            earlier=self.earlier,
            cohorts=self.cohorts,
            suspicions=Suspicions(store),
            key=key,
        )
        self.reader = WholeReader(self.records, staff, self.around)
        self.delivery = Delivery(
            self.records, self.reader, self.earlier, self.signer, around.institution.name
        )
        self.reidentifications = Reidentifications(self.records, key, staff)

    def receive(self, request: DataRequest) -> RequestState:
        """Take a request in, with the time of this moment; one that is there already is not taken again.

        Raises:
            AccessError: if the requester sent another request under the same number before.
            LimitError: if the institution has too many open requests.
        """
        with self.store.writing() as connection:
            mine = sa.and_(REQUESTS.c.institution == request.institution, REQUESTS.c.id == request.id)
            known = connection.execute(sa.select(REQUESTS).where(mine)).first()
            if known is None:
                self.records.require_few(connection, request.institution, self.around.policy.days)
                now = datetime.now(UTC)
                stamped = dataclasses.replace(request, received=now)
                values = {
                    "digest": request.digest,
                    "institution": request.institution,
                    "id": request.id,
                    "content": json.dumps(stamped.to_dict(), ensure_ascii=False),
                    "state": RequestState.RECEIVED.value,
                    "deadline": (now + timedelta(days=self.around.policy.days)).isoformat(),
                    "checks": 0,
                }
                connection.execute(sa.insert(REQUESTS).values(values))
                told = {"request": request.digest, "institution": request.institution}
                told |= {"purpose": str(request.purpose), ROW: row_digest(values, REQUESTS, *INDEX)}
                self.log.append(RECEIVED, told, connection)
                return RequestState.RECEIVED
        if known.digest != request.digest:
            raise self.records.refused(
                known.digest, "exchange.request-changed-after-sent", "a request was changed after it was sent"
            )
        return RequestState(known.state)

    @contextmanager
    def _noticing(self, digest: str | None = None) -> Iterator[None]:
        """What was tampered with is logged, if that is still possible, and nothing changes."""
        try:
            yield
        except VerificationError as error:
            self.records.tampered(error, digest)
            raise

    def whole(self, digest: str) -> Whole:
        """A request with its last check and its decisions, after all of it was verified.

        Raises:
            VerificationError: if anything of it is not as it was left; that is logged.
        """
        with self._noticing(digest), self.store.reading() as connection:
            return self.reader.read(connection, digest)

    def check(
        self,
        digest: str,
        steward: str,
        roles: Mapping[str, Role] | None = None,
        order: str | None = None,
        **options: Any,
    ) -> Recommendation:
        """Check a request and keep the recommendation; decisions about an earlier check are void.

        Args:
            digest: the request.
            steward: who lets it be checked.
            roles: attributes that count as something else than the catalogue says.
            order: the steward's signature under `to_order`, which proves later that it was her.
            options: what the check is told beside.
        """
        self.require_steward(steward)
        if order is not None:
            public = self._staff.require(steward, frozenset({Duty.STEWARD})).public_key
            require_signature(
                public, self.to_order(digest, steward, roles, options.get("less_protected")), order
            )
        self.expire()
        with self._noticing(digest):
            self.cohorts.prepare(self.whole(digest).request)
        with self._noticing(digest), self.store.reading() as connection:
            logged = Logged.read(self.log, connection)
            whole = self.reader.read(connection, digest, logged)
            self.reader.require_requests(connection, logged)
            before = known_registers(connection, logged)
        after(whole.state, RequestEvent.CHECK)
        found = check(whole.request, self.around, roles=roles, **options)
        package = packed(found, whole.request, self._key, self._registrar)
        marks = self.register.marks(found.patients)
        with self._noticing(digest), self.store.writing() as connection:
            logged = Logged.read(self.log, connection)
            if known_registers(connection, logged) != before:
                raise AccessError(
                    "exchange.patient-withdrew-package-left",
                    "a patient withdrew, or a package left, while this was checked: check again",
                )
            row = self.records.move(connection, digest, RequestEvent.CHECK)
            number = row.checks + 1
            limits = self.around.policy.thresholds_for(whole.request.purpose)
            said = check_statement(number, steward, found, package, limits)
            content = found.to_dict() | {
                "roles": package.roles,
                "people": digest_of_marks(marks),
                "told": None if found.told is None else self.earlier.note(connection, digest, found.told),
                "check": said,
            }
            values = {
                "digest": digest,
                "number": number,
                "content": json.dumps(content, ensure_ascii=False),
                "package": package.content,
                "package_digest": package.digest,
            }
            connection.execute(sa.update(REQUESTS).where(REQUESTS.c.digest == digest).values(checks=number))
            connection.execute(sa.insert(RECOMMENDATIONS).values(values))
            if marks:
                own = {"digest": digest, "number": number}
                people = [own | {"row": place, "mark": mark} for place, mark in enumerate(marks)]
                connection.execute(sa.insert(PEOPLE), people)
            told = {"request": digest, "check": number, "verdict": str(found.verdict), "by": steward}
            told |= {"steps": [step.name for step in found.steps], "order": order}
            told |= {"reclassified": [change.to_dict() for change in found.reclassified]}
            told |= {MOVES: str(RequestEvent.CHECK), ROW: row_digest(values, RECOMMENDATIONS, "package")}
            self.log.append(CHECKED, told, connection)
        return found

    def to_order(
        self,
        digest: str,
        steward: str,
        roles: Mapping[str, Role] | None = None,
        reasons: Mapping[str, str] | None = None,
    ) -> Statement:
        """What a steward signs to let a request be checked."""
        return order_statement(digest, steward, roles or {}, reasons or {})

    def require_steward(self, person: str) -> None:
        """Refuse who is no steward."""
        self._staff.require(person, frozenset({Duty.STEWARD}))

    def to_decide(self, digest: str, person: str, *, accepts: bool, reason: str) -> dict[str, Any]:
        """What somebody has to sign to decide (`decision_statement`), about the last check and package."""
        check = self.whole(digest).require_check()
        known = self._staff.find(person)
        duties = frozenset() if known is None else known.duties & DECIDING
        duty = Duty.PHYSICIAN if Duty.PHYSICIAN in duties else Duty.SECOND_REVIEWER
        return new_decision(
            request=digest,
            check=check.row.number,
            check_digest=check.digest,
            package=check.row.package_digest,
            accepts=accepts,
            reason=reason,
            person=person,
            duty=str(duty),
            public_key="" if known is None else known.public_key,
        )

    def decide(self, content: Mapping[str, Any], signature: str) -> RequestState:
        """Take a signed decision.

        Raises:
            AccessError: if it is forged, replayed, about something else, or not this person's to make. That
                is logged.
            VerificationError: if anything of the request is not as it was left. That is logged.
        """
        digest = str(content.get("request"))
        self.expire()
        try:
            with self._noticing(digest), self.store.writing() as connection:
                whole = self.reader.read(connection, digest)
                check = whole.require_check()
                self.reader.require_decision(content, signature, whole, check, whole.agreed)
                take = self._accept if content["accepts"] else self._reject
                return take(connection, whole, check, (content, signature))
        except AccessError as error:
            raise self.records.refused_because(digest, error.reason) from None

    def _reject(self, connection: sa.Connection, whole: Whole, check: Checked, said: Signed) -> RequestState:
        digest = whole.row.digest
        self.records.move(connection, digest, RequestEvent.REJECT)
        self.records.forget_packages(connection, digest)
        answer = self.delivery.write(connection, whole, None, ())
        row = {ANSWER_ROW: answer}
        note_decision(self.log, connection, check, *said, RequestEvent.REJECT, row)
        return RequestState.REJECTED

    def _accept(self, connection: sa.Connection, whole: Whole, check: Checked, said: Signed) -> RequestState:
        digest, request = whole.row.digest, whole.request
        after(whole.state, RequestEvent.AGREE_LAST)
        if check.package is None:
            raise AccessError(
                "exchange.no-verified", "there is no verified package: this request can only be rejected"
            )
        signed = [*((each.content, each.signature) for each in whole.agreed), said]
        is_last = len(signed) >= self.reader.needed(request)
        event = RequestEvent.AGREE_LAST if is_last else RequestEvent.AGREE_FIRST
        self.records.move(connection, digest, event)
        if not is_last:
            note_decision(self.log, connection, check, *said, event, {})
            return RequestState.HALF_AGREED
        table, marks, recipient = check.package.table, check.marks, request.institution
        whole.logged.require_register(connection, TOLD)
        whole.logged.require_register(connection, WITHDRAWN)
        limits = self.around.policy.thresholds_for(request.purpose)
        told = self.earlier.noted(connection, digest, check.content.get("told"))
        unsafe = self.earlier.objection_within(connection, table, marks, limits, recipient, told)
        if unsafe:
            raise AccessError(
                "exchange.since-check-package-became",
                "since the check the package became unsafe: check it again. {unsafe}",
                unsafe=unsafe,
            )
        self.earlier.accept(connection, digest, table, marks, recipient, told)
        release = self.register.note_release(connection, request, table.column_names, marks)
        answer = self.delivery.write(connection, whole, check, signed)
        rest = {ANSWER_ROW: answer, RELEASE_ROW: release, **registers(connection, TOLD)}
        note_decision(self.log, connection, check, *said, event, rest)
        return RequestState.ACCEPTED

    def withdraw_request(self, digest: str, institution: str) -> None:
        """The requester does not want it any more; withdrawing again changes nothing."""
        self.records.require_own(digest, institution)
        self.expire()
        with self.store.writing() as connection:
            if self.records.row(connection, digest).state == RequestState.WITHDRAWN:
                return
            self.records.move(connection, digest, RequestEvent.WITHDRAW)
            self.records.forget_packages(connection, digest)
            told = {"request": digest, MOVES: str(RequestEvent.WITHDRAW)}
            self.log.append("request withdrawn", told, connection)

    def withdraw_patient(self, patient: str) -> list[str]:
        """A patient withdraws: packages with her data that have not left go back to the check; which ones."""
        with self.store.writing() as connection:
            self.register.withdraw(patient, connection)
            self.cohorts.retire(connection, patient)
            return self.hold_back(connection, [self.register.mark(patient)])

    def hold_back(self, connection: sa.Connection, marks: Sequence[bytes]) -> list[str]:
        """Let packages with data of some patients that have not left go back to the check; which ones."""
        mine = sa.and_(PEOPLE.c.digest == REQUESTS.c.digest, PEOPLE.c.number == REQUESTS.c.checks)
        held_back, gone = [state.value for state in HELD_BACK], set(marks)
        involved = sa.select(REQUESTS.c.digest, PEOPLE.c.mark).join(PEOPLE, mine)  # of the last check
        waiting = involved.where(REQUESTS.c.state.in_(held_back))
        held = list(dict.fromkeys(r.digest for r in connection.execute(waiting) if bytes(r.mark) in gone))
        for digest in held:
            self.records.move(connection, digest, RequestEvent.CHECK_AGAIN)
            self.delivery.take_back(connection, digest)
            self.register.forget_release(connection, digest)
            told = {"request": digest, MOVES: str(RequestEvent.CHECK_AGAIN), RELEASE_ROW: None}
            told |= {ANSWER_ROW: None, **registers(connection, TOLD)}
            self.log.append("package held back", told, connection)
        return held

    def expire(self, now: datetime | None = None) -> int:
        """Close requests that waited too long; how many there were."""
        is_open = REQUESTS.c.state.in_([state.value for state in OPEN])
        late = sa.and_(is_open, REQUESTS.c.deadline <= (now or datetime.now(UTC)).isoformat())
        with self.store.writing() as connection:
            digests = list(connection.execute(sa.select(REQUESTS.c.digest).where(late)).scalars())
            for digest in digests:
                self.records.move(connection, digest, RequestEvent.EXPIRE)
                self.records.forget_packages(connection, digest)
                told = {"request": digest, MOVES: str(RequestEvent.EXPIRE)}
                self.log.append("request expired", told, connection)
        return len(digests)

    def answer(self, digest: str, institution: str) -> SignedAnswer:
        """The signed answer, for who asked only; the same one until it is confirmed."""
        return self.delivery.answer(digest, institution)

    def confirm(self, digest: str, institution: str) -> RequestState:
        """The requester has the answer; the package is deleted here. Confirming again changes nothing."""
        return self.delivery.confirm(digest, institution)

    def request(self, digest: str) -> DataRequest:
        """A request by its digest."""
        return self.records.request(digest)

    def state(self, digest: str) -> RequestState:
        """Where a request stands."""
        return self.records.state(digest)

    def recommendation(self, digest: str) -> dict[str, Any]:
        """The last recommendation, as plain data, after it and its package were verified."""
        return dict(self.whole(digest).require_check().content)

    def requests(self) -> list[tuple[DataRequest, RequestState]]:
        """All requests with where they stand."""
        return self.records.all()

    def audit(self) -> list[str]:
        """Verify the log and everything that is kept against it; what is wrong, request by request.

        Raises:
            VerificationError: if the log itself was tampered with.
        """
        with self.store.reading() as connection:
            logged = Logged.read(self.log, connection)
            return [*self.reader.audit(connection, logged), *self.register.audit(connection, logged)]
