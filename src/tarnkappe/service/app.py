"""The application: REST under /api/v1, pages under / if there are any, behind one guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from anyio import to_thread
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from tarnkappe.errors import (
    AccessError,
    ConflictError,
    GuaranteeError,
    LimitError,
    LoginError,
    NotFoundError,
    Reason,
    TarnkappeError,
)
from tarnkappe.service.problems import REFUSED, STATUSES, problem, wrong_parts
from tarnkappe.service.routes import ROUTERS
from tarnkappe.service.routes.job_schemas import describe_jobs
from tarnkappe.service.routes.rights import allowed, require_listed
from tarnkappe.service.security import API, Guard

if TYPE_CHECKING:
    from tarnkappe.service.core import ServiceCore

STATUS: tuple[tuple[type[TarnkappeError], int], ...] = (
    (LoginError, 401),
    (AccessError, 403),
    (NotFoundError, 404),
    (LimitError, 413),
    (GuaranteeError, 409),
    (ConflictError, 409),
    (TarnkappeError, 422),
)
"""The first that fits."""

THREADS = 200
"""Requests that are worked on at once: those that wait for a write must not keep pages waiting."""

DESCRIPTION = """
Use personal tabular data without exposing the person.

Upload a table (`POST /files`), ask for a job (`POST /jobs`), watch it (`GET /jobs/{id}/events`) and take its
result. A document of a job has the shape of a job file; what a job file names by a path, a document names by
the id of an upload: `{"file": ID}`. Programs show a token as `Authorization: Bearer tarn_...`.
"""


def create_app(house: ServiceCore, mount: Callable[[FastAPI, ServiceCore], None] | None = None) -> FastAPI:
    """The application of a house; it opens the house when it starts.

    Args:
        house: what routes and pages call.
        mount: puts pages behind the same guard; without it there is REST alone.
    """

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = THREADS
        with house:
            yield

    app = rest_api(living)
    app.state.house = house
    app.add_exception_handler(TarnkappeError, _tell_error)
    app.add_exception_handler(RequestValidationError, _tell_invalid)
    app.add_exception_handler(HTTPException, _tell_http)
    app.add_exception_handler(RecursionError, _tell_deep)
    app.add_exception_handler(UnicodeError, _tell_unreadable)
    if mount is not None:
        mount(app, house)
    app.add_middleware(Guard, house=house)
    return app


def rest_api(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None) -> FastAPI:
    """The routes alone, from which the OpenAPI document is made."""
    app = FastAPI(
        title="Tarnkappe",
        version=version("tarnkappe"),
        description=DESCRIPTION,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # they load scripts from other hosts
        redoc_url=None,
        lifespan=lifespan,
    )
    for router in ROUTERS:
        app.include_router(router, prefix=API, dependencies=[Depends(allowed)])
    require_listed(route for router in ROUTERS for route in router.routes)
    describe_jobs(app)
    return app


async def _tell_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, TarnkappeError)
    status = next(code for kind, code in STATUS if isinstance(error, kind))
    return problem(_accepted(request), error.reason, error.kind, status)


async def _tell_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return problem(_accepted(request), wrong_parts(list(error.errors())), "ParameterError", 422)


async def _tell_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = error.status_code
    return problem(_accepted(request), STATUSES.get(status, REFUSED), "Error", status, error.headers)


async def _tell_unreadable(request: Request, error: Exception) -> JSONResponse:
    """JSON can hold halves of characters, which are no text and can be kept nowhere."""
    del error
    said = Reason("service.half-characters", "a text in the request has half characters (surrogates)")
    return problem(_accepted(request), said, "ParameterError", 422)


async def _tell_deep(request: Request, error: Exception) -> JSONResponse:
    del error
    said = Reason("service.nested-too-deep", "the document is nested too deep")
    return problem(_accepted(request), said, "JobError", 422)


def _accepted(request: Request) -> str:
    return request.headers.get("accept-language", "")
