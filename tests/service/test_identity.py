"""A person is an id that nobody else gets: whoever has her name later, or speaks by it elsewhere."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, LoginError, NotFoundError
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.exchange import ExchangeSites
from tarnkappe.service.people import Account, ServiceRole
from tarnkappe.service.settings import ServiceSettings
from tarnkappe.service.tables import (
    DRAFTS,
    FILES,
    JOBS,
    LINEAGE,
    LINKS,
    REQUESTS,
    SESSIONS,
    TOKENS,
)

PASSWORD = "correct horse battery"


def test_a_new_person_with_an_old_name_inherits_nothing(house: ServiceCore, patients: bytes) -> None:
    old = house.people.add("bob", ["steward"], PASSWORD)
    file_id = house.files.store([patients], "ward.csv", old).id
    job = house.jobs.start("profile", {"input": {"file": file_id}}, old, "key")
    house.drafts.save(file_id, old, {"file": file_id}, 0)
    session, link = house.people.log_in("bob", PASSWORD), house.people.make_link("bob")
    token = house.people.tokens.make(old, "nightly")[1]
    house.remove_person("bob", "root")
    new = house.people.add("bob", ["steward"], PASSWORD)
    assert new.id != old.id
    assert new.has_used_name
    assert not old.has_used_name
    assert house.files.list(new) == []
    assert house.jobs.list(new) == []
    assert house.people.tokens.of(new) == []
    assert house.drafts.load(file_id, new) is None
    for look, what in ((house.files.get, file_id), (house.jobs.get, job.id)):
        for who in (new, old):
            with pytest.raises(NotFoundError):
                look(what, who)
    assert house.people.by_session(session.secret) is None
    assert house.people.by_token(token) is None
    with pytest.raises(LoginError):
        house.people.use_link(link)
    with house.store.reading() as connection:
        for table in (FILES, JOBS, DRAFTS, LINEAGE, REQUESTS, SESSIONS, LINKS, TOKENS):
            assert connection.execute(sa.select(table)).all() == [], table.name
    assert list((house.settings.folder / "files").iterdir()) == []


def test_who_is_gone_does_nothing_by_what_she_still_holds(house: ServiceCore, patients: bytes) -> None:
    """A page that was open before, with the person as she was then."""
    gone = house.people.add("bob", ["steward"])
    house.remove_person("bob", "root")
    house.people.add("bob", ["steward"])
    with pytest.raises(AccessError):
        house.files.store([patients], "ward.csv", gone)
    with pytest.raises(AccessError):
        house.people.tokens.make(gone, "late")
    assert list((house.settings.folder / "files").iterdir()) == []


def test_who_got_a_used_name_does_not_speak_by_it_at_a_desk(tmp_path: Path) -> None:
    """The desks of the exchange know people by their names."""
    exchange = ExchangeSites({"north": tmp_path / "site.toml"})
    ann = Account("Ann", frozenset({ServiceRole.PHYSICIAN}), "1" * 32, has_used_name=True)
    with pytest.raises(AccessError, match="somebody else had your name"):
        exchange.to_decide("north", "0", ann, accepts=True, reason="x")
    with pytest.raises(AccessError, match="somebody else had your name"):
        exchange.decide("north", {"person": "Ann"}, "", ann)
    house = ServiceCore(ServiceSettings(folder=tmp_path / "house", sites={"north": tmp_path / "site.toml"}))
    house.people.add("Stew", ["steward"])
    house.remove_person("Stew", "root")
    stew = house.people.add("Stew", ["steward"])
    with pytest.raises(AccessError, match="somebody else had your name"):
        house.jobs.start("request-check", {"site": "north", "request": "0"}, stew)
    house.close()


def test_two_persons_of_one_name_differ_although_all_else_is_equal() -> None:
    one = Account("bob", frozenset({ServiceRole.STEWARD}), "1" * 32)
    assert one != dataclasses.replace(one, id="2" * 32)
