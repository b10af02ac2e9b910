"""What runs jobs outlives whatever the store does, and what strangers send is read where it harms nobody."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from hypothesis import settings
from sqlalchemy.exc import OperationalError

from tarnkappe.errors import LimitError, ParameterError
from tarnkappe.hierarchy import Intervals
from tarnkappe.hierarchy.builder import MOST_LEVELS
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.jobs import sense
from tarnkappe.service.jobs.process import ForkServer
from tarnkappe.service.people import Account
from tarnkappe.service.settings import Limits, ServiceSettings
from tarnkappe.service.work import KINDS
from tests.service.conftest import Running
from tests.service.test_jobs import until

HUGE = 10**9


@pytest.fixture
def one_runner(tmp_path: Path) -> Iterator[ServiceCore]:
    limits = Limits(jobs_at_once=1, job_seconds=120.0)
    with ServiceCore(ServiceSettings(folder=tmp_path / "house", limits=limits)) as house:
        yield house


class Failing:
    """A store that refuses some writes, by their number, once somebody has said so."""

    def __init__(
        self, house: ServiceCore, monkeypatch: pytest.MonkeyPatch, error: Callable[[], Exception]
    ) -> None:
        self.writes, self.refuse, self.error, self.is_on = 0, range(0), error, False
        real = house.store.writing

        @contextmanager
        def writing() -> Iterator[sa.Connection]:
            if threading.current_thread() in house.jobs._threads and self.is_on:
                self.writes += 1
                if self.writes in self.refuse:
                    raise self.error()
            with real() as connection:
                yield connection

        monkeypatch.setattr(house.store, "writing", writing)


def locked() -> Exception:
    return OperationalError("UPDATE", {}, Exception("database is locked"))


@pytest.mark.parametrize("error", [locked, lambda: OSError(28, "no space left"), lambda: RuntimeError("?")])
def test_a_job_ends_and_its_runner_lives_whichever_write_the_store_refuses(
    one_runner: ServiceCore, patients: bytes, monkeypatch: pytest.MonkeyPatch, error: Callable[[], Exception]
) -> None:
    ann = one_runner.people.add("ann", ["steward"])
    document = {"input": {"file": one_runner.files.store([patients], "ward.csv", ann).id}}
    failing = Failing(one_runner, monkeypatch, error)
    for first in (1, 2):
        failing.writes, failing.refuse, failing.is_on = 0, range(first, first + 2), True
        job = one_runner.jobs.start("profile", document, ann)
        until(lambda job=job: one_runner.jobs.get(job.id, ann).has_ended)
        assert one_runner.jobs.get(job.id, ann).state == "done"
        assert failing.writes >= 4, "two writes of a job's life, and two that were refused"
        failing.is_on = False
    assert all(thread.is_alive() for thread in one_runner.jobs._threads)
    until(lambda: one_runner.jobs.is_well)


class FailingAt:
    """A store whose n-th statement in a job's life fails; its threads are those that run jobs."""

    def __init__(self, house: ServiceCore) -> None:
        self.place, self.seen, self.house = 0, 0, house
        sa.event.listen(house.store.engine, "before_cursor_execute", self._step)
        sa.event.listen(house.store.engine, "commit", self._step)

    def _step(self, *_: object) -> None:
        if threading.current_thread() in self.house.jobs._threads:
            self.seen += 1
            if self.seen == self.place:
                raise locked()

    def life(self, place: int, document: dict[str, Any], who: Account) -> str:
        """How a job ends, if the store fails at a place."""
        self.place, self.seen = place, 0
        job = self.house.jobs.start("profile", document, who)
        until(lambda: self.house.jobs.get(job.id, who).has_ended)
        until(lambda: not self.house.jobs._running)
        return str(self.house.jobs.get(job.id, who).state)


def test_a_store_error_at_any_statement_of_a_jobs_life_ends_no_runner_and_loses_no_job(
    one_runner: ServiceCore, patients: bytes
) -> None:
    ann = one_runner.people.add("ann", ["steward"])
    document = {"input": {"file": one_runner.files.store([patients], "ward.csv", ann).id}}
    failing = FailingAt(one_runner)
    assert failing.life(0, document, ann) == "done"
    statements = failing.seen
    assert statements >= 8
    thorough = settings.default.max_examples > 100
    for place in range(1, statements + 1, 1 if thorough else 4):
        assert failing.life(place, document, ann) in ("done", "failed"), place
        assert failing.seen >= place, "it was refused"
        assert one_runner.jobs.is_well
    assert failing.life(0, document, ann) == "done"
    assert one_runner.log.verify() > statements // 2


def test_health_says_what_does_not_work(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> tuple[int, str]:
        answer = httpx.get(f"{service.url}/api/v1/health", timeout=60)
        return answer.status_code, answer.json().get("failing", "")

    jobs = service.house.jobs
    until(lambda: told() == (200, ""))
    with monkeypatch.context() as broken:
        broken.setattr(jobs, "_refused", 1)
        assert told() == (503, "store")
        broken.setattr(jobs, "_threads", [*jobs._threads, threading.Thread(target=int)])  # it never began
        assert told() == (503, "store, runners")
    assert told() == (200, "")


def test_health_tells_while_the_store_refuses(
    one_runner: ServiceCore, patients: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = one_runner.people.add("ann", ["steward"])
    document = {"input": {"file": one_runner.files.store([patients], "ward.csv", ann).id}}
    failing = Failing(one_runner, monkeypatch, locked)
    failing.refuse, failing.is_on = range(1, 10**6), True
    job = one_runner.jobs.start("profile", document, ann)
    until(lambda: not one_runner.jobs.is_well)
    failing.refuse = range(0)
    until(lambda: one_runner.jobs.get(job.id, ann).has_ended)
    until(lambda: one_runner.jobs.is_well)


def test_what_cleans_up_outlives_an_error(house: ServiceCore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise locked()

    monkeypatch.setattr(house.jobs, "clean", fails)
    house._clean_now()


# ---------------------------------------------------------------------- what strangers send


@pytest.mark.parametrize(
    "parameters",
    [
        {"width": 1, "levels": HUGE},
        {"width": 1, "levels": 10**40},
        {"width": tuple(2**level for level in range(MOST_LEVELS + 1))},
        {"quantiles": tuple(2**level for level in range(MOST_LEVELS + 1, 0, -1))},
        {"cuts": tuple((0,) for _ in range(MOST_LEVELS + 1))},
    ],
    ids=str,
)
def test_more_levels_than_anybody_needs_are_refused_before_any_is_made(parameters: dict[str, Any]) -> None:
    with pytest.raises(
        ParameterError, match=rf"at most {MOST_LEVELS} (is )?allowed|at most {MOST_LEVELS} levels"
    ):
        Intervals(**parameters)


def test_huge_parameters_are_answered_with_an_error_and_others_are_served(
    service: Running, steward: httpx.Client, patients: bytes
) -> None:
    file_id = steward.post("/files", params={"name": "ward.csv"}, content=patients).json()["id"]
    plan = {"builder": "intervals", "width": 1, "levels": HUGE}
    preview = steward.post(f"/files/{file_id}/hierarchy", json={"column": "age", "hierarchy": plan})
    assert (preview.status_code, preview.json()["kind"]) == (422, "JobError")
    assert "at most 64 is allowed" in preview.json()["error"]
    columns = {"age": {"role": "quasi-identifier", "hierarchy": plan}}
    document = {"input": {"file": file_id}, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    assert steward.post("/jobs", json={"kind": "anonymize", "document": document}).status_code == 422
    with service.client(service.somebody("bystander", "steward")) as other:
        assert other.get("/files").status_code == 200


def test_a_document_is_read_in_a_process_that_ends_at_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it is that takes too long: nobody has to know the mistake beforehand."""
    monkeypatch.setattr(sense, "MEMORY", 1)
    check, server = sense.SenseCheck(Limits()), ForkServer(tmp_path)
    who = Account("ann", frozenset(), "1" * 32)
    document = {"query": "SELECT 1", "relations": {"p": {"path": "/none.csv"}}}
    before = multiprocessing.active_children()
    with pytest.raises(LimitError, match="took too much and was ended"):
        check.require(KINDS["sql"], document, who, server)
    assert multiprocessing.active_children() == before, "the process has ended and is forgotten"


def test_one_person_does_not_take_all_threads_for_her_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sense, "MOST_WAITING", 3)
    check = sense.SenseCheck(Limits())
    with check._turn("a"), check._turn("a"):
        check._waiting["a"] += 1  # a third one, which waits
        with pytest.raises(LimitError, match="too many of your requests"), check._turn("a"):
            pass
        with check._turn("b"):
            pass
        check._waiting["a"] -= 1
    assert not check._waiting
    assert not check._turns
