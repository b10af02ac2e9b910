"""A whole release of a file that nobody has described, through REST: the same as on the shell and in Python."""

from __future__ import annotations

import csv
import io
import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import tarnkappe
from tests.first_hour.clinic import clinic_text
from tests.service.conftest import Running

ROWS = 150


@pytest.fixture(scope="module")
def clinic(steward: httpx.Client) -> str:
    """The id of a file as Excel writes it in Germany."""
    sent = steward.post(
        "/files", params={"name": "patienten.csv"}, content=clinic_text(ROWS).encode("cp1252")
    )
    assert sent.status_code == 201, sent.text
    return str(sent.json()["id"])


def propose(steward: httpx.Client, file_id: str, **stated: Any) -> dict[str, Any]:
    answer = steward.post(f"/files/{file_id}/proposal", json=stated)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def run(steward: httpx.Client, document: dict[str, Any]) -> str:
    job = steward.post("/jobs", json={"kind": "anonymize", "document": document}).json()
    while job["state"] not in ("done", "failed", "cancelled"):
        time.sleep(0.05)
        job = steward.get(f"/jobs/{job['id']}").json()
    assert job["state"] == "done", job
    return str(job["id"])


def test_rest_and_python_propose_the_same(steward: httpx.Client, clinic: str, tmp_path: Path) -> None:
    path = tmp_path / "patienten.csv"
    path.write_bytes(clinic_text(ROWS).encode("cp1252"))
    for stated in ({}, {"sensitive": ["HbA1c"], "k": 4, "for": "public"}):
        told = propose(steward, clinic, **stated)
        said = {("for_" if key == "for" else key): value for key, value in stated.items()}
        own = tarnkappe.propose(path, **said).to_dict()
        del told["document"]
        assert told == json.loads(json.dumps(own))


def test_the_proposed_job_gives_a_release_that_looks_like_the_input(
    steward: httpx.Client, clinic: str
) -> None:
    told = propose(steward, clinic)
    assert told["columns"]["Name"]["becomes"] == "left out"
    job = run(steward, told["document"])
    taken = steward.get(f"/jobs/{job}/files/release", params={"format": "csv"}).content
    assert taken.startswith(b"\xef\xbb\xbf")
    assert b"\r\n" in taken
    rows = list(csv.DictReader(io.StringIO(taken.decode("utf-8-sig")), delimiter=";"))
    assert len(rows) == ROWS
    assert "Name" not in rows[0]
    assert {len(row["HbA1c"].split(",")) for row in rows if row["HbA1c"]} == {2}
    excel = steward.get(f"/jobs/{job}/files/release", params={"format": "csv-for-excel"})
    assert 'filename="release.csv"' in excel.headers["content-disposition"]
    assert excel.content.startswith(b"\xef\xbb\xbf")
    assert excel.content.count(b"\xef\xbb\xbf") == 1


def test_a_guess_about_the_file_is_corrected_in_one_place(steward: httpx.Client, clinic: str) -> None:
    told = propose(steward, clinic, reading={"types": {"PLZ": "text"}, "encoding": "cp1252"})
    assert told["reading"]["columns"]["PLZ"]["kind"] == "text"
    assert told["document"]["input"] == {
        "file": clinic, "types": {"PLZ": "text"}, "encoding": "cp1252",
    }  # fmt: skip
    run(steward, told["document"])


@pytest.mark.parametrize(
    "stated",
    [
        {"hierarchies": {"PLZ": "/etc/passwd"}},
        {"for": "friends"},
        {"sensitive": ["Nobody"]},
        {"k": 0},
        {"colour": "red"},
        {"reading": {"path": "/etc/passwd"}},
        {"reading": {"dates": "ymd"}},
        {"reading": {"types": 5}},
        {"accept": {"Name": [{}]}},
    ],
)
def test_what_makes_no_sense_is_refused_in_words(steward: httpx.Client, clinic: str, stated: Any) -> None:
    answer = steward.post(f"/files/{clinic}/proposal", json=stated)
    assert 400 <= answer.status_code < 500, answer.text
    assert "root:" not in answer.text


def test_nobody_gets_a_proposal_for_the_file_of_another(service: Running, clinic: str) -> None:
    with service.client(service.somebody("mallory", "steward")) as other:
        assert other.post(f"/files/{clinic}/proposal", json={}).status_code == 404
