"""The jobs of a house: asked for, waiting, running, ended."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import secrets
import shutil
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import LimitError, NotFoundError, Reason
from tarnkappe.service.cursors import Cursor, after
from tarnkappe.service.jobs.events import Event, state_event
from tarnkappe.service.jobs.lineage import made_from, note_lineage, uploads_behind, without_upload
from tarnkappe.service.jobs.record import ENDED, JobRecord, JobState, record_of
from tarnkappe.service.jobs.requests import answered, digest_of, note_request
from tarnkappe.service.jobs.runners import JobRunners
from tarnkappe.service.jobs.sense import SenseCheck
from tarnkappe.service.people import Account
from tarnkappe.service.tables import IDENTITIES, JOBS, LINEAGE, REQUESTS
from tarnkappe.service.work import KINDS
from tarnkappe.service.worker import RESULT

POLL = 0.1
"""Seconds between two looks of somebody who watches a job."""
LOOK_AGAIN = 50
"""After so many looks at what is in memory, one at the store."""


class Jobs(JobRunners):
    """The jobs of a house; `open` begins to run them. Whoever asks about one needs the right of its kind."""

    @cached_property
    def _sense(self) -> SenseCheck:
        return SenseCheck(self._limits)

    # ------------------------------------------------------------------ asking

    def start(
        self, kind: str, document: Mapping[str, Any], who: Account, key: str | None = None
    ) -> JobRecord:
        """Ask for a job; it is kept when this returns, and runs when its turn comes.

        Args:
            kind: what it does.
            document: what is asked.
            who: asks.
            key: of the request; if it came before, with the same document, there is one job for both.

        Raises:
            JobError: or another error about the document, which is read before anything is kept.
        """
        chosen = KINDS[kind]
        who.require(chosen.right)
        digest = "" if key is None else digest_of(chosen.name, document)
        if key is not None:
            with self._store.reading() as connection:
                before = answered(connection, who, key, digest)
            if before is not None:
                return self.get(before, who)
        used: dict[str, set[str]] = {"files": set(), "jobs": set()}
        resolved = self._resolver(who, used=used).resolve(document, chosen)
        self._sense.require(chosen, resolved, who, self._server)
        job = JobRecord(secrets.token_hex(16), chosen.name, who.id, document, JobState.WAITING, self._clock())
        values = {field.name: getattr(job, field.name) for field in dataclasses.fields(job)}
        values |= {"document": json.dumps(document), "state": str(job.state)}
        with self._store.writing() as connection:
            before = None if key is None else answered(connection, who, key, digest)
            if before is not None:
                row = connection.execute(sa.select(JOBS).where(JOBS.c.id == before)).one()
                return record_of(row)
            behind = uploads_behind(connection, used["files"], used["jobs"])
            open_jobs = sa.select(sa.func.count()).where(
                JOBS.c.owner == who.id, JOBS.c.state.in_([JobState.WAITING, JobState.RUNNING])
            )
            if connection.execute(open_jobs).scalar_one() >= self._limits.jobs_of_one:
                raise LimitError(
                    "service.jobs-under-way-wait",
                    "you have {jobs_of_one} jobs under way: wait for some to end",
                    jobs_of_one=self._limits.jobs_of_one,
                )
            connection.execute(sa.insert(JOBS).values(values))
            note_lineage(connection, job.id, behind)
            if key is not None:
                note_request(connection, who, key, digest, job.id)
            self._log.append("job asked for", {"job": job.id, "kind": kind, "by": who.name}, connection)
        self._events.add(job, state=str(job.state))
        with self._changed:
            self._waiting[job.id] = who.id
            self._changed.notify()
        return job

    def require_unpackable(self, path: Path, who: Account) -> None:
        """Refuse an upload that would become too large when a job reads it."""
        self._sense.require_unpackable(path, who, self._server)

    def get(self, job_id: str, who: Account) -> JobRecord:
        """One of the jobs of a person; those of others are as if they were not there.

        Raises:
            AccessError: it is hers, but she may not do now what it did.
        """
        mine = sa.select(JOBS).where(JOBS.c.id == job_id, JOBS.c.owner == who.id)
        with self._store.reading() as connection:
            row = connection.execute(mine).first()
        if row is None:
            raise NotFoundError("service.no-job", "you have no such job")
        job = record_of(row)
        who.require(KINDS[job.kind].right)
        return job

    def list(
        self,
        who: Account,
        limit: int = 100,
        cursor: Cursor | None = None,
        kinds: Sequence[str] | None = None,
    ) -> list[JobRecord]:
        """The jobs of a person that her roles still allow, the newest first; after a cursor, if given."""
        allowed = [
            kind.name for kind in KINDS if who.may(kind.right) and (kinds is None or kind.name in kinds)
        ]
        mine = sa.select(JOBS).where(JOBS.c.owner == who.id, JOBS.c.kind.in_(allowed), after(JOBS, cursor))
        mine = mine.order_by(JOBS.c.created.desc(), JOBS.c.id.desc()).limit(limit)
        with self._store.reading() as connection:
            return [record_of(row) for row in connection.execute(mine)]

    def made_from(self, file_id: str, who: Account) -> Sequence[JobRecord]:
        """The jobs of a person that come from an upload, the newest first."""
        mine = sa.select(JOBS).join(LINEAGE, LINEAGE.c.job == JOBS.c.id)
        mine = mine.where(LINEAGE.c.file == file_id, JOBS.c.owner == who.id)
        with self._store.reading() as connection:
            rows = connection.execute(mine.order_by(JOBS.c.created.desc(), JOBS.c.id.desc()))
            return [record_of(row) for row in rows]

    def cancel(self, job_id: str, who: Account) -> JobRecord:
        """End a job without a result; one that has ended stays as it is."""
        job = self.get(job_id, who)
        return self._end(job, JobState.CANCELLED) if self._stop(job_id) else job

    def finish_early(self, job_id: str, who: Account) -> None:
        """End the search of a job with the best that it has found so far, which becomes its result."""
        self.get(job_id, who)
        with self._changed:
            running = self._running.get(job_id)
        if running is not None and running.process is not None:
            running.process.interrupt()

    def remove(self, job_id: str, who: Account) -> None:
        """Forget a job and its results; one that runs is cancelled first."""
        self._forget([self.get(job_id, who).id], by=who.name)

    # ------------------------------------------------------------------ watching

    def events_since(self, job_id: str, who: Account, number: int = 0) -> Sequence[Event]:
        """What happened to a job after an event."""
        job = self.get(job_id, who)
        events = self._events.since(job_id, number)
        return events or ([state_event(job)] if job.has_ended and state_event(job)["n"] > number else [])

    async def progress(self, job_id: str, who: Account, seen: int = 0) -> AsyncIterator[Event]:
        """The events of a job as they come; the last one has a state in which it has ended."""
        from anyio import to_thread

        for turn in count():
            for event in self._events.since(job_id, seen):
                seen = event["n"]
                yield event
                if event.get("state") in ENDED:
                    return
            if turn % LOOK_AGAIN == 0:  # the events of a job that ended long ago are forgotten
                job = await to_thread.run_sync(self.get, job_id, who)
                if job.has_ended and not self._events.since(job_id, seen):
                    yield state_event(job)
                    return
            if self._closing:
                return
            await asyncio.sleep(POLL)

    async def wait(self, job_id: str, who: Account) -> JobRecord:
        """A job when it has ended."""
        from anyio import to_thread

        async for _ in self.progress(job_id, who):
            pass
        return await to_thread.run_sync(self.get, job_id, who)

    def result(self, job_id: str, who: Account) -> dict[str, Any]:
        """What a job has found: `figures`, `text`, `exit_code` and the `files` that it made."""
        job = self.get(job_id, who)
        if job.state is not JobState.DONE:
            raise NotFoundError(
                "service.job-no-result", "the job is {state}: it has no result", state=job.state
            )
        found: dict[str, Any] = json.loads((self._folder / job.id / RESULT).read_text(encoding="utf-8"))
        return found

    def file(self, job_id: str, what: str, who: Account) -> Path:
        """Where something is that a job has made."""
        files: dict[str, str] = self.result(job_id, who)["files"]
        if what not in files:
            raise NotFoundError(
                "service.job-made",
                "the job has made no '{what}': it has made {files}",
                what=what,
                files=", ".join(files) or Reason("service.no-file", "no file"),
            )
        return self._folder / job_id / files[what]

    # ------------------------------------------------------------------ cleaning up

    def remove_made_from(self, file_id: str, by: str) -> None:
        """Forget every job that comes from an upload, with its results, whoever has what role now."""
        with self._store.reading() as connection:
            made = made_from(connection, file_id)
        self._forget(made, by)

    def remove_all_of(self, person_id: str, by: str) -> None:
        """Forget every job of somebody who is gone."""
        with self._store.reading() as connection:
            hers = sa.select(JOBS.c.id).where(JOBS.c.owner == person_id)
            jobs = list(connection.execute(hers).scalars())
        self._forget(jobs, by)

    def all_names(self) -> set[str]:
        """What the folders of everybody's jobs are called."""
        with self._store.reading() as connection:
            return set(connection.execute(sa.select(JOBS.c.id)).scalars())

    def uploads_in_use(self) -> set[str]:
        """The uploads from which a job comes that is still kept."""
        with self._store.reading() as connection:
            return set(connection.execute(sa.select(LINEAGE.c.file)).scalars())

    def clean(self) -> None:
        """Remove jobs that are too old, or whose upload or owner is gone, and folders that belong to none."""
        oldest = self._clock() - self._limits.keep_days * 24 * 3600
        here = sa.select(IDENTITIES.c.id).where(IDENTITIES.c.ended.is_(None))
        with self._store.reading() as connection:
            lost = sa.select(JOBS.c.id).where(sa.or_(JOBS.c.finished < oldest, JOBS.c.owner.not_in(here)))
            gone = {*connection.execute(lost).scalars(), *without_upload(connection)}
        self._forget(sorted(gone), by="the service")
        with self._store.reading() as connection:
            kept = set(connection.execute(sa.select(JOBS.c.id)).scalars())
        for folder in self._folder.iterdir():
            if folder.name not in kept:
                shutil.rmtree(folder, ignore_errors=True)

    def _stop(self, job_id: str) -> bool:
        """Let a job go no further; whether it was only waiting."""
        with self._changed:
            running = self._running.get(job_id)
            if running is not None:
                running.cancelled = True
                running.stop.set()
            return self._waiting.pop(job_id, None) is not None

    def _forget(self, jobs: Iterable[str], by: str) -> None:
        """Take jobs away with all that they have made; those that run are ended first."""
        stopped = [*jobs]
        for job_id in stopped:
            self._stop(job_id)
        for job_id in stopped:
            self._await_end(job_id)
            with self._store.writing() as connection:
                for table, column in (
                    (JOBS, JOBS.c.id),
                    (LINEAGE, LINEAGE.c.job),
                    (REQUESTS, REQUESTS.c.job),
                ):
                    connection.execute(sa.delete(table).where(column == job_id))
                self._log.append("job removed", {"job": job_id, "by": by}, connection)
            shutil.rmtree(self._folder / job_id, ignore_errors=True)
            self._events.forget(job_id)

    def _await_end(self, job_id: str) -> None:
        with self._changed:
            self._changed.wait_for(lambda: job_id not in self._running)
            self._waiting.pop(job_id, None)  # its process may have been killed: it would begin anew

    def _result_file(self, job_id: str, what: str, who: Account) -> Path:
        return self.file(job_id, what, who)
