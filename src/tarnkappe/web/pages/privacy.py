"""What is promised: guarantees in plain words with their formula beside them, and what they may cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from tarnkappe.errors import TarnkappeError
from tarnkappe.job import Audience
from tarnkappe.job.sections import create_model
from tarnkappe.loss import LOSSES
from tarnkappe.service.people import Right
from tarnkappe.texts import told
from tarnkappe.web.aside import aside
from tarnkappe.web.draft import Draft
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.guarantees import QUESTIONS, Parameter, begin, parameters_of, shown
from tarnkappe.web.pages.columns import profile_and_draft, show_protection
from tarnkappe.web.path import steps
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import (
    Live,
    box,
    button,
    card,
    choice,
    details,
    empty,
    field,
    notice,
    tag,
    tick,
    title,
)
from tarnkappe.web.work import start_once


@page("/files/{file}/privacy", "privacy.title", rights=(Right.PUBLISH,))
async def privacy(visit: Visit, parts: dict[str, str]) -> None:
    """The chosen guarantees, others to add, what may be lost, and the start."""
    file_id = parts["file"]
    steps(visit, "privacy", file_id)
    title(visit.t("privacy.title"), visit.t("privacy.lead"))
    _, draft = await profile_and_draft(visit, file_id)
    files = await aside(visit.house.files.list, visit.who)
    others = {file.id: file.name for file in files if file.id != file_id}
    Wizard(visit, draft, others).show()


class Wizard:
    """The guarantees of one draft while somebody chooses them."""

    def __init__(self, visit: Visit, draft: Draft, others: dict[str, str]) -> None:
        self.visit, self.draft, self.t = visit, draft, visit.t
        self.others = others

    def show(self) -> None:
        """Everything on one page, the usual things first."""
        with card(self.t("privacy.cards")):
            tag("p", self.t("privacy.cards_lead"), "soft")
            with box("models"):
                for audience in Audience:
                    self._card(audience)
        with card(self.t("privacy.chosen")):
            self.chosen = Live(self._chosen)
        with card(self.t("privacy.add")):
            self._questions()
        with card(self.t("privacy.costs")):
            self._costs()
        with box("onward"):
            button(self.t("privacy.start"), self._start, "main")
            tag("span", self.t("privacy.start_help"), "soft small")

    async def _keep(self) -> None:
        await self.draft.save(self.visit)

    # ------------------------------------------------------------------ what most releases promise

    def _card(self, audience: Audience) -> None:
        """What is proposed for those who get the release: the page takes it over and decides nothing."""
        name = self.t(f"release.for.{audience}")

        async def take() -> None:
            with shown_errors():
                stated = {**self.draft.statements, "for": str(audience)}
                asked = self.visit.house.propose(self.draft.file, stated, self.visit.who, self.draft.reading)
                proposal = await asked
                self.draft.audience = str(audience)
                self.draft.privacy = [dict(entry) for entry in proposal["privacy"]]
                self.draft.several_rows = bool(proposal["several_rows_per_person"])
                await self._keep()
                self.chosen.refresh()

        with box("model", "section", aria_label=name):
            tag("h3", name)
            alike = {"model": "k-anonymity", "k": audience.k}
            tag("p", self.t("models.k-anonymity.says", **shown(alike)))
            tag("p", self.t("privacy.card_values", least=str(audience.values)))
            tag("p", self.t("privacy.card_risk", share=f"{1 / audience.k:.0%}"), "soft")
            button(self.t("privacy.take"), take, "small", label=self.t("privacy.take_label", name=name))

    # ------------------------------------------------------------------ what is chosen

    def _chosen(self) -> None:
        if not self.draft.privacy:
            empty(self.t("privacy.none"), self.t("privacy.none_help"))
        for place, entry in enumerate(self.draft.privacy):
            self._guarantee(place, entry)
        show_protection(self.visit, self.draft, self._protect)

    def _guarantee(self, place: int, entry: dict[str, Any]) -> None:
        name = entry["model"]
        with box("model", "section", aria_label=self.t(f"models.{name}.title")):
            with box("line"):
                tag("h3", self.t(f"models.{name}.title"))
                self._remove_button(place, name)
            with box("columns"):
                words = Live(lambda: self._words(entry))
                with box():
                    for parameter in parameters_of(name):
                        self._parameter(entry, parameter, words.refresh)

    def _words(self, entry: dict[str, Any]) -> None:
        name = entry["model"]
        tag("p", self.t(f"models.{name}.says", **shown(entry)))
        tag("span", self.t(f"models.{name}.formula", **shown(entry)), "formula")
        try:
            create_model(entry)
        except TarnkappeError as error:
            notice("bad", self.t("privacy.impossible"), told(self.visit.language, error))

    async def _protect(self, column: str) -> None:
        """Promise several values of a sensitive column of which nothing is promised yet."""
        with shown_errors():
            self.draft.privacy.append(begin("distinct-diversity", [column], []))
            await self._keep()
            self.chosen.refresh()

    def _remove_button(self, place: int, name: str) -> None:
        async def remove() -> None:
            with shown_errors():
                del self.draft.privacy[place]
                await self._keep()
                self.chosen.refresh()

        label = self.t("privacy.remove_label", name=self.t(f"models.{name}.title"))
        button(self.t("privacy.remove"), remove, "small", label=label)

    def _parameter(self, entry: dict[str, Any], parameter: Parameter, changed: Callable[[], None]) -> None:
        name, value = parameter.name, entry.get(parameter.name)
        label = self.t(f"parameters.{name}")
        if parameter.optional:
            label = self.t("privacy.optional", label=label)

        async def change(typed: str | bool) -> None:
            with shown_errors():
                read = typed if isinstance(typed, bool) else parameter.read(typed)
                entry.pop(name, None)
                if read is not None and read is not False:
                    entry[name] = read
                await self._keep()
            changed()

        if parameter.kind == "column":
            columns = {each: each for each in (*self.draft.with_role("sensitive"), *self.draft.roles)}
            choice(label, columns, str(value), change)
        elif parameter.kind == "choice":
            choice(
                label, {each: each for each in parameter.options}, str(value or parameter.options[0]), change
            )
        elif parameter.kind == "tick":
            tick(label, bool(value), change)
        else:
            kind = "text" if parameter.kind != "number" else "number"
            field(
                label,
                parameter.write(value),
                change,
                kind=kind,
                step="any" if kind == "number" else None,
                live=True,
            )

    # ------------------------------------------------------------------ what can be added

    def _questions(self) -> None:
        for question, models in QUESTIONS.items():
            with details(self.t(f"questions.{question}"), is_open=question == "first"), box("models"):
                for name in models:
                    self._offer(name)

    def _offer(self, name: str) -> None:
        sensitive, known = self.draft.with_role("sensitive"), self.draft.quasi_identifiers

        async def add() -> None:
            with shown_errors():
                self.draft.privacy.append(begin(name, sensitive, known))
                await self._keep()
                self.chosen.refresh()

        title_text = self.t(f"models.{name}.title")
        with box("model"):
            tag("h3", title_text)
            offered = begin(name, sensitive or ["…"], known or ["…"])
            tag("p", self.t(f"models.{name}.says", **shown(offered)), "soft")
            button(
                self.t("privacy.add_one"), add, "small", label=self.t("privacy.add_label", name=title_text)
            )

    # ------------------------------------------------------------------ what it may cost

    def _costs(self) -> None:
        async def limit(typed: str) -> None:
            with shown_errors():
                self.draft.suppression_limit = min(max(float(typed or 0) / 100, 0.0), 1.0)
                await self._keep()

        async def loss(name: str) -> None:
            with shown_errors():
                self.draft.loss = LOSSES[name].name
                await self._keep()

        async def population(file_id: str) -> None:
            with shown_errors():
                self.draft.population = file_id
                await self._keep()

        async def several(wanted: bool) -> None:
            with shown_errors():
                self.draft.several_rows = wanted
                await self._keep()

        with box("row"):
            percent = f"{100 * self.draft.suppression_limit:g}"
            field(
                self.t("privacy.limit"),
                percent,
                limit,
                hint=self.t("privacy.limit_help"),
                kind="number",
                min=0,
                max=100,
            )
            losses = {name: self.t(f"losses.{name}") for name in LOSSES.names}
            choice(self.t("privacy.loss"), losses, self.draft.loss, loss, hint=self.t("privacy.loss_help"))
            files = {"": self.t("privacy.no_population"), **self.others}
            hint = self.t("privacy.population_help")
            choice(self.t("privacy.population"), files, self.draft.population, population, hint=hint)
        tick(self.t("privacy.several_rows"), self.draft.several_rows, several)

    async def _start(self) -> None:
        with shown_errors():
            job = await start_once(self.visit, "anonymize", self.draft.document())
            ui.navigate.to(f"/runs/{job.id}")
