"""Stores of version 0.1.0 become stores of this version, with everything that is in them."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tarnkappe.exchange.desk import RequestState
from tarnkappe.gate.audit import audit
from tarnkappe.gate.history_store import HistoryStore
from tarnkappe.gate.monitor import QueryMonitor
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.pseudonym import Approver, Requester, Vault
from tarnkappe.pseudonym.vault import requests, rotate
from tarnkappe.risk.history import ReleaseHistory
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.people import Accounts
from tarnkappe.service.settings import Limits, ServiceSettings
from tarnkappe.state import AuditLog, Budgets, Key, Store
from tarnkappe.state.component import VERSIONS, Component, _loaded, noted_versions
from tarnkappe.state.log_tables import AUDIT
from tests.exchange.scenes import request as scene
from tests.exchange.test_desk import accepted, desk
from tests.risk.test_histories import KEY, ward
from tests.state.old_stores import ALL, COMPONENTS, guarded, into_postgres, looking, rows_of, unpacked

NAMES = sorted(COMPONENTS)
CHANGED = {
    "exchange": {
        "exchange_requests",
        "exchange_answers",
        "exchange_people",
        "exchange_pending",
        "exchange_recommendations",
    },
    "service": {"service_files", "service_jobs", "service_sessions", "service_links", "service_tokens"},
}
"""The old tables that a step writes to."""


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> str | Path:
    """An old store, on both databases."""
    path = unpacked(name, tmp_path / "old")
    if request.param == "sqlite":
        return path
    return into_postgres(path, request.getfixturevalue("postgres"))


def differences(connection: sa.Connection, component: Component) -> list[Any]:
    """What Alembic would change to make the tables of a component those of today."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from alembic.autogenerate import compare_metadata
        from alembic.runtime.migration import MigrationContext
    ours = set(component.metadata.tables)
    logging.getLogger("alembic").setLevel(logging.ERROR)

    def is_ours(thing: str | None, kind: str, _: Mapping[str, Any]) -> bool:
        return kind != "table" or thing in ours

    options = {"compare_type": True, "compare_server_default": True, "include_name": is_ours}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), component.metadata))


def made(place: str | Path, tables: set[str]) -> list[tuple[str, ...]]:
    """Everything that a database says about tables, with their indexes and triggers."""
    if isinstance(place, Path):
        query = "SELECT tbl_name, type, name, sql FROM sqlite_master"
    else:
        query = (
            "SELECT c.relname, 'trigger', t.tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t "
            "JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal "
            "UNION ALL SELECT tablename, 'index', indexname, indexdef FROM pg_indexes "
            "UNION ALL SELECT table_name, 'column', column_name, ordinal_position || data_type || is_nullable "
            "|| coalesce(column_default, '') || coalesce(character_maximum_length, 0) "
            "FROM information_schema.columns"
        )
    with looking(place) as connection:
        found = connection.execute(sa.text(query)).all()
    return sorted(tuple(str(cell) for cell in row) for row in found if row[0] in tables)


def test_it_becomes_equal_to_a_fresh_one_and_keeps_what_is_in_it(
    old: str | Path, name: str, tmp_path: Path
) -> None:
    before, component = rows_of(old), COMPONENTS[name][1]
    folder = old.parent if isinstance(old, Path) else tmp_path / "old"
    Store.open(old, component, folder=folder).close()
    with looking(old) as connection:
        assert differences(connection, AUDIT) == differences(connection, component) == []
        noted = noted_versions(connection)
        assert {each: row.version for each, row in noted.items()} == {
            "audit": 2,
            component.name: component.version,
        }
    after = rows_of(old)
    for table, rows in before.items():
        if table not in CHANGED.get(name, ()):
            assert after[table] == rows, table
    assert len(after["audit_log"]) > 0
    with Store.open(old, component) as store:
        log = AuditLog(store)
        heads = {row[-1] for row in before["audit_log"]}
        assert all(log.verify(head) > len(heads) for head in heads)
        told = [entry.details for entry in log.entries() if entry.event == "store migrated"]
    steps = [component] if component.migrations else []
    assert [(each["component"], each["from"], each["to"]) for each in told] == [
        (each.name, 1, each.version) for each in (AUDIT, *steps)
    ]
    tables = {*AUDIT.metadata.tables, *component.metadata.tables, VERSIONS.name}
    found = made(old, tables)
    fresh = tmp_path / "fresh.db" if isinstance(old, Path) else emptied(old)
    Store.open(fresh, component).close()
    assert found == made(fresh, tables)


def emptied(address: str) -> str:
    with looking(address) as connection:
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
        connection.commit()
    return address


def test_the_comparison_with_a_fresh_one_notices_what_is_missing(tmp_path: Path) -> None:
    path = unpacked("exchange", tmp_path / "old")
    with looking(path) as connection:
        assert differences(connection, COMPONENTS["exchange"][1]) != []


def test_components_of_the_first_version_have_the_tables_of_0_1_0() -> None:
    for component in ALL:
        if component.version == 1:
            assert component.shape == component.first_shape, component.name
        for path in component.migrations:
            assert callable(_loaded(path))
    tables = [table for component in ALL for table in component.shape]
    assert len(tables) == len(set(tables)), "a table belongs to one component"


# ---------------------------------------------------------------------- what is in them


def test_a_gate_goes_on_with_its_answers(tmp_path: Path) -> None:
    path = unpacked("gate", tmp_path / "old")
    policy = path.parent / "gate.toml"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace('"angina"]', '"angina"]\nvalues_from = "public"'), encoding="utf-8")
    keeper = QueryMonitor.open(GatePolicy.load(policy))
    [history] = keeper.status()["histories"]
    assert history["answers"] == 40
    keeper.close()
    with Store.open(path) as store:
        assert HistoryStore(store).verify() == 40
        [proven] = audit(GatePolicy.load(policy), store)
    assert (proven.answers, proven.k) == (40, 2)


def test_what_was_spent_stays_spent(tmp_path: Path) -> None:
    with Store.open(unpacked("budgets", tmp_path / "old")) as store:
        kept = {(one.user, one.table): (one.granted, one.spent) for one in Budgets(store).all()}
        assert kept == {
            ("ann", "patients"): (3, Fraction("0.75") + Fraction(333_333_334, 10**9)),
            ("ann", "wards"): (1, 0),
            ("bob", "patients"): (2, 0),
        }
        assert Budgets(store).spend("ann", "patients", Fraction(1)).left < 1


def test_a_history_knows_its_releases(tmp_path: Path) -> None:
    with Store.open(unpacked("releases", tmp_path / "old")) as store:
        history = ReleaseHistory(store, KEY, "ward")
        assert [record.name for record in history.releases()] == ["first", "second"]
        assert not history.check(ward("f-h4"), k=2, diversity=2, shown=None).safe


def test_a_vault_opens_what_was_sealed_before_once_two_people_trust_its_members(tmp_path: Path) -> None:
    path = unpacked("vault", tmp_path / "old")
    keys = {name: Key(bytes([place]) * 32) for place, name in enumerate(("rita", "quinn", "ada"), 1)}
    [first, second] = json.loads((path.parent / "pseudonyms.json").read_text(encoding="utf-8"))
    with Vault.open(path, "study") as vault:
        assert set(vault.members()) == set(keys)
        assert [list(one.pseudonyms) for one in requests(vault)] == [[first], [second]]
        rotate(vault, ("quinn", keys["quinn"]), ("ada", keys["ada"]), trust_members=True)
        requester = Requester(vault, "quinn", keys["quinn"])
        number = requester.request([first, second], requests(vault)[0].reason)
        Approver(vault, "ada", keys["ada"]).approve(number)
        shown = requester.show(number)
    assert shown == {first: [("Meyer", "1950-01-01")], second: [("Abend", "1961-02-02")]}


def test_of_a_desk_what_was_not_finished_is_closed_and_the_rest_counts(tmp_path: Path) -> None:
    with guarded(unpacked("exchange", tmp_path / "old")) as store:
        at = desk(store)
        assert at.audit() == []
        states = {made.id: state for made, state in at.requests()}
        kept = {state.value: state for state in (RequestState.DELIVERED, RequestState.WITHDRAWN)}
        assert states == {state.value: RequestState.EXPIRED for state in RequestState} | kept
        assert at.register.has_withdrawn(["P13", "P01"]) == [True, False]
        assert [len(at.register.disclosures(patient)) > 0 for patient in ("P01", "P13")] == [True, False]
        accepted(at, scene(id="new"))
        assert at.answer(scene(id="new").digest, "A").package
        assert at.audit() == []
        assert at.log.verify() == len(list(at.log.entries()))


def test_a_service_keeps_people_and_what_is_theirs(tmp_path: Path) -> None:
    path = unpacked("service", tmp_path / "old")
    known = json.loads((path.parent / "known.json").read_text(encoding="utf-8"))
    settings = ServiceSettings(folder=path.parent, limits=Limits(keep_days=10**5))
    for _ in range(2):  # the second time there is nothing to do
        house = ServiceCore(settings)
        house.clean()
        ann, bob = house.people.get("ann"), house.people.get("bob")
        assert len({ann.id, bob.id, ""}) == 3
        assert [file.name for file in house.files.list(ann)] == ["ward.csv"]
        assert [file.name for file in house.files.list(bob)] == ["other.csv"]
        states = {job.id: str(job.state) for job in house.jobs.list(ann)}
        for state in ("failed", "waiting", "cancelled"):
            assert states[known[state]] == state
        assert sorted(states.values()) == ["cancelled", "done", "failed", "waiting"]
        draft = house.drafts.load(known["upload"], ann)
        assert draft is not None
        assert draft.content["roles"] == {"age": "quasi-identifier", "illness": "sensitive"}
        assert not (path.parent / "drafts").exists()
        then = Accounts(house.store, clock=lambda: known["made"] + 60)
        for who in (then.by_token(known["token"]), then.by_session(known["session"])):
            assert who is not None
            assert who.id == ann.id
        # At the time of the store, too: whoever logs in later sweeps out the sessions that have ended.
        assert then.log_in("ann", "correct horse battery").person.id == ann.id
        house.log.verify()
        house.close()
    stored = {file.stem for file in (path.parent / "files").iterdir()}
    assert stored == {known["upload"], known["other"]}, "what the first Bob had is not the second's"
    house = ServiceCore(settings)
    assert len(list(path.parent.glob("*backup*"))) == 1
    house.remove_file(known["upload"], ann)
    assert house.jobs.list(ann) == [], "also what comes from it by way of another job"
    assert list(path.parent.glob("*backup*")) == [], "what is deleted is not kept in a copy either"
    house.close()
