"""What runs jobs: threads that take the next one, watch its process and note how it ended.

Nothing ends a thread but the end of the service. What the store refuses is tried again until it takes it: a
job that has run is not lost because the disk was full for a minute.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import shutil
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from tarnkappe.errors import AccessError, Reason, TarnkappeError
from tarnkappe.schema import replace
from tarnkappe.service.documents import Resolver
from tarnkappe.service.files import Files
from tarnkappe.service.jobs.events import Events
from tarnkappe.service.jobs.process import Ending, ForkServer, JobProcess, Message
from tarnkappe.service.jobs.record import JobRecord, JobState, kept, record_of
from tarnkappe.service.people import Account
from tarnkappe.service.people.identities import by_id
from tarnkappe.service.settings import Limits, ServiceSettings
from tarnkappe.service.tables import JOBS
from tarnkappe.service.work import KINDS
from tarnkappe.service.worker import RESULT
from tarnkappe.state import AuditLog, Store
from tarnkappe.table.formats.address import shown

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds between two tries of what the store has refused."""
MOST_TRIES = 5
"""Of what fails for another reason."""

SERVICE_ENDED = Reason("service.service-ended", "the service ended while the job ran")
ENDED_BEFORE = Reason("service.ended-before", "the job was ended before it had found anything")
T = TypeVar("T")
log = logging.getLogger("tarnkappe.service")


@dataclasses.dataclass
class Running:
    """A job that a thread attends to."""

    owner: str
    process: JobProcess | None
    stop: threading.Event
    cancelled: bool = False


class JobRunners(ABC):
    """The threads that run the jobs of a house."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        files: Files,
        settings: ServiceSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._folder, self._files, self._settings = store, folder, files, settings
        self._limits, self._clock, self._log = settings.limits, clock, AuditLog(store)
        self._events = Events(clock)
        self._changed = threading.Condition()
        self._waiting: dict[str, str] = {}
        self._running: dict[str, Running] = {}
        self._server: ForkServer | None = None
        self._threads: list[threading.Thread] = []
        self._closing = False
        self._ended = threading.Event()
        self._refused = 0
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @property
    def failing(self) -> list[str]:
        """What does not work now: the store refuses what is written, or a thread that runs jobs has ended."""
        found = ["store"] if self._refused else []
        return found if all(thread.is_alive() for thread in self._threads) else [*found, "runners"]

    @property
    def is_well(self) -> bool:
        """Whether every thread lives and the store takes what they write."""
        return not self.failing

    def open(self) -> None:
        """Begin to run jobs: those first that a service before this one left."""
        self._recover()
        self._server = ForkServer(self._settings.folder)
        for _ in range(self._limits.jobs_at_once):
            thread = threading.Thread(target=self._attend_jobs, daemon=True)
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """End all processes; their jobs begin anew with the next service."""
        with self._changed:
            self._closing = True
            self._ended.set()
            for running in self._running.values():
                running.stop.set()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _recover(self) -> None:
        """Take up what was waiting or running when the last service ended."""
        with self._store.reading() as connection:
            left = sa.select(JOBS).where(JOBS.c.state.in_([JobState.WAITING, JobState.RUNNING]))
            jobs = [record_of(row) for row in connection.execute(left.order_by(JOBS.c.created))]
        for job in jobs:
            if job.state is JobState.WAITING:
                self._waiting[job.id] = job.owner
            else:
                self._again(job, SERVICE_ENDED)

    def _attend_jobs(self) -> None:
        while True:
            with self._changed:
                while not self._closing and (job_id := self._next()) is None:
                    self._changed.wait()
                if self._closing:
                    return
                assert job_id is not None
                running = Running(self._waiting.pop(job_id), None, threading.Event())
                self._running[job_id] = running
            try:
                self._attend(job_id, running)
            except Exception as error:  # whatever it is, the thread goes on with the next job
                log.error("job %s: unexpected %s", job_id, type(error).__name__)
            finally:
                with self._changed:
                    del self._running[job_id]
                    self._changed.notify_all()

    def _next(self) -> str | None:
        """The oldest waiting job of whoever has the fewest running; nobody takes all places for herself."""
        busy = Counter(running.owner for running in self._running.values())
        most = max(1, self._limits.jobs_at_once - 1)
        able = [(busy[owner], place, job) for place, (job, owner) in enumerate(self._waiting.items())]
        able = [entry for entry in able if entry[0] < most]
        return min(able)[2] if able else None

    def _attend(self, job_id: str, running: Running) -> None:
        """Run one job to its end, whatever happens to its process and to the store."""
        job = self._insist(lambda: self._begin(job_id))
        if job is None:
            return
        self._events.add(job, state=str(job.state), attempt=job.attempts)
        exit_code = 0
        try:
            ending = self._run(job, running)
            if ending.how == "done":
                found = json.loads((self._folder / job.id / RESULT).read_text(encoding="utf-8"))
                exit_code = int(found["exit_code"])
        except TarnkappeError as error:
            ending = Ending("failed", error.reason, error.exit_code)
        except Exception as error:
            ending = Ending(
                "failed",
                Reason(
                    "service.could-not-run",
                    "the service could not run the job ({kind})",
                    kind=type(error).__name__,
                ),
            )
        if running.cancelled:
            self._insist(lambda: self._end(job, JobState.CANCELLED))
        elif self._closing and ending.how in ("stopped", "killed"):
            self._insist(lambda: self._leave(job))
        elif ending.how == "done":
            self._insist(lambda: self._end(job, JobState.DONE, exit_code=exit_code))
        elif ending.how == "killed":
            self._insist(lambda: self._again(job, ending.error or ENDED_BEFORE))
        else:
            why = ending.error or ENDED_BEFORE
            code = ending.exit_code or 2
            self._insist(lambda: self._end(job, JobState.FAILED, error=why, exit_code=code))

    def _insist(self, step: Callable[[], T]) -> T | None:
        """Do what writes to the store; if it refuses, again and again, until it is done or all ends."""
        pause, has_failed = FIRST_PAUSE, False
        try:
            for tried in count(1):
                try:
                    return step()
                except Exception as error:
                    is_ours = not isinstance(error, SQLAlchemyError | OSError)
                    if is_ours and tried == MOST_TRIES:  # a mistake of our own does not go away
                        raise
                    if not has_failed:
                        log.error("the store refuses to write (%s): trying again", type(error).__name__)
                        self._refused += 1
                        has_failed = True
                if self._ended.wait(pause):
                    return None
                pause = min(2 * pause, LONGEST_PAUSE)
        finally:
            self._refused -= has_failed
        raise AssertionError("it goes on until it is done")

    def _begin(self, job_id: str) -> JobRecord | None:
        with self._store.writing() as connection:
            mine = JOBS.c.id == job_id
            connection.execute(
                sa.update(JOBS)
                .where(mine)
                .values(state=str(JobState.RUNNING), started=self._clock(), attempts=JOBS.c.attempts + 1)
            )
            row = connection.execute(sa.select(JOBS).where(mine)).first()
        return None if row is None else record_of(row)

    def _run(self, job: JobRecord, running: Running) -> Ending:
        kind = KINDS[job.kind]
        with self._store.reading() as connection:
            who = by_id(connection, job.owner)
        if who is None:
            raise AccessError("service.asked-job-gone", "who asked for the job is gone")
        who.require(kind.right)
        names: dict[str, str] = {}
        document = self._resolver(who, names).resolve(job.document, kind)
        folder = self._folder / job.id
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        names[f"{folder}/"] = ""
        names |= {shown(address): name for name, address in self._settings.databases.items()}
        assert self._server is not None, "jobs run while the house is open"
        process = running.process = JobProcess(self._server)

        def tell(message: Message) -> None:
            self._events.add(job, **message)

        limits = self._limits_of(kind.most_seconds)
        ending = process.run(job.kind, document, names, folder, limits, running.stop, tell)
        if ending.how != "done":
            shutil.rmtree(folder, ignore_errors=True)
        return ending

    def _limits_of(self, most_seconds: float | None) -> Limits:
        if most_seconds is None or most_seconds >= self._limits.job_seconds:
            return self._limits
        return replace(self._limits, job_seconds=most_seconds)

    def _leave(self, job: JobRecord) -> None:
        """A job was ended with the service: the next one begins it anew, as if it never had, if it may."""
        if KINDS[job.kind].restarts:
            self._store_values(job, state=str(JobState.WAITING), attempts=job.attempts - 1)
        else:
            self._again(job, SERVICE_ENDED)

    def _again(self, job: JobRecord, why: Reason) -> None:
        """A job lost its process: it begins anew, or ends clearly."""
        if KINDS[job.kind].restarts and job.attempts < self._limits.attempts:
            self._store_values(job, state=str(JobState.WAITING), error=kept(why))
            anew = Reason("service.begins-anew", "{why}: it begins anew", why=why)
            self._events.add(job, state=str(JobState.WAITING), error=str(anew))
            with self._changed:
                running = self._running.get(job.id)
                if is_wanted := running is None or not running.cancelled:
                    self._waiting[job.id] = job.owner
                    self._changed.notify()
            if not is_wanted:  # somebody has cancelled it meanwhile
                self._end(job, JobState.CANCELLED)
        else:
            ended = Reason(
                "service.ended-times",
                "{why} ({attempts} times): start it again if you want",
                why=why,
                attempts=job.attempts,
            )
            self._end(job, JobState.FAILED, error=ended)

    def _end(
        self, job: JobRecord, state: JobState, *, error: Reason | None = None, exit_code: int = 2
    ) -> JobRecord:
        ended = dataclasses.replace(
            job, state=state, error=error or "", exit_code=exit_code, finished=self._clock()
        )
        values = {"state": str(state), "exit_code": exit_code, "finished": ended.finished}
        values["error"] = kept(error)
        if state is not JobState.DONE:  # its process may have been done, or have been lost with the service
            shutil.rmtree(self._folder / job.id, ignore_errors=True)
        with self._store.writing() as connection:
            connection.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(values))
            who = by_id(connection, job.owner)
            told = {
                "job": job.id,
                "kind": job.kind,
                "state": str(state),
                "by": who.name if who else job.owner,
            }
            self._log.append("job ended", told, connection)
        self._events.add(job, state=str(state), **({"error": str(error)} if error else {}))
        return ended

    def _store_values(self, job: JobRecord, **values: Any) -> None:
        with self._store.writing() as connection:
            connection.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(values))

    def _resolver(
        self, who: Account, names: dict[str, str] | None = None, used: Mapping[str, set[str]] | None = None
    ) -> Resolver:
        """Looks up what somebody's documents name, and notes what its owner calls each path."""

        def file(file_id: str) -> Path:
            path = self._files.path(file_id, who)
            if names is not None:
                names[str(path)] = self._files.get(file_id, who).name
            if used is not None:
                used["files"].add(file_id)
            return path

        def result(job_id: str, what: str) -> Path:
            path = self._result_file(job_id, what, who)
            if names is not None:
                names[str(path)] = f"{what} of job {job_id[:8]}"
            if used is not None:
                used["jobs"].add(job_id)
            return path

        return Resolver(file, result, self._settings, who)

    @abstractmethod
    def _result_file(self, job_id: str, what: str, who: Account) -> Path:
        """Where a result of a job is, for somebody who may see it."""
