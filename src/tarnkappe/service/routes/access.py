"""What routes get: the house, and who asks; and which errors they may answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Response, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from tarnkappe.errors import LoginError
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.cursors import Cursor
from tarnkappe.service.people import Account
from tarnkappe.service.routes.models import ErrorOut
from tarnkappe.service.security import API, SESSION_COOKIE

# The guard has recognized who asks; these two tell readers of the OpenAPI document how.
_token = HTTPBearer(auto_error=False, scheme_name="token", description="An API token: tarn_...")
_cookie = APIKeyCookie(
    name=SESSION_COOKIE,
    auto_error=False,
    scheme_name="session",
    description="The session of a browser; changes also need the header X-CSRF-Token.",
)


def _house(request: Request) -> ServiceCore:
    house: ServiceCore = request.app.state.house
    return house


def _person(
    request: Request,
    token: Annotated[Any, Security(_token)],
    cookie: Annotated[Any, Security(_cookie)],
) -> Account:
    del token, cookie
    person: Account | None = getattr(request.state, "person", None)
    if person is None:
        raise LoginError("service.log-first-show-token", "log in first, or show a token")
    return person


TheHouse = Annotated[ServiceCore, Depends(_house)]
Who = Annotated[Account, Depends(_person)]
"""Who asks; `rights.toml` says who may."""
Id = Annotated[str, Path(pattern="^[0-9a-f]{32}$", examples=["0f8fad5bd9cb469fa16570867728950e"])]

AfterCursor = Annotated[
    str | None, Query(max_length=200, description="Only what comes after: the cursor of the last answer.")
]


def name_next(response: Response, part: str, listed: Sequence[Any], limit: int) -> None:
    """Name the next piece of a list of which one more was asked for than is told (RFC 8288)."""
    if len(listed) > limit:
        last = listed[limit - 1]
        cursor = Cursor(last.created, last.id)
        response.headers["Link"] = f'<{API}/{part}?after={cursor}&limit={limit}>; rel="next"'


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorOut, "description": "The request cannot be understood."},
    401: {"model": ErrorOut, "description": "Nobody is logged in, or the name or password is wrong."},
    403: {"model": ErrorOut, "description": "A role is missing, or the request came from another site."},
    404: {"model": ErrorOut, "description": "It is not there, or somebody else's."},
    409: {"model": ErrorOut, "description": "A guarantee does not hold."},
    413: {"model": ErrorOut, "description": "A limit of this service is exceeded."},
    422: {"model": ErrorOut, "description": "Something in the request is wrong; the error says what."},
}
