"""What each column is to an attacker: a proposal with its reason, which the steward may change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tarnkappe.service.people import Right
from tarnkappe.table import STATED, Role
from tarnkappe.web.draft import Draft, load_draft
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.path import steps
from tarnkappe.web.reasons import in_words
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.waiting import waiting
from tarnkappe.web.widgets import (
    Live,
    box,
    card,
    choice,
    details,
    figure,
    header_row,
    link,
    notice,
    scroll,
    table,
    tag,
    title,
)

Profile = dict[str, Any]


async def profile_and_draft(visit: Visit, file_id: str) -> tuple[Profile, Draft]:
    """What is known of a file, and what was decided about it; first the proposals are taken over."""
    visit.house.files.get(file_id, visit.who)
    async with waiting(visit.t("columns.looking")):
        profile = await visit.house.profile(file_id, visit.who)
    draft = load_draft(visit, file_id)
    if draft is None:
        draft = Draft(file_id, roles={column["name"]: column["role"] for column in profile["columns"]})
        draft.save(visit)
    return profile, draft


@page("/files/{file}/columns", "columns.title", rights=(Right.PUBLISH,))
async def columns(visit: Visit, parts: dict[str, str]) -> None:
    """All columns with their roles."""
    file_id = parts["file"]
    steps(visit, "columns", file_id)
    stored = visit.house.files.get(file_id, visit.who)
    title(visit.t("columns.title"), visit.t("columns.lead"))
    profile, draft = await profile_and_draft(visit, file_id)
    with box("figures"):
        figure(visit.n(profile["rows"]), visit.t("columns.rows"))
        figure(visit.n(len(profile["columns"])), visit.t("columns.columns"))
        figure(stored.name, visit.t("columns.file"))
    with card(visit.t("columns.roles")):
        _legend(visit)
        _roles(visit, profile, draft, lambda: consequence.refresh())
    with card():
        consequence = Live(lambda: _consequence(visit, draft))
    _head(visit, profile)
    with box("onward"):
        link(visit.t("columns.onward"), f"/files/{file_id}/hierarchies", "button main")


def _legend(visit: Visit) -> None:
    with details(visit.t("columns.what_roles_mean")), box("", "dl"):
        for role in STATED:
            tag("dt", visit.t(f"role.{role}"), "strong")
            tag("dd", visit.t(f"role_means.{role}"), "soft")


def _roles(visit: Visit, profile: Profile, draft: Draft, changed: Callable[[], None]) -> None:
    options = {str(role): visit.t(f"role.{role}") for role in STATED}
    keys = ("name", "role", "why", "kind", "different", "missing")
    with scroll(visit.t("columns.roles")), box("fold", "table"):
        header_row([visit.t(f"columns.{key}") for key in keys], (4, 5))
        with box("", "tbody"):
            for column in profile["columns"]:
                with box("", "tr"):
                    _column(visit, column, draft, options, changed)


def _column(
    visit: Visit,
    column: dict[str, Any],
    draft: Draft,
    options: dict[str, str],
    changed: Callable[[], None],
) -> None:
    name = column["name"]

    def change(role: str) -> None:
        with shown_errors():
            draft.roles[name] = str(Role.parse(role))
            draft.save(visit)
            changed()

    tag("th", name, scope="row")
    with box("", "td"):
        label = visit.t("columns.role_of", name=name)
        choice(label, options, draft.roles.get(name, column["role"]), change, hidden_label=True)
    tag("td", in_words(visit.language, column["reason"]), "soft small")
    kind = visit.t(f"types.{_kind(str(column['type']))}")
    tag("td", kind, "soft small", data_label=visit.t("columns.kind"))
    for key, counted in (("different", column["distinct"]), ("missing", column["missing"])):
        tag("td", visit.n(counted), "number", data_label=visit.t(f"columns.{key}"))


def _kind(type_name: str) -> str:
    """The type of a column in one of the few words that people use."""
    if type_name.startswith(("date", "timestamp", "time")):
        return "date"
    return "number" if type_name.startswith(("int", "uint", "float", "double", "decimal")) else "text"


def _consequence(visit: Visit, draft: Draft) -> None:
    """What the roles mean for the release, and what is missing."""
    tag("h2", visit.t("columns.consequence"))
    for role in STATED:
        names = draft.with_role(str(role))
        if names and role is not Role.SENSITIVE:
            tag("p", visit.t(f"role_does.{role}", columns=", ".join(names)))
    show_protection(visit, draft)
    if not draft.quasi_identifiers:
        notice("warn", visit.t("columns.no_quasi"), visit.t("columns.no_quasi_help"))
    elif not draft.with_role("sensitive"):
        notice("warn", visit.t("columns.no_sensitive"), visit.t("columns.no_sensitive_help"))


def show_protection(visit: Visit, draft: Draft) -> None:
    """What is promised about each sensitive column; one without a promise is protected by nothing."""
    for name, models in draft.promises().items():
        if models:
            words = ", ".join(visit.t(f"models.{model}.title") for model in models)
            tag("p", visit.t("role_does.sensitive", column=name, promises=words))
        else:
            notice("warn", visit.t("columns.unprotected", column=name), visit.t("columns.unprotected_help"))


def _head(visit: Visit, profile: Profile) -> None:
    head = profile.get("head") or {}
    if head.get("rows"):
        with details(visit.t("columns.first_rows")):
            rows = [[str(cell) for cell in row] for row in head["rows"]]
            table(head["columns"], rows, label=visit.t("columns.first_rows"), heads=False)
