"""Wishes that somebody in a package be identified again, kept until the other institution has decided."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import ParameterError, ProtocolError
from tarnkappe.exchange.desk.packages import PSEUDONYM, opened
from tarnkappe.exchange.desk.reidentification import Ask, ReidentificationState
from tarnkappe.exchange.peer.outbox import QUEUED, Outbox
from tarnkappe.exchange.peer.tables import WISHES
from tarnkappe.federation.transport import Caller, UnreachableError
from tarnkappe.state import AuditLog


class Wishes:
    """What this institution wishes of those whose packages it has.

    Args:
        outbox: the packages.
        caller: reaches the others.
    """

    def __init__(self, outbox: Outbox, caller: Caller) -> None:
        self._outbox, self._caller = outbox, caller
        self._store, self._log = outbox.store, AuditLog(outbox.store)

    def add(self, wish: Ask) -> str:
        """Keep a wish to be sent; its digest."""
        own = [each for each in self._outbox.all() if each.request.digest == wish.request and each.package]
        if not own or own[0].package is None:
            raise ParameterError("exchange.no-package-request", "no package of this request is here")
        package = opened(own[0].package)
        known = set(package.column(PSEUDONYM).to_pylist()) if PSEUDONYM in package.column_names else set()
        if not known >= set(wish.pseudonyms):
            raise ParameterError(
                "exchange.pseudonym-not-package-request", "a pseudonym is not in the package of this request"
            )
        with self._store.writing() as connection:
            if not connection.execute(sa.select(WISHES).where(WISHES.c.id == wish.digest)).first():
                content = json.dumps(wish.to_dict())
                values = {"receiver": own[0].receiver, "content": content, "state": QUEUED}
                connection.execute(sa.insert(WISHES).values(id=wish.digest, **values))
                told = {"request": wish.request, "by": wish.person, "reason": str(wish.reason)}
                self._log.append("re-identification wished", told, connection)
        return wish.digest

    def work(self) -> None:
        """Send what waits and ask what became of the others; who is offline is asked later."""
        for row in self._rows():
            if row.state in (ReidentificationState.FORWARDED, ReidentificationState.REFUSED):
                continue
            try:
                if row.state == QUEUED:
                    answer = self._caller.call(row.receiver, "/reidentify", row.content.encode())
                    if answer.get("digest") != row.id:
                        raise ProtocolError(
                            "exchange.took-another-wish-sent",
                            "'{receiver}' took another wish than was sent",
                            receiver=row.receiver,
                        )
                else:
                    answer = self._caller.call(row.receiver, f"/reidentified/{row.id}")
            except UnreachableError:
                continue
            state = ReidentificationState(answer.get("state")).value
            if state != row.state:
                with self._store.writing() as connection:
                    connection.execute(sa.update(WISHES).where(WISHES.c.id == row.id).values(state=state))
                    self._log.append(f"re-identification {state}", {"wish": row.id}, connection)

    def all(self) -> list[tuple[Ask, str]]:
        """All wishes with what became of them."""
        return [(Ask.from_dict(json.loads(row.content)), row.state) for row in self._rows()]

    def _rows(self) -> list[sa.Row[Any]]:
        with self._store.reading() as connection:
            return list(connection.execute(sa.select(WISHES).order_by(WISHES.c.id)).all())
