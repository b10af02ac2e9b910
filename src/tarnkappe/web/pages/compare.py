"""Several ways to publish the same table, side by side; nothing is released."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from tarnkappe.drawing import ACCENT, INK, RAMP, Drawing, Rect, Text
from tarnkappe.errors import JobError
from tarnkappe.recoding import METHODS
from tarnkappe.service.people import Right
from tarnkappe.web.aside import aside
from tarnkappe.web.draft import load_draft
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import box, button, card, choice, empty, link, picture, table, tag, tick, title
from tarnkappe.web.work import Watch, figures, start_once

OFFERED = ("auto", *METHODS.names)
FIRST = ("auto", "mondrian", "datafly")
ROW, NAMES, WIDTH = 26, 110, 520


@page("/compare", "compare.title", rights=(Right.PUBLISH,))
async def compare(visit: Visit, parts: dict[str, str]) -> None:
    """Choose a file and methods, or look at a comparison."""
    title(visit.t("compare.title"), visit.t("compare.lead"))
    if "job" in parts:
        job = await aside(visit.house.jobs.get, parts["job"], visit.who)
        Watch(visit, job, lambda: _found(visit, job.id))
        with box("onward"):
            link(visit.t("compare.again"), "/compare", "button")
        return
    files = await aside(visit.house.files.list, visit.who)
    drafts = [(file, await load_draft(visit, file.id)) for file in files]
    ready = {file.id: (file.name, draft) for file, draft in drafts if draft is not None and draft.privacy}
    if not ready:
        empty(visit.t("compare.none"), visit.t("compare.none_help"), "/files", visit.t("runs.to_files"))
        return
    asked: dict[str, Any] = {"file": next(iter(ready)), "methods": set(FIRST)}

    async def start() -> None:
        with shown_errors():
            methods = [name for name in OFFERED if name in asked["methods"]]
            if len(methods) < 2:
                raise JobError.because(visit.t("compare.too_few"))
            draft = ready[asked["file"]][1]
            assert draft is not None
            document = {**draft.document(), "compare": {"methods": methods}}
            job = await start_once(visit, "compare", document)
            ui.navigate.to(f"/compare?job={job.id}")

    with card(visit.t("compare.what")):
        names = {file_id: name for file_id, (name, _) in ready.items()}
        choice(visit.t("compare.file"), names, asked["file"], lambda chosen: asked.update(file=chosen))
        with box("", "fieldset"):
            tag("legend", visit.t("compare.methods"), "strong")
            for name in OFFERED:
                _method(visit, name, asked["methods"])
        button(visit.t("compare.start"), start, "main")


def _method(visit: Visit, name: str, chosen: set[str]) -> None:
    def change(wanted: bool) -> None:
        (chosen.add if wanted else chosen.discard)(name)

    tick(visit.t(f"methods.{name}"), name in chosen, change)


async def _found(visit: Visit, job_id: str) -> None:
    found = await aside(figures, visit, job_id)
    outcomes = found["methods"]
    with card(visit.t("compare.found")):
        tag("p", visit.t("compare.loss_is", loss=visit.t(f"losses.{found['loss_measure']}")), "soft")
        header = [visit.t(f"compare.{key}") for key in ("method", "loss", "suppressed", "error", "seconds")]
        rows = [_row(visit, each) for each in outcomes]
        table(header, rows, label=visit.t("compare.found"), numbers=(1, 2, 3, 4))
        drawn = [each for each in outcomes if each["loss"] is not None]
        if drawn:
            picture(_bars(visit, drawn).to_svg())
        link(
            visit.t("run.download_report"),
            f"/api/v1/jobs/{job_id}/files/report",
            "button",
            download="comparison.html",
        )


def _row(visit: Visit, each: dict[str, Any]) -> list[str]:
    key = f"methods.{each['method']}"
    if each.get("failure"):
        return [visit.t(key), visit.t("compare.failed"), "–", "–", visit.n(each["seconds"])]
    error = (each.get("query_error") or {}).get("median")
    percent = "–" if error is None else f"{visit.n(round(100 * error, 2))} %"
    return [
        visit.t(key),
        visit.n(each["loss"], 5),
        visit.n(each["suppressed"]),
        percent,
        visit.n(each["seconds"], 3),
    ]


def _bars(visit: Visit, outcomes: list[dict[str, Any]]) -> Drawing:
    """The loss of each method as a bar, the least marked."""
    least, most = (pick(each["loss"] for each in outcomes) for pick in (min, max))
    shapes: list[Rect | Text] = []
    for place, each in enumerate(outcomes):
        y, is_best = 8 + place * ROW, each["loss"] == least
        length = (WIDTH - NAMES - 90) * each["loss"] / (most or 1)
        shapes += [
            Text(NAMES - 8, y + ROW / 2, each["method"], 12, INK, "end"),
            Rect(NAMES, y + 4, length, ROW - 8, ACCENT if is_best else RAMP[2], 2),
            Text(NAMES + length + 6, y + ROW / 2, visit.n(each["loss"], 5), 12, INK, bold=is_best),
        ]
    return Drawing(WIDTH, 16 + ROW * len(outcomes), tuple(shapes), visit.t("compare.picture"))
