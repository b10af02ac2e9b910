"""The files of a desk: requests with their states, checks and decisions, and the log of what is done."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, LimitError, ParameterError, Reason, VerificationError
from tarnkappe.exchange.desk.states import OPEN, RequestEvent, RequestState, after
from tarnkappe.exchange.desk.tables import EXCHANGE, PEOPLE, RECOMMENDATIONS, REQUESTS, TELLINGS
from tarnkappe.exchange.request import DataRequest
from tarnkappe.state import AuditLog, Store

MOST_OPEN, MOST_A_DAY = 50, 1000
"""So many requests of one member may be open at once, and come in on one day."""


class RequestRecords:
    """What a desk has on file.

    Args:
        store: where it is kept.
    """

    def __init__(self, store: Store) -> None:
        store.ensure(EXCHANGE)
        self.store, self.log = store, AuditLog(store)

    def row(self, connection: sa.Connection, digest: str) -> sa.Row[Any]:
        """A request as it is kept."""
        found = connection.execute(sa.select(REQUESTS).where(REQUESTS.c.digest == digest)).first()
        if found is None:
            raise AccessError("exchange.no-request", "there is no such request")
        return found

    def request(self, digest: str) -> DataRequest:
        """A request by its digest."""
        with self.store.reading() as connection:
            return read_request(self.row(connection, digest))

    def state(self, digest: str) -> RequestState:
        """Where a request stands."""
        with self.store.reading() as connection:
            return RequestState(self.row(connection, digest).state)

    def all(self) -> list[tuple[DataRequest, RequestState]]:
        """All requests with where they stand."""
        with self.store.reading() as connection:
            rows = connection.execute(sa.select(REQUESTS).order_by(REQUESTS.c.deadline)).all()
        found = []
        for row in rows:
            with contextlib.suppress(ParameterError, ValueError):
                found.append((read_request(row), RequestState(row.state)))
        return found

    def move(self, connection: sa.Connection, digest: str, event: RequestEvent) -> sa.Row[Any]:
        """Let something happen to a request, if it may; the request as it was before."""
        row = self.row(connection, digest)
        state = after(RequestState(row.state), event)
        connection.execute(sa.update(REQUESTS).where(REQUESTS.c.digest == digest).values(state=state.value))
        return row

    def last_check(self, connection: sa.Connection, digest: str) -> sa.Row[Any]:
        """The last recommendation, which decisions are about."""
        number = self.row(connection, digest).checks
        found = connection.execute(
            sa.select(RECOMMENDATIONS).where(
                RECOMMENDATIONS.c.digest == digest, RECOMMENDATIONS.c.number == number
            )
        ).first()
        if found is None:
            raise AccessError("exchange.request-not-been-checked", "the request has not been checked yet")
        return found

    def marks(self, connection: sa.Connection, digest: str, number: int) -> list[bytes]:
        """Who is in the package of a check, row by row."""
        mine = sa.and_(PEOPLE.c.digest == digest, PEOPLE.c.number == number)
        found = connection.execute(
            sa.select(PEOPLE.c.row, PEOPLE.c.mark).where(mine).order_by(PEOPLE.c.row)
        ).all()
        if [row.row for row in found] != list(range(len(found))):
            raise VerificationError(
                "exchange.list-package-changed-check",
                "the list of who is in this package was changed: check it again",
            )
        return [row.mark for row in found]

    def forget_packages(self, connection: sa.Connection, digest: str) -> None:
        """The packages of a request that is closed, and who is in them, are not kept any longer."""
        mine = RECOMMENDATIONS.c.digest == digest
        connection.execute(sa.update(RECOMMENDATIONS).where(mine).values(package=None))
        connection.execute(sa.delete(PEOPLE).where(PEOPLE.c.digest == digest))
        connection.execute(sa.delete(TELLINGS).where(TELLINGS.c.digest == digest))

    def require_own(self, digest: str, institution: str) -> DataRequest:
        """A request, for who asked only."""
        request = self.request(digest)
        if request.institution != institution:
            raise self.refused(
                digest, "exchange.request-another-institution-s", "this request is another institution's"
            )
        return request

    def require_few(self, connection: sa.Connection, institution: str, days: float) -> None:
        """Refuse a further request of an institution that has too many here.

        Args:
            connection: the transaction in which it comes in.
            institution: whose it is.
            days: how long a request may wait; from it follows when those that are here came in.
        """
        mine = sa.select(sa.func.count()).where(REQUESTS.c.institution == institution)
        states = [state.value for state in OPEN]
        since = (datetime.now(UTC) + timedelta(days=days - 1)).isoformat()
        if connection.execute(mine.where(REQUESTS.c.state.in_(states))).scalar_one() >= MOST_OPEN:
            raise LimitError(
                "exchange.requests-institution-open-wait",
                "{most_open} requests of this institution are open: wait for their answers",
                most_open=MOST_OPEN,
            )
        if connection.execute(mine.where(REQUESTS.c.deadline >= since)).scalar_one() >= MOST_A_DAY:
            raise LimitError(
                "exchange.requests-institution-came-today",
                "{most_a_day} requests of this institution came in today: wait until tomorrow",
                most_a_day=MOST_A_DAY,
            )

    def tampered(self, error: VerificationError, digest: str | None = None) -> None:
        """Log that something was tampered with, if that can still be logged."""
        with contextlib.suppress(VerificationError):
            self.log.append("tampering found", {"request": digest, "why": str(error)})

    def refused(self, digest: str, code: str, template: str, /, **values: object) -> AccessError:
        """Log that something was refused; the error to raise."""
        return self.refused_because(digest, Reason(code, template, **values))

    def refused_because(self, digest: str, why: Reason) -> AccessError:
        """The same for a reason that is known already."""
        self.log.append("refused", {"request": digest, "why": str(why)})
        return AccessError.because(why)


def read_request(row: Any) -> DataRequest:
    """The request in a row.

    Raises:
        ParameterError: if it cannot be read; one such row must not stop the others.
    """
    try:
        return DataRequest.from_dict(json.loads(row.content))
    except (ValueError, TypeError, RecursionError):
        raise ParameterError(
            "exchange.request-database-cannot-read", "a request in the database cannot be read"
        ) from None
