"""Rights: every operation says what it needs, and holds everybody to it, whatever she shows and whatever she was."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import APIRouter

from tarnkappe.errors import AccessError, NotFoundError
from tarnkappe.service.app import rest_api
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.jobs import JobState
from tarnkappe.service.people import Account, Right, ServiceRole
from tarnkappe.service.people.people import csrf_of
from tarnkappe.service.people.roles import RIGHTS
from tarnkappe.service.routes import rights as rights_of_routes
from tarnkappe.service.routes.rights import needs, operation_of, require_listed
from tarnkappe.service.security import API
from tarnkappe.service.work import KINDS
from tests.service.conftest import Running
from tests.service.test_jobs import until

NOBODYS = "0" * 32
OPERATIONS = [
    (method.upper(), path, bool(said.get("requestBody")))
    for path, methods in rest_api().openapi()["paths"].items()
    for method, said in methods.items()
]
NAMES = {operation_of(method, path) for method, path, _ in OPERATIONS}
ENDLESS = "/events"


def test_every_operation_states_its_right_and_no_other_is_stated() -> None:
    assert set(needs()) == NAMES


def test_a_service_with_an_operation_that_states_no_right_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    new = APIRouter()
    new.get("/everything")(lambda: {})
    with pytest.raises(ValueError, match="GET /everything"):
        require_listed([*new.routes])
    monkeypatch.setattr(rights_of_routes, "needs", dict)
    with pytest.raises(ValueError, match="and the routes differ"):
        rest_api()


def sent(
    client: httpx.Client, method: str, path: str, has_body: bool, headers: dict[str, str] | None = None
) -> int:
    """The status of an operation on what is not there."""
    asked = re.sub(r"\{\w+\}", NOBODYS, path.removeprefix(API))
    body: Any = {"name": "x", "password": "y"} if asked == "/session" else {}
    with client.stream(method, asked, json=body if has_body else None, headers=headers) as answer:
        return answer.status_code


@pytest.mark.parametrize("role", ServiceRole)
@pytest.mark.parametrize("way", ["session", "token"])
def test_every_operation_is_for_who_has_its_right_and_for_nobody_else(
    service: Running, role: ServiceRole, way: str
) -> None:
    person = service.somebody(f"only-{role}", role)
    people = service.house.people
    secret = people.tokens.make(person, "trial")[1]
    for method, path, has_body in OPERATIONS:
        need = needs()[operation_of(method, path)]
        headers = {"Authorization": f"Bearer {secret}"}
        if way == "session":
            session = people.use_link(people.make_link(person.name)).secret
            headers = {"Cookie": f"tarn_session={session}", "X-CSRF-Token": csrf_of(session)}
        with httpx.Client(base_url=f"{service.url}{API}", timeout=120) as client:
            status = sent(client, method, path, has_body, headers)
        may = way in need.ways and (not need.rights or bool(need.rights & RIGHTS[role]))
        where = f"{method} {path} as {role} by {way}: {status}"
        if may:
            assert status != 403, where
            assert status != 401 or path.endswith("/session"), where
        else:
            assert status == 403, where


def test_without_a_login_only_what_is_open_answers(service: Running) -> None:
    with httpx.Client(base_url=f"{service.url}{API}", timeout=120) as client:
        for method, path, has_body in OPERATIONS:
            is_open = "nothing" in needs()[operation_of(method, path)].ways
            status = sent(client, method, path, has_body)
            assert (status == 401) != (is_open and not path.endswith("/session")), f"{method} {path}"


# ---------------------------------------------------------------------- jobs and files, in every state


@pytest.fixture
def jobs_in_every_state(house: ServiceCore, patients: bytes) -> tuple[ServiceCore, Account, dict[str, str]]:
    """Somebody with all roles has jobs of every kind in every state."""
    everything = house.people.add("victim", list(ServiceRole))
    file_id = house.files.store([patients], "ward.csv", everything).id
    made = {}
    for kind in KINDS.names:
        for state in JobState:
            job = house.jobs.start("profile", {"input": {"file": file_id}}, everything)
            house.jobs._store_values(job, kind=kind, state=str(state))
            made[f"{kind} {state}"] = job.id
    return house, everything, {"file": file_id, **made}


def looks(house: ServiceCore) -> list[Callable[[str, Account], object]]:
    jobs = house.jobs
    return [
        jobs.get,
        jobs.result,
        jobs.events_since,
        lambda job, who: jobs.file(job, "release", who),
        jobs.cancel,
        jobs.finish_early,
        jobs.remove,
    ]


@pytest.mark.parametrize("role", ServiceRole)
def test_a_job_needs_the_right_of_its_kind_whatever_its_state(
    jobs_in_every_state: tuple[ServiceCore, Account, dict[str, str]], role: ServiceRole
) -> None:
    house, victim, made = jobs_in_every_state
    shown = dataclasses.replace(victim, roles=frozenset({role}))
    file_id = made.pop("file")
    for what, job_id in made.items():
        kind = KINDS[what.split()[0]]
        if kind.right in RIGHTS[role]:
            assert house.jobs.get(job_id, shown).id == job_id
            continue
        for look in looks(house):
            with pytest.raises(AccessError):
                look(job_id, shown)
    listed = {job.kind for job in house.jobs.list(shown, 1000)}
    assert listed == {kind.name for kind in KINDS if kind.right in RIGHTS[role]}
    if Right.PUBLISH not in RIGHTS[role]:
        for look in (house.files.get, house.files.path, house.remove_file):
            with pytest.raises(AccessError):
                look(file_id, shown)
        for look in (house.files.list, lambda who: house.drafts.load(file_id, who)):
            with pytest.raises(AccessError):
                look(shown)
    stranger = house.people.add("stranger", list(ServiceRole))
    for job_id in made.values():
        for look in looks(house):
            with pytest.raises(NotFoundError):
                look(job_id, stranger)


def test_who_loses_a_right_loses_it_for_what_she_has_made(service: Running, patients: bytes) -> None:
    """By session, by token and by a stream that was open before; tokens for other work never had it."""
    people, house = service.house.people, service.house
    both = people.add("reduced", ["steward", "auditor", "admin"])
    with service.client(both) as client:
        file_id = client.post("/files", params={"name": "ward.csv"}, content=patients).json()["id"]
        body = {"kind": "profile", "document": {"input": {"file": file_id}}}
        job = client.post("/jobs", json=body).json()["id"]
        until(lambda: client.get(f"/jobs/{job}").json()["state"] == "done")
        asked = [f"/files/{file_id}", f"/files/{file_id}/profile", f"/jobs/{job}", f"/jobs/{job}/result"]
        assert {client.get(path).status_code for path in asked} == {200}
        for role in ("auditor", "admin"):
            secret = people.tokens.make(both, "other work", [role])[1]
            with httpx.Client(headers={"Authorization": f"Bearer {secret}"}, timeout=60) as other:
                found = {other.get(f"{service.url}{API}{path}").status_code for path in asked}
                assert found == {403}
                assert other.delete(f"{service.url}{API}/jobs/{job}").status_code == 403
        people.change("reduced", roles=["admin"])
        assert {client.get(path).status_code for path in asked} == {403}
        assert house.jobs.list(people.get("reduced")) == []


def test_a_job_that_waits_does_not_run_for_who_may_no_longer_ask_for_it(
    house: ServiceCore, patients: bytes
) -> None:
    ann = house.people.add("ann", ["steward"])
    file_id = house.files.store([patients], "ward.csv", ann).id
    job = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
    house.people.change("ann", roles=["admin"])
    house.jobs.open()
    again = house.people.change("ann", roles=["admin", "auditor"])
    assert again.id == ann.id
    ended = until(lambda: (found := house.jobs.get(job.id, ann)).has_ended and found)
    assert ended.state is JobState.FAILED
    assert "role" in ended.error


def test_another_password_ends_sessions_links_and_tokens(house: ServiceCore) -> None:
    ann = house.people.add("ann", ["steward"], "correct horse battery")
    session = house.people.log_in("ann", "correct horse battery")
    token, link = house.people.tokens.make(ann, "nightly")[1], house.people.make_link("ann")
    house.people.change("ann", password="another horse battery")
    assert house.people.by_session(session.secret) is None
    assert house.people.by_token(token) is None
    with pytest.raises(AccessError):
        house.people.use_link(link)
