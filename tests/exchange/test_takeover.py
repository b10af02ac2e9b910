"""A store of an earlier version, which sealed nothing, is taken over once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from tarnkappe.errors import VerificationError
from tarnkappe.exchange.desk import State
from tarnkappe.exchange.desk.tables import ANSWERS, RECOMMENDATIONS, RELEASES, REQUESTS, WITHDRAWALS
from tarnkappe.state import HeadFile, Seals, Signer, Store, guard
from tests.exchange.scenes import request
from tests.exchange.test_desk import OWN, accepted, desk
from tests.state.test_audit import old_store

STATES = {"done": "delivered", "open": "checked", "half": "half agreed", "agreed": "accepted"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Four requests and a withdrawal, as an earlier version has left them."""
    old_store(tmp_path / "desk.db", ["a patient withdrew", "request received", "decided"])
    opened = Store.open(tmp_path / "desk.db")
    patient = desk().register.mark("P13")
    with opened.writing() as connection:
        connection.execute(sa.insert(WITHDRAWALS).values(mark=patient, time="2026-01-01"))
        for number, state in STATES.items():
            digest = f"{number:0>64}"
            content = json.dumps(request(id=number).to_dict() | {"received": "2026-01-01T00:00:00"})
            rest = {"institution": "A", "id": number, "content": content, "deadline": "2999", "checks": 1}
            connection.execute(sa.insert(REQUESTS).values(digest=digest, state=state, **rest))
            package = {"package": b"old", "package_digest": "0" * 64, "number": 1, "content": "{}"}
            connection.execute(sa.insert(RECOMMENDATIONS).values(digest=digest, **package))
        connection.execute(
            sa.insert(ANSWERS).values(digest=f"{'agreed':0>64}", content="{}", signature="00", package=b"old")
        )
        told = {"recipient": "A", "purpose": "research", "columns": "[]", "time": "2026-01-01"}
        connection.execute(sa.insert(RELEASES).values(digest=f"{'done':0>64}", **told))
    guard(opened, Seals(OWN), HeadFile(tmp_path / "desk.head", "B", Signer(OWN)))
    return opened


def test_what_was_not_finished_is_closed_and_the_rest_counts(store: Store) -> None:
    at = desk(store)
    assert at.audit() == []
    states = {made.id: state for made, state in at.requests()}
    assert states == {"done": State.DELIVERED} | dict.fromkeys(["open", "half", "agreed"], State.EXPIRED)
    assert at.register.has_withdrawn(["P13", "P01"]) == [True, False]
    accepted(at, request(id="new"))
    assert at.answer(request(id="new").digest, "A").package
    assert at.audit() == []
    assert at.log.verify() == len(list(at.log.entries()))


def test_nothing_of_an_earlier_version_leaves(store: Store) -> None:
    at = desk(store)
    with store.writing() as connection:
        connection.execute(sa.update(REQUESTS).values(state="accepted"))
    for number in STATES:
        with pytest.raises(VerificationError, match="sent again"):
            at.answer(f"{number:0>64}", "A")


def test_it_is_taken_over_once(store: Store) -> None:
    desk(store)
    with store.writing() as connection:
        connection.execute(sa.delete(WITHDRAWALS))
    with pytest.raises(VerificationError, match="withdrawals"):
        desk(store).register.has_withdrawn(["P13"])
    assert len(desk(store).audit()) == 1


def test_the_notes_of_who_got_what_cannot_be_changed_later(store: Store) -> None:
    at = desk(store)
    with store.writing() as connection:
        connection.execute(sa.update(RELEASES).values(recipient="C"))
    assert len(at.audit()) == 1
    with pytest.raises(VerificationError, match="notes"):
        at.register.disclosures("P01")
