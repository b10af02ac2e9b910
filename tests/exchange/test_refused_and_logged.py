"""Must show: tampering, replays, forgeries, revoked and changed things are all refused, and all in the log."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, ProtocolError, VerificationError
from tarnkappe.exchange import Wanted
from tarnkappe.exchange.desk import RequestState, RequestWorkflow
from tarnkappe.exchange.desk.decisions import decision_statement
from tarnkappe.exchange.peer import service as peer_service
from tarnkappe.federation.certificates import Authority, Credentials
from tarnkappe.federation.transport import UnreachableError
from tarnkappe.state import Signer, Store
from tests.exchange.scenes import request
from tests.exchange.test_desk import KEYS, accepted, decide, desk
from tests.exchange.test_peers import House, RenewingAuthority


def refusals(at: RequestWorkflow) -> list[str]:
    """What was refused; a service may still be writing it when its caller has been sent away."""
    for _ in range(100):
        if found := [entry.details["why"] for entry in at.log.entries() if entry.event == "refused"]:
            return found
        time.sleep(0.1)
    return []


def test_a_log_that_was_tampered_with_lets_nothing_out_and_says_so(tmp_path: Path) -> None:
    at, sent = desk(Store.open(tmp_path / "desk.db")), request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    decide(at, sent.digest, "Ann")
    with at.store.writing() as connection:
        for action in ("update", "delete"):
            connection.exec_driver_sql(f"DROP TRIGGER log_entries_no_{action}")
        connection.exec_driver_sql("""UPDATE log_entries SET details = '{"by": "Zoe"}' WHERE number = 3""")
    with pytest.raises(VerificationError, match="entry 3"):
        decide(at, sent.digest, "Cleo")
    assert at.state(sent.digest) is RequestState.HALF_AGREED
    with pytest.raises(VerificationError, match="entry 3"):
        at.answer(sent.digest, "A")
    found = [entry for entry in at.log.entries() if entry.event == "tampering found"]
    assert "entry 3" in found[0].details["why"]


def test_a_replayed_decision() -> None:
    at, sent, other = desk(), request(), request(id="r2")
    for each in (sent, other):
        at.receive(each)
        at.check(each.digest, "Stew")
    content = at.to_decide(sent.digest, "Ann", accepts=True, reason="x")
    signature = Signer(KEYS["Ann"]).sign(decision_statement(content))
    at.decide(content, signature)
    with pytest.raises(AccessError, match="decided already"):
        at.decide(content, signature)  # as the second pair of eyes
    with pytest.raises(AccessError, match="forged"):
        at.decide({**content, "request": other.digest}, signature)  # about another request
    early = at.to_decide(other.digest, "Ann", accepts=True, reason="x")
    at.check(other.digest, "Stew")
    with pytest.raises(AccessError, match="another check"):
        at.decide(early, Signer(KEYS["Ann"]).sign(decision_statement(early)))  # about a later check
    assert len(refusals(at)) == 3
    assert at.state(other.digest) is RequestState.CHECKED


def test_a_request_changed_after_approval() -> None:
    at, sent = desk(), request()
    accepted(at, sent)
    more = dataclasses.replace(sent, wanted=(*sent.wanted, Wanted("medication")))
    with pytest.raises(AccessError, match="changed after"):
        at.receive(more)
    assert refusals(at) == ["a request was changed after it was sent"]
    assert at.request(sent.digest).digest == sent.digest
    with pytest.raises(AccessError, match="no such request"):
        at.answer(more.digest, "A")


def test_a_request_that_was_changed_in_the_store_is_not_the_one_that_was_decided(tmp_path: Path) -> None:
    """Whoever can write to the store of B cannot give another package to a decision."""
    at, sent = desk(Store.open(tmp_path / "desk.db")), request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    decide(at, sent.digest, "Ann")
    content = at.to_decide(sent.digest, "Cleo", accepts=True, reason="x")
    signature = Signer(KEYS["Cleo"]).sign(decision_statement(content))
    with at.store.writing() as connection:
        connection.execute(
            sa.text("UPDATE exchange_recommendations SET package = :other"), {"other": b"another package"}
        )
    with pytest.raises(VerificationError, match="check it again"):
        at.decide(content, signature)
    assert [entry for entry in at.log.entries() if entry.event == "tampering found"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return RenewingAuthority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def house(authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(peer_service, "PAUSE", 0.0)
    own = authority.issue("B")
    opened = House(dataclasses.replace(own, revoked=authority.revoke()), tmp_path / "b.db")
    yield opened
    opened.close()


def test_a_forged_certificate(house: House, authority: Authority, tmp_path: Path) -> None:
    forged = Authority(tmp_path / "other").issue("A")
    mixed = Credentials(forged.certificate, forged.key, authority.certificate)
    with pytest.raises(UnreachableError):
        house.caller(mixed).call("B", "/request", b"{}", pauses=())
    assert "not valid" in refusals(house.desk)[0]


def test_a_revoked_certificate_also_of_a_member_and_while_the_service_runs(
    house: House, authority: Authority
) -> None:
    credentials = authority.issue("A")
    body = json.dumps(request().to_dict()).encode()
    caller = house.caller(credentials)
    assert caller.call("B", "/request", body)["state"] == "received"
    authority.revoke(credentials.certificate)
    with pytest.raises(UnreachableError):
        caller.call("B", f"/state/{request().digest}", pauses=())
    assert "revoked" in refusals(house.desk)[0]
    fresh = authority.issue("A")
    assert house.caller(fresh).call("B", f"/state/{request().digest}")["state"] == "received"
    authority.revoke()


def test_a_service_whose_own_certificate_was_revoked_is_not_called(
    house: House, authority: Authority
) -> None:
    mine = authority.issue("A")
    listed = authority.revoke(house._credentials.certificate)
    with pytest.raises(UnreachableError):
        house.caller(dataclasses.replace(mine, revoked=listed)).call("B", "/request", b"{}", pauses=())
    authority.revoke()


def test_who_shows_many_forged_certificates_does_not_fill_the_log(
    house: House, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer_service, "PAUSE", 3600.0)
    forged = Authority(tmp_path / "other").issue("A")
    mixed = Credentials(forged.certificate, forged.key, authority.certificate)
    for _ in range(3):
        with pytest.raises(UnreachableError):
            house.caller(mixed).call("B", "/request", b"{}", pauses=())
    assert len(refusals(house.desk)) <= 1


def test_a_member_that_was_revoked_while_the_service_runs(house: House, authority: Authority, tmp_path: Path):
    from tarnkappe.exchange import Network

    path = tmp_path / "network.toml"
    path.write_text('[members.A]\npurposes = ["research"]\n')
    house.desk.around = dataclasses.replace(house.desk.around, network=Network.load(path))
    caller = house.caller(authority.issue("A"))
    body = json.dumps(request().to_dict()).encode()
    assert caller.call("B", "/request", body)["state"] == "received"
    path.write_text('[members.A]\npurposes = ["research"]\nrevoked = true\n')
    with pytest.raises(ProtocolError, match="not a member"):
        caller.call("B", f"/state/{request().digest}")
    assert "no member" in refusals(house.desk)[0]
