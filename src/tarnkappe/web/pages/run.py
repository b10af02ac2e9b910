"""One run: how far it is, then what came out, what was verified, and everything to take away."""

from __future__ import annotations

from typing import Any

from tarnkappe.service.people import Right
from tarnkappe.web.path import steps
from tarnkappe.web.site import page
from tarnkappe.web.texts import has
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import box, card, details, figure, link, table, tag, title
from tarnkappe.web.work import Watch, figures

FORMATS = ("csv", "xlsx", "parquet", "arrow")


@page("/runs/{job}", "run.title", rights=(Right.PUBLISH,))
def run(visit: Visit, parts: dict[str, str]) -> None:
    """Progress while it runs, results when it has ended."""
    job = visit.house.jobs.get(parts["job"], visit.who)
    file_id = str(job.document.get("input", {}).get("file", ""))
    if job.kind == "anonymize":
        steps(visit, "run", file_id, job.id)
    kind = f"kinds.{job.kind}"
    title(visit.t(kind) if has(kind) else job.kind, visit.t("run.lead"))
    Watch(visit, job.id, lambda: _results(visit, job.id, job.kind))


def tabs(visit: Visit, job_id: str, current: str) -> None:
    """The ways to look at a release."""
    with box("links card", "nav", aria_label=visit.t("run.views")):
        for name in ("result", "lattice", "utility", "risk"):
            address = f"/runs/{job_id}" + ("" if name == "result" else f"/{name}")
            link(visit.t(f"run.{name}"), address, aria_current="page" if name == current else None)


def _results(visit: Visit, job_id: str, kind: str) -> None:
    if kind != "anonymize":
        with card(visit.t("run.said")):
            tag("pre", str(visit.house.jobs.result(job_id, visit.who)["text"]))
        return
    found = figures(visit, job_id)
    tabs(visit, job_id, "result")
    with box("figures"):
        figure(f"{visit.n(found['released_rows'])}", visit.t("run.released", rows=visit.n(found["rows"])))
        figure(visit.n(found["suppressed"]), visit.t("run.suppressed"))
        figure(visit.n(found["classes"]), visit.t("run.classes"))
        figure(visit.n(found["loss"], 6), _proof(visit, found))
    with card(visit.t("run.promises")):
        _promises(visit, found)
    _levels(visit, found)
    _downloads(visit, job_id)
    head = found.get("head")
    if head:
        with details(visit.t("run.first_rows")):
            table(head["columns"], head["rows"], label=visit.t("run.first_rows"), heads=False)


def _proof(visit: Visit, found: dict[str, Any]) -> str:
    name = visit.t(f"losses.{found['loss_measure']}")
    unproven = "loss_levels" if found.get("optimal_levels") else "loss_found"
    return visit.t("run.loss_optimal" if found["optimal"] else f"run.{unproven}", loss=name)


def _promises(visit: Visit, found: dict[str, Any]) -> None:
    tag("p", visit.t("run.verified_help"), "soft")
    rows = []
    for each in found["verified"]:
        key = f"models.{each['model']}.title"
        measured = visit.n(each["value"]) if each["value"] is not None else "–"
        holds = visit.t("run.holds" if each["holds"] else "run.broken")
        demanded = ", ".join(
            f"{name} = {value}"
            for name, value in each.items()
            if name not in ("model", "value", "holds") and value
        )
        rows.append([visit.t(key) if has(key) else each["model"], demanded, measured, holds])
    header = [visit.t(f"run.{key}") for key in ("promise", "demanded", "measured", "verdict")]
    table(header, rows, label=visit.t("run.promises"), numbers=(2,))


def _levels(visit: Visit, found: dict[str, Any]) -> None:
    if found.get("levels"):
        with card(visit.t("run.levels")):
            stories = {story["name"]: story for story in found.get("stories", [])}
            rows = []
            for name, level in found["levels"].items():
                story = stories.get(name, {})
                before, after = story.get("distinct_before"), story.get("distinct_after")
                rows.append([name, str(level), visit.n(before), visit.n(after)])
            header = [visit.t(f"run.{key}") for key in ("column", "level", "before", "after")]
            table(header, rows, label=visit.t("run.levels"), numbers=(1, 2, 3))


def _downloads(visit: Visit, job_id: str) -> None:
    address = f"/api/v1/jobs/{job_id}/files"
    with card(visit.t("run.download")) as part:
        part.props["id"] = "download"
        tag("p", visit.t("run.download_help"), "soft")
        with box("line"):
            for form in FORMATS:
                kind = "button main" if form == FORMATS[0] else "button"
                name = visit.t("run.download_release", format=visit.t(f"formats.{form}"))
                link(name, f"{address}/release?format={form}", kind, download=f"release.{form}")
        with box("line onward"):
            link(visit.t("run.download_report"), f"{address}/report", "button", download="report.html")
            link(visit.t("run.download_manifest"), f"{address}/manifest", "button", download="manifest.json")
