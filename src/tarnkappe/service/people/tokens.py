"""API tokens: for programs that speak for a person, with some of her roles and until a day."""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
import time
from collections.abc import Callable, Iterable

import sqlalchemy as sa

from tarnkappe.errors import AccessError, LoginError, NotFoundError, ParameterError
from tarnkappe.service.people import identities
from tarnkappe.service.people.roles import Account, ServiceRole
from tarnkappe.service.tables import SESSIONS, TOKENS
from tarnkappe.state import AuditLog, Store

PREFIX = "tarn_"
DAY = 24 * 3600.0
LONGEST_DAYS = 366.0


@dataclasses.dataclass(frozen=True)
class Token:
    """What is known of a token; the token itself is told once, when it is made."""

    id: str
    person: str
    """The id of whom it speaks for."""
    label: str
    roles: frozenset[ServiceRole]
    expires: float


class ApiTokens:
    """The tokens of all people."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._log, self._clock = store, AuditLog(store), clock

    def make(
        self,
        person: Account,
        label: str,
        roles: Iterable[str] | None = None,
        days: float = 90.0,
        session: str | None = None,
    ) -> tuple[Token, str]:
        """A new token and its secret.

        Args:
            person: for whom it speaks.
            label: what it is for.
            roles: some roles of the person; without any, all.
            days: how long it lasts.
            session: the secret of the session in which it is made; one that has ended makes no token.
        """
        chosen = person.roles if roles is None else ServiceRole.parse(roles)
        if not chosen <= person.roles:
            raise AccessError(
                "service.token-no-role-person", "a token has no role that its person does not have"
            )
        if not chosen:
            raise ParameterError(
                "service.token-without-role-can-nothing-give",
                "a token without a role can do nothing: give it one",
            )
        if not 0 < days <= LONGEST_DAYS:
            raise ParameterError(
                "service.token-lasts-more-0",
                "a token lasts more than 0 and at most {longest_days:g} days, not {days:g}",
                longest_days=LONGEST_DAYS,
                days=days,
            )
        secret = PREFIX + secrets.token_urlsafe(32)
        token = Token(secrets.token_hex(8), person.id, label[:100], chosen, self._clock() + days * DAY)
        with self._store.writing() as connection:
            if identities.by_id(connection, person.id) is None:
                raise AccessError("service.gone-makes-no-tokens", "who is gone makes no tokens")
            if session is not None and not _lasts(connection, session):
                raise LoginError("service.session-ended-log-again", "the session has ended: log in again")
            connection.execute(
                sa.insert(TOKENS).values(
                    id=token.id,
                    digest=digest_of(secret),
                    person=person.id,
                    label=token.label,
                    roles=" ".join(sorted(chosen)),
                    expires=token.expires,
                )
            )
            self._log.append("token made", {"id": token.id, "by": person.name}, connection)
        return token, secret

    def find(self, secret: str) -> Token | None:
        """The token with this secret, if there is one that has not expired."""
        wanted = sa.select(TOKENS).where(TOKENS.c.digest == digest_of(secret))
        with self._store.reading() as connection:
            row = connection.execute(wanted).first()
        return None if row is None or row.expires <= self._clock() else _token(row)

    def of(self, person: Account) -> list[Token]:
        """All tokens of a person."""
        with self._store.reading() as connection:
            rows = connection.execute(sa.select(TOKENS).where(TOKENS.c.person == person.id)).all()
        return sorted(map(_token, rows), key=lambda token: token.expires)

    def revoke(self, person: Account, token_id: str) -> None:
        """Make a token worthless."""
        ours = sa.and_(TOKENS.c.id == token_id, TOKENS.c.person == person.id)
        with self._store.writing() as connection:
            if not connection.execute(sa.delete(TOKENS).where(ours)).rowcount:
                raise NotFoundError("service.no-token", "you have no such token")
            self._log.append("token revoked", {"id": token_id, "by": person.name}, connection)


def _lasts(connection: sa.Connection, session: str) -> bool:
    mine = sa.select(SESSIONS.c.digest).where(SESSIONS.c.digest == digest_of(session))
    return connection.execute(mine).first() is not None


def digest_of(secret: str) -> str:
    """What is kept of a secret: it is random and long, so a plain hash cannot be turned back."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _token(row: sa.Row[tuple[str, ...]]) -> Token:
    said = row._mapping
    roles = frozenset(map(ServiceRole, str(said["roles"]).split()))
    return Token(str(said["id"]), str(said["name"]), str(said["label"]), roles, float(said["expires"]))
