"""The people of the service; for who manages them."""

from __future__ import annotations

from fastapi import APIRouter

from tarnkappe.errors import AccessError
from tarnkappe.service.people import ServiceRole
from tarnkappe.service.routes.access import PROBLEMS, TheHouse, Who
from tarnkappe.service.routes.models import InvitationIn, LinkOut, PersonChange, PersonIn, PersonOut

router = APIRouter(
    tags=["people"], responses={code: PROBLEMS[code] for code in (400, 401, 403, 404, 413, 422)}
)


@router.get("/people", summary="Everybody")
def list_people(house: TheHouse, who: Who) -> list[PersonOut]:
    """Who uses the service, with their roles."""
    del who
    return [PersonOut.of(person) for person in house.people.all()]


@router.post("/people", summary="Add somebody", status_code=201)
def add_person(given: PersonIn, house: TheHouse, who: Who) -> PersonOut:
    """Add somebody with roles, and a password or none."""
    return PersonOut.of(house.people.add(given.name, given.roles, given.password, by=who.name))


@router.patch("/people/{name}", summary="Change roles or password")
def change_person(name: str, given: PersonChange, house: TheHouse, who: Who) -> PersonOut:
    """She is logged out everywhere; another password also ends her tokens and links."""
    if given.roles is not None and name == who.name and ServiceRole.ADMIN not in given.roles:
        raise AccessError(
            "service.would-lock-yourself-out-another-admin",
            "you would lock yourself out: another admin has to do that",
        )
    return PersonOut.of(house.people.change(name, roles=given.roles, password=given.password, by=who.name))


@router.delete("/people/{name}", summary="Take somebody out", status_code=204)
def remove_person(name: str, house: TheHouse, who: Who) -> None:
    """With all sessions, tokens, uploads and jobs. Who gets the name later gets nothing of hers."""
    if name == who.name:
        raise AccessError(
            "service.would-lock-yourself-out-another-admin",
            "you would lock yourself out: another admin has to do that",
        )
    house.remove_person(name, by=who.name)


@router.post("/invitations", summary="Invite somebody", status_code=201)
def invite(given: InvitationIn, house: TheHouse, who: Who) -> LinkOut:
    """Add somebody who chooses her password by herself: the link works once, for 7 days."""
    _, secret = house.people.invite(given.name, given.roles, by=who.name)
    return LinkOut(path=f"/login/link?secret={secret}")


@router.post("/people/{name}/reset", summary="Take somebody her password", status_code=201)
def reset_person(name: str, house: TheHouse, who: Who) -> LinkOut:
    """Her sessions, links and tokens end. By the link she chooses another one; it works once, for 7 days."""
    return LinkOut(path=f"/login/link?secret={house.people.reset(name, by=who.name)}")


@router.post("/people/{name}/link", summary="A link that logs somebody in once", status_code=201)
def make_link(name: str, house: TheHouse, who: Who) -> LinkOut:
    """Give it to her over a way that you trust; it works once, for a quarter of an hour."""
    house.log.append("link made", {"name": name, "by": who.name})
    return LinkOut(path=f"/login/link?secret={house.people.make_link(name)}")
