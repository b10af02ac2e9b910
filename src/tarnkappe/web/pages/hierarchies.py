"""How each quasi-identifier becomes coarser: a builder, and at once what it makes of the values."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tarnkappe.errors import TarnkappeError
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.service.people import Right
from tarnkappe.web.builder_forms import FORMS, Entry, Plan, said, start
from tarnkappe.web.draft import Draft
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.pages.columns import profile_and_draft
from tarnkappe.web.path import steps
from tarnkappe.web.reasons import in_words
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import (
    Live,
    area,
    box,
    card,
    choice,
    empty,
    field,
    link,
    notice,
    table,
    tag,
    title,
)

SHOWN = 14
"""How many values a preview lists."""


@page("/files/{file}/hierarchies", "hierarchies.title", rights=(Right.PUBLISH,))
async def hierarchies(visit: Visit, parts: dict[str, str]) -> None:
    """The columns on the left, the hierarchy of one of them on the right."""
    file_id = parts["file"]
    steps(visit, "hierarchies", file_id)
    title(visit.t("hierarchies.title"), visit.t("hierarchies.lead"))
    _, draft = await profile_and_draft(visit, file_id)
    names = draft.quasi_identifiers
    if not names:
        address = f"/files/{file_id}/columns"
        empty(
            visit.t("columns.no_quasi"),
            visit.t("columns.no_quasi_help"),
            address,
            visit.t("hierarchies.back"),
        )
        return
    chosen = parts.get("column", names[0])
    chosen = chosen if chosen in names else names[0]
    with box("links card", "nav", aria_label=visit.t("hierarchies.columns")):
        for name in names:
            current = "page" if name == chosen else None
            link(name, _address(file_id, name), aria_current=current)
    editor = Editor(visit, draft, chosen)
    await editor.show()
    later = names[names.index(chosen) + 1 :]
    with box("onward"):
        if later:
            link(visit.t("hierarchies.next", column=later[0]), _address(file_id, later[0]), "button")
        link(visit.t("hierarchies.onward"), f"/files/{file_id}/privacy", "button main")


def _address(file_id: str, column: str) -> str:
    return f"/files/{file_id}/hierarchies?{urlencode({'column': column})}"


class Editor:
    """The hierarchy of one column while somebody works on it."""

    def __init__(self, visit: Visit, draft: Draft, column: str) -> None:
        self.visit, self.draft, self.column = visit, draft, column
        self.plan: Plan = {"builder": "auto", **draft.hierarchies.get(column, {})}
        self.preview: dict[str, Any] = {}
        self.trouble = ""
        self.version = 0

    async def show(self) -> None:
        """Form and preview, side by side on a wide screen."""
        with box("columns"):
            with card(self.visit.t("hierarchies.how", column=self.column)):
                t = self.visit.t
                options = {name: t(f"builders.{name}.title") for name in BUILDERS.names}
                choice(t("hierarchies.builder"), options, str(self.plan["builder"]), self._choose)
                self.form = Live(self._form)
            with card(self.visit.t("hierarchies.preview"), "preview"):
                self.picture = Live(self._picture)
        await self._look()

    def _form(self) -> None:
        builder = str(self.plan["builder"])
        tag("p", self.visit.t(f"builders.{builder}.says"), "soft small")
        for entry in FORMS[builder]:
            self._entry(builder, entry)

    def _entry(self, builder: str, entry: Entry) -> None:
        label = self.visit.t(f"builders.{builder}.{entry.parameter}")
        hint = self.visit.t(f"builders.{builder}.{entry.parameter}_hint")
        value = self.plan.get(entry.parameter)
        text = "" if value is None else entry.write(value)

        async def change(typed: str) -> None:
            await self._say(entry, typed)

        if entry.options:
            words = {
                option: self.visit.t(f"builders.{builder}.{entry.parameter}_{option}")
                for option in entry.options
            }
            choice(label, words, text or entry.options[0], change, hint=hint)
        elif entry.lines > 1:
            area(label, text, change, hint=hint, rows=entry.lines, live=True)
        else:
            field(label, text, change, hint=hint, live=True)

    async def _choose(self, builder: str) -> None:
        self.plan = start(builder)
        self.form.refresh()
        await self._look()

    async def _say(self, entry: Entry, typed: str) -> None:
        try:
            self.plan = said(self.plan, entry, typed)
        except TarnkappeError as error:
            self._shown({}, error.reason)
            return
        await self._look()

    async def _look(self) -> None:
        """Build the hierarchy; of several that are being built, only the newest is shown and kept."""
        self.version += 1
        version, plan = self.version, dict(self.plan)
        try:
            asked = {} if plan["builder"] == "auto" else plan  # who proposes says why
            found = await self.visit.house.preview(self.draft.file, self.column, asked, self.visit.who)
        except TarnkappeError as error:
            if version == self.version:
                self._shown({}, error.reason)
            return
        if version != self.version:
            return
        with shown_errors():
            self.draft.hierarchies[self.column] = plan
            await self.draft.save(self.visit)
        self._shown(found, "")

    def _shown(self, preview: dict[str, Any], trouble: str) -> None:
        self.preview, self.trouble = preview, trouble
        self.picture.refresh()

    def _picture(self) -> None:
        t = self.visit.t
        if self.trouble:
            notice("bad", t("hierarchies.refused"), in_words(self.visit.language, self.trouble))
            return
        if not self.preview:
            tag("p", t("hierarchies.building"), "soft", role="status")
            return
        if self.preview.get("reason"):
            tag("p", in_words(self.visit.language, self.preview["reason"]), "soft small")
        rows, height = self.preview["rows"], self.preview["height"]
        counts = ", ".join(self.visit.n(level["labels"]) for level in self.preview["levels"])
        tag("p", t("hierarchies.levels", levels=self.visit.n(height), counts=counts), "small")
        header = [
            t("hierarchies.value"),
            *(t("hierarchies.level", level=level) for level in range(1, height + 1)),
        ]
        shown = [rows[place * len(rows) // SHOWN] for place in range(SHOWN)] if len(rows) > SHOWN else rows
        table(header, [list(map(str, row)) for row in shown], label=t("hierarchies.preview"))
        if self.preview["values"] > SHOWN:
            tag(
                "p",
                t("hierarchies.more", more=self.visit.n(self.preview["values"] - len(shown))),
                "soft small",
            )
