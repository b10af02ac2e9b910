"""Logging in and out, and tokens."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tarnkappe.service.people.people import csrf_of
from tarnkappe.service.routes.access import PROBLEMS, TheHouse, Who
from tarnkappe.service.routes.models import Login, PasswordIn, SessionOut, TokenIn, TokenMade, TokenOut
from tarnkappe.service.security import end_session, set_session

router = APIRouter(tags=["session"], responses={code: PROBLEMS[code] for code in (400, 401, 403, 413, 422)})


@router.post("/session", summary="Log in with a password")
def log_in(given: Login, request: Request, response: Response, house: TheHouse) -> SessionOut:
    """Begin a session: the cookie is set. After too many wrong passwords the answer is 401 for a while."""
    address = request.client.host if request.client else ""
    session = house.people.log_in(given.name, given.password, address)
    set_session(response, session, house.settings)
    person = session.person
    return SessionOut(
        name=person.name, roles=sorted(person.roles), rights=sorted(person.rights), csrf=session.csrf
    )


@router.get("/session", summary="Who is logged in")
def who_am_i(request: Request, who: Who) -> SessionOut:
    """Name and roles; in a session also the CSRF token that changes need."""
    secret = request.state.session
    return SessionOut(
        name=who.name,
        roles=sorted(who.roles),
        rights=sorted(who.rights),
        csrf=None if secret is None else csrf_of(secret),
    )


@router.delete("/session", summary="Log out", status_code=204)
def log_out(request: Request, response: Response, house: TheHouse, who: Who) -> None:
    """End the session."""
    del who
    house.people.log_out(request.state.session)
    end_session(response, house.settings)


@router.put("/session/password", summary="Change your own password", status_code=204)
def change_password(given: PasswordIn, request: Request, house: TheHouse, who: Who) -> None:
    """Your other sessions, your links and your tokens end."""
    del who
    address = request.client.host if request.client else ""
    house.people.change_own_password(request.state.session, given.old, given.new, address)


@router.get("/tokens", summary="Your tokens")
def list_tokens(house: TheHouse, who: Who) -> list[TokenOut]:
    """All that is known of them; their secrets are not."""
    return [TokenOut.of(token) for token in house.people.tokens.of(who)]


@router.post("/tokens", summary="Make a token", status_code=201)
def make_token(given: TokenIn, request: Request, house: TheHouse, who: Who) -> TokenMade:
    """A token for a program, with some of your roles; the secret is in this answer and nowhere else."""
    session = request.state.session
    token, secret = house.people.tokens.make(who, given.label, given.roles, given.days, session)
    return TokenMade(**TokenOut.of(token).model_dump(), secret=secret)


@router.delete(
    "/tokens/{token_id}", summary="Revoke a token", status_code=204, responses={404: PROBLEMS[404]}
)
def revoke_token(token_id: str, house: TheHouse, who: Who) -> None:
    """It is worthless from now on."""
    house.people.revoke(who, token_id)
