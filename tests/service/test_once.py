"""Nothing happens twice and nothing is overwritten: keys of requests, revisions of drafts."""

from __future__ import annotations

import threading

import httpx
import pytest

from tarnkappe.errors import ConflictError, ParameterError
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.people import Account
from tests.service.conftest import Running


def test_the_same_request_with_one_key_is_one_job(house: ServiceCore, ann: Account, patients: bytes) -> None:
    file_id = house.files.store([patients], "ward.csv", ann).id
    document = {"input": {"file": file_id}}
    first = house.jobs.start("profile", document, ann, "k")
    assert house.jobs.start("profile", document, ann, "k").id == first.id
    assert house.jobs.start("profile", document, ann, "other").id != first.id
    with pytest.raises(ParameterError, match="another request"):
        house.jobs.start("profile", {"input": {"file": file_id, "delimiter": ","}}, ann, "k")
    bob = house.people.add("bob", ["steward"])
    his = house.files.store([patients], "ward.csv", bob).id
    assert house.jobs.start("profile", {"input": {"file": his}}, bob, "k").owner == bob.id
    for key in ("", "x" * 201, "a\nb"):
        with pytest.raises(ParameterError, match="idempotency key"):
            house.jobs.start("profile", document, ann, key)
    house.jobs.remove(first.id, ann)
    assert house.jobs.start("profile", document, ann, "k").id != first.id


def test_many_requests_at_once_with_one_key_are_one_job(service: Running, patients: bytes) -> None:
    who = service.somebody("hasty", "steward")
    with service.client(who) as client:
        file_id = client.post("/files", params={"name": "ward.csv"}, content=patients).json()["id"]
        body = {"kind": "profile", "document": {"input": {"file": file_id}}}
        answers: list[httpx.Response] = []

        def ask() -> None:
            answers.append(client.post("/jobs", json=body, headers={"Idempotency-Key": "once"}))

        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.json()["id"] for answer in answers}) == 1
        assert len(client.get("/jobs").json()) == 1
        other = {**body, "document": {"input": {"file": file_id, "delimiter": ","}}}
        assert client.post("/jobs", json=other, headers={"Idempotency-Key": "once"}).status_code == 422


def test_a_draft_that_changed_meanwhile_is_not_overwritten(
    house: ServiceCore, ann: Account, patients: bytes
) -> None:
    file_id = house.files.store([patients], "ward.csv", ann).id
    first = house.drafts.save(file_id, ann, {"k": 1}, 0)
    second = house.drafts.save(file_id, ann, {"k": 2}, first)
    for seen in (0, first, second + 1):
        with pytest.raises(ConflictError, match="another tab"):
            house.drafts.save(file_id, ann, {"k": 3}, seen)
    kept = house.drafts.load(file_id, ann)
    assert kept is not None
    assert (kept.content, kept.revision) == ({"k": 2}, second)
    house.remove_file(file_id, ann)
    with pytest.raises(ConflictError, match="deleted"):
        house.drafts.save(file_id, ann, {"k": 4}, second)


def test_of_many_changes_at_once_one_is_kept_and_the_others_are_told(
    house: ServiceCore, ann: Account, patients: bytes
) -> None:
    file_id = house.files.store([patients], "ward.csv", ann).id
    told: list[str] = []

    def change(place: int) -> None:
        try:
            house.drafts.save(file_id, ann, {"k": place}, 0)
            told.append("kept")
        except ConflictError:
            told.append("conflict")

    threads = [threading.Thread(target=change, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["conflict"] * 7 + ["kept"]


def test_nobody_reads_or_changes_the_draft_of_another(
    house: ServiceCore, ann: Account, patients: bytes
) -> None:
    file_id = house.files.store([patients], "ward.csv", ann).id
    house.drafts.save(file_id, ann, {"k": 1}, 0)
    eve = house.people.add("eve", ["steward"])
    assert house.drafts.load(file_id, eve) is None
    with pytest.raises(Exception):  # noqa: B017, PT011 - whichever way it is refused
        house.drafts.save(file_id, eve, {"k": 2}, 0)
    kept = house.drafts.load(file_id, ann)
    assert kept is not None
    assert kept.content == {"k": 1}
