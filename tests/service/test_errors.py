"""What the service says of an error: a problem for programs, a sentence in the language of the client."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tarnkappe.service.people import ServiceRole
from tarnkappe.service.security import API
from tests.service.conftest import Running


def test_an_error_is_a_problem_with_its_code_and_arguments(steward: httpx.Client) -> None:
    answer = steward.get(f"/jobs/{'0' * 32}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert said == {
        "title": "NotFoundError",
        "status": 404,
        "detail": "you have no such job",
        "error": "you have no such job",
        "kind": "NotFoundError",
        "code": "service.no-job",
        "args": {},
    }


def test_the_sentence_is_in_the_language_of_the_client(steward: httpx.Client) -> None:
    path = f"/jobs/{'0' * 32}"
    for wanted, sentence in {
        "de": "einen solchen Lauf haben Sie nicht",
        "fr, de-AT;q=0.8, en": "einen solchen Lauf haben Sie nicht",
        "en-GB, de": "you have no such job",
        "fr": "you have no such job",
    }.items():
        said = steward.get(path, headers={"Accept-Language": wanted}).json()
        assert (said["error"], said["code"]) == (sentence, "service.no-job")


def test_why_a_job_failed_has_its_code_and_calls_files_as_their_owner_does(
    steward: httpx.Client, service: Running
) -> None:
    content = b"age,sex,diagnosis\n30,m,flu\n31,f\n"
    file_id = steward.post("/files", params={"name": "ragged.csv"}, content=content).json()["id"]
    answer = steward.get(f"/files/{file_id}/profile", headers={"Accept-Language": "de"}).json()
    assert answer["code"].startswith("table.")
    assert answer["args"]["path"] == "ragged.csv"
    assert answer["error"].startswith("ragged.csv")
    [job] = [each for each in steward.get("/jobs").json() if each["state"] == "failed"][:1]
    assert job["reason"]["code"] == answer["code"]
    assert job["error"] == job["reason"]["text"] != answer["error"]
    assert str(service.house.settings.folder) not in str(job)


WRONG: tuple[dict[str, Any], ...] = (
    {"json": {"unheard": 1}},
    {"json": []},
    {"json": {"name": 7, "kind": 7, "document": 7, "password": 7, "roles": "x", "rows": "many"}},
    {"content": b"{", "headers": {"Content-Type": "application/json"}},
    {"params": {"limit": "many", "rows": "many", "after": "\x00", "name": ""}},
)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for path, methods in document["paths"].items():
        if not path.endswith("/events") and path != f"{API}/session":
            for method in methods:
                yield method.upper(), re.sub(r"\{\w+\}", "0" * 32, path)


def assert_problem(german: httpx.Response, english: httpx.Response, where: str) -> None:
    for answer in (german, english):
        assert answer.headers["content-type"] == "application/problem+json", where
        assert {"code", "args", "detail", "error", "kind"} <= answer.json().keys(), where
        assert re.fullmatch(r"[a-z0-9-]+\.[a-z0-9.-]+", answer.json()["code"]), where
    said, told = german.json(), english.json()
    assert said["code"] == told["code"], where
    assert said["error"] != told["error"], (where, said["error"])
    assert not re.search(r"\b(the|is|are|should|valid|required|needed|not|you)\b", said["error"]), (
        where,
        said,
    )


def test_every_refusal_is_a_problem_with_a_code_in_one_language(service: Running) -> None:
    robot = service.somebody("refused-robot", *ServiceRole)
    _, secret = service.house.people.tokens.make(robot, "refused-robot")
    refused = 0
    with httpx.Client(base_url=service.url, timeout=120) as client:
        document = client.get(f"{API}/openapi.json").json()
        for method, path in operations(document):
            for wrong in WRONG:
                answers = []
                for language in ("de", "en"):
                    headers = {"Authorization": f"Bearer {secret}", "Accept-Language": language}
                    headers |= wrong.get("headers", {})
                    answers.append(client.request(method, path, **{**wrong, "headers": headers}))
                if answers[0].status_code >= 400:
                    refused += 1
                    assert answers[0].status_code < 500
                    assert_problem(answers[0], answers[1], f"{method} {path} {wrong}")
    assert refused > 50


@pytest.mark.parametrize(
    ("method", "path", "status", "headers"),
    [
        ("GET", f"{API}/nowhere", 404, {}),
        ("PUT", f"{API}/health", 405, {}),
        ("GET", f"{API}/jobs", 401, {"Authorization": ""}),
        ("POST", f"{API}/jobs", 403, {"Sec-Fetch-Site": "cross-site"}),
        ("GET", f"{API}/jobs", 400, {"Host": "other.example"}),
    ],
)
def test_what_is_refused_before_any_route_is_a_problem_too(
    service: Running, steward: httpx.Client, method: str, path: str, status: int, headers: dict[str, str]
) -> None:
    given = {"Authorization": steward.headers["Authorization"], **headers}
    answers = [
        httpx.request(method, f"{service.url}{path}", headers=given | {"Accept-Language": language})
        for language in ("de", "en")
    ]
    assert {answer.status_code for answer in answers} == {status}
    assert_problem(answers[0], answers[1], path)


def test_an_archive_of_several_tables_is_told_what_can_be_done_here(steward: httpx.Client) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("a.csv", "b.csv"):
            archive.writestr(name, "age,sex\n30,m\n31,f\n")
    file_id = steward.post("/files", params={"name": "both.zip"}, content=packed.getvalue()).json()["id"]
    said = steward.get(f"/files/{file_id}/profile").json()
    assert said["code"] == "service.several-tables"
    assert "--sheet" not in said["error"]
    assert "upload the one that you mean alone" in said["error"]
    assert said["error"].endswith("a.csv, b.csv")
