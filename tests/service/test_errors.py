"""What the service says of an error: a problem for programs, a sentence in the language of the client."""

from __future__ import annotations

import httpx

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
