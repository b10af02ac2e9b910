"""What this institution asks of others: kept until it is sent, sent until it is answered.

Each step is written down before the next, and repeating one does no harm: the other side takes a request once
and gives the same answer until it is confirmed. Packages come in parts, each of which is kept as it comes. So
a crash, here or there, or somebody who is offline, only delays.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, InputError, ParameterError, ProtocolError, TarnkappeError
from tarnkappe.exchange.desk.packages import digest_of
from tarnkappe.exchange.desk.states import ANSWERED as TO_BE_FETCHED
from tarnkappe.exchange.desk.states import RequestState
from tarnkappe.exchange.network import Network
from tarnkappe.exchange.peer.tables import OUTBOX, PARTS, PEER
from tarnkappe.exchange.request import DataRequest
from tarnkappe.federation.transport import Caller, UnreachableError
from tarnkappe.state import AuditLog, Statement, Store, require_signature

QUEUED, SENT, FETCHING, ANSWERED, CLOSED = "queued", "sent", "fetching", "answered", "closed"
"""Fetching: the signed answer is here, its package not yet whole. Answered: all is kept here, but the other
side may not know that yet. Closed: it does."""
WITHDRAWN = str(RequestState.WITHDRAWN)
GIVEN_UP = frozenset({RequestState.WITHDRAWN, RequestState.EXPIRED})


@dataclasses.dataclass(frozen=True)
class Sent:
    """A request to another institution and what became of it."""

    request: DataRequest
    receiver: str
    state: str
    answer: Mapping[str, Any] | None
    package: bytes | None


class Outbox:
    """Requests to other institutions.

    Args:
        store: where they are kept.
        network: who the others are, with their public keys.
        caller: reaches them.
    """

    def __init__(self, store: Store, network: Network, caller: Caller) -> None:
        store.ensure(PEER)
        self.store, self._network, self._caller = store, network, caller
        self._log = AuditLog(store)
        self._steps: Mapping[str, Callable[[Sent], bool]] = {
            QUEUED: self._send,
            SENT: self._look,
            FETCHING: self._fetch,
            ANSWERED: self._confirm,
        }

    def add(self, request: DataRequest, receiver: str) -> str:
        """Keep a request to be sent; its digest."""
        if self._network.find(receiver) is None:
            raise ParameterError(
                "exchange.outbox-not-member-network",
                "'{receiver}' is not a member of the network",
                receiver=receiver,
            )
        with self.store.writing() as connection:
            known = connection.execute(
                sa.select(OUTBOX.c.digest).where(OUTBOX.c.digest == request.digest)
            ).first()
            if known is None:
                content = json.dumps(request.to_dict(), ensure_ascii=False)
                values = {"digest": request.digest, "receiver": receiver, "content": content, "state": QUEUED}
                connection.execute(sa.insert(OUTBOX).values(values))
                told = {"request": request.digest, "to": receiver, "by": request.requester}
                self._log.append("request made", told, connection)
        return request.digest

    def work(self) -> int:
        """Go on with everything that is open; how many got further. Who is offline is asked later.

        Raises:
            TarnkappeError: if one of them refused or sent something wrong; that was logged, and the others
                got further nevertheless.
        """
        further, wrong = 0, None
        for each in self.all():
            try:
                further += self._steps.get(each.state, _nothing)(each)
            except UnreachableError:
                continue
            except TarnkappeError as error:
                self._log.append("refused", {"request": each.request.digest, "why": str(error)})
                wrong = wrong or error
        if wrong is not None:
            raise wrong
        return further

    def withdraw(self, digest: str) -> None:
        """A request is not wanted any more; whoever has it is told. It is too late once it is answered."""
        [each] = [each for each in self.all() if each.request.digest == digest]
        if each.state not in (QUEUED, SENT):
            raise ParameterError(
                "exchange.request-too-late-withdraw",
                "this request is {state}: it is too late to withdraw it",
                state=each.state,
            )
        if each.state == SENT:
            self._caller.call(each.receiver, f"/withdraw/{digest}")
        self._note(digest, WITHDRAWN)

    def _send(self, each: Sent) -> bool:
        self._require_member(each)
        body = json.dumps(each.request.to_dict(), ensure_ascii=False).encode()
        if self._caller.call(each.receiver, "/request", body).get("digest") != each.request.digest:
            raise ProtocolError(
                "exchange.took-another-request-sent",
                "'{receiver}' took another request than was sent",
                receiver=each.receiver,
            )
        self._note(each.request.digest, SENT)
        return True

    def _look(self, each: Sent) -> bool:
        digest = each.request.digest
        state = self._caller.call(each.receiver, f"/state/{digest}").get("state")
        if state in GIVEN_UP:
            self._note(digest, str(state))
            return True
        if state not in TO_BE_FETCHED:
            return False
        answer = self._checked(each, self._caller.call(each.receiver, f"/answer/{digest}"))
        with self.store.writing() as connection:
            fetched = answer["package"] is None
            self._update(
                connection, digest, state=ANSWERED if fetched else FETCHING, answer=json.dumps(answer)
            )
            told = {"request": digest, "from": each.receiver, "verdict": answer["verdict"]}
            self._log.append("answer received", told, connection)
        return True

    def _checked(self, each: Sent, answer: Mapping[str, Any]) -> dict[str, Any]:
        """An answer, if it is really the other's and about this request."""
        public_key = self._require_member(each)
        try:
            content, signature, size = dict(answer["content"]), str(answer["signature"]), answer["size"]
            whole = (content["package"] is None) == (size is None) and content["verdict"] is not None
        except (KeyError, TypeError, ValueError):
            raise InputError(
                "exchange.sent-something-no-answer",
                "'{receiver}' sent something that is no answer",
                receiver=each.receiver,
            ) from None
        require_signature(public_key, Statement("answer", content), signature)
        if content.get("request") != each.request.digest or content.get("from") != each.receiver:
            raise AccessError("exchange.answer-about-another-request", "the answer is about another request")
        if not whole or content.get("bytes") != size:
            raise AccessError("exchange.package-not-signed", "the package is not the one that was signed")
        if content["package"] is not None:
            require_decisions(content)
        return {**content, "signature": signature, "size": size}

    def _fetch(self, each: Sent) -> bool:
        """The rest of a package; every part is kept when it comes."""
        digest, answer = each.request.digest, each.answer or {}
        parts = self._parts(digest)
        begin = sum(map(len, parts))
        while begin < int(answer["size"]):
            found = self._caller.call(each.receiver, f"/part/{digest}/{begin}")
            part = base64.b64decode(found.get("part", ""))
            if not part:
                break
            with self.store.writing() as connection:
                mine = sa.and_(PARTS.c.digest == digest, PARTS.c.begin == begin)
                connection.execute(sa.delete(PARTS).where(mine))
                connection.execute(sa.insert(PARTS).values(digest=digest, begin=begin, content=part))
            parts.append(part)
            begin += len(part)
        package = b"".join(parts)
        right = digest_of(package) == answer["package"]
        with self.store.writing() as connection:
            connection.execute(sa.delete(PARTS).where(PARTS.c.digest == digest))
            if right:
                self._update(connection, digest, state=ANSWERED, package=package)
                self._log.append("package received", {"request": digest}, connection)
        if not right:
            raise AccessError("exchange.package-not-signed", "the package is not the one that was signed")
        return True

    def _confirm(self, each: Sent) -> bool:
        self._caller.call(each.receiver, f"/confirm/{each.request.digest}")
        self._note(each.request.digest, CLOSED)
        return True

    def _require_member(self, each: Sent) -> str:
        member = self._network.find(each.receiver)
        if member is None:
            raise AccessError(
                "exchange.no-member-network",
                "'{receiver}' is no member of the network any more",
                receiver=each.receiver,
            )
        return member.public_key

    def _note(self, digest: str, state: str) -> None:
        with self.store.writing() as connection:
            self._update(connection, digest, state=state)
            self._log.append(f"request {state}", {"request": digest}, connection)

    def _update(self, connection: sa.Connection, digest: str, **values: Any) -> None:
        connection.execute(sa.update(OUTBOX).where(OUTBOX.c.digest == digest).values(**values))

    def _parts(self, digest: str) -> list[bytes]:
        with self.store.reading() as connection:
            mine = sa.select(PARTS.c.content).where(PARTS.c.digest == digest).order_by(PARTS.c.begin)
            return [bytes(part) for part in connection.execute(mine).scalars()]

    def all(self) -> list[Sent]:
        """Every request with what became of it."""
        with self.store.reading() as connection:
            rows = connection.execute(sa.select(OUTBOX).order_by(OUTBOX.c.digest)).all()
        return [
            Sent(
                DataRequest.from_dict(json.loads(row.content)),
                row.receiver,
                row.state,
                None if row.answer is None else json.loads(row.answer),
                row.package,
            )
            for row in rows
        ]


def require_decisions(answer: Mapping[str, Any]) -> None:
    """Refuse a package that nobody has decided about, or whose decisions are forged or about something else.

    Whom the other institution's policy asks is not known here: how many have decided, and who, is in the
    answer.
    """
    wrong = AccessError(
        "exchange.answer-not-carry-decisions",
        "the answer does not carry the decisions of those who let the package go",
    )
    try:
        decisions = [(dict(each["content"]), each["signature"]) for each in answer["decisions"]]
        for content, signature in decisions:
            require_signature(str(content["public_key"]), Statement("decision", content), signature)
            said = content["request"], content["check_digest"], content["package"], content["accepts"]
            if said != (answer["request"], answer["check"], answer["package"], True):
                raise wrong
        people = {str(content["person"]) for content, _ in decisions}
        keys = {str(content["public_key"]).lower() for content, _ in decisions}
    except (KeyError, TypeError, ValueError, ParameterError):
        raise wrong from None
    if not decisions or len(people) < len(decisions) or len(keys) < len(decisions):
        raise wrong


def _nothing(_: Sent) -> bool:
    return False
