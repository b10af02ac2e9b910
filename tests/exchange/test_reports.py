"""Reports for the physician, the requester and the patient (checklist 42)."""

from __future__ import annotations

from tarnkappe.exchange.desk import DisclosureRecord
from tarnkappe.exchange.reports import patient_report, physician_report, requester_report
from tests.exchange.scenes import FIXTURE, patients, request
from tests.exchange.test_desk import accepted, desk


def test_the_physician_reads_what_is_asked_recommended_and_why() -> None:
    at = desk(statements={})
    digest = accepted(at)
    text = physician_report(at.recommendation(digest), at.request(digest).to_dict())
    for words in (
        "medication = X",
        "RELEASE WITH CHANGES",
        "12 of 13 records",
        "at least 2 others",
        "S3",
        "origin: withhold",
        "1 record is deleted",
        "What only you can judge",
        "L12",
        "harm × probability",
    ):
        assert words in text
    for value in ("P13", "P05", "JP", "Schweisser", "148"):
        assert value not in text


def test_a_refusal_shows_where_the_walk_ended() -> None:
    at, sent = desk(table=patients(FIXTURE["rows"][:4])), request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    text = physician_report(at.recommendation(sent.digest), sent.to_dict())
    assert "REFUSE" in text
    assert "✗ S3" in text
    assert "No package may leave" in text
    assert "S4" not in text


def test_the_requester_reads_the_verdict_and_no_reason() -> None:
    at = desk()
    digest = accepted(at)
    text = requester_report(at.answer(digest, "A").content)
    assert text == "B releases a package for request r1.\n"
    assert requester_report({"verdict": "refused", "from": "B", "id": "r1"}).count("\n") == 1


def test_the_patient_reads_who_got_what_when() -> None:
    seen = DisclosureRecord("A", "research", ("age", "sex"), "2026-01-02T03:04:05")
    assert "2026-01-02: A received, for research" in patient_report([seen])
    assert "age, sex" in patient_report([seen])
    assert "No data about you" in patient_report([])
