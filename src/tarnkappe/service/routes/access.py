"""What routes get: the house, and who asks; and which errors they may answer."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from tarnkappe.errors import LoginError
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.people import Account
from tarnkappe.service.routes.models import ErrorOut
from tarnkappe.service.security import SESSION_COOKIE

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
        raise LoginError("log in first, or show a token")
    return person


TheHouse = Annotated[ServiceCore, Depends(_house)]
Who = Annotated[Account, Depends(_person)]
"""Who asks; `rights.toml` says who may."""
Id = Annotated[str, Path(pattern="^[0-9a-f]{32}$", examples=["0f8fad5bd9cb469fa16570867728950e"])]

PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorOut, "description": "The request cannot be understood."},
    401: {"model": ErrorOut, "description": "Nobody is logged in, or the name or password is wrong."},
    403: {"model": ErrorOut, "description": "A role is missing, or the request came from another site."},
    404: {"model": ErrorOut, "description": "It is not there, or somebody else's."},
    409: {"model": ErrorOut, "description": "A guarantee does not hold."},
    413: {"model": ErrorOut, "description": "A limit of this service is exceeded."},
    422: {"model": ErrorOut, "description": "Something in the request is wrong; the error says what."},
}
