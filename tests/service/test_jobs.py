"""Jobs: they run, are watched, limited, killed, restarted, cancelled and cleaned up."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tarnkappe.errors import AccessError, InputError, LimitError, NotFoundError, Reason
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.jobs import JobRecord, Jobs, JobState
from tarnkappe.service.jobs.events import Events
from tarnkappe.service.jobs.process import JobProcess
from tarnkappe.service.people import Account, ServiceRole
from tarnkappe.service.settings import Limits, ServiceSettings
from tarnkappe.service.work import KINDS
from tarnkappe.service.worker import SCRATCH
from tests.conftest import run_async
from tests.service.conftest import LIMITS, Running

ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "diagnosis": "sensitive"}
COLUMNS = {name: {"role": role} for name, role in ROLES.items()}


def until(condition: Callable[[], Any], seconds: float = 120.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


def anonymization(file_id: str, **more: Any) -> dict[str, Any]:
    return {
        "input": {"file": file_id},
        "columns": COLUMNS,
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "search": {"suppression_limit": 0.1},
        **more,
    }


# ---------------------------------------------------------------------- the whole way, over HTTP


def test_a_table_is_published_over_http(steward: httpx.Client, service: Running, patients: bytes) -> None:
    """Upload, ask, watch, take the release in three formats, the report and the manifest."""
    file_id = steward.post("/files", params={"name": "ward.csv"}, content=patients).json()["id"]
    asked = steward.post("/jobs", json={"kind": "anonymize", "document": anonymization(file_id)})
    assert asked.status_code == 201, asked.text
    job_id = asked.json()["id"]
    with steward.stream("GET", f"/jobs/{job_id}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        events = [json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: ")]
    assert [event["n"] for event in events] == sorted({event["n"] for event in events})
    assert [event["state"] for event in events if "state" in event] == ["waiting", "running", "done"]
    assert any({"stage", "done", "total", "note"} <= set(event) for event in events)
    told = steward.get(f"/jobs/{job_id}").json()
    assert (told["state"], told["exit_code"], told["attempts"]) == ("done", 0, 1)
    result = steward.get(f"/jobs/{job_id}/result").json()
    assert result["figures"]["verified"][0]["value"] >= 5
    assert result["figures"]["stories"][0]["name"] == "age"
    assert result["figures"]["head"]["columns"] == ["age", "sex", "diagnosis"]
    assert "verified" in result["text"]

    def take(what: str, **query: str) -> httpx.Response:
        answer = steward.get(f"/jobs/{job_id}/files/{what}", params=query)
        assert answer.status_code == 200, answer.text
        return answer

    parquet = pq.read_table(pa.BufferReader(take("release").content))
    assert parquet.num_rows == result["figures"]["released_rows"]
    arrow = pa.ipc.open_stream(take("release", format="arrow").content).read_all()
    assert arrow.to_pylist() == parquet.to_pylist()
    text = take("release", format="csv")
    assert text.headers["content-disposition"] == 'attachment; filename="release.csv"'
    assert len(text.text.splitlines()) == parquet.num_rows + 1
    manifest = take("manifest").json()
    assert manifest["input"] == "ward.csv", "no path of the service is told"
    assert str(service.house.settings.folder) not in json.dumps([manifest, result])
    report = take("report")
    assert "sandbox" in report.headers["content-security-policy"]
    for path in ("../../service.db", "..%2F..%2Fservice.db", "%2e%2e/%2e%2e/service.db", "result.json"):
        assert steward.get(f"/jobs/{job_id}/files/{path}").status_code in (404, 422), path
    assert steward.get(f"/jobs/{job_id}/files/nothing").status_code == 404

    with service.client(service.somebody("eve", "steward")) as eve:
        for path in ("", "/events", "/result", "/files/release", "/document"):
            assert eve.get(f"/jobs/{job_id}{path}").status_code == 404
        assert eve.post(f"/jobs/{job_id}/cancel").status_code == 404
        assert eve.delete(f"/jobs/{job_id}").status_code == 404
        of_another = {"input": {"job": job_id}, "columns": COLUMNS}
        assert eve.post("/jobs", json={"kind": "check", "document": of_another}).status_code == 404
    assert steward.delete(f"/jobs/{job_id}").status_code == 204
    assert steward.get(f"/jobs/{job_id}").status_code == 404
    assert not (service.house.settings.folder / "jobs" / job_id).exists()


def test_a_job_that_fails_says_why(steward: httpx.Client, service: Running) -> None:
    content = b"age,sex,diagnosis\n30,m,flu\n31,f\n"
    file_id = steward.post("/files", params={"name": "ragged.csv"}, content=content).json()["id"]
    answer = steward.get(f"/files/{file_id}/profile")
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("ragged.csv")
    assert str(service.house.settings.folder) not in answer.text


# ---------------------------------------------------------------------- one house at a time


@pytest.fixture
def small(tmp_path: Path) -> Callable[..., ServiceCore]:
    """Makes houses in one folder, as restarts of one service."""

    def made(**limits: Any) -> ServiceCore:
        chosen = Limits(**{"jobs_at_once": 1, "job_seconds": 120.0, **limits})
        return ServiceCore(ServiceSettings(folder=tmp_path / "house", limits=chosen))

    return made


def stored(house: ServiceCore, patients: bytes) -> tuple[Account, str]:
    known = [person for person in house.people.all() if person.name == "ann"]
    ann = known[0] if known else house.people.add("ann", ["steward"])
    return ann, house.files.store([patients], "ward.csv", ann).id


def ended(house: ServiceCore, job: JobRecord, who: Account) -> JobRecord:
    return until(lambda: (found := house.jobs.get(job.id, who)).has_ended and found)


def process_of(house: ServiceCore, job: JobRecord) -> JobProcess:
    def running() -> JobProcess | None:
        found = house.jobs._running.get(job.id)
        return None if found is None else found.process

    return until(running)


def test_a_killed_process_is_reported_and_its_job_begins_anew_or_ends_clearly(
    small: Callable[..., ServiceCore], patients: bytes
) -> None:
    with small() as house:
        ann, file_id = stored(house, patients)
        job = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
        first = process_of(house, job)
        os.kill(first.pid, signal.SIGKILL)
        second = until(lambda: (p := process_of(house, job)) is not first and p)
        told = [e for e in house.jobs.events_since(job.id, ann) if e.get("error")]
        assert told[0]["state"] == "waiting"
        assert "signal 9" in told[0]["error"]
        os.kill(second.pid, signal.SIGKILL)
        last = ended(house, job, ann)
        assert (last.state, last.attempts, last.exit_code) == (JobState.FAILED, 2, 2)
        assert "unexpectedly by signal 9 (2 times)" in last.error
        assert list((house.settings.folder / "jobs").iterdir()) == []
        with pytest.raises(NotFoundError, match="failed"):
            house.jobs.result(job.id, ann)


def test_too_long_and_too_large_jobs_are_ended(small: Callable[..., ServiceCore], patients: bytes) -> None:
    with small(job_seconds=0.05) as house:
        ann, file_id = stored(house, patients)
        job = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
        assert "longer than" in ended(house, job, ann).error
    with small(job_memory=20 * 2**20) as house:
        job = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
        last = ended(house, job, ann)
        assert last.state is JobState.FAILED
        assert "more than 20 MB of memory" in last.error


def test_a_cancelled_job_ends_without_a_result(small: Callable[..., ServiceCore], patients: bytes) -> None:
    with small() as house:
        ann, file_id = stored(house, patients)
        document = {"input": {"file": file_id}}
        running, waiting = (house.jobs.start("profile", document, ann) for _ in range(2))
        pid = process_of(house, running).pid
        assert house.jobs.cancel(waiting.id, ann).state is JobState.CANCELLED
        house.jobs.cancel(running.id, ann)
        assert ended(house, running, ann).state is JobState.CANCELLED
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        eve = Account("eve", frozenset(ServiceRole))
        with pytest.raises(NotFoundError):
            house.jobs.cancel(running.id, eve)


def test_a_job_that_is_cancelled_as_its_process_ends_leaves_no_result(
    small: Callable[..., ServiceCore], patients: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small() as house:
        ann, file_id = stored(house, patients)
        real = house.jobs._run

        def run(job: JobRecord, running: Any) -> Any:
            ending = real(job, running)
            for _ in range(2):
                house.jobs.cancel(job.id, ann)
            return ending

        monkeypatch.setattr(house.jobs, "_run", run)
        job = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
        assert ended(house, job, ann).state is JobState.CANCELLED
        assert list((house.settings.folder / "jobs").iterdir()) == []


def test_a_job_that_is_cancelled_as_its_process_is_lost_does_not_begin_anew(
    small: Callable[..., ServiceCore], patients: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small() as house:
        ann, file_id = stored(house, patients)
        real = house.jobs._again

        def again(job: JobRecord, why: Reason) -> None:
            house.jobs.cancel(job.id, ann)
            real(job, why)

        monkeypatch.setattr(house.jobs, "_again", again)
        job = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
        os.kill(process_of(house, job).pid, signal.SIGKILL)
        last = ended(house, job, ann)
        assert (last.state, last.attempts) == (JobState.CANCELLED, 1)
        assert house.log.verify()


def test_what_leaves_traces_elsewhere_does_not_begin_anew_after_an_orderly_end(
    small: Callable[..., ServiceCore], patients: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KINDS["profile"], "restarts", False)
    with small() as house:
        ann, file_id = stored(house, patients)
        job = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
        process_of(house, job)
    house = small()
    found = house.jobs.get(job.id, ann)
    assert (found.state, found.attempts) == (JobState.FAILED, 1)
    assert "the service ended while the job ran" in found.error
    house.close()


@pytest.mark.slow
def test_jobs_survive_a_restart_of_the_service(small: Callable[..., ServiceCore], patients: bytes) -> None:
    with small() as house:
        ann, file_id = stored(house, patients)
        jobs = [house.jobs.start("profile", {"input": {"file": file_id}}, ann) for _ in range(2)]
        process_of(house, jobs[0])
    with small() as house:
        for job in jobs:
            assert ended(house, job, ann).state is JobState.DONE
        assert house.jobs.result(jobs[0].id, ann)["figures"]["rows"] == 300
        house.log.verify()


def test_what_ran_when_the_service_was_killed_begins_anew_or_ends_clearly(
    small: Callable[..., ServiceCore], patients: bytes
) -> None:
    """A crash leaves 'running' in the store: as if it happened once, and as if it happened too often."""
    house = small()
    ann, file_id = stored(house, patients)
    once, often, unsafe = (house.jobs.start("profile", {"input": {"file": file_id}}, ann) for _ in range(3))
    for job, attempts in ((once, 1), (often, 2), (unsafe, 1)):
        house.jobs._store_values(job, state="running", attempts=attempts)
    house.jobs._store_values(unsafe, kind="federate")  # leaves traces elsewhere
    folder = house.settings.folder / "jobs"
    (folder / unsafe.id / SCRATCH).mkdir(parents=True)
    house.close()
    house = small()
    house.jobs._recover()
    assert set(house.jobs._waiting) == {once.id}
    assert list(folder.iterdir()) == [], "nothing of its rows stays with a job that has failed"
    for job in (often, unsafe):
        found = house.jobs.get(job.id, ann)
        assert found.state is JobState.FAILED
        assert "the service ended while the job ran" in found.error
    house.close()


def test_old_jobs_go_with_their_results(house: ServiceCore, ann: Account, patients: bytes) -> None:
    file_id = house.files.store([patients], "ward.csv", ann).id
    job = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
    folder = house.settings.folder / "jobs"
    (folder / job.id).mkdir()
    (folder / "left-behind").mkdir()
    house.jobs._end(job, JobState.DONE)
    house.jobs.clean()
    assert [path.name for path in folder.iterdir()] == [job.id]
    later = Jobs(house.store, folder, house.files, house.settings, clock=lambda: time.time() + 31 * 86_400)
    later.clean()
    assert list(folder.iterdir()) == []
    assert later.list(ann) == []


def test_nobody_takes_all_places(house: ServiceCore, ann: Account) -> None:
    """Two long jobs of one person leave a place for the small job of another."""
    house.jobs._waiting = {"a1": "ann", "a2": "ann", "b1": "bob"}
    assert house.jobs._next() == "a1"
    busy = type("Busy", (), {"owner": "ann"})
    house.jobs._running = {"a1": busy()}  # type: ignore[dict-item]
    del house.jobs._waiting["a1"]
    assert house.jobs._next() == "b1"
    del house.jobs._waiting["b1"]
    assert LIMITS.jobs_at_once == 2
    assert house.jobs._next() is None, "the last place is for others"
    house.jobs._running = {}


def test_rights_and_numbers_of_jobs_are_limited(tmp_path: Path, patients: bytes) -> None:
    house = ServiceCore(ServiceSettings(folder=tmp_path / "h", limits=Limits(jobs_of_one=2)))
    ann = house.people.add("ann", ["steward"])
    document = {"input": {"file": house.files.store([patients], "ward.csv", ann).id}}
    house.jobs.start("profile", document, ann)
    house.jobs.start("profile", document, ann)
    with pytest.raises(LimitError, match="2 jobs under way"):
        house.jobs.start("profile", document, ann)
    with pytest.raises(AccessError):
        house.jobs.start("profile", document, Account("ann", frozenset({ServiceRole.AUDITOR})))
    house.close()


def test_two_services_do_not_share_a_folder(house: ServiceCore) -> None:
    with pytest.raises(InputError, match="another service"):
        ServiceCore(house.settings)


def test_events_go_on_growing_over_a_restart() -> None:
    job = JobRecord("j", "check", "ann", {}, JobState.RUNNING, created=100.0)
    before, after = Events(lambda: 103.0), Events(lambda: 104.0)
    before.add(job, stage="x")
    before.add(job, stage="y")
    after.add(job, stage="z")
    numbers = [event["n"] for event in [*before.since("j", 0), *after.since("j", 0)]]
    assert numbers == [3000, 3001, 4000]
    assert [event["stage"] for event in before.since("j", 3000)] == ["y"]


def test_who_watches_an_ended_job_hears_its_end(house: ServiceCore, ann: Account, patients: bytes) -> None:
    file_id = house.files.store([patients], "ward.csv", ann).id
    job = house.jobs.start("profile", {"input": {"file": file_id}}, ann)
    house.jobs._end(job, JobState.FAILED, error=Reason("test.why", "why"))
    later = Jobs(house.store, house.settings.folder / "jobs", house.files, house.settings)

    async def heard(number: int) -> list[dict[str, Any]]:
        return [event async for event in later.progress(job.id, ann, number)]

    for number in (0, 10**9):
        [event] = run_async(heard(number))
        assert (event["state"], event["error"]) == ("failed", "why")
