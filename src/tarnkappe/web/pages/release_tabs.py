"""The ways to look at a release, on the pages of it that still have a socket."""

from __future__ import annotations

from tarnkappe.web.views.job_pages import views_of
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import box, link


def tabs(visit: Visit, job_id: str, current: str) -> None:
    """Links to all of them, the one that is shown marked."""
    with box("links card", "nav", aria_label=visit.t("run.views")):
        for name, text, address in views_of(visit, job_id):
            link(text, address, aria_current="page" if name == current else None)
