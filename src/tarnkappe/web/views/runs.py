"""All runs of a person, the newest first: which table, which promise, what it cost, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Response

from tarnkappe.errors import NotFoundError
from tarnkappe.service.cursors import Cursor
from tarnkappe.service.jobs import JobRecord, JobState
from tarnkappe.service.people import Right
from tarnkappe.web.addresses import PageRequest, rendered
from tarnkappe.web.rendering import percent, show
from tarnkappe.web.views.job_pages import BADGES, file_of, kind_name
from tarnkappe.web.visit import Visit

SHOWN = 25
RELEASES = ("anonymize",)
ALL = ("anonymize", "check", "attack", "compare", "lattice", "alternatives", "utility", "sql")
SHORT = {"k-anonymity": "k {k}", "distinct-diversity": "l {l} {column}", "equal-closeness": "t {t} {column}"}
"""Promises that have a short name that everybody knows."""


@rendered("/runs", rights=(Right.PUBLISH,))
def runs(visit: Visit, asked: PageRequest) -> Response:
    """A table of runs; what was only looked at is shown on request."""
    after = asked.query.get("after", "")
    shows_all = asked.query.get("kinds") == "all"
    listed = visit.house.jobs.list(
        visit.who, SHOWN + 1, Cursor.parse(after) if after else None, ALL if shows_all else RELEASES
    )
    names = {file.id: file.name for file in visit.house.files.list(visit.who)}
    last = listed[SHOWN - 1] if len(listed) > SHOWN else None
    return show(
        visit,
        "runs.html",
        rows=[_row(visit, job, names) for job in listed[:SHOWN]],
        older="" if last is None else str(Cursor(last.created, last.id)),
        is_first=not after,
        kinds="all" if shows_all else "",
    )


def address_of(job: JobRecord) -> str:
    """The page that shows a job."""
    shown_by = {"compare": f"/compare?job={job.id}", "sql": f"/sql?job={job.id}"}
    return shown_by.get(job.kind, f"/runs/{job.id}")


def _row(visit: Visit, job: JobRecord, names: Mapping[str, str]) -> dict[str, Any]:
    found = _figures(visit, job)
    began, ended = job.started, job.finished
    return {
        "address": address_of(job),
        "kind": kind_name(visit, job.kind),
        "table": names.get(file_of(job), "–"),
        "promise": " · ".join(map(promise_in_short, job.document.get("privacy", []))) or "–",
        "loss": visit.n(found.get("loss"), 3),
        "left_out": percent(visit, found["suppressed"] / found["rows"] if found.get("rows") else None),
        "created": job.created,
        "took": visit.n(round(ended - began, 1)) if began is not None and ended is not None else "–",
        "state": visit.t(f"states.{job.state}"),
        "badge": BADGES.get(str(job.state), ""),
    }


def _figures(visit: Visit, job: JobRecord) -> dict[str, Any]:
    if job.kind != "anonymize" or job.state is not JobState.DONE:
        return {}
    try:
        found: dict[str, Any] = visit.house.jobs.result(job.id, visit.who)["figures"]
    except (NotFoundError, OSError):
        return {}  # it was removed a moment ago
    return found


def promise_in_short(said: Mapping[str, Any]) -> str:
    """A promise in a few letters, as a list has room for.

    >>> promise_in_short({"model": "distinct-diversity", "l": 2, "column": "diagnosis"})
    'l 2 diagnosis'
    """
    name = str(said.get("model", ""))
    try:
        return SHORT[name].format(**said)
    except (KeyError, ValueError):
        return name
