"""Coming in and going out: a form, or a link that works once, becomes a cookie.

The form is plain HTML: who has not logged in gets no web socket, and needs no script.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from tarnkappe.errors import LoginError
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.people import LoginSession
from tarnkappe.service.people.people import csrf_of
from tarnkappe.service.security import SESSION_COOKIE, end_session, set_session
from tarnkappe.web.aside import aside
from tarnkappe.web.navigation import PARTS
from tarnkappe.web.rendering import show
from tarnkappe.web.texts import LANGUAGES
from tarnkappe.web.visit import LANGUAGE_COOKIE, THEME_COOKIE, THEMES, Visit, local_path, visit_of

LONGEST_FORM = 8192
YEAR = 365 * 24 * 3600


def open_entrance(app: FastAPI, house: Callable[[], ServiceCore]) -> None:
    """Add the routes by which people come in and go out; `/` leads each to the first part that is for her."""

    @app.get("/", include_in_schema=False)
    def home(request: Request) -> Response:
        visit = visit_of(request, house())
        if visit.person is None:
            return RedirectResponse("/login", status_code=303)
        return RedirectResponse(next(part[0] for part in PARTS if visit.may(part[2])), status_code=303)

    @app.get("/login", include_in_schema=False)
    def form(request: Request) -> Response:
        visit = visit_of(request, house())
        failed, wanted = request.query_params.get("failed"), request.query_params.get("next", "/")
        # With no referrer at all browsers would not say, either, from which origin the form comes.
        headers = {"Referrer-Policy": "same-origin"}
        reason = "" if failed is None else _reason(visit, failed)
        answer = show(visit, "login.html", wanted=local_path(wanted), reason=reason)
        answer.headers.update(headers)
        return answer

    @app.post("/login", include_in_schema=False)
    async def log_in(request: Request) -> Response:
        if int(request.headers.get("content-length") or LONGEST_FORM + 1) > LONGEST_FORM:
            return Response(status_code=413)
        sent = await request.form()
        name, password, wanted = (str(sent.get(key, "")) for key in ("name", "password", "next"))
        address = request.client.host if request.client else ""
        try:
            session = await aside(house().people.log_in, name, password, address)
        except LoginError as error:
            said = urlencode({"failed": str(error), "next": local_path(wanted)})
            return RedirectResponse(f"/login?{said}", status_code=303)
        return _come_in(house(), session, local_path(wanted))

    @app.get("/login/link", include_in_schema=False)
    async def use_link(secret: str = "") -> Response:
        try:
            session = await aside(house().people.use_link, secret)
        except LoginError:
            return RedirectResponse("/login?failed=link", status_code=303)
        return _come_in(house(), session, "/")

    @app.post("/prefer", include_in_schema=False)
    async def prefer(request: Request) -> Response:
        sent = await request.form()
        answer = RedirectResponse(local_path(str(sent.get("next", "/"))), status_code=303)
        for name, known, cookie in (
            ("language", LANGUAGES, LANGUAGE_COOKIE),
            ("theme", THEMES, THEME_COOKIE),
        ):
            if sent.get(name) in known:
                chosen = str(sent[name])
                answer.set_cookie(cookie, chosen, max_age=YEAR, path="/", samesite="strict")
        return answer

    @app.post("/logout", include_in_schema=False)
    async def log_out(request: Request) -> Response:
        secret = request.cookies.get(SESSION_COOKIE, "")
        shown = request.query_params.get("csrf", "")
        answer = RedirectResponse("/login", status_code=303)
        if secret and hmac.compare_digest(csrf_of(secret).encode(), shown.encode()):
            await aside(house().people.log_out, secret)
            end_session(answer, house().settings)
        return answer


def _reason(visit: Visit, said: str) -> str:
    """Only sentences of our own are shown, whatever stands in the address."""
    waiting = [word for word in said.split() if word.isdecimal()]
    if waiting:
        return visit.t("login.wait", seconds=waiting[0][:6])
    return visit.t("login.old_link" if said == "link" else "login.wrong")


def _come_in(house: ServiceCore, session: LoginSession, path: str) -> Response:
    answer = RedirectResponse(path, status_code=303)
    set_session(answer, session, house.settings)
    return answer
