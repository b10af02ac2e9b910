"""Somebody in a package must be told something: pseudonyms, four eyes in the vault, no name leaves (B3, R6)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, ParameterError, VerificationError
from tarnkappe.exchange import Purpose
from tarnkappe.exchange.desk import Ask, ReidentificationState, RequestWorkflow
from tarnkappe.exchange.desk.packages import PSEUDONYM, opened
from tarnkappe.exchange.desk.tables import REIDENTIFICATIONS
from tarnkappe.pseudonym import (
    Approver,
    KeyPair,
    Registrar,
    ReidentificationReason,
    Requester,
    Vault,
    VaultMember,
    VaultRole,
)
from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
from tarnkappe.state import AuditLog, Key, Store
from tests.exchange.scenes import FIXTURE, request, surroundings
from tests.exchange.test_desk import KEYS, OWN, STAFF, decide

PEOPLE = {"Rita": VaultRole.REGISTRAR, "Ann": VaultRole.REQUESTER, "Paul": VaultRole.APPROVER}
VAULT_KEYS = {"Rita": Key(b"r" * 32), "Ann": KEYS["Ann"], "Paul": Key(b"p" * 32)}


def vault() -> Vault:
    members = [VaultMember(name, role, KeyPair.of(VAULT_KEYS[name]).public) for name, role in PEOPLE.items()]
    return Vault.create(Store.in_memory(), "exchange", ["id"], members)


def house(kept: Vault | None) -> RequestWorkflow:
    policy = {"thresholds": {**FIXTURE["policy"]["thresholds"], "base": 6}}
    registrar = None if kept is None else Registrar(kept, "Rita", VAULT_KEYS["Rita"])
    at = RequestWorkflow(Store.in_memory(), OWN, surroundings(policy=policy), STAFF, registrar)
    until = datetime.now(UTC) + timedelta(days=9)
    for number in range(1, 13):
        for person in (f"P{number:02}", f"P{number:02}-1", f"P{number:02}-2"):
            at.register.consent(person, Consent(ConsentScope.THIS_STUDY, until))
    return at


def delivered(at: RequestWorkflow, **changes) -> tuple[str, list[str]]:
    """A package with pseudonyms is at A; its request, and the pseudonyms."""
    sent = request(purpose=Purpose.CLINICAL, reidentification=True, **changes)
    at.receive(sent)
    at.check(sent.digest, "Stew")
    decide(at, sent.digest, "Ann")
    decide(at, sent.digest, "Bea")
    package = opened(at.answer(sent.digest, "A").package)
    at.confirm(sent.digest, "A")
    return sent.digest, package.column(PSEUDONYM).to_pylist()


def ask(digest: str, *names: str) -> Ask:
    return Ask(digest, names, ReidentificationReason.FEEDBACK, "Dr. Ask")


def test_two_people_of_the_vault_find_who_it_is_and_the_requester_learns_no_name() -> None:
    kept = vault()
    at = house(kept)
    digest, names = delivered(at)
    wish = ask(digest, names[0])
    assert at.reidentifications.ask(wish, "A") is ReidentificationState.ASKED
    assert at.reidentifications.ask(wish, "A") is ReidentificationState.ASKED  # sent again, taken once
    requester = Requester(kept, "Ann", VAULT_KEYS["Ann"])
    number = at.reidentifications.forward(wish.digest, "Ann", requester)
    with pytest.raises(AccessError, match="not approved"):
        requester.show(number)
    Approver(kept, "Paul", VAULT_KEYS["Paul"]).approve(number)
    [[identity]] = requester.show(number).values()
    assert identity[0] in {f"P{n:02}" for n in range(1, 13)}
    assert at.reidentifications.progress(wish.digest, "A") is ReidentificationState.FORWARDED
    ours = [entry for entry in at.log.entries() if "re-identification" in entry.event]
    assert [entry.event for entry in ours] == ["re-identification asked", "re-identification forwarded"]
    assert ours[1].details["vault_request"] == number
    assert ours[1].details["by"] == "Ann"
    theirs = [entry.event for entry in AuditLog(kept.store).entries() if "re-identification" in entry.event]
    assert theirs == ["re-identification requested", "re-identification approved", "re-identification shown"]
    assert identity[0] not in str([dict(entry.details) for entry in at.log.entries()])


def test_every_pseudonym_leads_to_its_own_patient() -> None:
    kept = vault()
    at = house(kept)
    sent = request(purpose=Purpose.CLINICAL, reidentification=True)
    at.receive(sent)
    found = at.check(sent.digest, "Stew")
    decide(at, sent.digest, "Ann")
    decide(at, sent.digest, "Bea")
    names = opened(at.answer(sent.digest, "A").package).column(PSEUDONYM).to_pylist()
    assert not set(names) & set(found.patients)
    wish = ask(sent.digest, *names)
    at.reidentifications.ask(wish, "A")
    requester = Requester(kept, "Ann", VAULT_KEYS["Ann"])
    number = at.reidentifications.forward(wish.digest, "Ann", requester)
    Approver(kept, "Paul", VAULT_KEYS["Paul"]).approve(number)
    shown = [identity[0] for [identity] in requester.show(number).values()]
    assert shown == list(found.patients)


def test_two_packages_have_different_pseudonyms_of_the_same_people() -> None:
    at = house(vault())
    _, one = delivered(at)
    _, other = delivered(at, id="r2")
    assert not set(one) & set(other)
    assert len(one) == len(other)


def test_without_a_vault_nobody_can_be_identified_again_and_no_such_package_is_made() -> None:
    at, sent = house(None), request(purpose=Purpose.CLINICAL, reidentification=True)
    at.receive(sent)
    with pytest.raises(ParameterError, match="no vault"):
        at.check(sent.digest, "Stew")


def test_who_is_curious_gets_nowhere_and_it_is_logged() -> None:
    kept = vault()
    at = house(kept)
    digest, names = delivered(at)
    other, foreign = delivered(at, id="r2")
    plain = request(id="r3")
    at.receive(plain)
    refused = [
        (ask(digest, names[0]), "C"),  # another institution
        (ask(digest, foreign[0]), "A"),  # a pseudonym of another package
        (ask(digest, names[0][:-1] + "x"), "A"),  # one that was made up
        (ask(plain.digest, names[0]), "A"),  # a request whose people are not identified again
    ]
    for wish, institution in refused:
        with pytest.raises(AccessError):
            at.reidentifications.ask(wish, institution)
    assert [entry.event for entry in at.log.entries()].count("refused") == len(refused)
    assert at.reidentifications.all() == []
    with pytest.raises(ParameterError):
        ask(digest)
    with pytest.raises(ParameterError, match="1 to 100"):
        ask(digest, *map(str, range(101)))
    del other


def test_only_a_physician_of_the_vault_forwards_and_what_is_refused_stays_refused() -> None:
    kept = vault()
    at = house(kept)
    digest, names = delivered(at)
    wish = ask(digest, names[0])
    at.reidentifications.ask(wish, "A")
    requester = Requester(kept, "Ann", VAULT_KEYS["Ann"])
    with pytest.raises(AccessError, match="physician"):
        at.reidentifications.forward(wish.digest, "Stew", requester)
    at.reidentifications.refuse(wish.digest, "Ann")
    with pytest.raises(AccessError, match="no such open wish"):
        at.reidentifications.forward(wish.digest, "Ann", requester)
    assert at.reidentifications.progress(wish.digest, "A") is ReidentificationState.REFUSED
    with pytest.raises(AccessError):
        at.reidentifications.progress(wish.digest, "C")


def test_what_is_no_wish_is_refused() -> None:
    for broken in ({}, {"request": "x", "pseudonyms": 1, "reason": "feedback", "person": "x"}):
        with pytest.raises(ParameterError):
            Ask.from_dict(broken)
    with pytest.raises(ParameterError, match="reason"):
        Ask.from_dict({"request": "x", "pseudonyms": ["a"], "reason": "curious", "person": "x"})


def test_a_wish_that_was_put_into_the_database_is_not_forwarded() -> None:
    at = RequestWorkflow(Store.in_memory(), OWN, surroundings(), STAFF)
    wish = Ask("0" * 64, ("4K3X",), ReidentificationReason.FEEDBACK, "Dr. Ask")
    with at.store.writing() as connection:
        forged = {"id": wish.digest, "content": json.dumps(wish.to_dict()), "state": "asked"}
        connection.execute(sa.insert(REIDENTIFICATIONS).values(forged))
    with pytest.raises(VerificationError, match="asked again"):
        at.reidentifications.refuse(wish.digest, "Ann")
