"""The desk: decisions, four eyes, the log, patients' rights (checklist 31, 38, 39, 40)."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, VerificationError
from tarnkappe.exchange import CheckVerdict, Purpose, Wanted
from tarnkappe.exchange.desk import RequestState, RequestWorkflow
from tarnkappe.exchange.desk.decisions import decision_statement
from tarnkappe.exchange.desk.packages import digest_of, opened
from tarnkappe.exchange.desk.tables import REQUESTS
from tarnkappe.exchange.staff import Duty, Staff, StaffMember
from tarnkappe.state import Key, Signer, Statement, Store, require_signature
from tests.exchange.scenes import FIXTURE, patients, request, surroundings

KEYS = {
    name: Key(bytes([number]) * 32) for number, name in enumerate(["Ann", "Bea", "Cleo", "Stew", "Aud"], 1)
}
DUTIES = {
    "Ann": {Duty.PHYSICIAN},
    "Bea": {Duty.PHYSICIAN, Duty.SECOND_REVIEWER},
    "Cleo": {Duty.SECOND_REVIEWER},
    "Stew": {Duty.STEWARD},
    "Aud": {Duty.AUDITOR},
}
STAFF = Staff([StaffMember(name, frozenset(DUTIES[name]), Signer(key).public) for name, key in KEYS.items()])
OWN = Key(bytes(32))


def desk(store: Store | None = None, table: pa.Table | None = None, **policy) -> RequestWorkflow:
    return RequestWorkflow(store or Store.in_memory(), OWN, surroundings(table, policy), STAFF)


def decide(at: RequestWorkflow, digest: str, person: str, accepts: bool = True, **changes) -> RequestState:
    content = {**at.to_decide(digest, person, accepts=accepts, reason="It serves the patients."), **changes}
    return at.decide(content, Signer(KEYS[person]).sign(decision_statement(content)))


def accepted(at: RequestWorkflow, sent=None) -> str:
    sent = sent or request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    decide(at, sent.digest, "Ann")
    decide(at, sent.digest, "Cleo")
    return sent.digest


def test_a_package_leaves_after_two_decisions_signed_and_logged() -> None:
    at, sent = desk(), request()
    assert at.receive(sent) is RequestState.RECEIVED
    assert at.check(sent.digest, "Stew").verdict is CheckVerdict.RELEASE_WITH_CHANGES
    assert decide(at, sent.digest, "Ann") is RequestState.HALF_AGREED
    with pytest.raises(AccessError, match="no answer yet"):
        at.answer(sent.digest, "A")
    assert decide(at, sent.digest, "Cleo") is RequestState.ACCEPTED
    answer = at.answer(sent.digest, "A")
    require_signature(at.signer.public, Statement("answer", answer.content), answer.signature)
    assert answer.content["package"] == digest_of(answer.package)
    assert answer.content["request"] == sent.digest
    assert opened(answer.package).num_rows == 12
    assert at.confirm(sent.digest, "A") is at.confirm(sent.digest, "A") is RequestState.DELIVERED
    with pytest.raises(AccessError, match="not sent again"):
        at.answer(sent.digest, "A")
    events = [entry.event for entry in at.log.entries()]
    assert events == [
        "request received",
        "request checked",
        "decided",
        "decided",
        "answer sent",
        "answer delivered",
        "refused",
    ]
    who = [entry.details["by"] for entry in at.log.entries() if entry.event == "decided"]
    assert who == ["Ann", "Cleo"]
    assert at.log.verify() == 7


def test_the_log_and_the_answer_hold_no_patient_and_no_reason() -> None:
    at = desk()
    digest = accepted(at)
    at.withdraw_patient("P13")
    answer = at.answer(digest, "A")
    told = json.dumps([dict(entry.details) for entry in at.log.entries()]) + json.dumps(dict(answer.content))
    for word in ("P01", "P13", "Schweisser", "JP", "D1", "Name", "origin", "withheld"):
        assert word not in told
    said = {"request", "id", "from", "verdict", "package", "time"}
    assert set(answer.content) == said | {"bytes", "rows", "columns", "check", "decisions"}
    assert "It serves the patients." not in json.dumps(dict(answer.content))


def test_a_refusal_says_nothing_but_that_it_is_one() -> None:
    few, at = desk(table=patients(FIXTURE["rows"][:4])), desk()
    said = []
    for each, sent in ((few, request()), (at, request())):
        each.receive(sent)
        each.check(sent.digest, "Stew")
        decide(each, sent.digest, "Ann", accepts=False)
        answer = each.answer(sent.digest, "A")
        assert answer.package is None
        said.append({k: v for k, v in answer.content.items() if k != "time"})
    assert said[0] == said[1]
    assert said[0]["verdict"] == "refused"


def test_what_was_refused_by_the_check_cannot_be_accepted() -> None:
    at, sent = desk(table=patients(FIXTURE["rows"][:4])), request()
    at.receive(sent)
    assert at.check(sent.digest, "Stew").verdict is CheckVerdict.REFUSE
    with pytest.raises(AccessError, match="no verified package"):
        decide(at, sent.digest, "Ann")
    assert decide(at, sent.digest, "Ann", accepts=False) is RequestState.REJECTED


def test_without_four_eyes_one_physician_is_enough() -> None:
    at, sent = desk(four_eyes=["teaching"]), request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    assert decide(at, sent.digest, "Ann") is RequestState.ACCEPTED


@pytest.mark.parametrize("person", ["Stew", "Aud", "Nobody"])
def test_only_physicians_and_reviewers_decide(person: str) -> None:
    at, sent = desk(), request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    content = at.to_decide(sent.digest, person, accepts=True, reason="x")
    with pytest.raises(AccessError):
        at.decide(content, Signer(KEYS.get(person, OWN)).sign(decision_statement(content)))
    assert at.state(sent.digest) is RequestState.CHECKED
    with pytest.raises(AccessError, match="steward"):
        at.check(sent.digest, "Ann")


def test_four_eyes_are_those_of_two_people_and_a_physician_is_first() -> None:
    at, sent = desk(), request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    with pytest.raises(AccessError, match="physician has to decide first"):
        decide(at, sent.digest, "Cleo")
    decide(at, sent.digest, "Bea")
    with pytest.raises(AccessError, match="two people"):
        decide(at, sent.digest, "Bea")
    assert at.state(sent.digest) is RequestState.HALF_AGREED


def test_nobody_decides_about_his_own_request() -> None:
    at, sent = desk(), request(requester="Ann")
    at.receive(sent)
    at.check(sent.digest, "Stew")
    with pytest.raises(AccessError, match="own request"):
        decide(at, sent.digest, "Ann")


def test_forged_changed_and_replayed_decisions_are_refused_and_logged() -> None:
    at, sent = desk(), request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    content = at.to_decide(sent.digest, "Ann", accepts=True, reason="x")
    signature = Signer(KEYS["Ann"]).sign(decision_statement(content))
    attempts = [
        (content, Signer(KEYS["Bea"]).sign(decision_statement(content))),  # another's key
        ({**content, "reason": "y"}, signature),  # changed
        (content, Signer(KEYS["Ann"]).sign(Statement("answer", content))),  # another kind of statement
        (content, "00" * 64),
        (content, "no signature"),
    ]
    for said, signed in attempts:
        with pytest.raises(AccessError, match="forged, or was changed"):
            at.decide(said, signed)
    at.check(sent.digest, "Stew")
    with pytest.raises(AccessError, match="another check"):
        at.decide(content, signature)  # replayed after a new check
    assert at.state(sent.digest) is RequestState.CHECKED
    assert [entry.event for entry in at.log.entries()].count("refused") == len(attempts) + 1


def test_a_decision_needs_a_reason() -> None:
    at, sent = desk(), request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    with pytest.raises(AccessError, match="reason"):
        decide(at, sent.digest, "Ann", reason="  ")


def test_a_request_cannot_be_changed_after_it_was_sent() -> None:
    at, sent = desk(), request()
    at.receive(sent)
    assert at.receive(sent) is RequestState.RECEIVED  # sent again, taken once
    with pytest.raises(AccessError, match="changed after"):
        at.receive(dataclasses.replace(sent, wanted=(Wanted("name"),)))
    assert [entry.event for entry in at.log.entries()] == ["request received", "refused"]
    assert len(at.requests()) == 1
    at.receive(dataclasses.replace(sent, institution="C"))  # another institution's number is its own


def test_an_answer_is_for_who_asked_only() -> None:
    at = desk()
    digest = accepted(at)
    for ask in (at.answer, at.confirm, at.withdraw_request):
        with pytest.raises(AccessError, match="another institution"):
            ask(digest, "C")


def test_requests_expire_and_can_be_withdrawn() -> None:
    at, late, gone = desk(days=30), request(), request(id="r2")
    at.receive(late)
    at.receive(gone)
    at.withdraw_request(gone.digest, "A")
    at.withdraw_request(gone.digest, "A")  # again, as after a broken connection
    assert at.expire(datetime.now(UTC) + timedelta(days=29)) == 0
    assert at.expire(datetime.now(UTC) + timedelta(days=31)) == 1
    assert (at.state(late.digest), at.state(gone.digest)) == (RequestState.EXPIRED, RequestState.WITHDRAWN)
    with pytest.raises(AccessError, match="allows no check"):
        at.check(late.digest, "Stew")


def test_after_the_deadline_nothing_can_be_decided_even_if_nobody_looked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at, sent = desk(days=0), request()
    at.receive(sent)
    with pytest.raises(AccessError, match="expired"):
        at.check(sent.digest, "Stew")
    store = Store.in_memory()
    at = desk(store)
    at.receive(sent)
    at.check(sent.digest, "Stew")
    decide(at, sent.digest, "Ann")
    content = at.to_decide(sent.digest, "Cleo", accepts=True, reason="x")

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(days=40)

    monkeypatch.setattr("tarnkappe.exchange.desk.desk.datetime", Later)
    with pytest.raises(AccessError, match="expired"):
        at.decide(content, Signer(KEYS["Cleo"]).sign(decision_statement(content)))
    assert at.state(sent.digest) is RequestState.EXPIRED


def test_what_is_closed_keeps_no_package_and_nobody_who_was_in_it() -> None:
    at = desk()
    digest = accepted(at)
    at.answer(digest, "A")
    at.confirm(digest, "A")
    other = request(id="r2")
    at.receive(other)
    at.check(other.digest, "Stew")
    at.withdraw_request(other.digest, "A")
    with at.store.reading() as connection:
        for query in (
            "SELECT package FROM exchange_answers",
            "SELECT package FROM exchange_recommendations",
            "SELECT mark FROM exchange_people",
        ):
            assert [each for each in connection.execute(sa.text(query)).scalars() if each is not None] == []


def test_every_patient_can_learn_who_got_what() -> None:
    at = desk()
    accepted(at)
    [seen] = at.register.disclosures("P01")
    assert (seen.recipient, seen.purpose) == ("A", "research")
    assert seen.columns == ("age", "sex", "weight", "occupation", "diagnosis")
    assert at.register.disclosures("P13") == []  # deleted from the package
    with at.store.reading() as connection:
        kept = [
            str(row)
            for name in sa.inspect(connection).get_table_names()
            for row in connection.execute(sa.text(f'SELECT * FROM "{name}"'))
            if name != "exchange_answers" and name != "exchange_recommendations"
        ]
    assert not any("P01" in row for row in kept)


def test_who_withdraws_is_in_no_further_package() -> None:
    at = desk(thresholds={**FIXTURE["policy"]["thresholds"], "base": 9})
    at.withdraw_patient("P01")
    sent = request()
    at.receive(sent)
    found = at.check(sent.digest, "Stew")
    assert "P01" not in found.patients
    assert found.base == 12
    assert any(finding.code == "consent" for finding in found.findings)


@pytest.mark.parametrize("agreed", [0, 1, 2])
def test_a_withdrawal_holds_back_a_package_that_has_not_left(agreed: int) -> None:
    at, sent = desk(), request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    for person in ("Ann", "Cleo")[:agreed]:
        decide(at, sent.digest, person)
    assert at.withdraw_patient("P01") == [sent.digest]
    assert at.state(sent.digest) is RequestState.RECEIVED
    assert at.register.disclosures("P02") == []
    with pytest.raises(AccessError, match="no answer"):
        at.answer(sent.digest, "A")
    assert at.withdraw_patient("P13") == []  # was not in it


def test_a_package_that_was_held_back_can_be_released_without_who_withdrew() -> None:
    at, sent = desk(thresholds={**FIXTURE["policy"]["thresholds"], "base": 6}), request()
    accepted(at, sent)
    at.withdraw_patient("P01")
    found = at.check(sent.digest, "Stew")
    assert found.package is not None  # the first one never left, so nothing can be compared with it
    assert "P01" not in found.patients


def test_several_may_withdraw_one_after_the_other() -> None:
    at, sent = desk(thresholds={**FIXTURE["policy"]["thresholds"], "base": 6}), request()
    accepted(at, sent)
    assert at.withdraw_patient("P01") == [sent.digest]
    assert at.withdraw_patient("P02") == []  # it is held back already
    assert at.register.has_withdrawn(["P01", "P02", "P03"]) == [True, True, False]
    assert not {"P01", "P02"} & set(at.check(sent.digest, "Stew").patients)


def test_a_package_that_was_fetched_and_not_confirmed_has_left() -> None:
    at = desk()
    digest = accepted(at)
    at.answer(digest, "A")
    assert at.withdraw_patient("P01") == []
    assert at.state(digest) is RequestState.SENT
    assert len(at.register.disclosures("P01")) == 1  # she can learn of it
    assert at.answer(digest, "A").package is not None
    assert at.confirm(digest, "A") is RequestState.DELIVERED


def test_nobody_confirms_what_he_has_not_fetched() -> None:
    at = desk()
    digest = accepted(at)
    with pytest.raises(AccessError, match="allows no confirmation"):
        at.confirm(digest, "A")


def test_after_a_delivery_a_withdrawal_comes_too_late_for_it() -> None:
    at = desk()
    digest = accepted(at)
    at.answer(digest, "A")
    at.confirm(digest, "A")
    assert at.withdraw_patient("P01") == []
    assert at.state(digest) is RequestState.DELIVERED
    assert len(at.register.disclosures("P01")) == 1


def test_research_identifies_nobody_again() -> None:
    at, sent = desk(), request(reidentification=True)
    at.receive(sent)
    assert at.check(sent.digest, "Stew").steps[-1].name == "S2"


def test_teaching_has_stricter_thresholds_by_itself_and_its_own_if_the_policy_says_so() -> None:
    own = {"purposes": {"teaching": {"k": 6, "l": 2, "base": 12}}}
    found = {}
    for name, policy, purpose in (
        ("strict", {}, Purpose.TEACHING),
        ("own", own, Purpose.TEACHING),
        ("research", own, Purpose.RESEARCH),
    ):
        at, sent = desk(**policy), request(purpose=purpose)
        at.receive(sent)
        found[name] = at.check(sent.digest, "Stew")
    assert found["strict"].steps[-1].name == "S3"  # 13 are fewer than twice 10
    assert found["own"].package.k == 6
    assert found["research"].package.k == 3


def test_two_packages_that_expose_together_cannot_both_be_accepted() -> None:
    rows = [
        [f"P{i:03}", 40 + 10 * (i % 2), "MW"[i // 2 % 2], 60 + 20 * (i // 4 % 2), "AT", "Buero", f"D{i % 3}"]
        for i in range(24)
    ]
    at = desk(table=patients(rows), thresholds={"k": 5, "l": 2, "base": 10, "method": "levels"})
    one, other = request("age", "sex", "diagnosis"), request("weight", "sex", "diagnosis", id="r2")
    for sent in (one, other):
        at.receive(sent)
        assert at.check(sent.digest, "Stew").package is not None
        decide(at, sent.digest, "Ann")
    assert decide(at, one.digest, "Cleo") is RequestState.ACCEPTED
    with pytest.raises(AccessError, match="check it again"):
        decide(at, other.digest, "Cleo")
    assert at.state(other.digest) is RequestState.HALF_AGREED
    assert at.check(other.digest, "Stew").verdict is CheckVerdict.REFUSE
    assert at.state(other.digest) is RequestState.CHECKED  # Ann's agreement was to another package


def test_tampering_with_the_log_is_found(tmp_path: Path) -> None:
    at = desk(Store.open(tmp_path / "desk.db"))
    accepted(at)
    head = at.log.head
    for statement in ("UPDATE log_entries SET event = 'x'", "DELETE FROM log_entries"):
        with pytest.raises(sa.exc.IntegrityError), at.store.writing() as connection:
            connection.exec_driver_sql(statement)
    with at.store.writing() as connection:
        connection.exec_driver_sql("DROP TRIGGER log_entries_no_update")
        connection.exec_driver_sql("DROP TRIGGER log_entries_no_delete")
        connection.exec_driver_sql("UPDATE log_entries SET details = '{}' WHERE number = 3")
    with pytest.raises(VerificationError, match="entry 3"):
        at.log.verify()
    with at.store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM log_entries WHERE number > 2")
    with pytest.raises(VerificationError, match="at its end"):
        at.log.verify(head)


def test_everything_survives_a_restart(tmp_path: Path) -> None:
    place = tmp_path / "desk.db"
    sent = request()
    desk(Store.open(place)).receive(sent)
    desk(Store.open(place)).check(sent.digest, "Stew")
    decide(desk(Store.open(place)), sent.digest, "Ann")
    decide(desk(Store.open(place)), sent.digest, "Cleo")
    answer = desk(Store.open(place)).answer(sent.digest, "A")
    assert answer == desk(Store.open(place)).answer(sent.digest, "A")
    with Store.open(place).reading() as connection:
        assert connection.execute(sa.select(REQUESTS.c.state)).scalar() == "sent"
