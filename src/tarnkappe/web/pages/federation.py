"""A federation as its consortium follows it: the contract, who learns what, and how far each party is."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import Any

from nicegui import ui

from tarnkappe.errors import LoginError
from tarnkappe.service.people import Right
from tarnkappe.web.aside import aside
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.site import page
from tarnkappe.web.texts import has
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import (
    Live,
    box,
    button,
    card,
    details,
    empty,
    links_to_each,
    notice,
    table,
    tag,
    title,
)
from tarnkappe.web.work import Watch, start_once

SECONDS = 1.0
"""Between two looks at the parties."""


@page("/federation", "federation.title", rights=(Right.FEDERATE,))
async def federation(visit: Visit, parts: dict[str, str]) -> None:
    """One federation, or which ones there are."""
    title(visit.t("federation.title"), visit.t("federation.lead"))
    names = visit.house.federations.names(visit.who)
    if not names:
        empty(visit.t("federation.none"), visit.t("federation.none_help"))
        tag("pre", visit.t("federation.none_example"))
        return
    chosen = parts.get("name", names[0])
    links_to_each("/federation", names, chosen, visit.t("federation.federations"))
    contract = await aside(visit.house.federations.contract, chosen, visit.who)
    with card(visit.t("federation.parties")):
        _start(visit, chosen, Monitor(visit, chosen, await aside(_last_run, visit, chosen)))
    with card(visit.t("federation.learned")):
        tag("p", visit.t("federation.learned_help"), "soft")
        for party, lines in contract["learned"].items():
            tag("h3", party)
            with box("", "ul"):
                for line in lines:
                    tag("li", line)
    with details(visit.t("federation.contract")):
        tag("pre", contract["text"])


def _last_run(visit: Visit, name: str) -> str | None:
    """The run of a federation that the visitor has started last."""
    jobs = (job.document for job in visit.house.jobs.list(visit.who) if job.kind == "federate")
    return next((asked.get("run") for asked in jobs if asked.get("federation") == name), None)


def _start(visit: Visit, name: str, monitor: Monitor) -> None:
    """Propose the contract to all parties, and run it when they have agreed."""
    asked = {"run": secrets.token_hex(16), "job": ""}

    def released() -> None:
        notice("good", visit.t("federation.released"))

    async def start() -> None:
        with shown_errors():
            if asked["job"] and (await aside(visit.house.jobs.get, asked["job"], visit.who)).has_ended:
                asked["run"] = secrets.token_hex(16)
            run = asked["run"]
            job = await start_once(visit, "federate", {"federation": name, "run": run})
            asked["job"], monitor.run = job.id, run
            place.clear()
            with place:
                Watch(visit, job, released)

    tag("p", visit.t("federation.start_help"), "soft")
    button(visit.t("federation.start"), start)
    place = box("result")


class Monitor:
    """How far each party is, looked at again and again while the page is open."""

    def __init__(self, visit: Visit, name: str, run: str | None) -> None:
        self.visit, self.name, self.run = visit, name, run
        self.parties: dict[str, dict[str, Any]] = {}
        self.part = Live(self._show)
        self.is_looking = False
        ui.timer(SECONDS, self._look, immediate=True)

    async def _look(self) -> None:
        if self.is_looking:
            return
        self.is_looking = True
        try:
            with suppress(LoginError), shown_errors():
                found = await aside(self.visit.house.federations.status, self.name, self.visit.who, self.run)
                if found["parties"] != self.parties:
                    self.parties = found["parties"]
                    self.part.refresh()
        finally:
            self.is_looking = False

    def _show(self) -> None:
        t = self.visit.t
        if not self.parties:
            tag("p", t("federation.asking"), "soft", role="status")
            return
        rows = []
        for party, status in self.parties.items():
            key = f"stages.party_{status['state']}"
            stage = t(key) if has(key) else status["state"]
            rows.append([party, stage, self.visit.n(status.get("taken")), status.get("error") or "–"])
        header = [t(f"federation.{key}") for key in ("party", "stage", "messages", "trouble")]
        table(header, rows, label=t("federation.parties"), numbers=(2,))
