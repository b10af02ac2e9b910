"""Earlier requests that have to do with a new one, as the check wants to know them."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from tarnkappe.errors import ParameterError
from tarnkappe.exchange.checking.history import RequestHistory
from tarnkappe.exchange.desk.records import read_request
from tarnkappe.exchange.desk.tables import RECOMMENDATIONS, REQUESTS
from tarnkappe.exchange.request import DataRequest
from tarnkappe.state import Store

DAYS = 365
"""How far back requests are looked at; packages never lapse."""


class Suspicions:
    """Looks through the requests in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def history(self, request: DataRequest) -> RequestHistory:
        """What was asked before that has to do with a request."""
        since = datetime.now(UTC) - timedelta(days=DAYS)
        with self._store.reading() as connection:
            rows = connection.execute(
                sa.select(REQUESTS.c.content, REQUESTS.c.checks).where(REQUESTS.c.digest != request.digest)
            ).all()
            earlier = []
            for row in rows:
                with contextlib.suppress(ParameterError):
                    earlier.append((read_request(row), row.checks))
            earlier = [(each, checks) for each, checks in earlier if each.received >= since]
            mine = {
                each.digest: each
                for each, checks in earlier
                if checks and (each.institution, each.requester) == (request.institution, request.requester)
            }
            checked = connection.execute(
                sa.select(RECOMMENDATIONS.c.digest, RECOMMENDATIONS.c.content)
                .where(RECOMMENDATIONS.c.digest.in_(list(mine)))
                .order_by(RECOMMENDATIONS.c.number)
            ).all()
        last = {row.digest: json.loads(row.content)["steps"][-1] for row in checked}
        small = [mine[digest] for digest, step in last.items() if _too_small(step)]
        return RequestHistory(
            [
                each
                for each, _ in earlier
                if each.anchor.attribute == request.anchor.attribute
                and set(each.anchor.values) & set(request.anchor.values)
            ],
            small,
        )


def _too_small(step: dict[str, str]) -> bool:
    return step["step"] == "S3" and step["answer"] == "refuse"
