"""Addresses that the server answers by itself: pages to look at, and forms that are sent.

Every address says which right it needs. A form shows the token of its session; who sends one twice, by a
double click, shows the same key twice. What goes wrong is said on a page, in the visitor's language.
"""

from __future__ import annotations

import dataclasses
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from anyio import to_thread
from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData

from tarnkappe.errors import AccessError, ConflictError, NotFoundError, TarnkappeError
from tarnkappe.service.core import ServiceCore
from tarnkappe.texts import told
from tarnkappe.web.rendering import show
from tarnkappe.web.visit import Rights, Visit, login_address, visit_of

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class PageRequest:
    """What was asked for.

    Attributes:
        parts: those of the address, by name.
        query: what stands behind the question mark.
        form: what was filled in; empty where nothing was sent.
        wants_part: whether the answer replaces a part of a page.
        client: from where it was asked.
    """

    parts: Mapping[str, str]
    query: Mapping[str, str]
    form: FormData
    wants_part: bool
    client: str

    def field(self, name: str) -> str:
        """What was written into a field."""
        return str(self.form.get(name, "")).strip()

    def fields(self, name: str) -> list[str]:
        """All that was ticked under a name."""
        return [str(each) for each in self.form.getlist(name)]


Answer = Callable[[Visit, PageRequest], Response]


@dataclasses.dataclass(frozen=True)
class Address:
    """One address: what is done there, and the rights of which one is needed."""

    method: str
    path: str
    answer: Answer
    rights: Rights
    is_page: bool


ADDRESSES: list[Address] = []
"""All of them; importing `tarnkappe.web.views` fills it."""


def rendered(path: str, *, rights: Rights, is_page: bool = True) -> Callable[[Answer], Answer]:
    """Register what answers who looks at an address; a part of a page is no page."""
    return _register("GET", path, rights, is_page)


def sent(path: str, *, rights: Rights) -> Callable[[Answer], Answer]:
    """Register what is done with a form that is sent to an address."""
    return _register("POST", path, rights, False)


def _register(method: str, path: str, rights: Rights, is_page: bool) -> Callable[[Answer], Answer]:
    def register(answer: Answer) -> Answer:
        ADDRESSES.append(Address(method, path, answer, rights, is_page))
        return answer

    return register


def serve_address(app: FastAPI, each: Address, house: Callable[[], ServiceCore]) -> None:
    """Let the web server answer an address; the work is done in a thread, never on the event loop."""

    async def answer(request: Request) -> Response:
        form = await request.form() if each.method == "POST" else FormData()
        asked = PageRequest(
            dict(request.path_params),
            dict(request.query_params),
            form,
            request.headers.get("x-part") == "1",
            request.client.host if request.client else "",
        )
        return await to_thread.run_sync(_answer, each, request, asked, house())

    app.add_api_route(each.path, answer, methods=[each.method], include_in_schema=False)


def _answer(each: Address, request: Request, asked: PageRequest, house: ServiceCore) -> Response:
    visit = visit_of(request, house)
    if visit.person is None:
        return RedirectResponse(login_address(_back(request)), status_code=303)
    try:
        if each.method == "POST" and not hmac.compare_digest(
            asked.field("csrf").encode(), visit.csrf.encode()
        ):
            raise AccessError(
                "web.form-another-session-load", "this form is from another session: load the page again"
            )
        if not visit.may(each.rights):
            return not_allowed(visit, each.rights)
        return each.answer(visit, asked)
    except NotFoundError:
        return nothing_here(visit)
    except TarnkappeError as error:
        return refused(visit, error)
    except Exception as error:
        return unexpected(visit, error)


def redirect(path: str) -> Response:
    """Go on elsewhere: after every change, so that loading the page again does not repeat it."""
    return RedirectResponse(path, status_code=303)


def nothing_here(visit: Visit) -> Response:
    """What was asked for is not there, or somebody else's, which is the same to who asks."""
    return _failed(visit, 404, "errors.nothing", visit.t("errors.nothing_text"))


def not_allowed(visit: Visit, rights: Rights) -> Response:
    """A page for which somebody has no right: which, and who gives it."""
    wanted = ", ".join(visit.t(f"rights.{right}") for right in rights)
    text = visit.t("errors.not_allowed_text", rights=wanted)
    return _failed(visit, 403, "errors.not_allowed", text, visit.t("errors.not_allowed_help"))


def refused(visit: Visit, error: TarnkappeError) -> Response:
    """An error that was foreseen: it says itself what to do."""
    status = 403 if isinstance(error, AccessError) else 409 if isinstance(error, ConflictError) else 422
    return _failed(visit, status, "errors.refused", told(visit.language, error))


def unexpected(visit: Visit, error: Exception) -> Response:
    """An error that nobody foresaw: the log has its kind under a number, not its message, which may quote."""
    number = secrets.token_hex(4)
    log.error("page %s failed, number %s: %s", visit.path, number, type(error).__name__)
    return _failed(visit, 500, "errors.unexpected", visit.t("errors.unexpected_help", number=number))


def _failed(visit: Visit, status: int, key: str, text: str, help_text: str = "") -> Response:
    return show(visit, "failed.html", status=status, heading=visit.t(key), text=text, help_text=help_text)


def not_found_by(house: Callable[[], ServiceCore]) -> Callable[[Request, Any], Awaitable[Response]]:
    """What answers addresses where nothing is."""

    async def answer(request: Request, error: Exception) -> Response:
        del error
        return await to_thread.run_sync(lambda: nothing_here(visit_of(request, house())))

    return answer


def _back(request: Request) -> str:
    """Where to come back to after logging in: what was looked at, not what was sent."""
    if request.method != "GET":
        return "/"
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")
