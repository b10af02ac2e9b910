"""Numbers that a page draws by itself, fetched once beside it."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from tarnkappe.errors import TarnkappeError
from tarnkappe.service.core import ServiceCore
from tarnkappe.web.visit import visit_of
from tarnkappe.web.work import figures


def open_data(app: FastAPI, house: Callable[[], ServiceCore]) -> None:
    """Add the routes for the numbers of pictures; everybody gets only what is her own."""

    @app.get("/data/lattice/{job}", include_in_schema=False)
    def lattice(request: Request, job: str) -> Response:
        visit = visit_of(request, house())
        if visit.person is None:
            return Response(status_code=401)
        try:
            return JSONResponse(figures(visit, job)["listed"])
        except TarnkappeError:
            return Response(status_code=404)
