"""The desk of an institution: requests come in, are checked, decided by people and answered.

Everything is written before anything leaves, each step in one transaction with its entry in the audit log; a
crash at any point loses no request and no decision, and repeating a step changes nothing. Nothing leaves
without the signed decisions that the policy asks for, about this very request and this very package.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, VerificationError
from tarnkappe.exchange.checking import Recommendation, Surroundings, check
from tarnkappe.exchange.desk.delivery import Answer, Delivery
from tarnkappe.exchange.desk.earlier import EarlierReleases
from tarnkappe.exchange.desk.packages import digest_of, packed, unpacked
from tarnkappe.exchange.desk.people import PatientRegister
from tarnkappe.exchange.desk.records import Records, read_request
from tarnkappe.exchange.desk.reidentification import Reidentifications
from tarnkappe.exchange.desk.states import HELD_BACK, OPEN, Event, State, after
from tarnkappe.exchange.desk.suspicions import Suspicions
from tarnkappe.exchange.desk.tables import DECISIONS, PEOPLE, RECOMMENDATIONS, REQUESTS
from tarnkappe.exchange.request import Request
from tarnkappe.exchange.staff import DECIDING, Duty, Staff
from tarnkappe.pseudonym import Registrar
from tarnkappe.state import Key, Signer, Statement, Store, require_signature
from tarnkappe.table import Role


class Desk:
    """The desk of an institution.

    Args:
        store: where it keeps everything.
        key: the institution's key: it signs, and marks patients.
        around: what the checking component works with.
        staff: who may do what.
        registrar: of the vault that knows who is behind the pseudonyms in packages; without one nobody can be
            identified again.
    """

    def __init__(
        self, store: Store, key: Key, around: Surroundings, staff: Staff, registrar: Registrar | None = None
    ) -> None:
        self.store, self._key, self._staff, self._registrar = store, key, staff, registrar
        self.records = Records(store)
        self.log, self.signer = self.records.log, Signer(key)
        self.register = PatientRegister(store, key)
        self.earlier = EarlierReleases(store, key, self.register, around.institution.name)
        self.around = dataclasses.replace(
            around, patients=self.register, earlier=self.earlier, suspicions=Suspicions(store)
        )
        self.delivery = Delivery(self.records, self.earlier, self.signer, around.institution.name)
        self.reidentifications = Reidentifications(self.records, key, staff)

    def receive(self, request: Request) -> State:
        """Take a request in; one that is there already is not taken again.

        Raises:
            AccessError: if the requester sent another request under the same number before.
        """
        with self.store.writing() as connection:
            mine = sa.and_(REQUESTS.c.institution == request.institution, REQUESTS.c.id == request.id)
            known = connection.execute(sa.select(REQUESTS).where(mine)).first()
            if known is None:
                deadline = datetime.now(UTC) + timedelta(days=self.around.policy.days)
                connection.execute(
                    sa.insert(REQUESTS).values(
                        digest=request.digest,
                        institution=request.institution,
                        id=request.id,
                        content=json.dumps(request.to_dict(), ensure_ascii=False),
                        state=State.RECEIVED.value,
                        deadline=deadline.isoformat(),
                        checks=0,
                    )
                )
                told = {"request": request.digest, "institution": request.institution}
                self.log.append("request received", told | {"purpose": str(request.purpose)}, connection)
                return State.RECEIVED
        if known.digest != request.digest:
            raise self.records.refused("a request was changed after it was sent", known.digest)
        return State(known.state)

    def check(
        self, digest: str, steward: str, roles: Mapping[str, Role] | None = None, **options: Any
    ) -> Recommendation:
        """Check a request and keep the recommendation; decisions about an earlier check are void."""
        self.require_steward(steward)
        self.expire()
        request = self.request(digest)
        after(self.state(digest), Event.CHECK)
        found = check(request, self.around, roles=roles, **options)
        package = packed(found, request, self._key, self._registrar)
        with self.store.writing() as connection:
            row = self.records.move(connection, digest, Event.CHECK)
            number = row.checks + 1
            connection.execute(sa.update(REQUESTS).where(REQUESTS.c.digest == digest).values(checks=number))
            connection.execute(
                sa.insert(RECOMMENDATIONS).values(
                    digest=digest,
                    number=number,
                    content=json.dumps(found.to_dict() | {"roles": package.roles}, ensure_ascii=False),
                    package=package.content,
                    package_digest=package.digest,
                )
            )
            if found.patients:
                marks = self.register.marks(found.patients)
                connection.execute(
                    sa.insert(PEOPLE),
                    [
                        {"digest": digest, "number": number, "row": row, "mark": mark}
                        for row, mark in enumerate(marks)
                    ],
                )
            told = {"request": digest, "check": number, "verdict": str(found.verdict), "by": steward}
            told |= {"steps": [step.name for step in found.steps], "reclassified": sorted(roles or ())}
            self.log.append("request checked", told, connection)
        return found

    def require_steward(self, person: str) -> None:
        """Refuse who is no steward."""
        self._staff.require(person, frozenset({Duty.STEWARD}))

    def to_decide(self, digest: str, person: str, *, accepts: bool, reason: str) -> dict[str, Any]:
        """What somebody has to sign to decide: about the last check and its package."""
        with self.store.reading() as connection:
            row = self.records.last_check(connection, digest)
        return {
            "request": digest,
            "check": row.number,
            "package": row.package_digest,
            "accepts": accepts,
            "reason": reason,
            "person": person,
        }

    def decide(self, content: Mapping[str, Any], signature: str) -> State:
        """Take a signed decision.

        Raises:
            AccessError: if it is forged, replayed, about something else, or not this person's to make. That
                is logged.
        """
        digest = str(content.get("request"))
        self.expire()
        try:
            person = self._staff.require(str(content.get("person")), DECIDING)
            require_signature(person.public_key, Statement("decision", content), signature)
            if not str(content.get("reason", "")).strip():
                raise AccessError("a decision needs a reason")
            if content.get("accepts") is True:
                return self._accept(digest, content, signature, person.duties)
            return self._reject(digest, content, signature)
        except AccessError as error:
            raise self.records.refused(str(error), digest) from None

    def _reject(self, digest: str, content: Mapping[str, Any], signature: str) -> State:
        with self.store.writing() as connection:
            self._note_decision(connection, digest, content, signature)
            row = self.records.move(connection, digest, Event.REJECT)
            self.records.forget_packages(connection, digest)
            self.delivery.write(connection, row, None)
        return State.REJECTED

    def _accept(
        self, digest: str, content: Mapping[str, Any], signature: str, duties: frozenset[Duty]
    ) -> State:
        self._require_whole_log()
        with self.store.writing() as connection:
            row = self.records.row(connection, digest)
            after(State(row.state), Event.AGREE_LAST)
            request = read_request(row)
            last = self.records.last_check(connection, digest)
            agreed = self.records.agreed(connection, digest, last.number)
            if last.package is None:
                raise AccessError("there is no verified package: this request can only be rejected")
            if digest_of(last.package) != last.package_digest:
                raise AccessError("the package is not the one that was checked: check the request again")
            if content["person"] == request.requester:
                raise AccessError("nobody decides about his own request")
            if not agreed and Duty.PHYSICIAN not in duties:
                raise AccessError("a physician has to decide first")
            self._note_decision(connection, digest, content, signature)
            is_last = bool(agreed) or request.purpose not in self.around.policy.four_eyes
            self.records.move(connection, digest, Event.AGREE_LAST if is_last else Event.AGREE_FIRST)
            if not is_last:
                return State.HALF_AGREED
            table = unpacked(last.package, json.loads(last.content)["roles"]).table
            marks = self.records.marks(connection, digest, last.number)
            limits = self.around.policy.thresholds_for(request.purpose)
            recipient = request.institution
            unsafe = self.earlier.objection_within(connection, table, marks, limits, recipient)
            if unsafe:
                raise AccessError(f"since the check the package became unsafe: check it again. {unsafe}")
            self.earlier.accept(connection, digest, table, marks, recipient)
            self.register.note_release(connection, request, table.column_names, marks)
            self.delivery.write(connection, row, last)
        return State.ACCEPTED

    def withdraw_request(self, digest: str, institution: str) -> None:
        """The requester does not want it any more; withdrawing again changes nothing."""
        self.records.require_own(digest, institution)
        self.expire()
        with self.store.writing() as connection:
            if self.records.row(connection, digest).state == State.WITHDRAWN:
                return
            self.records.move(connection, digest, Event.WITHDRAW)
            self.records.forget_packages(connection, digest)
            self.log.append("request withdrawn", {"request": digest}, connection)

    def withdraw_patient(self, patient: str) -> list[str]:
        """A patient withdraws: packages with her data that have not left go back to the check; which ones."""
        mark = self.register.mark(patient)
        with self.store.writing() as connection:
            self.register.withdraw(patient, connection)
            involved = connection.execute(
                sa.select(REQUESTS.c.digest, REQUESTS.c.state)
                .join(
                    PEOPLE,
                    sa.and_(PEOPLE.c.digest == REQUESTS.c.digest, PEOPLE.c.number == REQUESTS.c.checks),
                )
                .where(PEOPLE.c.mark == mark)
            ).all()
            held = [row.digest for row in involved if State(row.state) in HELD_BACK]
            for digest in held:
                self.records.move(connection, digest, Event.CHECK_AGAIN)
                self.delivery.take_back(connection, digest)
                self.register.forget_release(connection, digest)
                self.log.append("package held back", {"request": digest}, connection)
        return held

    def expire(self, now: datetime | None = None) -> int:
        """Close requests that waited too long; how many there were."""
        late = sa.and_(
            REQUESTS.c.state.in_([state.value for state in OPEN]),
            REQUESTS.c.deadline <= (now or datetime.now(UTC)).isoformat(),
        )
        with self.store.writing() as connection:
            digests = list(connection.execute(sa.select(REQUESTS.c.digest).where(late)).scalars())
            for digest in digests:
                self.records.move(connection, digest, Event.EXPIRE)
                self.records.forget_packages(connection, digest)
                self.log.append("request expired", {"request": digest}, connection)
        return len(digests)

    def answer(self, digest: str, institution: str) -> Answer:
        """The signed answer, for who asked only; the same one until it is confirmed."""
        return self.delivery.answer(digest, institution)

    def confirm(self, digest: str, institution: str) -> State:
        """The requester has the answer; the package is deleted here. Confirming again changes nothing."""
        return self.delivery.confirm(digest, institution)

    def request(self, digest: str) -> Request:
        """A request by its digest."""
        return self.records.request(digest)

    def state(self, digest: str) -> State:
        """Where a request stands."""
        return self.records.state(digest)

    def recommendation(self, digest: str) -> dict[str, Any]:
        """The last recommendation, as plain data."""
        with self.store.reading() as connection:
            content: dict[str, Any] = json.loads(self.records.last_check(connection, digest).content)
        return content

    def requests(self) -> list[tuple[Request, State]]:
        """All requests with where they stand."""
        return self.records.all()

    def _note_decision(
        self, connection: sa.Connection, digest: str, content: Mapping[str, Any], signature: str
    ) -> None:
        last = self.records.last_check(connection, digest)
        said = content.get("check"), content.get("package")
        if said != (last.number, last.package_digest):
            raise AccessError("the decision is about another check or another package: look at the last one")
        person = str(content["person"])
        if person in self.records.agreed(connection, digest, last.number):
            raise AccessError("this person has decided already: four eyes are those of two people")
        connection.execute(
            sa.insert(DECISIONS).values(
                digest=digest,
                number=last.number,
                person=person,
                accepts=content["accepts"] is True,
                content=json.dumps(dict(content), ensure_ascii=False),
                signature=signature,
            )
        )
        told = {"request": digest, "check": last.number, "by": person, "accepts": content["accepts"] is True}
        self.log.append("decided", told | {"reason": content["reason"], "signature": signature}, connection)

    def _require_whole_log(self) -> None:
        """Nothing is let out while nobody could prove who let what out."""
        try:
            self.log.verify()
        except VerificationError as error:
            self.log.append("tampering found", {"why": str(error)})
            raise
