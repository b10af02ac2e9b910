"""The people of the service: invite, change roles, take a password away, end."""

from __future__ import annotations

from fastapi import Response

from tarnkappe.errors import AccessError, ParameterError, TarnkappeError
from tarnkappe.service.people import Right, ServiceRole
from tarnkappe.texts import told
from tarnkappe.web.addresses import PageRequest, redirect, rendered, sent
from tarnkappe.web.rendering import show
from tarnkappe.web.visit import Visit

MANAGE = (Right.MANAGE,)


@rendered("/people", rights=MANAGE)
def people(visit: Visit, asked: PageRequest) -> Response:
    """Everybody who may log in."""
    return _page(visit, chosen=asked.query.get("name", ""))


@sent("/people/invite", rights=MANAGE)
def invite(visit: Visit, asked: PageRequest) -> Response:
    """A link for somebody new, by which she chooses her password."""
    try:
        roles = asked.fields("roles")
        if not roles:
            raise ParameterError(
                "web.no-role-can-nothing-give", "who has no role can do nothing: give her one"
            )
        person, secret = visit.house.people.invite(asked.field("name"), roles, by=visit.who.name)
    except TarnkappeError as error:
        return _page(visit, refused=error)
    return _page(visit, invited=person.name, secret=secret)


@sent("/people/{name}/roles", rights=MANAGE)
def change_roles(visit: Visit, asked: PageRequest) -> Response:
    """Other roles for somebody; she is logged out, and her tokens lose what she loses."""
    name, roles = asked.parts["name"], asked.fields("roles")
    try:
        if not roles:
            raise ParameterError(
                "web.no-role-can-nothing-give", "who has no role can do nothing: give her one"
            )
        if name == visit.who.name and ServiceRole.ADMIN not in roles:
            raise AccessError(
                "web.would-lock-yourself-out-another-admin",
                "you would lock yourself out: another admin has to do that",
            )
        visit.house.people.change(name, roles=roles, by=visit.who.name)
    except TarnkappeError as error:
        return _page(visit, chosen=name, refused=error)
    return redirect("/people")


@sent("/people/{name}/reset", rights=MANAGE)
def reset(visit: Visit, asked: PageRequest) -> Response:
    """A link by which somebody chooses another password; every way in that she had ends."""
    name = _other(visit, asked)
    return _page(visit, chosen=name, invited=name, secret=visit.house.people.reset(name, by=visit.who.name))


@sent("/people/{name}/end", rights=MANAGE)
def end(visit: Visit, asked: PageRequest) -> Response:
    """Take somebody out, with all that she has here."""
    visit.house.remove_person(_other(visit, asked), by=visit.who.name)
    return redirect("/people")


def _other(visit: Visit, asked: PageRequest) -> str:
    name = asked.parts["name"]
    if name == visit.who.name:
        raise AccessError(
            "web.would-lock-yourself-out-another-admin",
            "you would lock yourself out: another admin has to do that",
        )
    return name


def _page(
    visit: Visit,
    *,
    chosen: str = "",
    invited: str = "",
    secret: str = "",
    refused: TarnkappeError | None = None,
) -> Response:
    return show(
        visit,
        "people.html",
        status=200 if refused is None else 422,
        everybody=visit.house.people.all(),
        chosen=chosen,
        invited=invited,
        link=f"/login/link?secret={secret}" if secret else "",
        refused="" if refused is None else told(visit.language, refused),
        all_roles=[str(role) for role in ServiceRole],
    )
