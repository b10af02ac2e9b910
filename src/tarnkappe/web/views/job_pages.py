"""What pages of jobs have in common: the way to the release, progress, and jobs that belong to another."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from tarnkappe.errors import TarnkappeError
from tarnkappe.service.jobs import JobRecord, JobState
from tarnkappe.texts import told
from tarnkappe.web.filling import draw_filling
from tarnkappe.web.navigation import STEPS, step_addresses
from tarnkappe.web.reasons import BEST
from tarnkappe.web.rendering import picture
from tarnkappe.web.texts import has
from tarnkappe.web.visit import Visit

BADGES = {"done": "good", "failed": "bad", "cancelled": "warn"}


def kind_name(visit: Visit, kind: str) -> str:
    """What people call a kind of job."""
    key = f"kinds.{kind}"
    return visit.t(key) if has(key) else kind


def file_of(job: JobRecord) -> str:
    """The upload that a job reads, if it reads one."""
    return str(job.document.get("input", {}).get("file", ""))


def way(job: JobRecord, current: str) -> dict[str, Any]:
    """Where on the way from a file to its release a page is."""
    return {"names": STEPS, "current": current, "addresses": step_addresses(file_of(job), job.id)}


def views_of(visit: Visit, job_id: str) -> list[tuple[str, str, str]]:
    """The ways to look at a release."""
    return [
        (name, visit.t(f"run.{name}"), f"/runs/{job_id}" + ("" if name == "result" else f"/{name}"))
        for name in ("result", "lattice", "utility", "risk")
    ]


@dataclasses.dataclass(frozen=True)
class JobProgress:
    """How far a job is, in words.

    Attributes:
        heading: whether it waits or works.
        stage: what it is doing.
        done: how much of it.
        total: of how much; 0 if nobody knows.
        best: what it has found so far.
        can_finish: whether that may be taken.
        lattice: a picture of the search, if there is one.
    """

    heading: str
    stage: str
    done: int
    total: int
    best: str
    can_finish: bool
    lattice: Markup | None


def progress_of(visit: Visit, job: JobRecord) -> JobProgress:
    """How far a job is, from the events it has told."""
    event: Mapping[str, Any] = {}
    note = ""
    rows: list[list[int]] = []
    for each in visit.house.jobs.events_since(job.id, visit.who):
        rows = each.get("lattice") or rows
        if "stage" in each:
            event, note = each, each.get("note") or note
    done, total = event.get("done", 0), event.get("total", 0)
    has_best = note.startswith(BEST)
    return JobProgress(
        visit.t("work.under_way" if job.state is JobState.RUNNING else "work.waiting"),
        _stage(visit, event.get("stage", ""), done, total),
        done,
        total,
        visit.t("work.best", loss=note.removeprefix(BEST)) if has_best else "",
        has_best,
        picture(draw_filling(rows, visit.t("work.filling"))) if rows else None,
    )


def _stage(visit: Visit, stage: str, done: int, total: int) -> str:
    key = f"stages.{stage.replace(' ', '_')}"
    name = visit.t(key) if has(key) else stage
    if not total:
        return name or visit.t("work.starting")
    return visit.t("work.progress", stage=name, done=visit.n(done), total=visit.n(total))


@dataclasses.dataclass(frozen=True)
class BesideJob:
    """A job that looks at the release of another.

    Attributes:
        job: it; None if it could not be asked for.
        trouble: why not, or why it has no result.
        figures: what it has found, once it has ended well.
    """

    job: JobRecord | None
    trouble: str = ""
    figures: Mapping[str, Any] | None = None


def beside_job(
    visit: Visit, kind: str, run: JobRecord, document: Mapping[str, Any], again: str = ""
) -> BesideJob:
    """The job of a kind that belongs to a run: there is one, however often its page is opened.

    Args:
        visit: who looks.
        kind: what is to be found out.
        run: the run whose release is looked at.
        document: what is asked for.
        again: another key, if it is asked for once more.
    """
    try:
        job = visit.house.jobs.start(kind, document, visit.who, f"{kind} of {run.id}{again}")
        if job.state is JobState.DONE:
            return BesideJob(job, figures=visit.house.jobs.result(job.id, visit.who)["figures"])
    except TarnkappeError as error:
        return BesideJob(None, told(visit.language, error))
    return BesideJob(job, told(visit.language, job.error) if job.has_ended else "")
