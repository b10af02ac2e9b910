"""What was made from an upload goes with it: every job of every state, through other jobs, at rest and in motion."""

from __future__ import annotations

import secrets
import sqlite3
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from tarnkappe.errors import NotFoundError
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.jobs import JobState
from tarnkappe.service.jobs.lineage import named_in
from tarnkappe.service.people import Account
from tarnkappe.service.settings import ServiceSettings
from tarnkappe.service.tables import DRAFTS, JOBS, LINEAGE, SERVICE
from tarnkappe.state import Store
from tests.service.conftest import Running
from tests.service.test_jobs import until


def everything(folder: Path) -> bytes:
    """All bytes of all files of a folder."""
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def made(
    house: ServiceCore, ann: Account, document: dict[str, object], state: JobState, kind: str = "profile"
) -> str:
    """A job in a state, with a folder in which there is something."""
    job = house.jobs.start(kind, document, ann, secrets.token_hex(8))
    folder = house.settings.folder / "jobs" / job.id
    folder.mkdir()
    (folder / "result.json").write_text(
        '{"figures": {}, "text": "", "exit_code": 0, "files": {"release": "r"}}'
    )
    (folder / "r").write_text("rows")
    if state is not JobState.WAITING:
        house.jobs._store_values(job, state=str(state), error="why")
        house.jobs._waiting.pop(job.id)
    return job.id


def test_jobs_of_every_state_go_with_their_upload_and_others_stay(
    house: ServiceCore, ann: Account, patients: bytes
) -> None:
    gone, kept = (house.files.store([patients], f"{name}.csv", ann).id for name in "ab")
    of_gone = {made(house, ann, {"input": {"file": gone}}, state) for state in JobState}
    done = made(house, ann, {"input": {"file": gone}}, JobState.DONE)
    columns = {"age": {"role": "quasi-identifier"}}
    by_way = made(house, ann, {"input": {"job": done}, "columns": columns}, JobState.DONE, "check")
    also = {"input": {"file": kept}, "columns": columns, "population": {"file": gone}}
    both = made(house, ann, {**also, "privacy": []}, JobState.DONE, "check")
    other = made(house, ann, {"input": {"file": kept}}, JobState.DONE)
    house.jobs.remove(done, ann)  # the link between the upload and the check of its release
    for file_id in (gone, kept):
        house.drafts.save(file_id, ann, {"file": file_id}, 0)
    house._profiles[gone] = {"": other}
    house.remove_file(gone, ann)
    assert [job.id for job in house.jobs.list(ann, 1000)] == [other]
    assert [path.name for path in (house.settings.folder / "jobs").iterdir()] == [other]
    assert [file.id for file in house.files.list(ann)] == [kept]
    assert house.drafts.load(gone, ann) is None
    assert house.drafts.load(kept, ann) is not None
    assert gone not in house._profiles
    assert house.jobs._waiting == {}
    with house.store.reading() as connection:
        left = set(connection.execute(sa.select(LINEAGE.c.job)).scalars())
    assert left == {other}
    assert not {*of_gone, by_way, both} & left


def test_nothing_of_a_deleted_upload_is_left_in_any_file_or_page(
    house: ServiceCore, ann: Account, patients: bytes
) -> None:
    """Documents are as large as many pages, so that pages are split, moved and freed."""
    file_id = house.files.store([patients], "ward.csv", ann).id
    cells = [f"Q{secrets.token_hex(8)}" for _ in range(3000)]
    for place in range(0, len(cells), 300):
        groups = {"builder": "groups", "groups": {"first": cells[place : place + 300]}, "others": "merge"}
        document = {"input": {"file": file_id}, "column": "sex", "hierarchy": groups}
        job = house.jobs.start("hierarchy", document, ann)
        house.jobs._store_values(job, error=" ".join(cells[place : place + 100]))
    house.drafts.save(file_id, ann, {"file": file_id, "hierarchies": {"sex": cells}}, 0)
    house.drafts.save(file_id, ann, {"file": file_id, "hierarchies": {"sex": cells[:10]}}, 1)
    assert cells[0].encode() in everything(house.settings.folder)
    house.remove_file(file_id, ann)
    left = everything(house.settings.folder)
    assert [cell for cell in cells if cell.encode() in left] == []


def test_a_job_that_runs_ends_before_its_upload_is_gone(service: Running, patients: bytes) -> None:
    who = service.somebody("deleter", "steward")
    with service.client(who) as client:
        file_id = client.post("/files", params={"name": "ward.csv"}, content=patients).json()["id"]
        body = {"kind": "profile", "document": {"input": {"file": file_id}}}
        jobs = [client.post("/jobs", json=body).json()["id"] for _ in range(3)]
        assert client.delete(f"/files/{file_id}").status_code == 204
        assert client.get("/jobs").json() == []
        assert {client.get(f"/jobs/{job}").status_code for job in jobs} == {404}
        folder = service.house.settings.folder / "jobs"
        assert not {path.name for path in folder.iterdir()} & set(jobs)
        answer = client.post("/jobs", json=body)
        assert answer.status_code == 404


def test_a_job_on_an_upload_that_goes_while_its_document_is_read_is_not_kept(
    house: ServiceCore, ann: Account, patients: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_id = house.files.store([patients], "ward.csv", ann).id
    monkeypatch.setattr(house.jobs._sense, "require", lambda *_: house.remove_file(file_id, ann))
    with pytest.raises(NotFoundError, match="deleted a moment ago"):
        house.jobs.start("profile", {"input": {"file": file_id}}, ann)
    assert house.jobs.list(ann) == []


def test_a_removal_that_broke_off_is_taken_up_at_the_next_start(
    house: ServiceCore, ann: Account, patients: bytes
) -> None:
    """The row went first; then the service was killed."""
    file_id = house.files.store([patients], "ward.csv", ann).id
    job = made(house, ann, {"input": {"file": file_id}}, JobState.DONE)
    lost = house.settings.folder / "files" / f"{secrets.token_hex(16)}.partial.csv"
    lost.write_bytes(patients)
    with house.store.writing() as connection:
        connection.execute(sa.text("DELETE FROM service_files"))
    house.close()
    again = ServiceCore(ServiceSettings(folder=house.settings.folder, limits=house.settings.limits))
    with again:
        with pytest.raises(NotFoundError):
            again.jobs.get(job, ann)
        for part in ("files", "jobs"):
            assert list((house.settings.folder / part).iterdir()) == []


def test_temporary_files_of_a_job_are_in_its_folder_and_go(
    steward: httpx.Client, service: Running, patients: bytes
) -> None:
    file_id = steward.post("/files", params={"name": "ward.csv"}, content=patients).json()["id"]
    query = {"query": "SELECT * FROM p", "relations": {"p": {"file": file_id}}}
    job = steward.post("/jobs", json={"kind": "sql", "document": query}).json()["id"]
    until(lambda: steward.get(f"/jobs/{job}").json()["state"] == "done")
    names = {path.name for path in (service.house.settings.folder / "jobs" / job).iterdir()}
    assert names == {"result.json", "answer.parquet"}


def test_every_name_of_a_file_or_job_in_a_document_is_found() -> None:
    ids = [str(place) * 32 for place in range(8)]
    document = {
        "input": {"file": ids[0]},
        "earlier": [{"job": ids[1]}, {"file": ids[2]}],
        "columns": {"a": {"hierarchy": {"file": ids[3]}}, "b": {"role": ids[4]}},
        "relations": {"p": {"job": ids[5]}},
        "people": {"file": ids[6], "names": [ids[7]]},
    }
    assert set(named_in(document)) == {ids[place] for place in (0, 1, 2, 3, 5, 6)}


def test_a_store_that_is_scrubbed_keeps_what_was_not_deleted(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db", SERVICE)
    with store.writing() as connection:
        for place in range(2000):
            values = {"file": f"{place:032}", "owner": "o", "revision": 1, "content": f"cell-{place:06}" * 50}
            connection.execute(sa.insert(DRAFTS).values(**values, changed=0.0))
    with store.writing() as connection:
        connection.execute(sa.delete(DRAFTS).where(DRAFTS.c.file > f"{10:032}"))
    store.scrub()
    store.close()
    raw = (tmp_path / "s.db").read_bytes()
    assert b"cell-000500" not in raw
    with sqlite3.connect(tmp_path / "s.db") as connection:
        assert connection.execute("SELECT count(*) FROM service_drafts").fetchone() == (11,)
    assert JOBS.name == "service_jobs"
