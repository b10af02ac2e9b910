"""Who somebody is: an id that nobody else ever gets, whatever becomes of the name."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa

from tarnkappe.service.people.roles import Account, ServiceRole
from tarnkappe.service.tables import IDENTITIES, PEOPLE

OTHERS = IDENTITIES.alias("others")
_HAD_THE_NAME = (
    sa.select(OTHERS.c.id).where(OTHERS.c.name == IDENTITIES.c.name, OTHERS.c.id != IDENTITIES.c.id).exists()
)
_ACTIVE = (
    sa.select(PEOPLE.c.name, PEOPLE.c.roles, IDENTITIES.c.id, _HAD_THE_NAME.label("used"))
    .join(IDENTITIES, sa.and_(IDENTITIES.c.name == PEOPLE.c.name, IDENTITIES.c.ended.is_(None)))
    .order_by(PEOPLE.c.name)
)


def new_identity(connection: sa.Connection, name: str, now: float) -> str:
    """An id for somebody who is new, and has this name from now on."""
    made = secrets.token_hex(16)
    connection.execute(sa.insert(IDENTITIES).values(id=made, name=name, since=now, ended=None))
    return made


def end_identity(connection: sa.Connection, person_id: str, now: float) -> None:
    """Somebody is gone; her name is free, her id is not."""
    connection.execute(sa.update(IDENTITIES).where(IDENTITIES.c.id == person_id).values(ended=now))


def everybody(connection: sa.Connection) -> list[Account]:
    """All who are there now, by name."""
    return [_person(row) for row in connection.execute(_ACTIVE)]


def by_name(connection: sa.Connection, name: str) -> Account | None:
    """Who has a name now."""
    row = connection.execute(_ACTIVE.where(PEOPLE.c.name == name)).first()
    return None if row is None else _person(row)


def by_id(connection: sa.Connection, person_id: str) -> Account | None:
    """Whose id this is, if she is there now."""
    row = connection.execute(_ACTIVE.where(IDENTITIES.c.id == person_id)).first()
    return None if row is None else _person(row)


def _person(row: Any) -> Account:
    return Account(row.name, frozenset(map(ServiceRole, row.roles.split())), row.id, bool(row.used))
