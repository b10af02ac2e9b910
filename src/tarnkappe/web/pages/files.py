"""Where a table comes in: dropped, chosen, named in a database, or an example to try everything with."""

from __future__ import annotations

import datetime
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from nicegui import ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments

from tarnkappe.errors import InputError
from tarnkappe.service.files import StoredFile
from tarnkappe.service.people import Right
from tarnkappe.service.security import CSRF_HEADER
from tarnkappe.web.aside import aside
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.example import example_csv
from tarnkappe.web.navigation import ASSETS
from tarnkappe.web.path import steps
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import (
    Live,
    box,
    button,
    card,
    choice,
    empty,
    field,
    header_row,
    link,
    scroll,
    tag,
    title,
)

EXAMPLE = "example-hospital.csv"


class Drop(Element, component=ASSETS / "drop.js"):
    """A place to drop a file on; the browser sends it straight to the service."""


@page("/files", "files.title", rights=(Right.PUBLISH,))
async def files(visit: Visit, parts: dict[str, str]) -> None:
    """Bring a file, or go on with one."""
    del parts
    steps(visit, "files")
    title(visit.t("files.title"), visit.t("files.lead"))
    _drop(visit)

    async def take_example() -> None:
        with shown_errors():
            content = await aside(example_csv)
            stored = await aside(visit.house.files.store, [content], EXAMPLE, visit.who)
            ui.navigate.to(f"/files/{stored.id}/columns")

    with box("onward"):
        button(visit.t("files.try_example"), take_example)
        tag("span", visit.t("files.example_help"), "soft small")
    if visit.house.settings.databases:
        with card(visit.t("files.database_title"), "spaced"):
            _name_table(visit)
    mine = await aside(visit.house.files.list, visit.who)

    async def again() -> None:
        nonlocal mine
        mine = await aside(visit.house.files.list, visit.who)
        listed.refresh()

    with card(visit.t("files.yours"), "spaced"):
        listed = Live(lambda: _list(visit, mine, again))


def _drop(visit: Visit) -> None:
    def done(event: GenericEventArguments) -> None:
        ui.navigate.to(f"/files/{event.args['id']}/columns")

    def failed(event: GenericEventArguments) -> None:
        with shown_errors():
            raise InputError.because(_refusal(event.args["answer"]))

    place = Drop()
    place.props.update(
        address="/api/v1/files",
        header=CSRF_HEADER,
        token=visit.csrf,
        **{name: visit.t(f"files.drop_{name}") for name in ("title", "help", "choose", "sending", "lost")},
    )
    place.on("done", done).on("failed", failed)


def _name_table(visit: Visit) -> None:
    """A table of a database that the settings of the service name; nobody else's address is ever opened."""
    names = sorted(visit.house.settings.databases)
    asked = {"database": names[0], "table": ""}

    async def take() -> None:
        with shown_errors():
            named = await aside(visit.house.name_table, asked["database"], asked["table"], visit.who)
            ui.navigate.to(f"/files/{named.id}/columns")

    tag("p", visit.t("files.database_help"), "soft")
    with box("row"):
        choice(
            visit.t("files.database"),
            {name: name for name in names},
            names[0],
            lambda chosen: asked.update(database=chosen),
        )
        field(visit.t("files.table"), "", lambda typed: asked.update(table=typed), live=True)
        button(visit.t("files.take_table"), take)


def _refusal(answer: Any) -> str:
    """What the service says against a file."""
    said = answer.get("detail") or answer.get("error") if isinstance(answer, dict) else None
    if isinstance(said, dict):
        said = said.get("message")
    return str(said or answer)


def _list(visit: Visit, mine: Sequence[StoredFile], refresh: Callable[[], Awaitable[None]]) -> None:
    if not mine:
        empty(visit.t("files.none"), visit.t("files.none_help"))
        return
    header = [visit.t(f"files.{key}") for key in ("name", "size", "came")]
    with scroll(visit.t("files.yours")), box("", "table"):
        header_row([*header, visit.t("files.actions")], (1,))
        with box("", "tbody"):
            for file in mine:
                with box("", "tr"):
                    with box("", "th", scope="row"):
                        link(file.name, f"/files/{file.id}/columns")
                    tag("td", _size(visit, file.bytes), "number")
                    tag("td", _day(file.created))
                    with box("", "td"):
                        label = visit.t("files.kept_label", name=file.name)
                        link(visit.t("files.kept"), f"/files/{file.id}/kept", aria_label=label)
                        _remove_button(visit, file.id, file.name, refresh)


def _size(visit: Visit, size: int) -> str:
    if not size:
        return visit.t("files.in_database")
    return visit.t("files.bytes", size=visit.n(round(size / 1024, 1)))


def _remove_button(visit: Visit, file_id: str, name: str, refresh: Callable[[], Awaitable[None]]) -> None:
    async def remove() -> None:
        with shown_errors():
            await aside(visit.house.remove_file, file_id, visit.who)
            await refresh()

    def ask() -> None:
        """What was made from a file goes with it, so nobody removes one by a slip of the hand."""
        place.clear()
        with place:
            tag("span", visit.t("files.remove_sure"), "soft small", role="status")
            button(visit.t("files.remove_all"), remove, "small danger")
            button(visit.t("files.remove_not"), show, "small")

    def show() -> None:
        place.clear()
        with place:
            button(
                visit.t("files.remove"), ask, "small danger", label=visit.t("files.remove_label", name=name)
            )

    place = box("line")
    show()


def _day(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M")
