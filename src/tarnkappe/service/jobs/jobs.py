"""The jobs of a house: asked for, waiting, running, ended."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import secrets
import shutil
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import JobError, LimitError, NotFoundError, TarnkappeError
from tarnkappe.service.documents import Resolver
from tarnkappe.service.files import Files
from tarnkappe.service.jobs.events import Event, Events, state_event
from tarnkappe.service.jobs.nursery import Nursery
from tarnkappe.service.jobs.process import Ending, JobProcess, Message
from tarnkappe.service.jobs.record import ENDED, JOBS, JobRecord, JobState, record_of
from tarnkappe.service.people import Person
from tarnkappe.service.settings import ServiceSettings
from tarnkappe.service.work import KINDS, Kind
from tarnkappe.service.worker import RESULT
from tarnkappe.state import AuditLog, Store
from tarnkappe.table.formats.address import shown

POLL = 0.1
"""Seconds between two looks of somebody who watches a job."""
LOOK_AGAIN = 50
"""After so many looks at what is in memory, one at the store."""


@dataclasses.dataclass
class _Running:
    owner: str
    process: JobProcess | None
    stop: threading.Event
    cancelled: bool = False


class Jobs:
    """The jobs of a house; `open` begins to run them."""

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
        self._running: dict[str, _Running] = {}
        self._nursery: Nursery | None = None
        self._threads: list[threading.Thread] = []
        self._closing = False
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    # ------------------------------------------------------------------ asking

    def start(self, kind: str, document: Mapping[str, Any], who: Person) -> JobRecord:
        """Ask for a job; it is kept when this returns, and runs when its turn comes.

        Raises:
            JobError: or another error about the document, which is read before anything is kept.
        """
        chosen = KINDS[kind]
        who.require(chosen.right)
        _require_sense(chosen, self._resolver(who).resolve(document, chosen))
        job = JobRecord(secrets.token_hex(16), kind, who.name, document, JobState.WAITING, self._clock())
        values = {field.name: getattr(job, field.name) for field in dataclasses.fields(job)}
        values |= {"document": json.dumps(document), "state": str(job.state)}
        with self._store.writing() as connection:
            open_jobs = sa.select(sa.func.count()).where(
                JOBS.c.owner == who.name, JOBS.c.state.in_([JobState.WAITING, JobState.RUNNING])
            )
            if connection.execute(open_jobs).scalar_one() >= self._limits.jobs_of_one:
                raise LimitError(f"you have {self._limits.jobs_of_one} jobs under way: wait for some to end")
            connection.execute(sa.insert(JOBS).values(values))
            self._log.append("job asked for", {"job": job.id, "kind": kind, "by": who.name}, connection)
        self._events.add(job, state=str(job.state))
        with self._changed:
            self._waiting[job.id] = who.name
            self._changed.notify()
        return job

    def get(self, job_id: str, who: Person) -> JobRecord:
        """One of the jobs of a person; those of others are as if they were not there."""
        mine = sa.select(JOBS).where(JOBS.c.id == job_id, JOBS.c.owner == who.name)
        with self._store.reading() as connection:
            row = connection.execute(mine).first()
        if row is None:
            raise NotFoundError("you have no such job")
        return record_of(row)

    def list(self, who: Person, limit: int = 100) -> list[JobRecord]:
        """The jobs of a person, the newest first."""
        mine = sa.select(JOBS).where(JOBS.c.owner == who.name).order_by(JOBS.c.created.desc()).limit(limit)
        with self._store.reading() as connection:
            return [record_of(row) for row in connection.execute(mine)]

    def cancel(self, job_id: str, who: Person) -> JobRecord:
        """End a job without a result; one that has ended stays as it is."""
        job = self.get(job_id, who)
        with self._changed:
            running = self._running.get(job_id)
            if running is not None:
                running.cancelled = True
                running.stop.set()
            was_waiting = self._waiting.pop(job_id, None) is not None
        if was_waiting:
            return self._end(job, JobState.CANCELLED)
        return job

    def finish_early(self, job_id: str, who: Person) -> None:
        """End the search of a job with the best that it has found so far, which becomes its result."""
        self.get(job_id, who)
        with self._changed:
            running = self._running.get(job_id)
        if running is not None and running.process is not None:
            running.process.interrupt()

    def remove(self, job_id: str, who: Person) -> None:
        """Forget a job and its results; one that runs is cancelled first."""
        job = self.cancel(job_id, who)
        while job_id in self._running:
            time.sleep(POLL)
        with self._store.writing() as connection:
            connection.execute(sa.delete(JOBS).where(JOBS.c.id == job.id))
            self._log.append("job removed", {"job": job.id, "by": who.name}, connection)
        shutil.rmtree(self._folder / job.id, ignore_errors=True)

    # ------------------------------------------------------------------ watching

    def events_since(self, job_id: str, who: Person, number: int = 0) -> Sequence[Event]:
        """What happened to a job after an event."""
        job = self.get(job_id, who)
        events = self._events.since(job_id, number)
        return events or ([state_event(job)] if job.has_ended and state_event(job)["n"] > number else [])

    async def progress(self, job_id: str, who: Person, after: int = 0) -> AsyncIterator[Event]:
        """The events of a job as they come; the last one has a state in which it has ended."""
        from anyio import to_thread

        for turn in count():
            for event in self._events.since(job_id, after):
                after = event["n"]
                yield event
                if event.get("state") in ENDED:
                    return
            if turn % LOOK_AGAIN == 0:  # the events of a job that ended long ago are forgotten
                job = await to_thread.run_sync(self.get, job_id, who)
                if job.has_ended and not self._events.since(job_id, after):
                    yield state_event(job)
                    return
            if self._closing:
                return
            await asyncio.sleep(POLL)

    async def wait(self, job_id: str, who: Person) -> JobRecord:
        """A job when it has ended."""
        from anyio import to_thread

        async for _ in self.progress(job_id, who):
            pass
        return await to_thread.run_sync(self.get, job_id, who)

    def result(self, job_id: str, who: Person) -> dict[str, Any]:
        """What a job has found: `figures`, `text`, `exit_code` and the `files` that it made."""
        job = self.get(job_id, who)
        if job.state is not JobState.DONE:
            raise NotFoundError(f"the job is {job.state}: it has no result")
        found: dict[str, Any] = json.loads((self._folder / job.id / RESULT).read_text(encoding="utf-8"))
        return found

    def file(self, job_id: str, what: str, who: Person) -> Path:
        """Where something is that a job has made."""
        files: dict[str, str] = self.result(job_id, who)["files"]
        if what not in files:
            raise NotFoundError(f"the job has made no '{what}': it has made {', '.join(files) or 'no file'}")
        return self._folder / job_id / files[what]

    # ------------------------------------------------------------------ running

    def open(self) -> None:
        """Begin to run jobs: those first that a service before this one left."""
        self._recover()
        self._nursery = Nursery()
        for _ in range(self._limits.jobs_at_once):
            thread = threading.Thread(target=self._attend_jobs, daemon=True)
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """End all processes; their jobs begin anew with the next service."""
        with self._changed:
            self._closing = True
            for running in self._running.values():
                running.stop.set()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        if self._nursery is not None:
            self._nursery.close()

    def clean(self) -> None:
        """Remove jobs that are older than the limits say, and folders that belong to none."""
        oldest = self._clock() - self._limits.keep_days * 24 * 3600
        with self._store.writing() as connection:
            connection.execute(sa.delete(JOBS).where(JOBS.c.finished < oldest))
            kept = set(connection.execute(sa.select(JOBS.c.id)).scalars())
        for folder in self._folder.iterdir():
            if folder.name not in kept:
                shutil.rmtree(folder, ignore_errors=True)

    def _recover(self) -> None:
        """Take up what was waiting or running when the last service ended."""
        with self._store.reading() as connection:
            left = sa.select(JOBS).where(JOBS.c.state.in_([JobState.WAITING, JobState.RUNNING]))
            jobs = [record_of(row) for row in connection.execute(left.order_by(JOBS.c.created))]
        for job in jobs:
            if job.state is JobState.WAITING:
                self._waiting[job.id] = job.owner
            else:
                self._again(job, "the service ended while the job ran")

    def _attend_jobs(self) -> None:
        while True:
            with self._changed:
                while not self._closing and (job_id := self._next()) is None:
                    self._changed.wait()
                if self._closing:
                    return
                assert job_id is not None
                running = _Running(self._waiting.pop(job_id), None, threading.Event())
                self._running[job_id] = running
            try:
                self._attend(job_id, running)
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

    def _attend(self, job_id: str, running: _Running) -> None:
        """Run one job to its end, whatever happens to its process."""
        with self._store.writing() as connection:
            mine = JOBS.c.id == job_id
            connection.execute(
                sa.update(JOBS)
                .where(mine)
                .values(state=str(JobState.RUNNING), started=self._clock(), attempts=JOBS.c.attempts + 1)
            )
            row = connection.execute(sa.select(JOBS).where(mine)).first()
        if row is None:
            return
        job = record_of(row)
        self._events.add(job, state=str(job.state), attempt=job.attempts)
        try:
            ending = self._run(job, running)
        except TarnkappeError as error:
            ending = Ending("failed", str(error), error.exit_code)
        except Exception as error:  # whatever it is, the thread must go on with the next job
            ending = Ending("failed", f"the service could not run the job ({type(error).__name__})")
        if running.cancelled:
            self._end(job, JobState.CANCELLED)
        elif self._closing and ending.how in ("stopped", "killed"):
            self._store_values(job, state=str(JobState.WAITING), attempts=job.attempts - 1)
        elif ending.how == "done":
            result = json.loads((self._folder / job.id / RESULT).read_text(encoding="utf-8"))
            self._end(job, JobState.DONE, exit_code=result["exit_code"])
        elif ending.how == "killed":
            self._again(job, ending.error)
        else:
            why = ending.error or "the job was ended before it had found anything"
            self._end(job, JobState.FAILED, error=why, exit_code=ending.exit_code or 2)

    def _run(self, job: JobRecord, running: _Running) -> Ending:
        who = Person(job.owner, frozenset())
        names: dict[str, str] = {}
        document = self._resolver(who, names).resolve(job.document, KINDS[job.kind])
        folder = self._folder / job.id
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        names[f"{folder}/"] = ""
        names |= {shown(address): name for name, address in self._settings.databases.items()}
        assert self._nursery is not None, "jobs run while the house is open"
        process = running.process = JobProcess(self._nursery)

        def tell(message: Message) -> None:
            self._events.add(job, **message)

        ending = process.run(job.kind, document, names, folder, self._limits, running.stop, tell)
        if ending.how != "done":
            shutil.rmtree(folder, ignore_errors=True)
        return ending

    def _again(self, job: JobRecord, why: str) -> None:
        """A job lost its process: it begins anew, or ends clearly."""
        if KINDS[job.kind].restarts and job.attempts < self._limits.attempts:
            self._store_values(job, state=str(JobState.WAITING), error=why)
            self._events.add(job, state=str(JobState.WAITING), error=f"{why}: it begins anew")
            with self._changed:
                self._waiting[job.id] = job.owner
                self._changed.notify()
        else:
            self._end(job, JobState.FAILED, error=f"{why} ({job.attempts} times): start it again if you want")

    def _end(self, job: JobRecord, state: JobState, *, error: str = "", exit_code: int = 2) -> JobRecord:
        ended = dataclasses.replace(
            job, state=state, error=error, exit_code=exit_code, finished=self._clock()
        )
        values = {"state": str(state), "error": error, "exit_code": exit_code, "finished": ended.finished}
        told = {"job": job.id, "kind": job.kind, "state": str(state), "by": job.owner}
        with self._store.writing() as connection:
            connection.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(values))
            self._log.append("job ended", told, connection)
        self._events.add(job, state=str(state), **({"error": error} if error else {}))
        return ended

    def _store_values(self, job: JobRecord, **values: Any) -> None:
        with self._store.writing() as connection:
            connection.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(values))

    def _resolver(self, who: Person, names: dict[str, str] | None = None) -> Resolver:
        """Looks up what somebody's documents name, and notes what its owner calls each path."""

        def file(file_id: str) -> Path:
            path = self._files.path(file_id, who)
            if names is not None:
                names[str(path)] = self._files.get(file_id, who).name
            return path

        def result(job_id: str, what: str) -> Path:
            path = self.file(job_id, what, who)
            if names is not None:
                names[str(path)] = f"{what} of job {job_id[:8]}"
            return path

        return Resolver(file, result, self._settings, who.name)


def _require_sense(kind: type[Kind], document: Mapping[str, Any]) -> None:
    """Read a document as its job will; a value of a type that nobody thought of is refused, too."""
    try:
        kind.check(document)
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
        raise JobError(f"a value in the document has the wrong type ({type(error).__name__})") from None
