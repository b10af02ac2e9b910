"""The desk of an institution that listens, for a member of its network who sends anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from tarnkappe.errors import TarnkappeError
from tarnkappe.exchange import DataRequest, Network, NetworkMember, Purpose
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.states import OPEN
from tarnkappe.exchange.peer import ExchangeService
from tarnkappe.federation.certificates import Authority
from tarnkappe.state import Store
from tests.attackers.exchange import member
from tests.attackers.exchange.writer_stages import OWN, STAFF
from tests.exchange.scenes import request, surroundings

MEMBERS = [NetworkMember(name, frozenset(Purpose), bound_to_secrecy=True) for name in ("A", "M")]


@contextmanager
def desk(folder: Path) -> Iterator[member.Desk]:
    """A desk with the request of an honest member."""
    authority = Authority(folder / "certificates")
    own, his = authority.issue("B"), authority.issue("M")
    at = RequestWorkflow(Store.open(folder / "b.db"), OWN, surroundings(network=Network(MEMBERS)), STAFF)
    honest = request()
    at.receive(honest)
    service = ExchangeService(at, own, ("127.0.0.1", 0))
    service.start()

    def check() -> bool:
        try:
            at.check(honest.digest, "Stew")
        except (TarnkappeError, TypeError, ValueError):
            return False
        return True

    yield member.Desk(
        address=service.address,
        certificate=his.certificate,
        key=his.key,
        authority=authority.certificate,
        request={
            key: value
            for key, value in request(institution="M", requester="Dr. Mal").to_dict().items()
            if key != "received"
        },
        others=honest.digest,
        check=check,
        hours=lambda digest: (datetime.now(UTC) - at.request(digest).received).total_seconds() / 3600,
        open_requests=lambda: sum(made.institution == "M" and state in OPEN for made, state in at.requests()),
    )
    service.close()
    at.store.close()


@contextmanager
def trusting(folder: Path) -> Iterator[member.Desk]:
    """The same without limits, and with whatever parts a message has."""
    with (
        mock.patch.object(DataRequest, "from_message", DataRequest.from_dict),
        mock.patch("tarnkappe.exchange.desk.records.MOST_OPEN", 10**9),
        desk(folder) as target,
    ):
        yield target
