"""The whole lattice: what every combination of levels keeps and costs; any good one can be released."""

from __future__ import annotations

import copy
from typing import Any

from nicegui import ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments

from tarnkappe.service.people import Right
from tarnkappe.web.aside import aside
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.navigation import ASSETS
from tarnkappe.web.pages.release_tabs import tabs
from tarnkappe.web.path import steps
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import Live, box, button, card, choice, empty, figure, notice, table, tag, title
from tarnkappe.web.work import Watch, beside, figures, start_once

LISTED = 10
"""How many of the best nodes a table lists."""


class LatticeCanvas(Element, component=ASSETS / "lattice.js"):
    """The picture; it fetches its numbers from the service and says which node was chosen."""


@page("/runs/{job}/lattice", "lattice.title", rights=(Right.PUBLISH,))
async def lattice(visit: Visit, parts: dict[str, str]) -> None:
    """Classify all nodes, if that was not done yet, and show them."""
    job = await aside(visit.house.jobs.get, parts["job"], visit.who)
    steps(visit, "lattice", str(job.document.get("input", {}).get("file", "")), job.id)
    title(visit.t("lattice.title"), visit.t("lattice.lead"))
    tabs(visit, job.id, "lattice")
    document = {key: value for key, value in job.document.items() if key != "output"}
    classified = await beside(visit, "lattice", document)

    async def found() -> None:
        listed = (await aside(figures, visit, classified.id))["listed"] or {}
        Explorer(visit, classified.id, document, listed).show()

    Watch(visit, classified, found)


class Explorer:
    """The lattice while somebody walks in it."""

    def __init__(self, visit: Visit, job_id: str, document: dict[str, Any], found: dict[str, Any]) -> None:
        self.visit, self.job_id, self.document, self.t = visit, job_id, document, visit.t
        self.found = found
        best = self.found.get("best")
        self.best: int = -1 if best is None else best
        self.current = max(self.best, 0)
        self.places = {tuple(levels): place for place, levels in enumerate(self.found.get("nodes", ()))}

    def show(self) -> None:
        """Figures, picture, and the node that is chosen."""
        if not self.places:
            empty(self.t("lattice.too_many"), self.t("lattice.too_many_help"))
            return
        kept = sum(map(bool, self.found["satisfied"]))
        with box("figures"):
            figure(self.visit.n(len(self.places)), self.t("lattice.nodes"))
            figure(self.visit.n(kept), self.t("lattice.kept"))
        if self.best < 0:
            notice("warn", self.t("lattice.no_best"), self.t("lattice.no_best_help"))
        with card(self.t("lattice.picture")):
            tag("p", self.t("lattice.help"), "soft small")
            self._canvas()
        with box("columns"):
            with card(self.t("lattice.chosen")):
                self.levels = Live(self._levels)
                self.panel = Live(self._node)
            with card(self.t("lattice.best_nodes")):
                self._best_nodes()

    def _canvas(self) -> None:
        keys = ("closer", "farther", "whole", "label", "keeps", "breaks", "loss", "suppressed", "failed")
        self.canvas = LatticeCanvas()
        self.canvas.props.update(
            address=f"/data/lattice/{self.job_id}",
            words={key: self.t(f"lattice.{key}") for key in keys} | {"language": self.visit.language},
            chosen=self.current,
        )
        self.canvas.on("choose", self._chosen)

    def _chosen(self, event: GenericEventArguments) -> None:
        self.current = int(event.args)
        self.levels.refresh()
        self.panel.refresh()

    def _levels(self) -> None:
        with box("row"):
            for column, name in enumerate(self.found["columns"]):
                self._level(column, name)

    def _node(self) -> None:
        found, place = self.found, self.current
        keeps = bool(found["satisfied"][place])
        notice("good" if keeps else "warn", self.t("lattice.keeps_long" if keeps else "lattice.breaks_long"))
        with box("figures"):
            figure(self.visit.n(found["loss"][place], 6), self.t("lattice.loss"))
            figure(self.visit.n(found["suppressed"][place]), self.t("lattice.suppressed"))
            figure(self.visit.n(found["classes"][place]), self.t("lattice.classes"))
        button(self.t("lattice.apply"), self._apply, "main", disabled=not keeps)

    def _level(self, column: int, name: str) -> None:
        possible = sorted({node[column] for node in self.found["nodes"]})

        def change(level: str) -> None:
            """Only what is said of the node changes; the choices stay, and with them the focus."""
            levels = list(self.found["nodes"][self.current])
            levels[column] = int(level)
            self.current = self.places[tuple(levels)]
            self.canvas.props["chosen"] = self.current
            self.panel.refresh()

        chosen = str(self.found["nodes"][self.current][column])
        choice(name, {str(each): str(each) for each in possible}, chosen, change)

    def _best_nodes(self) -> None:
        found = self.found
        good = [i for i, keeps in enumerate(found["satisfied"]) if keeps]
        good.sort(key=lambda i: (found["loss"][i], found["nodes"][i]))
        rows = [
            [
                " ".join(map(str, found["nodes"][i])),
                self.visit.n(found["loss"][i], 6),
                self.visit.n(found["suppressed"][i]),
            ]
            for i in good[:LISTED]
        ]
        tag("p", self.t("lattice.levels_of", columns=", ".join(found["columns"])), "soft small")
        header = [self.t(f"lattice.{key}") for key in ("levels", "loss", "suppressed")]
        table(header, rows, label=self.t("lattice.best_nodes"), numbers=(1, 2))

    async def _apply(self) -> None:
        with shown_errors():
            document = copy.deepcopy(self.document)
            for name, level in zip(self.found["columns"], self.found["nodes"][self.current], strict=True):
                plan = {
                    key: value
                    for key, value in document["columns"][name].items()
                    if not key.endswith("level")
                }
                document["columns"][name] = {**plan, "level": level}
            job = await start_once(self.visit, "anonymize", document)
            ui.navigate.to(f"/runs/{job.id}")
