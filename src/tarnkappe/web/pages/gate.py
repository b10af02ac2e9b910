"""The console of a gate: who asked what, what everybody keeps, artificial values, and the proof of it all."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tarnkappe.drawing import ACCENT, INK, LINE, MARK, SOFT, Drawing, Path, Shape, Text
from tarnkappe.service.people import Right
from tarnkappe.web.aside import aside
from tarnkappe.web.audit import show_log
from tarnkappe.web.site import page
from tarnkappe.web.troubles import told
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import box, button, card, empty, figure, link, notice, picture, table, tag, title
from tarnkappe.web.work import Watch, figures

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 180, 48, 26


@page("/gate", "gate.title", rights=(Right.WATCH_GATE,))
async def gate(visit: Visit, parts: dict[str, str]) -> None:
    """One gate, or which ones there are."""
    title(visit.t("gate.title"), visit.t("gate.lead"))
    names = visit.house.gates.names(visit.who)
    if not names:
        empty(visit.t("gate.none"), visit.t("gate.none_help"))
        tag("pre", visit.t("gate.none_example"))
        return
    chosen = parts.get("name", names[0])
    with box("links card", "nav", aria_label=visit.t("gate.gates")):
        for name in names:
            link(name, f"/gate?{urlencode({'name': name})}", aria_current="page" if name == chosen else None)
    status = await aside(visit.house.gates.status, chosen, visit.who)
    _status(visit, status)
    with card(visit.t("gate.proof")):
        _proof(visit, chosen)
    with card(visit.t("log.title")):
        show_log(visit, await aside(visit.house.gates.log, chosen, visit.who))


def _status(visit: Visit, status: dict[str, Any]) -> None:
    histories = status["histories"]
    with box("figures"):
        figure(status["table"], visit.t("gate.table"))
        figure(", ".join(f"{name}: {k}" for name, k in status["k"].items()), visit.t("gate.k"))
        figure(visit.n(sum(each["answers"] for each in histories)), visit.t("gate.answers"))
        figure(visit.n(sum(each["artificial"] for each in histories)), visit.t("gate.artificial"))
    for warning in status["warnings"]:
        notice("warn", visit.t("gate.warning"), warning)
    if not histories:
        empty(visit.t("gate.no_answers"), visit.t("gate.no_answers_help"))
        return
    with card(visit.t("gate.who")):
        header = [
            visit.t(f"gate.{key}")
            for key in ("history", "column", "answers", "people", "values", "artificial")
        ]
        keys = ("answers", "people", "values", "artificial")
        rows = [
            [each["history"], each["column"], *(visit.n(each[key]) for key in keys)] for each in histories
        ]
        table(header, rows, label=visit.t("gate.who"), numbers=(2, 3, 4, 5))
    for each in histories:
        if len(each["timeline"]) > 1:
            with card(visit.t("gate.over_time", column=each["column"], history=each["history"])):
                picture(_timeline(visit, each["timeline"]).to_svg())


def _timeline(visit: Visit, timeline: list[dict[str, int]]) -> Drawing:
    """People and artificial values, added up over the answers."""
    sums = {"people": [0], "artificial": [0]}
    for step in timeline:
        sums["people"].append(sums["people"][-1] + step["newcomers"])
        sums["artificial"].append(sums["artificial"][-1] + step["artificial"])
    most = max(*sums["people"], *sums["artificial"], 1)
    floor = HEIGHT - BOTTOM
    shapes: list[Shape] = [
        Path(((LEFT, floor), (WIDTH - 110, floor)), LINE),
        Text(LEFT - 6, 16, visit.n(most), 11, SOFT, "end"),
        Text(LEFT - 6, floor, "0", 11, SOFT, "end"),
        Text(WIDTH - 110, floor + 14, visit.t("gate.answers_axis", answers=len(timeline)), 11, SOFT, "end"),
    ]
    for name, colour in (("people", ACCENT), ("artificial", MARK)):
        points = tuple(
            (LEFT + (WIDTH - 110 - LEFT) * i / len(timeline), floor - (floor - 16) * value / most)
            for i, value in enumerate(sums[name])
        )
        shapes += [
            Path(points, colour, 2),
            Text(WIDTH - 102, points[-1][1], visit.t(f"gate.{name}"), 11, INK),
        ]
    return Drawing(WIDTH, HEIGHT, tuple(shapes), visit.t("gate.timeline"))


def _proof(visit: Visit, name: str) -> None:
    def prove() -> None:
        with told():
            job = visit.house.jobs.start("gate-proof", {"gate": name}, visit.who)
            place.clear()
            with place:
                Watch(visit, job.id, lambda: _proven(visit, job.id))

    tag("p", visit.t("gate.proof_help"), "soft")
    button(visit.t("gate.prove"), prove)
    place = box("result")


def _proven(visit: Visit, job_id: str) -> None:
    proven = figures(visit, job_id)["proven"]
    if not proven:
        notice("good", visit.t("gate.nothing_to_prove"))
    for each in proven:
        words = {key: each[key] for key in ("column", "history", "answers", "people", "k")}
        notice("good", visit.t("gate.proven", **words))
