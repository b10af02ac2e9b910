"""The console of a gate: who asked what, what everybody keeps, artificial values, and the proof of it all."""

from __future__ import annotations

from typing import Any

from tarnkappe.drawing import ACCENT, INK, LINE, MARK, SOFT, Drawing, Path, Shape, Text
from tarnkappe.service.people import Right
from tarnkappe.web.aside import aside
from tarnkappe.web.audit import show_log
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.reasons import in_words
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import (
    box,
    button,
    card,
    empty,
    figure,
    links_to_each,
    notice,
    picture,
    table,
    tag,
    title,
)
from tarnkappe.web.work import Watch, figures, start_once

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 640, 180, 48, 150, 26
NEWEST = 100
"""So many questions are listed."""


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
    links_to_each("/gate", names, chosen, visit.t("gate.gates"))
    status = await aside(visit.house.gates.status, chosen, visit.who)
    _status(visit, status)
    with card(visit.t("gate.proof")):
        _proof(visit, chosen)
    with card(visit.t("log.title")):
        show_log(visit, await aside(visit.house.gates.log, chosen, visit.who))


def _status(visit: Visit, status: dict[str, Any]) -> None:
    histories, asked = status["histories"], status["asked"]
    with box("figures"):
        figure(status["table"], visit.t("gate.table"))
        figure(", ".join(f"{name}: {k}" for name, k in status["k"].items()), visit.t("gate.k"))
        figure(visit.n(sum(each["answers"] for each in histories)), visit.t("gate.answers"))
        figure(visit.n(sum(each["artificial"] for each in histories)), visit.t("gate.artificial"))
        figure(visit.n(sum(each["refused"] is not None for each in asked)), visit.t("gate.refusals"))
        figure(visit.n(status["left_out"]), visit.t("gate.left_out"))
    for warning in status["warnings"]:
        notice("warn", visit.t("gate.warning"), warning)
    if not histories and not asked:
        empty(visit.t("gate.no_answers"), visit.t("gate.no_answers_help"))
        return
    with card(visit.t("gate.asked")):
        _asked(visit, asked)
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
                tag("h3", visit.t("gate.timeline"))
                picture(_people(visit, each["timeline"]).to_svg())
                tag("h3", visit.t("gate.degrees"))
                picture(_degrees(visit, asked, each, status["k"][each["column"]]).to_svg())


def _asked(visit: Visit, asked: list[dict[str, Any]]) -> None:
    """Who asked what and what became of it, the newest first; values are left out of conditions."""
    tag("p", visit.t("gate.asked_help"), "soft")
    rows = []
    for each in reversed(asked[-NEWEST:]):
        refused, degrees = each["refused"], each["least_degrees"].values()
        outcome = visit.t("gate.answered")
        if refused is not None:
            outcome = visit.t("gate.refused", reason=in_words(visit.language, refused))
        rows.append(
            [
                each["user"],
                each["time"][:19].replace("T", " "),
                ", ".join(each["columns"]),
                each["where"] or visit.t("gate.everybody"),
                outcome,
                visit.n(min(degrees)) if degrees else "–",
            ]
        )
    keys = ("user", "time", "shown", "condition", "outcome", "least")
    table([visit.t(f"gate.{key}") for key in keys], rows, label=visit.t("gate.asked"), numbers=(5,))


def _people(visit: Visit, timeline: list[dict[str, int]]) -> Drawing:
    """People and artificial values, added up over the answers."""
    sums = {"people": [0], "artificial": [0]}
    for step in timeline:
        sums["people"].append(sums["people"][-1] + step["newcomers"])
        sums["artificial"].append(sums["artificial"][-1] + step["artificial"])
    named = {visit.t(f"gate.{name}"): values for name, values in sums.items()}
    axis = visit.t("gate.answers_axis", answers=len(timeline))
    return _curves(visit, named, axis, visit.t("gate.timeline"))


def _degrees(visit: Visit, asked: list[dict[str, Any]], history: dict[str, Any], k: int) -> Drawing:
    """The fewest values that stay possible for anybody, over the questions, and what is promised."""
    column = history["column"]
    mine = [each["least_degrees"].get(column) for each in asked if each["history"] == history["history"]]
    least = [degree for degree in mine if degree is not None]
    named = {visit.t("gate.least"): least, visit.t("gate.promised"): [k] * len(least)}
    axis = visit.t("gate.questions_axis", questions=len(least))
    return _curves(visit, named, axis, visit.t("gate.degrees"))


def _curves(visit: Visit, named: dict[str, list[int]], axis: str, label: str) -> Drawing:
    """Lines over time, each with its name at its end."""
    most = max((value for values in named.values() for value in values), default=1) or 1
    floor, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    shapes: list[Shape] = [
        Path(((LEFT, floor), (right, floor)), LINE),
        Text(LEFT - 6, 16, visit.n(most), 11, SOFT, "end"),
        Text(LEFT - 6, floor, "0", 11, SOFT, "end"),
        Text(right, floor + 14, axis, 11, SOFT, "end"),
    ]
    lines = list(enumerate(zip(named.items(), (ACCENT, MARK), strict=True)))
    for place, ((name, values), colour) in reversed(lines):  # the first one stays visible on the others
        steps = max(len(values) - 1, 1)
        points = tuple(
            (LEFT + (right - LEFT) * i / steps, floor - (floor - 16) * value / most)
            for i, value in enumerate(values)
        )
        height = points[-1][1] if points else floor
        apart = 14 * place if values and all(v[-1:] == values[-1:] for v in named.values()) else 0
        shapes += [Path(points, colour, 2 + 2 * place), Text(right + 8, height + apart, name, 11, INK)]
    return Drawing(WIDTH, HEIGHT, tuple(shapes), label)


def _proof(visit: Visit, name: str) -> None:
    ended = {"rounds": 0}

    async def proven(job_id: str) -> None:
        ended["rounds"] += 1  # what was answered since may be proven again
        await _proven(visit, job_id)

    async def prove() -> None:
        with shown_errors():
            job = await start_once(visit, "gate-proof", {"gate": name}, ended["rounds"])
            place.clear()
            with place:
                Watch(visit, job, lambda: proven(job.id))

    tag("p", visit.t("gate.proof_help"), "soft")
    button(visit.t("gate.prove"), prove)
    place = box("result")


async def _proven(visit: Visit, job_id: str) -> None:
    proven = (await aside(figures, visit, job_id))["proven"]
    if not proven:
        notice("good", visit.t("gate.nothing_to_prove"))
    for each in proven:
        words = {key: each[key] for key in ("column", "history", "answers", "people", "k")}
        whole = "occurrence" in each["proven"]
        notice("good" if whole else "warn", visit.t("gate.proven", **words))
        if not whole:
            notice("warn", visit.t("gate.proven_in_part"))
