"""Which pages there are, and who is let in: every page is registered here and shown in one frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from nicegui import ui

from tarnkappe.errors import TarnkappeError
from tarnkappe.service.core import ServiceCore
from tarnkappe.web.errors import not_allowed, say_unexpected, show_error
from tarnkappe.web.layout import frame
from tarnkappe.web.visit import Rights, Visit, login_address, visit_of

Build = Callable[..., Awaitable[None] | None]


@dataclasses.dataclass(frozen=True)
class Page:
    """One page: its address, the key of its title, the rights of which one is needed to see it."""

    path: str
    title: str
    build: Build
    rights: Rights


PAGES: list[Page] = []
"""All pages; importing `tarnkappe.web.pages` fills it."""


def page(path: str, title: str, *, rights: Rights) -> Callable[[Build], Build]:
    """Register a function `build(visit, parts)`, which gets the parts of the address as a page.

    Every page says which rights it needs; none are needed where an empty list is written down.
    """

    def register(build: Build) -> Build:
        PAGES.append(Page(path, title, build, rights))
        return build

    return register


def serve(each: Page, house: Callable[[], ServiceCore]) -> None:
    """Let the web server show a page of the house that stands at the time of the request."""

    async def show(request: Request) -> Response | None:
        visit = visit_of(request, house())
        if visit.person is None:
            return RedirectResponse(login_address(visit.asked), status_code=303)
        with frame(visit, visit.t(each.title)):
            if not visit.may(each.rights):
                not_allowed(visit, each.rights)
                return None
            await _build(each, visit, {**request.query_params, **request.path_params})
        return None

    ui.page(each.path, response_timeout=30.0)(show)


async def _build(each: Page, visit: Visit, parts: dict[str, Any]) -> None:
    try:
        waiting = each.build(visit, parts)
        if waiting is not None:
            await waiting
    except TarnkappeError as error:
        show_error(visit, error)
    except Exception as error:
        say_unexpected(visit, error)
