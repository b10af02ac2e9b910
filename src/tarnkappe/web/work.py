"""Jobs as pages see them: their state in words, their progress, and the job that belongs to another."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from nicegui import ui

from tarnkappe.errors import LoginError
from tarnkappe.service.jobs import JobRecord, JobState
from tarnkappe.state.canonical import canonical_json
from tarnkappe.texts import told
from tarnkappe.web.aside import aside
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.filling import draw_filling
from tarnkappe.web.reasons import BEST
from tarnkappe.web.texts import has
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import Live, box, button, notice, picture, tag

SECONDS = 0.4
"""Between two looks at a job that is under way."""
LOST = (JobState.FAILED, JobState.CANCELLED)
BADGES = {"done": "good", "failed": "bad", "cancelled": "warn"}


def badge(visit: Visit, job: JobRecord) -> None:
    """The state of a job."""
    tag("span", visit.t(f"states.{job.state}"), f"badge {BADGES.get(str(job.state), '')}")


async def start_once(visit: Visit, kind: str, document: Mapping[str, Any], round: int = 0) -> JobRecord:
    """Start a job; who asks twice for the same on one page, by a double click, gets one.

    Where the same may be asked again for good, the page counts its rounds.
    """
    asked = canonical_json([kind, document, round])
    key = f"{visit.page}-{hashlib.sha256(asked).hexdigest()}"
    return await aside(visit.house.jobs.start, kind, dict(document), visit.who, key)


async def beside(visit: Visit, kind: str, document: Mapping[str, Any]) -> JobRecord:
    """The job of a kind on a document: one that is there already, or a new one."""
    same = [
        job
        for job in await aside(visit.house.jobs.list, visit.who)
        if job.kind == kind and job.document == document
    ]
    there = next((job for job in same if job.state not in LOST), None)
    return there or await start_once(visit, kind, document, round=len(same))


def figures(visit: Visit, job_id: str) -> dict[str, Any]:
    """What a job has found."""
    found: dict[str, Any] = visit.house.jobs.result(job_id, visit.who)["figures"]
    return found


class Watch:
    """Shows a job while it is under way, and what comes after it when it has ended.

    Buttons stay where they are while the figures beside them change: who uses the keyboard keeps his place.
    """

    def __init__(self, visit: Visit, job: JobRecord, after: Callable[[], Awaitable[None] | None]) -> None:
        self.visit, self.job, self.after = visit, job, after
        self.event: dict[str, Any] = {}
        self.seen = 0
        self.note = ""
        self.rows: list[list[int]] = []
        self.place = box()
        with self.place:
            if job.has_ended:
                self._end()
                return
            with box("card"):
                with box("", role="status"):
                    self.status = Live(self._status)
                with box("line"):
                    self.finish = button(visit.t("work.finish"), self._finish)
                    self.finish.set_visibility(False)
                    button(visit.t("work.cancel"), self._cancel, "danger")
        self.timer = ui.timer(SECONDS, self._look)

    async def _look(self) -> None:
        found = await aside(self._ask)
        if not self.timer.active:
            return  # another look has seen the end meanwhile
        if found is None:
            self.timer.deactivate()
            return
        events, self.job = found
        for event in events:
            self.seen = event["n"]
            self.rows = event.get("lattice") or self.rows
            if "stage" in event:
                self.event, self.note = event, event.get("note") or self.note
        if not self.job.has_ended:
            self.finish.set_visibility(self.note.startswith(BEST))
            self.status.refresh()
            return
        self.timer.deactivate()
        self.place.clear()
        with self.place, suppress(LoginError), shown_errors():
            self._end()

    def _ask(self) -> tuple[list[dict[str, Any]], JobRecord] | None:
        """What has happened, and where the job stands; None if she was logged out, or may do less now."""
        if not self.visit.is_current:
            return None
        jobs, job_id = self.visit.house.jobs, self.job.id
        return list(jobs.events_since(job_id, self.visit.who, self.seen)), jobs.get(job_id, self.visit.who)

    def _end(self) -> None:
        job = self.job
        if job.state is JobState.DONE:
            waiting = self.after()
            if waiting is not None:
                self._later(waiting)
            return
        kind = "bad" if job.state is JobState.FAILED else "warn"
        notice(kind, self.visit.t(f"work.{job.state}"), told(self.visit.language, job.error))

    def _later(self, waiting: Awaitable[None]) -> None:
        """Show what has to be waited for when it is there; the page goes on meanwhile."""

        async def show() -> None:
            with suppress(LoginError), shown_errors():
                await waiting

        ui.timer(0.0, show, once=True)

    def _status(self) -> None:
        t, job = self.visit.t, self.job
        done, total = self.event.get("done", 0), self.event.get("total", 0)
        tag("h2", t("work.under_way") if job.state is JobState.RUNNING else t("work.waiting"))
        tag("p", self._stage(self.event.get("stage", ""), done, total))
        with box("meter"):
            tag("i", style=f"width:{100 * done / total if total else 0:.1f}%")
        if self.note:
            tag("p", self._best(), "strong")
        if self.rows:
            tag("p", t("work.filling"), "soft small")
            picture(draw_filling(self.rows, t("work.filling")))

    def _stage(self, stage: str, done: int, total: int) -> str:
        key = f"stages.{stage.replace(' ', '_')}"
        name = self.visit.t(key) if has(key) else stage
        if not total:
            return name or self.visit.t("work.starting")
        return self.visit.t("work.progress", stage=name, done=self.visit.n(done), total=self.visit.n(total))

    def _best(self) -> str:
        if self.note.startswith(BEST):
            return self.visit.t("work.best", loss=self.note.removeprefix(BEST))
        return self.visit.t("work.no_best")

    async def _finish(self) -> None:
        with shown_errors():
            await aside(self.visit.house.jobs.finish_early, self.job.id, self.visit.who)

    async def _cancel(self) -> None:
        with shown_errors():
            await aside(self.visit.house.jobs.cancel, self.job.id, self.visit.who)
            await self._look()
