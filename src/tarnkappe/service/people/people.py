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

from tarnkappe.errors import LoginError, NotFoundError, ParameterError, Reason
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
INVITATION_SECONDS = 7 * 24 * 3600.0
WRONG = Reason("service.name-password-wrong", "the name or the password is wrong")
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
            raise ParameterError(
                "service.name-up-64-letters",
                "a name has up to 64 letters, digits and . @ + - _, nothing else",
            )
        chosen = " ".join(sorted(ServiceRole.parse(roles)))
        hashed = None if password is None else self._hash(name, password)
        with self._store.writing() as connection:
            if connection.execute(sa.select(PEOPLE).where(PEOPLE.c.name == name)).first():
                raise ParameterError(
                    "service.somebody-called", "there is somebody called '{name}' already", name=name
                )
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

    def change_own_password(self, secret: str, old: str, new: str, address: str = "") -> Account:
        """Give oneself another password; all other sessions, all tokens and links end.

        Args:
            secret: that of the session in which it is done; it stays.
            old: the password until now; who has none yet need not show one.
            new: the password from now on.
            address: from where, to slow down who guesses.

        Raises:
            LoginError: the old password is wrong.
        """
        person = self.by_session(secret)
        if person is None:
            raise LoginError("service.session-ended-log-again", "the session has ended: log in again")
        with self._store.reading() as connection:
            known = self._password(connection, person.name)
        if known is not None:
            self._guessing.count(person.name, address)
            if not self._fits(known, old):
                raise LoginError(
                    "service.password-until-now-wrong",
                    "the password until now is wrong: your password was not changed",
                )
            self._guessing.forgive(person.name, address)
        hashed = self._hash(person.name, new)
        with self._store.writing() as connection:
            # Hashing takes a while, in which somebody may have ended the session or changed the password.
            still = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.digest == digest_of(secret)))
            if still.first() is None or self._password(connection, person.name) != known:
                raise LoginError("service.session-ended-log-again", "the session has ended: log in again")
            mine = sa.update(PEOPLE).where(PEOPLE.c.name == person.name)
            connection.execute(mine.values(password=hashed))
            self._end_ways_in(connection, person, besides=secret)
            self._note("password changed", person, person.name, connection)
        self._forget()
        return person

    def invite(self, name: str, roles: Iterable[str], by: str = "") -> tuple[Account, str]:
        """Add somebody who chooses her password by herself; she, and the secret of a link for her."""
        person = self.add(name, roles, by=by)
        return person, self.make_link(name, INVITATION_SECONDS)

    def reset(self, name: str, by: str = "") -> str:
        """Take somebody her password and every way in; the secret of a link by which she chooses another."""
        with self._store.writing() as connection:
            person = self._person(connection, name)
            connection.execute(sa.update(PEOPLE).where(PEOPLE.c.name == name).values(password=None))
            self._end_ways_in(connection, person)
            self._note("password reset", person, by, connection)
        self._forget()
        return self.make_link(name, INVITATION_SECONDS)

    def end_other_sessions(self, secret: str) -> int:
        """Log somebody out everywhere but here; how many sessions ended."""
        person = self.by_session(secret)
        if person is None:
            return 0
        with self._store.writing() as connection:
            others = sa.and_(SESSIONS.c.person == person.id, SESSIONS.c.digest != digest_of(secret))
            ended = connection.execute(sa.delete(SESSIONS).where(others)).rowcount
            self._note("other sessions ended", person, person.name, connection)
        self._forget()
        return ended

    def has_password(self, person: Account) -> bool:
        """Whether somebody can log in by a password."""
        with self._store.reading() as connection:
            return self._password(connection, person.name) is not None

    def sessions_of(self, person: Account) -> int:
        """In how many browsers somebody is logged in now."""
        hers = sa.and_(SESSIONS.c.person == person.id, SESSIONS.c.expires > self._clock())
        with self._store.reading() as connection:
            counted = connection.execute(sa.select(sa.func.count()).select_from(SESSIONS).where(hers))
            return int(counted.scalar_one())

    def remove(self, name: str, by: str = "") -> Account:
        """Take somebody out, with all sessions, links and tokens; who gets the name later gets nothing."""
        with self._store.writing() as connection:
            person = self._person(connection, name)
            self._end_ways_in(connection, person)
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
            known = self._password(connection, name)
            person = identities.by_name(connection, name)
        if not self._fits(known or self._nobody, password) or known is None or person is None:
            raise LoginError.because(WRONG)
        self._guessing.forgive(name, address)
        with self._store.writing() as connection:
            # Comparing takes a while: the password may be another one by now, and has ended all sessions.
            if self._password(connection, name) != known:
                raise LoginError.because(WRONG)
            return self._begin(connection, person.id, "password")

    def make_link(self, name: str, seconds: float = LINK_SECONDS) -> str:
        """The secret of a link that logs somebody in, once and soon."""
        secret = secrets.token_urlsafe(32)
        with self._store.writing() as connection:
            person = self._person(connection, name)
            expires = self._clock() + seconds
            connection.execute(sa.delete(LINKS).where(LINKS.c.expires < self._clock()))
            made = {"digest": digest_of(secret), "person": person.id, "expires": expires}
            connection.execute(sa.insert(LINKS).values(made))
        return secret

    def use_link(self, secret: str) -> LoginSession:
        """Begin a session with a link, which is worthless from then on."""
        with self._store.writing() as connection:
            mine = LINKS.c.digest == digest_of(secret)
            row = connection.execute(sa.select(LINKS).where(mine)).first()
            if row is None or row.expires < self._clock():
                raise LoginError(
                    "service.link-used-too-old",
                    "this link was used, or is too old: start the service again, or log in by password",
                )
            connection.execute(sa.delete(LINKS).where(mine))
            return self._begin(connection, row._mapping[LINKS.c.person], "link")

    def by_session(self, secret: str | None) -> Account | None:
        """Who shows the secret of a session."""
        if not secret:
            return None
        digest, known = digest_of(secret), self._known
        found = known.get(digest)
        if found is None:
            with self._store.reading() as connection:
                row = connection.execute(sa.select(SESSIONS).where(SESSIONS.c.digest == digest)).first()
                person = (
                    None if row is None else identities.by_id(connection, row._mapping[SESSIONS.c.person])
                )
            if row is None or person is None:
                return None
            found = known[digest] = LoginSession(person, "", row.expires)
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
        digest, known = digest_of(secret), self._known_tokens
        if digest not in known:
            token = self.tokens.find(secret)
            if token is None:
                return None
            with self._store.reading() as connection:
                owner = identities.by_id(connection, token.person)
            if owner is None:
                return None
            allowed = dataclasses.replace(owner, roles=owner.roles & token.roles)
            known[digest] = token, allowed
        token, person = known[digest]
        return person if token.expires > self._clock() else None

    def revoke(self, person: Account, token_id: str) -> None:
        """Make a token worthless."""
        self.tokens.revoke(person, token_id)
        self._forget()

    # ------------------------------------------------------------------ parts

    def _begin(self, connection: sa.Connection, person_id: str, how: str) -> LoginSession:
        """A session, in the transaction that has looked whether there may be one."""
        secret, now = secrets.token_urlsafe(32), self._clock()
        person = identities.by_id(connection, person_id)
        if person is None:
            raise LoginError.because(WRONG)
        expires = now + self._hours * 3600.0
        connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.expires < now))
        made = {"digest": digest_of(secret), "person": person.id, "expires": expires}
        connection.execute(sa.insert(SESSIONS).values(made))
        self._log.append("logged in", {"name": person.name, "by": how}, connection)
        return LoginSession(person, secret, expires)

    def _password(self, connection: sa.Connection, name: str) -> str | None:
        """The hash of somebody's password, if she has one."""
        return connection.execute(sa.select(PEOPLE.c.password).where(PEOPLE.c.name == name)).scalar()

    def _end_ways_in(self, connection: sa.Connection, person: Account, besides: str = "") -> None:
        """End all sessions, links and tokens of somebody, but the session with this secret."""
        kept = digest_of(besides)
        for table in WAYS_IN:
            hers = sa.and_(table.c.person == person.id, table.c.digest != kept)
            connection.execute(sa.delete(table).where(hers))

    def _person(self, connection: sa.Connection, name: str) -> Account:
        person = identities.by_name(connection, name)
        if person is None:
            raise NotFoundError("service.nobody-name", "there is nobody of this name")
        return person

    def _note(self, event: str, person: Account, by: str, connection: sa.Connection) -> None:
        told = {"name": person.name, "id": person.id, "roles": sorted(person.roles), "by": by}
        self._log.append(event, told, connection)

    def _forget(self) -> None:
        # New ones, not emptied ones: who has read the store before the change notes it in the old one.
        self._known, self._known_tokens = {}, {}

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
