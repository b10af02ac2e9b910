"""What the release still tells: for every column the distribution before and after."""

from __future__ import annotations

from tarnkappe.report.column_pictures import draw_story, ends
from tarnkappe.report.release_page import UNNAMED
from tarnkappe.service.people import Right
from tarnkappe.web.pages.run import tabs
from tarnkappe.web.path import steps
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import box, card, empty, picture, tag, title
from tarnkappe.web.work import Watch, figures


@page("/runs/{job}/utility", "utility.title", rights=(Right.PUBLISH,))
def utility(visit: Visit, parts: dict[str, str]) -> None:
    """A picture for each quasi-identifier."""
    job = visit.house.jobs.get(parts["job"], visit.who)
    steps(visit, "lattice", str(job.document.get("input", {}).get("file", "")), job.id)
    title(visit.t("utility.title"), visit.t("utility.lead"))
    tabs(visit, job.id, "utility")
    Watch(visit, job.id, lambda: _pictures(visit, job.id))


def _pictures(visit: Visit, job_id: str) -> None:
    stories = figures(visit, job_id).get("stories") or []
    if not stories:
        empty(visit.t("utility.none"), visit.t("utility.none_help"))
        return
    with box("line row"):
        for name in ("before", "after"):
            with tag("span", "", f"key {name}"):
                tag("i")
                tag("span", visit.t(f"utility.{name}"))
    with box("columns"):
        for story in stories:
            with card(story["name"]):
                lost = visit.n(round(100 * story["lost"], 1))
                numbers = {
                    "before": visit.n(story["distinct_before"]),
                    "after": visit.n(story["distinct_after"]),
                }
                tag("p", visit.t("utility.values", **numbers), "small")
                tag("p", visit.t("utility.lost", lost=lost), "small soft")
                label = visit.t("utility.label", column=story["name"])
                picture(draw_story(story, label, visit.t("utility.tip"), visit.t("utility.rare_tip")))
                with box("ends"):
                    for end in ends(story):
                        tag("span", visit.t("utility.unnamed") if end == UNNAMED else end)
