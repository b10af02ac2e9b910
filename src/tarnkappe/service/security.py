"""What stands before every request: who asks, from where, how much, and what browsers may do with the answer.

- A request for a host that is not ours is refused: a foreign name that points here (DNS rebinding) reaches
  nothing.
- A change (any method but GET, HEAD, OPTIONS) and every web socket must come from a page of ours, which
  browsers tell. Under the API a session must also show its CSRF token, which foreign pages cannot read.
- Without a session or a token there is nothing but the way in.
- A body is counted while it comes. Errors that nobody expected become one line in the log, by their kind.
"""

from __future__ import annotations

import hmac
import logging
import time
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from tarnkappe.errors import Reason
from tarnkappe.service.people.people import LoginSession, csrf_of
from tarnkappe.service.problems import STATUSES, problem
from tarnkappe.service.settings import LOCAL

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tarnkappe.service.core import ServiceCore
    from tarnkappe.service.settings import ServiceSettings

SESSION_COOKIE = "tarn_session"
CSRF_HEADER = "X-CSRF-Token"
API = "/api/v1"
UPLOADS = f"{API}/files"
OPEN = ("/login", "/prefer", "/assets/", "/favicon.ico", f"{API}/health", f"{API}/openapi.json")
"""Where anybody comes: the way in, and files that are the same for everybody."""
SAFE = ("GET", "HEAD", "OPTIONS")

STRICT = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
PAGES = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; "
    "frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
)
"""NiceGUI writes its pages as inline scripts and its templates are compiled in the browser (Vue), which needs
`unsafe-inline` and `unsafe-eval`; nothing is loaded from another host."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}

KINDS = {400: "AccessError", 401: "LoginError", 403: "AccessError", 413: "LimitError"}
"""Of what kind a refusal is, for programs."""
NOT_OUR_NAME = Reason(
    "service.name-not-ours", "this name is not one of this service: add it to 'hosts' in the settings"
)
OTHER_SITE = Reason("service.page-another-site", "this came from a page of another site")
NO_LENGTH = Reason("service.length-no-number", "the length of the request is no number")
NO_CSRF = Reason(
    "service.header-missing-wrong", "the header {header} is missing or wrong", header=CSRF_HEADER
)

log = logging.getLogger("tarnkappe.service")


def set_session(response: Response, session: LoginSession, settings: ServiceSettings) -> None:
    """Give a browser its session: no script reads it, and no other site's request carries it."""
    response.set_cookie(
        SESSION_COOKIE,
        session.secret,
        expires=int(session.expires - time.time()),
        path="/",
        secure=settings.secure,
        httponly=True,
        samesite="strict",
    )


def end_session(response: Response, settings: ServiceSettings) -> None:
    """Take a browser its session."""
    response.delete_cookie(SESSION_COOKIE, path="/", secure=settings.secure, httponly=True, samesite="strict")


class Guard:
    """The one way to the application."""

    def __init__(self, app: ASGIApp, house: ServiceCore) -> None:
        self._app, self._house = app, house
        logging.getLogger("uvicorn.access").disabled = True  # its lines have queries, in which secrets are
        settings = house.settings
        self._hosts = {name.lower() for name in (*LOCAL, settings.host, *settings.hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at a request before anybody else does."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        visit = _Visit(scope, receive, send, self._house.settings)
        try:
            refusal = await self._refusal(visit)
            if refusal is None:
                await self._app(scope, visit.receive, visit.send)
            else:
                await visit.refuse(refusal)
        except _TooLargeError:
            await visit.refuse(_error(visit, 413, STATUSES[413]))
        except Exception as error:
            log.error("%s %s: unexpected %s", visit.method, visit.path, type(error).__name__)
            if visit.status:
                raise  # the answer has begun: all that is left is to break it off
            await visit.refuse(_error(visit, 500, _unexpected(error)))
        finally:
            visit.note()

    async def _refusal(self, visit: _Visit) -> Response | None:
        """Why a request goes no further, if so; otherwise who asks is noted."""
        if _name(visit.headers.get("host", "")) not in self._hosts:
            return _error(visit, 400, NOT_OUR_NAME)
        if (visit.is_socket or visit.method not in SAFE) and not _from_own_page(visit.headers):
            return _error(visit, 403, OTHER_SITE)
        try:
            length = int(visit.headers.get("content-length", "0"))
        except ValueError:
            return _error(visit, 400, NO_LENGTH)
        if not visit.is_upload and length > self._house.settings.limits.request_bytes:
            return _error(visit, 413, STATUSES[413])
        await self._recognize(visit)
        is_open = visit.path.startswith(OPEN) or (visit.path, visit.method) == (f"{API}/session", "POST")
        if visit.person is None and not is_open:
            if visit.path.startswith(API) or visit.is_socket or visit.method != "GET":
                return _error(visit, 401, STATUSES[401], {"WWW-Authenticate": "Bearer"})
            return RedirectResponse(f"/login?next={quote(visit.asked, safe='')}", 303)
        if (
            visit.session is not None
            and visit.path.startswith(API)
            and visit.method not in SAFE
            and not is_open
        ):
            shown = visit.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(shown.encode(), csrf_of(visit.session).encode()):
                return _error(visit, 403, NO_CSRF)
        return None

    async def _recognize(self, visit: _Visit) -> None:
        """Who asks: by a token if one is shown, else by the session of the browser.

        Who is not known by heart is looked up in the store, beside the event loop: a store that keeps
        somebody waiting keeps nobody else.
        """
        people = self._house.people
        scheme, _, shown = visit.headers.get("authorization", "").partition(" ")
        is_token = scheme.lower() == "bearer"
        secret = shown.strip() if is_token else _cookie(visit.headers.get("cookie", ""))
        look = people.by_token if is_token else people.by_session
        visit.person = look(secret) if people.knows(secret) else await to_thread.run_sync(look, secret)
        visit.session = secret if not is_token and visit.person is not None else None
        visit.scope.setdefault("state", {}).update(
            person=visit.person, session=visit.session, is_current=lambda: look(secret) == visit.person
        )


class _TooLargeError(HTTPException):
    """More comes than is allowed; FastAPI lets this kind of error through while it reads."""

    def __init__(self) -> None:
        super().__init__(413, "the request is too large")


class _Visit:
    """One request on its way in and its answer on the way out."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, settings: ServiceSettings) -> None:
        self.scope, self._receive, self._send, self._settings = scope, receive, send, settings
        self.headers = Headers(scope=scope)
        self.is_socket = scope["type"] == "websocket"
        self.method: str = scope.get("method", "SOCKET")
        self.path: str = scope["path"]
        query = scope.get("query_string", b"").decode("latin-1")
        self.asked = f"{self.path}?{query}" if query else self.path
        self.is_upload = self.method == "POST" and self.path == UPLOADS
        self.person: Any = None
        self.session: str | None = None
        self.status = 0
        self._start, self._size = time.perf_counter(), 0

    async def receive(self) -> Message:
        """The next part of the request, counted."""
        message = await self._receive()
        if message["type"] == "http.request" and not self.is_upload:
            self._size += len(message.get("body", b""))
            if self._size > self._settings.limits.request_bytes:
                raise _TooLargeError
        return message

    async def send(self, message: Message) -> None:
        """The next part of the answer; its beginning gets the headers."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", STRICT if self.path.startswith(API) else PAGES)
            if not self.path.startswith("/_nicegui/"):
                headers.setdefault("Cache-Control", "no-store")
            if self._settings.secure:
                headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        await self._send(message)

    async def refuse(self, answer: Response) -> None:
        """Answer in place of the application."""
        if self.is_socket:
            await self._send({"type": "websocket.close", "code": 1008})
        elif not self.status:
            await answer(self.scope, self._receive, self.send)

    def note(self) -> None:
        """One line in the log: no query, no header and no body, in which secrets are."""
        who = "-" if self.person is None else self.person.name
        took = 1000 * (time.perf_counter() - self._start)
        log.info("%s %s %s %s %.0f ms", who, self.method, self.path[:200], self.status or "-", took)


def _error(visit: _Visit, status: int, said: Reason, headers: dict[str, str] | None = None) -> Response:
    accepted = visit.headers.get("accept-language", "")
    return problem(accepted, said, KINDS.get(status, "Error"), status, headers)


def _unexpected(error: Exception) -> Reason:
    kind = type(error).__name__
    return Reason("service.unexpected-error", "unexpected {kind}: please report it", kind=kind)


def _name(host: str) -> str:
    """The name in a header Host, without the port."""
    return (urlsplit(f"//{host}").hostname or "").lower() if host.isascii() else ""


def _from_own_page(headers: Headers) -> bool:
    """Whether a browser says that a request comes from a page of ours; programs say nothing."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def _cookie(header: str) -> str | None:
    try:
        found = SimpleCookie(header).get(SESSION_COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value
