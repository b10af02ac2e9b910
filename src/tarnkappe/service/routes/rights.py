"""What it takes to use an operation: one table, `rights.toml`, and one place that asks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute

from tarnkappe.errors import AccessError, LoginError
from tarnkappe.schema.written import toml_table
from tarnkappe.service.people import Account, Right, ServiceRole
from tarnkappe.service.people.roles import RIGHTS
from tarnkappe.service.security import API

SHOWS = ("none", "figures", "released", "raw")
WAYS = ("nothing", "session", "token")
ANYBODY, EVERYBODY = "anybody", "everybody"


@dataclasses.dataclass(frozen=True)
class Need:
    """What an operation needs.

    Attributes:
        rights: one of them; none for whom it is enough to be logged in.
        ways: how somebody may show who she is.
        shows: the most that its answer tells of data.
    """

    rights: frozenset[Right]
    ways: frozenset[str]
    shows: str

    def refuse(self, person: Account | None, has_session: bool) -> None:
        """Refuse who may not use the operation.

        Raises:
            LoginError: nobody is logged in.
            AccessError: she has none of the rights, or shows a token where that is not enough.
        """
        if person is None:
            if "nothing" in self.ways:
                return
            raise LoginError("service.log-first-show-token", "log in first, or show a token")
        if ("session" if has_session else "token") not in self.ways:
            raise AccessError(
                "service.done-session-not-token",
                "this is done in a session, not by a token: log in with a password",
            )
        if self.rights and not person.rights & self.rights:
            able = " or ".join(role for role in ServiceRole if RIGHTS[role] & self.rights)
            raise AccessError(
                "service.needs-role-ask-manages",
                "this needs the role {able}: ask who manages the people of this service",
                able=able,
            )


@cache
def needs() -> dict[str, Need]:
    """What every operation needs, by method and path."""
    place = files("tarnkappe.service").joinpath("rights.toml")
    listed = toml_table(place.read_text(encoding="utf-8"))["route"]
    return {entry["at"]: _need(entry) for entry in listed}


def require_listed(routes: Iterable[Any]) -> None:
    """Refuse to serve operations of which nobody has said what they need, and entries of none."""
    served = {operation_of(method, route.path) for route in routes for method in route.methods or ()}
    if served != set(needs()):
        raise ValueError(f"rights.toml and the routes differ: {sorted(served ^ set(needs()))}")


def allowed(request: Request) -> None:
    """Ask, before an operation begins, whether who asks may use it."""
    route: APIRoute = request.scope["route"]
    has_session = getattr(request.state, "session", None) is not None
    person: Account | None = getattr(request.state, "person", None)
    needs()[operation_of(request.method, route.path)].refuse(person, has_session)


def operation_of(method: str, path: str) -> str:
    """The name of an operation in the table.

    >>> operation_of("GET", "/api/v1/jobs/{job_id}")
    'GET /jobs/{job_id}'
    """
    return f"{method} {path.removeprefix(API)}"


def _need(entry: dict[str, Any]) -> Need:
    said = entry["rights"]
    rights = frozenset() if said in (ANYBODY, EVERYBODY) else frozenset(map(Right, said))
    if entry["shows"] not in SHOWS or not set(entry["by"]) <= set(WAYS):
        raise ValueError(f"{entry['at']}: unknown words in rights.toml")
    if (said == ANYBODY) != ("nothing" in entry["by"]):
        raise ValueError(f"{entry['at']}: who need not log in shows nothing")
    return Need(rights, frozenset(entry["by"]), entry["shows"])
