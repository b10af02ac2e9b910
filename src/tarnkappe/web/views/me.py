"""Oneself: password, browsers that are logged in, tokens for programs, language and colours."""

from __future__ import annotations

from fastapi import Response

from tarnkappe.errors import ParameterError, TarnkappeError
from tarnkappe.service.people import Token
from tarnkappe.texts import told
from tarnkappe.web.addresses import PageRequest, redirect, rendered, sent
from tarnkappe.web.rendering import show
from tarnkappe.web.visit import THEMES, Visit

DAYS = (1, 7, 30, 90, 366)
USUAL_DAYS = 90
SAID = ("password", "sessions", "revoked")
"""What may be said after a change; the address names it."""


@rendered("/me", rights=())
def me(visit: Visit, asked: PageRequest) -> Response:
    """What everybody can say about herself."""
    done = asked.query.get("done", "")
    return _page(visit, done=done if done in SAID else "")


@rendered("/settings", rights=(), is_page=False)
def settings(visit: Visit, asked: PageRequest) -> Response:
    """Where all this was before."""
    del visit, asked
    return redirect("/me")


@sent("/me/password", rights=())
def change_password(visit: Visit, asked: PageRequest) -> Response:
    """Choose another password."""
    new = str(asked.form.get("new", ""))
    try:
        if new != str(asked.form.get("again", "")):
            raise ParameterError(
                "web.new-password-written-two",
                "the new password was written in two ways: write it the same way twice",
            )
        old = str(asked.form.get("old", ""))
        visit.house.people.change_own_password(visit.secret, old, new, asked.client)
    except TarnkappeError as error:
        return _page(visit, refused=error)
    return redirect("/me?done=password")


@sent("/me/sessions", rights=())
def end_sessions(visit: Visit, asked: PageRequest) -> Response:
    """Log out everywhere else."""
    del asked
    visit.house.people.end_other_sessions(visit.secret)
    return redirect("/me?done=sessions")


@sent("/me/tokens", rights=())
def make_token(visit: Visit, asked: PageRequest) -> Response:
    """A token for a program; its secret is on this one answer and nowhere else."""
    try:
        days = asked.field("days")
        if days not in map(str, DAYS):
            raise ParameterError("web.choose-how-long-token", "choose how long the token is to last")
        label, roles = asked.field("label") or "–", asked.fields("roles")
        made = visit.house.people.tokens.make(visit.who, label, roles, float(days), visit.secret)
    except TarnkappeError as error:
        return _page(visit, refused=error)
    return _page(visit, made=made)


@sent("/me/tokens/{token}/revoke", rights=())
def revoke(visit: Visit, asked: PageRequest) -> Response:
    """Make a token worthless."""
    visit.house.people.revoke(visit.who, asked.parts["token"])
    return redirect("/me?done=revoked")


def _page(
    visit: Visit,
    *,
    done: str = "",
    refused: TarnkappeError | None = None,
    made: tuple[Token, str] | None = None,
) -> Response:
    people = visit.house.people
    return show(
        visit,
        "me.html",
        status=200 if refused is None else 422,
        done=done,
        refused="" if refused is None else told(visit.language, refused),
        secret="" if made is None else made[1],
        tokens=people.tokens.of(visit.who),
        sessions=people.sessions_of(visit.who),
        has_password=people.has_password(visit.who),
        themes=THEMES,
        days=DAYS,
        usual_days=USUAL_DAYS,
    )
