"""A release in one step: who gets it, what is promised, what becomes of every column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from tarnkappe.errors import TarnkappeError
from tarnkappe.job import Audience
from tarnkappe.web.draft import Draft
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.guarantees import shown
from tarnkappe.web.reasons import in_words
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import Live, box, button, card, choice, notice, tag
from tarnkappe.web.work import start_once

FATES = ("identifier", "quasi-identifier", "sensitive", "insensitive")
Proposal = Mapping[str, Any]


class ReleaseCard:
    """What the proposal makes of a file with what was decided about its columns; and the start.

    The page decides nothing: whatever was decided is stated, and the proposal is asked for again.
    """

    def __init__(self, visit: Visit, draft: Draft, profile: Mapping[str, Any]) -> None:
        self.visit, self.draft = visit, draft
        self.first: Proposal | None = profile.get("proposal")
        self.proposal, self.refused = self.first, str(profile.get("refused") or "")
        with card(visit.t("release.title")):
            tag("p", visit.t("release.lead"), "soft")
            options = {str(each): visit.t(f"release.for.{each}") for each in Audience}
            choice(visit.t("release.audience"), options, draft.audience, self._choose)
            with box("", role="status"):
                self.told = Live(self._tell)
            if draft.statements:  # decided on an earlier visit
                ui.timer(0.0, self.refresh, once=True)
            with box("onward"):
                button(visit.t("release.start"), self._start, "main")

    async def refresh(self) -> None:
        """Ask for the proposal that follows from what is decided now."""
        with shown_errors():
            await self._ask()
        self.told.refresh()

    async def _choose(self, audience: str) -> None:
        with shown_errors():
            self.draft.audience = str(Audience.parse(audience))
            await self.draft.save(self.visit)
        await self.refresh()

    async def _ask(self) -> None:
        stated = self.draft.statements
        if not stated and self.first is not None:
            self.proposal, self.refused = self.first, ""
            return
        try:
            house = self.visit.house
            asked = house.propose(self.draft.file, stated, self.visit.who, self.draft.reading)
            self.proposal, self.refused = await asked, ""
        except TarnkappeError as error:
            self.proposal, self.refused = None, error.reason

    def _tell(self) -> None:
        visit = self.visit
        if self.proposal is None:
            notice("bad", visit.t("release.none"), in_words(visit.language, self.refused))
            return
        for entry in self.proposal["privacy"]:
            tag("p", visit.t(f"models.{entry['model']}.says", **shown(dict(entry))), "strong")
        columns = self.proposal["columns"]
        for role in FATES:
            names = [name for name, column in columns.items() if column["role"] == role]
            if names:
                tag("p", visit.t(f"release.becomes.{role}", columns=", ".join(names)))
        promised = {entry.get("column") for entry in self.proposal["privacy"]}
        bare = [n for n, column in columns.items() if column["role"] == "sensitive" and n not in promised]
        if bare:
            text = visit.t("columns.unprotected", column=", ".join(bare))
            notice("bad", text, visit.t("columns.unprotected_help"))
        guesses = [name for name, column in columns.items() if column["certainty"] == "guess"]
        if guesses:
            notice("warn", visit.t("release.guesses", columns=", ".join(guesses)))
        for note in self.proposal["notes"]:
            tag("p", in_words(visit.language, note), "soft small")

    async def _start(self) -> None:
        with shown_errors():
            await self._ask()
            if self.proposal is None:
                self.told.refresh()
                return
            job = await start_once(self.visit, "anonymize", self.proposal["document"])
            ui.navigate.to(f"/runs/{job.id}")
