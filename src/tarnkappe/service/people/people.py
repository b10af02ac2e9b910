"""People: who may log in, by password, by a link that works once, by a session or a token."""

from __future__ import annotations

import dataclasses
import hmac
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import sqlalchemy as sa

from tarnkappe.errors import LoginError, NotFoundError, ParameterError
from tarnkappe.service.people import identities
from tarnkappe.service.people.login_throttle import Guessing
from tarnkappe.service.people.roles import Account, ServiceRole
from tarnkappe.service.people.tokens import PREFIX, ApiTokens, Token, digest_of
from tarnkappe.service.tables import LINKS, PEOPLE, SERVICE, SESSIONS, TOKENS
from tarnkappe.state import AuditLog, Store
from tarnkappe.state.passwords import LONGEST_PASSWORD, require_password

if TYPE_CHECKING:
    from argon2 import PasswordHasher

LEAST_PASSWORD = 10
NAME = re.compile(r"[\w.@+-]{1,64}")
LINK_SECONDS = 15 * 60.0
WRONG = "the name or the password is wrong"
WAYS_IN = (SESSIONS, LINKS, TOKENS)
"""By what somebody comes in without showing a password again."""


@dataclasses.dataclass(frozen=True)
class LoginSession:
    """Somebody is logged in.

    Attributes:
        person: who.
        secret: what her browser shows with every request (a cookie).
        expires: when it ends, in seconds since 1970.
    """

    person: Account
    secret: str = dataclasses.field(repr=False)
    expires: float

    @property
    def csrf(self) -> str:
        """What pages of our own show with every change, and other sites cannot know."""
        return csrf_of(self.secret)


class Accounts:
    """The people of a service.

    >>> people = Accounts(Store.in_memory())
    >>> ann = people.add("ann", ["steward"], "correct horse battery")
    >>> session = people.log_in("ann", "correct horse battery")
    >>> people.by_session(session.secret).name
    'ann'
    """

    def __init__(
        self, store: Store, *, session_hours: float = 12.0, clock: Callable[[], float] = time.time
    ) -> None:
        store.ensure(SERVICE)
        self._store, self._log, self._clock = store, AuditLog(store), clock
        self._hours = session_hours
        self._guessing = Guessing(store, clock)
        self.tokens = ApiTokens(store, clock)
        self._hashing = threading.Semaphore(2)  # each takes 64 MB
        self._known: dict[str, LoginSession] = {}
        self._known_tokens: dict[str, tuple[Token, Account]] = {}

    # ------------------------------------------------------------------ who there is

    def add(self, name: str, roles: Iterable[str], password: str | None = None, by: str = "") -> Account:
        """Add somebody; without a password she logs in by links only."""
        if not NAME.fullmatch(name):
            raise ParameterError("a name has up to 64 letters, digits and . @ + - _, nothing else")
        chosen = " ".join(sorted(ServiceRole.parse(roles)))
        hashed = None if password is None else self._hash(name, password)
        with self._store.writing() as connection:
            if connection.execute(sa.select(PEOPLE).where(PEOPLE.c.name == name)).first():
                raise ParameterError(f"there is somebody called '{name}' already")
            connection.execute(sa.insert(PEOPLE).values(name=name, password=hashed, roles=chosen))
            identities.new_identity(connection, name, self._clock())
            person = self._person(connection, name)
            self._note("person added", person, by, connection)
        return person

    def change(
        self, name: str, *, roles: Iterable[str] | None = None, password: str | None = None, by: str = ""
    ) -> Account:
        """Give somebody other roles or another password; she is logged out everywhere.

        With another password her tokens and links go, too: who lost the old one may have made some.
        """
        values: dict[str, str] = {}
        if roles is not None:
            values["roles"] = " ".join(sorted(ServiceRole.parse(roles)))
        if password is not None:
            values["password"] = self._hash(name, password)
        with self._store.writing() as connection:
            if values:
                connection.execute(sa.update(PEOPLE).where(PEOPLE.c.name == name).values(values))
            person = self._person(connection, name)
            for table in (SESSIONS,) if password is None else WAYS_IN:
                connection.execute(sa.delete(table).where(table.c.person == person.id))
            self._note("person changed", person, by, connection)
        self._forget()
        return person

    def remove(self, name: str, by: str = "") -> Account:
        """Take somebody out, with all sessions, links and tokens; who gets the name later gets nothing."""
        with self._store.writing() as connection:
            person = self._person(connection, name)
            for table in WAYS_IN:
                connection.execute(sa.delete(table).where(table.c.person == person.id))
            connection.execute(sa.delete(PEOPLE).where(PEOPLE.c.name == name))
            identities.end_identity(connection, person.id, self._clock())
            self._note("person removed", person, by, connection)
        self._forget()
        return person

    def all(self) -> list[Account]:
        """Everybody, by name."""
        with self._store.reading() as connection:
            return identities.everybody(connection)

    def get(self, name: str) -> Account:
        """Somebody by name."""
        with self._store.reading() as connection:
            return self._person(connection, name)

    # ------------------------------------------------------------------ logging in

    def log_in(self, name: str, password: str, address: str = "") -> LoginSession:
        """Begin a session with a password.

        Raises:
            LoginError: the same one for a wrong name and a wrong password; another one after too many tries.
        """
        self._guessing.count(name, address)
        with self._store.reading() as connection:
            row = connection.execute(sa.select(PEOPLE).where(PEOPLE.c.name == name)).first()
            person = identities.by_name(connection, name)
        known = None if row is None else row.password
        if not self._fits(known or self._nobody, password) or known is None or person is None:
            raise LoginError(WRONG)
        self._guessing.forgive(name, address)
        return self._begin(person, "password")

    def make_link(self, name: str) -> str:
        """The secret of a link that logs somebody in, once and soon."""
        secret = secrets.token_urlsafe(32)
        with self._store.writing() as connection:
            person = self._person(connection, name)
            expires = self._clock() + LINK_SECONDS
            connection.execute(sa.delete(LINKS).where(LINKS.c.expires < self._clock()))
            made = {"digest": digest_of(secret), "person": person.id, "expires": expires}
            connection.execute(sa.insert(LINKS).values(made))
        return secret

    def use_link(self, secret: str) -> LoginSession:
        """Begin a session with a link, which is worthless from then on."""
        with self._store.writing() as connection:
            mine = LINKS.c.digest == digest_of(secret)
            row = connection.execute(sa.select(LINKS).where(mine)).first()
            connection.execute(sa.delete(LINKS).where(mine))
            person = None if row is None else identities.by_id(connection, row._mapping[LINKS.c.person])
        if row is None or person is None or row.expires < self._clock():
            raise LoginError(
                "this link was used, or is too old: start the service again, or log in by password"
            )
        return self._begin(person, "link")

    def by_session(self, secret: str | None) -> Account | None:
        """Who shows the secret of a session."""
        if not secret:
            return None
        digest = digest_of(secret)
        found = self._known.get(digest)
        if found is None:
            with self._store.reading() as connection:
                row = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.digest == digest)).first()
                person = (
                    None if row is None else identities.by_id(connection, row._mapping[SESSIONS.c.person])
                )
            if row is None or person is None:
                return None
            found = self._known[digest] = LoginSession(person, "", row.expires)
        return found.person if found.expires > self._clock() else None

    def knows(self, secret: str | None) -> bool:
        """Whether it can be told without the store who shows the secret of a session or a token."""
        if not secret:
            return True
        digest = digest_of(secret)
        return digest in self._known or digest in self._known_tokens

    def log_out(self, secret: str) -> None:
        """End a session."""
        with self._store.writing() as connection:
            connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.digest == digest_of(secret)))
        self._forget()

    def by_token(self, secret: str | None) -> Account | None:
        """Who shows a token: its person, with the roles that both have."""
        if not secret or not secret.startswith(PREFIX):
            return None
        digest = digest_of(secret)
        if digest not in self._known_tokens:
            token = self.tokens.find(secret)
            if token is None:
                return None
            with self._store.reading() as connection:
                owner = identities.by_id(connection, token.person)
            if owner is None:
                return None
            allowed = dataclasses.replace(owner, roles=owner.roles & token.roles)
            self._known_tokens[digest] = token, allowed
        token, person = self._known_tokens[digest]
        return person if token.expires > self._clock() else None

    def revoke(self, person: Account, token_id: str) -> None:
        """Make a token worthless."""
        self.tokens.revoke(person, token_id)
        self._forget()

    # ------------------------------------------------------------------ parts

    def _begin(self, asked: Account, how: str) -> LoginSession:
        secret, now = secrets.token_urlsafe(32), self._clock()
        with self._store.writing() as connection:
            person = identities.by_id(connection, asked.id)
            if person is None:
                raise LoginError(WRONG)
            expires = now + self._hours * 3600.0
            connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.expires < now))
            made = {"digest": digest_of(secret), "person": person.id, "expires": expires}
            connection.execute(sa.insert(SESSIONS).values(made))
            self._log.append("logged in", {"name": person.name, "by": how}, connection)
        return LoginSession(person, secret, expires)

    def _person(self, connection: sa.Connection, name: str) -> Account:
        person = identities.by_name(connection, name)
        if person is None:
            raise NotFoundError("there is nobody of this name")
        return person

    def _note(self, event: str, person: Account, by: str, connection: sa.Connection) -> None:
        told = {"name": person.name, "id": person.id, "roles": sorted(person.roles), "by": by}
        self._log.append(event, told, connection)

    def _forget(self) -> None:
        self._known.clear()
        self._known_tokens.clear()

    @cached_property
    def _hasher(self) -> PasswordHasher:
        from argon2 import PasswordHasher  # belongs to the service alone

        return PasswordHasher()

    @cached_property
    def _nobody(self) -> str:
        """The hash for names that nobody has: looking at it takes as long as at any other."""
        return self._hasher.hash(secrets.token_urlsafe(32))

    def _hash(self, name: str, password: str) -> str:
        require_password(password, name, LEAST_PASSWORD)
        with self._hashing:
            return self._hasher.hash(password)

    def _fits(self, hashed: str, password: str) -> bool:
        from argon2.exceptions import Argon2Error

        try:
            with self._hashing:
                return self._hasher.verify(hashed, password[:LONGEST_PASSWORD])
        except Argon2Error:
            return False


def csrf_of(secret: str) -> str:
    """What belongs to the secret of a session and does not tell it."""
    return hmac.digest(secret.encode(), b"csrf", "sha256").hex()
