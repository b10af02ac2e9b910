"""What each column is to an attacker: a proposal with its reason, which the steward may change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from nicegui import ui

from tarnkappe.errors import ConflictError, TarnkappeError
from tarnkappe.service.people import Right
from tarnkappe.table import STATED, Role
from tarnkappe.texts import told
from tarnkappe.web.aside import aside
from tarnkappe.web.draft import Draft, load_draft
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.path import steps
from tarnkappe.web.reading_card import reading_card, type_choice
from tarnkappe.web.reasons import in_words
from tarnkappe.web.release_card import ReleaseCard
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.waiting import waiting
from tarnkappe.web.widgets import (
    Live,
    box,
    button,
    card,
    choice,
    details,
    field,
    figure,
    header_row,
    link,
    notice,
    scroll,
    tag,
    title,
)

Profile = dict[str, Any]
Changed = Callable[[], Awaitable[None]]
GUESS = "guess"
MANY = 20
"""From so many columns on, they can be searched by name."""


async def profile_and_draft(visit: Visit, file_id: str) -> tuple[Profile, Draft]:
    """What is known of a file, and what was decided about it; first the proposals are taken over."""
    await aside(visit.house.files.get, file_id, visit.who)
    draft = await load_draft(visit, file_id)
    reading = {} if draft is None else draft.reading
    async with waiting(visit.t("columns.looking")):
        profile = await visit.house.profile(file_id, visit.who, reading)
    proposed = {column["name"]: column["role"] for column in profile["columns"]}
    if draft is None or draft.proposed != proposed:
        draft = draft or Draft(file_id)
        draft.take_over(proposed)
        await draft.save(visit)
    return profile, draft


@page("/files/{file}/columns", "columns.title", rights=(Right.PUBLISH,))
async def columns(visit: Visit, parts: dict[str, str]) -> None:
    """How the file was read, all columns with their roles, and the release that follows from them."""
    file_id = parts["file"]
    steps(visit, "columns", file_id)
    stored = await aside(visit.house.files.get, file_id, visit.who)
    title(visit.t("columns.title"), visit.t("columns.lead"))

    def again() -> None:
        ui.navigate.to(f"/files/{file_id}/columns")

    try:
        profile, draft = await profile_and_draft(visit, file_id)
    except ConflictError:
        raise
    except TarnkappeError as error:
        notice("bad", visit.t("reading.unreadable"), told(visit.language, error))
        reading_card(visit, await load_draft(visit, file_id) or Draft(file_id), None, again)
        return
    with box("figures"):
        figure(visit.n(profile["rows"]), visit.t("columns.rows"))
        figure(visit.n(len(profile["columns"])), visit.t("columns.columns"))
        figure(stored.name, visit.t("columns.file"))
    reading_card(visit, draft, profile, again)
    with card(visit.t("columns.roles")):
        _legend(visit)
        _roles(visit, profile, draft, lambda: _changed(consequence, release), again)
    release = ReleaseCard(visit, draft, profile)
    with card():
        consequence = Live(lambda: _consequence(visit, draft))
        with box("onward"):
            link(visit.t("columns.onward"), f"/files/{file_id}/hierarchies", "button")


async def _changed(consequence: Live, release: ReleaseCard) -> None:
    consequence.refresh()
    await release.refresh()


def _legend(visit: Visit) -> None:
    with details(visit.t("columns.what_roles_mean")), box("", "dl"):
        for role in STATED:
            tag("dt", visit.t(f"role.{role}"), "strong")
            tag("dd", visit.t(f"role_means.{role}"), "soft")


def _roles(visit: Visit, profile: Profile, draft: Draft, changed: Changed, again: Callable[[], None]) -> None:
    """The columns, guesses first: somebody should look at them."""
    options = {str(role): visit.t(f"role.{role}") for role in STATED}
    columns = sorted(profile["columns"], key=lambda column: column["certainty"] != GUESS)
    wanted = ""

    def show() -> None:
        keys = ("name", "role", "why", "kind", "different", "missing")
        with scroll(visit.t("columns.roles")), box("fold", "table"):
            header_row([visit.t(f"columns.{key}") for key in keys], (4, 5))
            with box("", "tbody"):
                for column in columns:
                    if wanted in column["name"].lower():
                        with box("", "tr"):
                            _column(visit, column, draft, options, changed, again)

    def search(typed: str) -> None:
        nonlocal wanted
        wanted = typed.strip().lower()
        shown.refresh()

    if len(columns) >= MANY:
        field(visit.t("columns.search"), "", search, live=True)
    shown = Live(show)


def _column(
    visit: Visit,
    column: dict[str, Any],
    draft: Draft,
    options: dict[str, str],
    changed: Changed,
    again: Callable[[], None],
) -> None:
    name = column["name"]

    async def change(role: str) -> None:
        with shown_errors():
            draft.roles[name] = str(Role.parse(role))
            await draft.save(visit)
            await changed()

    tag("th", name, scope="row")
    with box("", "td"):
        label = visit.t("columns.role_of", name=name)
        choice(label, options, draft.roles.get(name, column["role"]), change, hidden_label=True)
    with box("soft small", "td"):
        if column["certainty"] == GUESS:
            tag("span", visit.t("columns.guess"), "badge warn")
        tag("span", in_words(visit.language, column["reason"]))
    kind = visit.t(f"types.{_kind(column)}")
    with box("soft small", "td", data_label=visit.t("columns.kind")):
        type_choice(visit, draft, name, kind, again)
    for key, counted in (("different", column["distinct"]), ("missing", column["missing"])):
        tag("td", visit.n(counted), "number", data_label=visit.t(f"columns.{key}"))


def _kind(column: dict[str, Any]) -> str:
    """The type of a column in one of the few words that people use: what its texts stand for, if known."""
    spelled, type_name = column.get("spelled"), str(column["type"])
    if spelled in ("date", "number"):
        return str(spelled)
    if type_name.startswith(("date", "timestamp", "time")):
        return "date"
    return "number" if type_name.startswith(("int", "uint", "float", "double", "decimal")) else "text"


def _consequence(visit: Visit, draft: Draft) -> None:
    """What is missing for a release, and the way for those who decide every step."""
    tag("h2", visit.t("columns.consequence"))
    tag("p", visit.t("columns.consequence_help"), "soft")
    if not draft.quasi_identifiers:
        notice("warn", visit.t("columns.no_quasi"), visit.t("columns.no_quasi_help"))
    elif not draft.with_role("sensitive"):
        notice("warn", visit.t("columns.no_sensitive"), visit.t("columns.no_sensitive_help"))


def show_protection(
    visit: Visit, draft: Draft, protect: Callable[[str], Awaitable[None]] | None = None
) -> None:
    """What is promised about each sensitive column; one without a promise is protected by nothing.

    Args:
        visit: who looks at it.
        draft: what was decided.
        protect: promises something about a column, where that can be done at once.
    """
    for name, models in draft.promises().items():
        if models:
            words = ", ".join(visit.t(f"models.{model}.title") for model in models)
            tag("p", visit.t("role_does.sensitive", column=name, promises=words))
        else:
            notice("bad", visit.t("columns.unprotected", column=name), visit.t("columns.unprotected_help"))
            if protect is not None:
                label = visit.t("privacy.protect_label", column=name)
                button(visit.t("privacy.protect"), partial(protect, name), "small", label=label)
