"""Two institutions over mutual TLS: certificates, forgeries, restarts, whoever is offline (checklist 31)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tarnkappe.errors import AccessError, InputError, ParameterError, ProtocolError
from tarnkappe.exchange import Network, NetworkMember, Purpose
from tarnkappe.exchange.desk import RequestState, RequestWorkflow
from tarnkappe.exchange.desk.packages import opened
from tarnkappe.exchange.peer import ExchangeService, Outbox
from tarnkappe.federation.certificates import Authority, Credentials
from tarnkappe.federation.transport import Caller, UnreachableError
from tarnkappe.state import AuditLog, Key, Signer, Store
from tests.exchange.scenes import request, surroundings
from tests.exchange.test_desk import OWN, STAFF, decide

MEMBERS = [
    NetworkMember("A", frozenset(Purpose), public_key=Signer(Key(b"a" * 32)).public),
    NetworkMember("B", frozenset(Purpose), public_key=Signer(OWN).public),
    NetworkMember("R", frozenset(Purpose), revoked=True),
]
NETWORK = Network(MEMBERS)


class RenewingAuthority(Authority):
    """An authority that makes another certificate for whoever asks again."""

    def issue(self, party: str) -> Credentials:
        for ending in ("pem", "key"):
            (self.certificate.parent / f"{party}.{ending}").unlink(missing_ok=True)
        return super().issue(party)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return RenewingAuthority(tmp_path_factory.mktemp("authority"))


class House:
    """Institution B, which can be shut down and opened again."""

    def __init__(self, credentials: Credentials, place: Path) -> None:
        self._credentials, self._place, self._port = credentials, place, 0
        self.open()

    def open(self) -> None:
        self.desk = RequestWorkflow(Store.open(self._place), OWN, surroundings(network=NETWORK), STAFF)
        self.service = ExchangeService(self.desk, self._credentials, ("127.0.0.1", self._port))
        self._port = self.service.address[1]
        self.service.start()

    def close(self) -> None:
        self.service.close()
        self.desk.store.close()

    def caller(self, credentials: Credentials, name: str = "B") -> Caller:
        return Caller(credentials, {name: ("127.0.0.1", self._port)}, 10.0)


@pytest.fixture
def house(authority: Authority, tmp_path: Path) -> Iterator[House]:
    opened_house = House(authority.issue("B"), tmp_path / "b.db")
    yield opened_house
    opened_house.close()


def accept(desk: RequestWorkflow, digest: str) -> None:
    desk.check(digest, "Stew")
    decide(desk, digest, "Ann")
    decide(desk, digest, "Cleo")


def test_a_package_travels_from_one_institution_to_another(
    house: House, authority: Authority, tmp_path: Path
) -> None:
    outbox = Outbox(Store.open(tmp_path / "a.db"), NETWORK, house.caller(authority.issue("A")))
    digest = outbox.add(request(), "B")
    assert outbox.work() == 1
    assert outbox.work() == 0  # nothing is decided yet
    accept(house.desk, digest)
    assert [outbox.work() for _ in range(3)] == [1, 1, 1]  # the answer, the package, the confirmation
    [sent] = outbox.all()
    assert sent.state == "closed"
    assert opened(sent.package).num_rows == 12
    assert house.desk.state(digest) is RequestState.DELIVERED
    assert outbox.work() == 0
    events = [entry.event for entry in AuditLog(outbox.store).entries()]
    assert events == ["request made", "request sent", "answer received", "package received", "request closed"]


def test_who_is_offline_gets_it_later_and_restarts_lose_nothing(
    house: House, authority: Authority, tmp_path: Path
) -> None:
    credentials = authority.issue("A")
    caller = house.caller(credentials)
    caller_of_now = {"caller": caller}
    original = caller.call
    caller.call = lambda *a, **k: original(*a, **{**k, "pauses": ()})  # no waiting in a test

    def outbox() -> Outbox:  # as after a restart
        return Outbox(Store.open(tmp_path / "a.db"), NETWORK, caller_of_now["caller"])

    house.close()
    digest = outbox().add(request(), "B")
    assert outbox().work() == 0
    house.open()
    assert outbox().work() == 1
    house.close()
    house.open()
    accept(house.desk, digest)
    house.close()
    assert outbox().work() == 0
    for state in ("fetching", "answered"):
        house.open()
        assert outbox().work() == 1
        house.close()
        assert [each.state for each in outbox().all()] == [state]
    house.open()
    assert outbox().work() == 1
    assert house.desk.state(digest) is RequestState.DELIVERED
    assert [entry.event for entry in house.desk.log.entries()].count("answer delivered") == 1


def test_a_forged_certificate_gets_nowhere(house: House, tmp_path: Path, authority: Authority) -> None:
    forged = Authority(tmp_path / "other").issue("A")
    mixed = Credentials(forged.certificate, forged.key, authority.certificate)
    with pytest.raises(UnreachableError):
        house.caller(mixed).call("B", "/request", b"{}", pauses=())
    assert house.desk.requests() == []


def test_another_institution_cannot_pose_as_the_one_that_is_called(
    house: House, authority: Authority
) -> None:
    with pytest.raises(ProtocolError, match="instead of"):
        house.caller(authority.issue("A"), "C").call("C", "/request", b"{}", pauses=())


@pytest.mark.parametrize("name", ["R", "Z"])
def test_a_revoked_or_unknown_institution_is_refused_and_logged(
    house: House, authority: Authority, name: str
) -> None:
    body = json.dumps(request(institution=name).to_dict()).encode()
    with pytest.raises(ProtocolError, match="not a member"):
        house.caller(authority.issue(name)).call("B", "/request", body)
    assert [entry.event for entry in house.desk.log.entries()] == ["refused"]


def test_nobody_asks_in_anothers_name_or_sees_anothers_answer(house: House, authority: Authority) -> None:
    other = Network([*MEMBERS, NetworkMember("C", frozenset(Purpose))])
    house.desk.around = surroundings(network=other)
    third = house.caller(authority.issue("C"))
    with pytest.raises(ProtocolError, match="another institution's name"):
        third.call("B", "/request", json.dumps(request().to_dict()).encode())
    sent = request()
    house.desk.receive(sent)
    for path in ("state", "answer", "confirm", "withdraw"):
        with pytest.raises(ProtocolError, match="another institution"):
            third.call("B", f"/{path}/{sent.digest}")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"id": 1}', b"\xff", b"x" * (2**20 + 1)])
def test_what_is_no_request_is_refused(house: House, authority: Authority, body: bytes) -> None:
    with pytest.raises(ProtocolError):
        house.caller(authority.issue("A")).call("B", "/request", body)
    with pytest.raises(ProtocolError):
        house.caller(authority.issue("A")).call("B", "/secrets")


def test_an_answer_that_was_changed_on_the_way_is_not_taken(
    house: House, authority: Authority, tmp_path: Path
) -> None:
    caller = house.caller(authority.issue("A"))
    outbox = Outbox(Store.open(tmp_path / "a.db"), NETWORK, caller)
    digest = outbox.add(request(), "B")
    outbox.work()
    accept(house.desk, digest)
    true = caller.call("B", f"/answer/{digest}")
    content = true["content"]
    changed = [
        {**true, "size": None},
        {**true, "content": {**content, "verdict": "refused"}},
        {**true, "content": {**content, "package": None}, "size": None},
        {**true, "signature": "00" * 64},
        {"content": {}, "size": None},
    ]
    really = caller.call
    for answer in changed:
        caller.call = lambda party, path, *a, said=answer, **k: (
            said if "answer" in path else really(party, path, *a, **k)
        )
        with pytest.raises((AccessError, InputError), match=r"signature|package|answer"):
            outbox.work()
        assert [each.state for each in outbox.all()] == ["sent"]
    caller.call = really
    assert outbox.work() == 1
    other = base64.b64encode(b"another package").decode()
    for part in (other, ""):
        caller.call = lambda party, path, *a, said=part, **k: (
            {"part": said if path.endswith("/0") else ""} if "part" in path else really(party, path, *a, **k)
        )
        with pytest.raises(AccessError, match="signed"):
            outbox.work()
        assert [each.state for each in outbox.all()] == ["fetching"]
    caller.call = really
    assert outbox.work() == 1
    refused = [entry for entry in AuditLog(outbox.store).entries() if entry.event == "refused"]
    assert len(refused) == len(changed) + 2


def test_a_package_comes_in_parts_and_goes_on_where_it_stopped(
    house: House, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tarnkappe.exchange.desk.delivery.PART", 500)
    caller, asked = house.caller(authority.issue("A")), []
    really = caller.call

    def sometimes(party: str, path: str, *words, **named):
        if "/part/" in path:
            asked.append(int(path.rpartition("/")[2]))
            if len(asked) % 3 == 0:
                raise UnreachableError("test.gone", "gone")
        return really(party, path, *words, **named)

    caller.call = sometimes
    outbox = Outbox(Store.open(tmp_path / "a.db"), NETWORK, caller)
    digest = outbox.add(request(), "B")
    outbox.work()
    accept(house.desk, digest)
    for _ in range(40):
        outbox = Outbox(Store.open(tmp_path / "a.db"), NETWORK, caller)  # as after a restart
        outbox.work()
        if outbox.all()[0].state == "closed":
            break
    assert opened(outbox.all()[0].package).num_rows == 12
    came = [begin for number, begin in enumerate(asked, 1) if number % 3]
    assert came == [500 * number for number in range(len(came))]  # no part came twice
    assert len(came) > 3


def test_a_request_can_be_withdrawn_here_and_there(
    house: House, authority: Authority, tmp_path: Path
) -> None:
    outbox = Outbox(Store.open(tmp_path / "a.db"), NETWORK, house.caller(authority.issue("A")))
    first, second = outbox.add(request(), "B"), outbox.add(request(id="r2"), "B")
    outbox.withdraw(first)  # before it was sent
    outbox.work()
    outbox.withdraw(second)
    assert house.desk.state(second) is RequestState.WITHDRAWN
    assert [state for _, state in house.desk.requests()] == [RequestState.WITHDRAWN]
    assert outbox.work() == 0
    with pytest.raises(ParameterError, match="too late"):
        outbox.withdraw(second)


def test_who_waits_for_an_answer_learns_that_there_will_be_none(
    house: House, authority: Authority, tmp_path: Path
) -> None:
    outbox = Outbox(Store.open(tmp_path / "a.db"), NETWORK, house.caller(authority.issue("A")))
    outbox.add(request(), "B")
    outbox.work()
    house.desk.expire(datetime.now(UTC) + timedelta(days=99))
    assert outbox.work() == 1
    assert [each.state for each in outbox.all()] == ["expired"]


def test_one_that_refuses_does_not_hold_up_the_others(
    house: House, authority: Authority, tmp_path: Path
) -> None:
    outbox = Outbox(Store.open(tmp_path / "a.db"), NETWORK, house.caller(authority.issue("A")))
    for number in range(3):
        outbox.add(request(id=f"r{number}"), "B")
    house.desk.receive(request(id="r1", question="Another one."))
    with pytest.raises(ProtocolError, match="changed"):
        outbox.work()
    assert sorted(each.state for each in outbox.all()) == ["queued", "sent", "sent"]
