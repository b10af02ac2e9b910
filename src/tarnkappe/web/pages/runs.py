"""All runs of a person, the newest first."""

from __future__ import annotations

import datetime

from tarnkappe.service.people import Right
from tarnkappe.web.site import page
from tarnkappe.web.texts import has
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import box, card, empty, header_row, link, scroll, tag, title
from tarnkappe.web.work import badge

SHOWN_KINDS = ("anonymize", "check", "attack", "compare", "lattice", "sql")
NEWEST = 100


@page("/runs", "runs.title", rights=(Right.PUBLISH,))
def runs(visit: Visit, parts: dict[str, str]) -> None:
    """A table of runs."""
    del parts
    title(visit.t("runs.title"), visit.t("runs.lead"))
    mine = [job for job in visit.house.jobs.list(visit.who) if job.kind in SHOWN_KINDS][:NEWEST]
    if not mine:
        empty(visit.t("runs.none"), visit.t("runs.none_help"), "/files", visit.t("runs.to_files"))
        return
    with card(), scroll(visit.t("runs.title")), box("", "table"):
        header_row([visit.t(f"runs.{key}") for key in ("kind", "began", "state")])
        with box("", "tbody"):
            for job in mine:
                with box("", "tr"):
                    with box("", "th", scope="row"):
                        key = f"kinds.{job.kind}"
                        link(visit.t(key) if has(key) else job.kind, address_of(job.kind, job.id))
                    began = datetime.datetime.fromtimestamp(job.created, datetime.UTC)
                    tag("td", began.strftime("%Y-%m-%d %H:%M:%S"))
                    with box("", "td"):
                        badge(visit, job)


def address_of(kind: str, job_id: str) -> str:
    """The page that shows a job."""
    return {"compare": f"/compare?job={job_id}", "sql": f"/sql?job={job_id}"}.get(kind, f"/runs/{job_id}")
