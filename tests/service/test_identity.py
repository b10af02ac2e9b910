"""A person is an id that nobody else gets: whoever has her name later, or speaks by it elsewhere."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, LoginError, NotFoundError
from tarnkappe.service.drafts import DRAFTS
from tarnkappe.service.exchange import Exchange
from tarnkappe.service.files import FILES
from tarnkappe.service.house import House
from tarnkappe.service.jobs.lineage import LINEAGE
from tarnkappe.service.jobs.record import JOBS
from tarnkappe.service.jobs.requests import REQUESTS
from tarnkappe.service.people import Person, ServiceRole
from tarnkappe.service.people.tables import IDENTITIES, LINKS, PEOPLE, SESSIONS, TOKENS
from tarnkappe.service.settings import ServiceSettings
from tarnkappe.state import AuditLog, Store

PASSWORD = "correct horse battery"


def test_a_new_person_with_an_old_name_inherits_nothing(house: House, patients: bytes) -> None:
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


def test_who_is_gone_does_nothing_by_what_she_still_holds(house: House, patients: bytes) -> None:
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
    exchange = Exchange({"north": tmp_path / "site.toml"})
    ann = Person("Ann", frozenset({ServiceRole.PHYSICIAN}), "1" * 32, has_used_name=True)
    with pytest.raises(AccessError, match="somebody else had your name"):
        exchange.to_decide("north", "0", ann, accepts=True, reason="x")
    with pytest.raises(AccessError, match="somebody else had your name"):
        exchange.decide("north", {"person": "Ann"}, "", ann)
    house = House(ServiceSettings(folder=tmp_path / "house", sites={"north": tmp_path / "site.toml"}))
    house.people.add("Stew", ["steward"])
    house.remove_person("Stew", "root")
    stew = house.people.add("Stew", ["steward"])
    with pytest.raises(AccessError, match="somebody else had your name"):
        house.jobs.start("request-check", {"site": "north", "request": "0"}, stew)
    house.close()


OLD_TABLES = """
CREATE TABLE service_people (name VARCHAR NOT NULL, password VARCHAR, roles VARCHAR NOT NULL, PRIMARY KEY (name));
CREATE TABLE service_sessions (digest VARCHAR(64) NOT NULL, name VARCHAR NOT NULL, expires FLOAT NOT NULL, PRIMARY KEY (digest));
CREATE TABLE service_links (digest VARCHAR(64) NOT NULL, name VARCHAR NOT NULL, expires FLOAT NOT NULL, PRIMARY KEY (digest));
CREATE TABLE service_tokens (id VARCHAR NOT NULL, digest VARCHAR(64) NOT NULL, name VARCHAR NOT NULL, label VARCHAR NOT NULL,
  roles VARCHAR NOT NULL, expires FLOAT NOT NULL, PRIMARY KEY (id), UNIQUE (digest));
CREATE TABLE service_files (id VARCHAR(32) NOT NULL, owner VARCHAR NOT NULL, name VARCHAR NOT NULL, suffix VARCHAR NOT NULL,
  bytes BIGINT NOT NULL, sha256 VARCHAR(64) NOT NULL, created FLOAT NOT NULL, PRIMARY KEY (id));
CREATE TABLE service_jobs (id VARCHAR(32) NOT NULL, kind VARCHAR NOT NULL, owner VARCHAR NOT NULL, document TEXT NOT NULL,
  state VARCHAR NOT NULL, created FLOAT NOT NULL, started FLOAT, finished FLOAT, attempts INTEGER NOT NULL, exit_code INTEGER,
  error TEXT NOT NULL, PRIMARY KEY (id));
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A house of version 0.1.0: Ann with an upload, a draft and jobs; a Bob who is the second of this name."""
    folder = tmp_path / "old"
    for part in ("files", "jobs", "drafts"):
        (folder / part).mkdir(parents=True)
    engine = sa.create_engine(f"sqlite:///{folder / 'service.db'}")
    now = time.time()
    with engine.begin() as connection:
        for statement in OLD_TABLES.split(";"):
            if statement.strip():
                connection.exec_driver_sql(statement)
    engine.dispose()
    store = Store.open(folder / "service.db")
    log = AuditLog(store)
    with store.writing() as connection:
        for name in ("ann", "bob"):
            connection.execute(sa.insert(PEOPLE).values(name=name, password=None, roles="steward"))
        log.append("person added", {"name": "ann", "roles": ["steward"], "by": ""}, connection)
        log.append("person added", {"name": "bob", "roles": ["steward"], "by": ""}, connection)
        for place, (owner, created) in enumerate((("ann", now + 5), ("bob", now - 86_400), ("gone", now))):
            file_id = str(place) * 32
            (folder / "files" / f"{file_id}.csv").write_text("age\n1\n")
            said = {
                "id": file_id,
                "owner": owner,
                "name": "a.csv",
                "suffix": ".csv",
                "bytes": 6,
                "sha256": "",
            }
            connection.execute(sa.insert(FILES).values(**said, created=created))
        documents = {
            "a" * 32: ("ann", now + 6, {"input": {"file": "0" * 32}}),
            "b" * 32: ("ann", now + 7, {"input": {"job": "a" * 32}}),
            "c" * 32: ("ann", now + 8, {"input": {"file": "9" * 32}}),
            "d" * 32: ("bob", now - 80_000, {"input": {"file": "1" * 32}}),
        }
        for job_id, (owner, created, document) in documents.items():
            (folder / "jobs" / job_id).mkdir()
            values = {"id": job_id, "kind": "profile", "owner": owner, "document": json.dumps(document)}
            values |= {"state": "done", "created": created, "finished": created, "attempts": 1, "error": ""}
            connection.execute(sa.insert(JOBS).values(values))
    store.close()
    for name in ("0" * 32, "9" * 32):
        (folder / "drafts" / f"{name}.json").write_text(json.dumps({"file": name, "roles": {"age": "x"}}))
    return folder


def test_a_store_of_the_first_version_opens_and_its_people_keep_what_is_theirs(old: Path) -> None:
    for _ in range(2):  # the second time there is nothing to do
        house = House(ServiceSettings(folder=old))
        house.clean()
        ann, bob = house.people.get("ann"), house.people.get("bob")
        assert len({ann.id, bob.id, ""}) == 3
        assert [file.id for file in house.files.list(ann)] == ["0" * 32]
        assert {job.id for job in house.jobs.list(ann)} == {"a" * 32, "b" * 32}
        draft = house.drafts.load("0" * 32, ann)
        assert draft is not None
        assert draft.content["roles"] == {"age": "x"}
        assert house.files.list(bob) == [], "what the first Bob had is not the second's"
        assert house.jobs.list(bob) == []
        assert not (old / "drafts").exists()
        assert {path.name for path in (old / "jobs").iterdir()} == {"a" * 32, "b" * 32}
        house.log.verify()
        house.close()
    house = House(ServiceSettings(folder=old))
    house.remove_file("0" * 32, ann)
    assert house.jobs.list(ann) == [], "also what comes from it by way of another job"
    with house.store.reading() as connection:
        assert len(connection.execute(sa.select(IDENTITIES)).all()) == 2
    house.close()


def test_two_persons_of_one_name_differ_although_all_else_is_equal() -> None:
    one = Person("bob", frozenset({ServiceRole.STEWARD}), "1" * 32)
    assert one != dataclasses.replace(one, id="2" * 32)
