"""What this institution asks of others: kept until it is sent, sent until it is answered.

Each step is written down before the next, and repeating one does no harm: the other side takes a request once
and gives the same answer until it is confirmed. So a crash, here or there, or somebody who is offline, only
delays.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, InputError, ParameterError, ProtocolError
from tarnkappe.exchange.desk.packages import digest_of
from tarnkappe.exchange.desk.states import State
from tarnkappe.exchange.network import Network
from tarnkappe.exchange.request import Request
from tarnkappe.exchange.signing import require_signature
from tarnkappe.federation.transport import Caller, UnreachableError
from tarnkappe.state import AuditLog, Store
from tarnkappe.state.store import METADATA

OUTBOX = sa.Table(
    "exchange_outbox",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("receiver", sa.String, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("answer", sa.Text),
    sa.Column("package", sa.LargeBinary),
)
QUEUED, SENT, ANSWERED, CLOSED = "queued", "sent", "answered", "closed"
"""Answered: the answer is kept here, but the other side may not know that yet. Closed: it does."""


@dataclasses.dataclass(frozen=True)
class Sent:
    """A request to another institution and what became of it."""

    request: Request
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
        self.store, self._network, self._caller = store, network, caller
        self._log = AuditLog(store)

    def add(self, request: Request, receiver: str) -> str:
        """Keep a request to be sent; its digest."""
        member = self._network.find(receiver)
        if member is None:
            raise ParameterError(f"'{receiver}' is not a member of the network")
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
        """Go on with everything that is open; how many got further. Who is offline is asked later."""
        further = 0
        for each in self.all():
            try:
                further += self._go_on(each)
            except UnreachableError:
                continue
        return further

    def _go_on(self, each: Sent) -> bool:
        digest = each.request.digest
        if each.state == QUEUED:
            body = json.dumps(each.request.to_dict(), ensure_ascii=False).encode()
            if self._caller.call(each.receiver, "/request", body).get("digest") != digest:
                raise ProtocolError(f"'{each.receiver}' took another request than was sent")
            self._note(digest, SENT)
            return True
        if each.state == SENT:
            state = self._caller.call(each.receiver, f"/state/{digest}").get("state")
            if state not in (State.ACCEPTED, State.REJECTED):
                return False
            self._take(each, self._caller.call(each.receiver, f"/answer/{digest}"))
            return True
        if each.state == ANSWERED:
            self._caller.call(each.receiver, f"/confirm/{digest}")
            self._note(digest, CLOSED)
            return True
        return False

    def _take(self, each: Sent, answer: Mapping[str, Any]) -> None:
        """Keep an answer, if it is really the other's, about this request, and whole."""
        member = self._network.find(each.receiver)
        if member is None:
            raise AccessError(f"'{each.receiver}' is no member of the network any more")
        try:
            content = dict(answer["content"])
            package = None if answer["package"] is None else base64.b64decode(answer["package"])
            signature = str(answer["signature"])
        except (KeyError, TypeError, ValueError):
            raise InputError(f"'{each.receiver}' sent something that is no answer") from None
        require_signature(member.public_key, "answer", content, signature)
        if content.get("request") != each.request.digest or content.get("from") != each.receiver:
            raise AccessError("the answer is about another request")
        if content.get("package") != (None if package is None else digest_of(package)):
            raise AccessError("the package is not the one that was signed")
        with self.store.writing() as connection:
            connection.execute(
                sa.update(OUTBOX)
                .where(OUTBOX.c.digest == each.request.digest)
                .values(
                    state=ANSWERED, package=package, answer=json.dumps({**content, "signature": signature})
                )
            )
            told = {"request": each.request.digest, "from": each.receiver, "verdict": content.get("verdict")}
            self._log.append("answer received", told, connection)

    def _note(self, digest: str, state: str) -> None:
        with self.store.writing() as connection:
            connection.execute(sa.update(OUTBOX).where(OUTBOX.c.digest == digest).values(state=state))
            self._log.append(f"request {state}", {"request": digest}, connection)

    def all(self) -> list[Sent]:
        """Every request with what became of it."""
        with self.store.reading() as connection:
            rows = connection.execute(sa.select(OUTBOX).order_by(OUTBOX.c.digest)).all()
        return [
            Sent(
                Request.from_dict(json.loads(row.content)),
                row.receiver,
                row.state,
                None if row.answer is None else json.loads(row.answer),
                row.package,
            )
            for row in rows
        ]
