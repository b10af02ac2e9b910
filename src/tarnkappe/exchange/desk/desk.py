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

from tarnkappe.errors import AccessError, TarnkappeError
from tarnkappe.exchange.checking import Recommendation, Surroundings, check
from tarnkappe.exchange.desk.earlier import EarlierReleases
from tarnkappe.exchange.desk.packages import packed, unpacked
from tarnkappe.exchange.desk.people import PatientRegister
from tarnkappe.exchange.desk.states import OPEN, Event, State, after
from tarnkappe.exchange.desk.tables import ANSWERS, DECISIONS, PEOPLE, RECOMMENDATIONS, REQUESTS
from tarnkappe.exchange.request import Request
from tarnkappe.exchange.signing import Signer, require_signature
from tarnkappe.exchange.staff import DECIDING, Duty, Staff
from tarnkappe.state import AuditLog, Key, Store
from tarnkappe.table import Role

DAYS = 30
"""How long a request may wait for a decision, if nothing else is said."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the requester gets: verdict and package, and no reasons, which would tell about patients."""

    content: Mapping[str, Any]
    signature: str
    package: bytes | None


class Desk:
    """The desk of an institution.

    Args:
        store: where it keeps everything.
        key: the institution's key: it signs, and marks patients.
        around: what the checking component works with.
        staff: who may do what.
        days: how long a request may wait for a decision.
    """

    def __init__(
        self, store: Store, key: Key, around: Surroundings, staff: Staff, *, days: float = DAYS
    ) -> None:
        self.store, self._key, self._staff, self._days = store, key, staff, days
        self.register = PatientRegister(store, key)
        self.earlier = EarlierReleases(store, self.register, around.institution.name)
        self.around = dataclasses.replace(around, patients=self.register, earlier=self.earlier)
        self.signer, self.log = Signer(key), AuditLog(store)

    def receive(self, request: Request) -> State:
        """Take a request in; one that is there already is not taken again.

        Raises:
            AccessError: if the requester sent another request under the same number before.
        """
        with self.store.writing() as connection:
            mine = sa.and_(REQUESTS.c.institution == request.institution, REQUESTS.c.id == request.id)
            known = connection.execute(sa.select(REQUESTS).where(mine)).first()
            if known is None:
                deadline = datetime.now(UTC) + timedelta(days=self._days)
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
            raise self._refused("a request was changed after it was sent", request.digest)
        return State(known.state)

    def check(
        self, digest: str, steward: str, roles: Mapping[str, Role] | None = None, **options: Any
    ) -> Recommendation:
        """Check a request and keep the recommendation; decisions about an earlier check are void."""
        self._staff.require(steward, frozenset({Duty.STEWARD}))
        request = self.request(digest)
        after(self.state(digest), Event.CHECK)
        found = check(request, self.around, roles=roles, **options)
        with self.store.writing() as connection:
            row = self._move(connection, digest, Event.CHECK)
            number = row.checks + 1
            connection.execute(sa.update(REQUESTS).where(REQUESTS.c.digest == digest).values(checks=number))
            package = packed(found, request, self._key)
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

    def to_decide(self, digest: str, person: str, *, accepts: bool, reason: str) -> dict[str, Any]:
        """What somebody has to sign to decide: about the last check and its package."""
        with self.store.reading() as connection:
            row = self._last_check(connection, digest)
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
        try:
            person = self._staff.require(str(content.get("person")), DECIDING)
            require_signature(person.public_key, "decision", content, signature)
            if not str(content.get("reason", "")).strip():
                raise AccessError("a decision needs a reason")
            if content.get("accepts") is True:
                return self._accept(digest, content, signature, person.duties)
            return self._reject(digest, content, signature)
        except AccessError as error:
            raise self._refused(str(error), digest) from None

    def _reject(self, digest: str, content: Mapping[str, Any], signature: str) -> State:
        with self.store.writing() as connection:
            self._note_decision(connection, digest, content, signature)
            row = self._move(connection, digest, Event.REJECT)
            self._write_answer(connection, row, None)
        return State.REJECTED

    def _accept(
        self, digest: str, content: Mapping[str, Any], signature: str, duties: frozenset[Duty]
    ) -> State:
        request = self.request(digest)
        with self.store.reading() as connection:
            last = self._last_check(connection, digest)
            agreed = self._agreed(connection, digest, last.number)
        if last.package is None:
            raise AccessError("there is no verified package: this request can only be rejected")
        if content["person"] == request.requester:
            raise AccessError("nobody decides about his own request")
        if not agreed and Duty.PHYSICIAN not in duties:
            raise AccessError("a physician has to decide first")
        is_last = bool(agreed) or request.purpose not in self.around.policy.four_eyes
        package = unpacked(last.package, json.loads(last.content)["roles"])
        with self.store.writing() as connection:
            self._note_decision(connection, digest, content, signature)
            row = self._move(connection, digest, Event.AGREE_LAST if is_last else Event.AGREE_FIRST)
            if is_last:
                marks = self._marks(connection, digest, last.number)
                limits = self.around.policy.thresholds_for(request.purpose)
                unsafe = self.earlier.objection_within(connection, package.table, marks, limits)
                if unsafe:
                    raise AccessError(f"since the check the package became unsafe: check it again. {unsafe}")
                self.earlier.remember(connection, package.table, marks)
                self.register.note_release(connection, request, package.table.column_names, marks)
                self._write_answer(connection, row, last)
        return State.ACCEPTED if is_last else State.HALF_AGREED

    def withdraw_request(self, digest: str, institution: str) -> None:
        """The requester does not want it any more."""
        self._require_own(digest, institution)
        with self.store.writing() as connection:
            self._move(connection, digest, Event.WITHDRAW)
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
            held = [row.digest for row in involved if State(row.state) in (*OPEN, State.ACCEPTED)]
            for digest in held:
                self._move(connection, digest, Event.CHECK_AGAIN)
                connection.execute(sa.delete(ANSWERS).where(ANSWERS.c.digest == digest))
                self.register.forget_release(connection, digest)
                self.log.append("package held back", {"request": digest}, connection)
        return held

    def expire(self, now: datetime | None = None) -> int:
        """Close requests that waited too long; how many there were."""
        with self.store.writing() as connection:
            late = connection.execute(
                sa.select(REQUESTS.c.digest).where(
                    REQUESTS.c.state.in_([state.value for state in OPEN]),
                    REQUESTS.c.deadline <= (now or datetime.now(UTC)).isoformat(),
                )
            ).scalars()
            digests = list(late)
            for digest in digests:
                self._move(connection, digest, Event.EXPIRE)
                self.log.append("request expired", {"request": digest}, connection)
        return len(digests)

    def answer(self, digest: str, institution: str) -> Answer:
        """The signed answer, for who asked only; the same one until it is confirmed."""
        self._require_own(digest, institution)
        with self.store.writing() as connection:
            found = connection.execute(sa.select(ANSWERS).where(ANSWERS.c.digest == digest)).first()
            state = self._row(connection, digest).state
            if found is not None and state != State.DELIVERED:
                self.log.append("answer sent", {"request": digest, "to": institution}, connection)
        if found is None:
            raise AccessError("there is no answer yet")
        if state == State.DELIVERED:
            raise self._refused("the answer was delivered and is not sent again", digest)
        return Answer(json.loads(found.content), found.signature, found.package)

    def confirm(self, digest: str, institution: str) -> State:
        """The requester has the answer; the package is deleted here. Confirming again changes nothing."""
        self._require_own(digest, institution)
        with self.store.writing() as connection:
            if self._row(connection, digest).state != State.DELIVERED:
                self._move(connection, digest, Event.CONFIRM)
                connection.execute(sa.update(ANSWERS).where(ANSWERS.c.digest == digest).values(package=None))
                self.log.append("answer delivered", {"request": digest, "to": institution}, connection)
        return State.DELIVERED

    def request(self, digest: str) -> Request:
        """A request by its digest."""
        with self.store.reading() as connection:
            row = self._row(connection, digest)
        return Request.from_dict(json.loads(row.content))

    def state(self, digest: str) -> State:
        """Where a request stands."""
        with self.store.reading() as connection:
            return State(self._row(connection, digest).state)

    def recommendation(self, digest: str) -> dict[str, Any]:
        """The last recommendation, as plain data."""
        with self.store.reading() as connection:
            content: dict[str, Any] = json.loads(self._last_check(connection, digest).content)
        return content

    def requests(self) -> list[tuple[Request, State]]:
        """All requests with where they stand."""
        with self.store.reading() as connection:
            rows = connection.execute(sa.select(REQUESTS).order_by(REQUESTS.c.deadline)).all()
        return [(Request.from_dict(json.loads(row.content)), State(row.state)) for row in rows]

    def _note_decision(
        self, connection: sa.Connection, digest: str, content: Mapping[str, Any], signature: str
    ) -> None:
        last = self._last_check(connection, digest)
        said = content.get("check"), content.get("package")
        if said != (last.number, last.package_digest):
            raise AccessError("the decision is about another check or another package: look at the last one")
        person = str(content["person"])
        if person in self._agreed(connection, digest, last.number):
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

    def _write_answer(self, connection: sa.Connection, row: sa.Row[Any], last: sa.Row[Any] | None) -> None:
        package = None if last is None else last.package
        content = {
            "request": row.digest,
            "id": row.id,
            "from": self.around.institution.name,
            "verdict": "refused" if last is None else "released",
            "package": None if last is None else last.package_digest,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        connection.execute(
            sa.insert(ANSWERS).values(
                digest=row.digest,
                content=json.dumps(content),
                signature=self.signer.sign("answer", content),
                package=package,
            )
        )

    def _agreed(self, connection: sa.Connection, digest: str, number: int) -> list[str]:
        mine = sa.and_(DECISIONS.c.digest == digest, DECISIONS.c.number == number)
        return list(
            connection.execute(sa.select(DECISIONS.c.person).where(mine, DECISIONS.c.accepts)).scalars()
        )

    def _marks(self, connection: sa.Connection, digest: str, number: int) -> list[bytes]:
        mine = sa.and_(PEOPLE.c.digest == digest, PEOPLE.c.number == number)
        return list(connection.execute(sa.select(PEOPLE.c.mark).where(mine).order_by(PEOPLE.c.row)).scalars())

    def _last_check(self, connection: sa.Connection, digest: str) -> sa.Row[Any]:
        number = self._row(connection, digest).checks
        found = connection.execute(
            sa.select(RECOMMENDATIONS).where(
                RECOMMENDATIONS.c.digest == digest, RECOMMENDATIONS.c.number == number
            )
        ).first()
        if found is None:
            raise AccessError("the request has not been checked yet")
        return found

    def _row(self, connection: sa.Connection, digest: str) -> sa.Row[Any]:
        found = connection.execute(sa.select(REQUESTS).where(REQUESTS.c.digest == digest)).first()
        if found is None:
            raise AccessError("there is no such request")
        return found

    def _move(self, connection: sa.Connection, digest: str, event: Event) -> sa.Row[Any]:
        row = self._row(connection, digest)
        state = after(State(row.state), event)
        connection.execute(sa.update(REQUESTS).where(REQUESTS.c.digest == digest).values(state=state.value))
        return row

    def _require_own(self, digest: str, institution: str) -> None:
        if self.request(digest).institution != institution:
            raise self._refused("this request is another institution's", digest)

    def _refused(self, why: str, digest: str) -> TarnkappeError:
        self.log.append("refused", {"request": digest, "why": why})
        return AccessError(why)
