"""Against guessing: after some wrong passwords an account, or an address, has to wait, longer each time.

A try counts before the password is looked at, so that many tries at the same moment count as many. The counts
are in the store: a restart forgives nothing. Names that nobody has are counted like others, so that the
answers do not tell which names there are.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable

import sqlalchemy as sa

from tarnkappe.errors import LoginError
from tarnkappe.service.tables import FAILURES
from tarnkappe.state import AuditLog, Store

FREE_TRIES = 5
FREE_TRIES_OF_AN_ADDRESS = 30
FIRST_WAIT = 30.0
LONGEST_WAIT = 3600.0
FORGET_AFTER = 24 * 3600.0


class Guessing:
    """Counts wrong passwords."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._log, self._clock = store, AuditLog(store), clock

    def count(self, name: str, address: str) -> None:
        """Count a try that may be a wrong one.

        Raises:
            LoginError: if it comes too early after others; the password is then not looked at.
        """
        now = self._clock()
        with self._store.writing() as connection:
            connection.execute(sa.delete(FAILURES).where(FAILURES.c.until < now - FORGET_AFTER))
            wait = 0.0
            for subject, free in _subjects(name, address):
                row = connection.execute(sa.select(FAILURES).where(FAILURES.c.subject == subject)).first()
                tries = 0 if row is None else row.tries
                if row is not None and tries >= free and row.until > now:
                    wait = max(wait, row.until - now)
                    continue
                pause = (
                    min(FIRST_WAIT * 2.0 ** (tries + 1 - free), LONGEST_WAIT) if tries + 1 >= free else 0.0
                )
                connection.execute(sa.delete(FAILURES).where(FAILURES.c.subject == subject))
                connection.execute(
                    sa.insert(FAILURES).values(subject=subject, tries=tries + 1, until=now + pause)
                )
                if tries + 1 == free:
                    self._log.append("locked out", {"subject": subject[:20]}, connection)
        if wait:
            raise LoginError(
                "service.too-many-wrong-tries",
                "too many wrong tries: wait {wait} seconds",
                wait=math.ceil(wait),
            )

    def forgive(self, name: str, address: str) -> None:
        """The password was right: the account is as before the first try, the address as before this one."""
        [(account, _), (place, _)] = _subjects(name, address)
        with self._store.writing() as connection:
            connection.execute(sa.delete(FAILURES).where(FAILURES.c.subject == account))
            connection.execute(
                sa.update(FAILURES)
                .where(FAILURES.c.subject == place, FAILURES.c.tries > 0)
                .values(tries=FAILURES.c.tries - 1)
            )


def _subjects(name: str, address: str) -> list[tuple[str, int]]:
    """Whom a try counts against: hashes, since people type passwords into the field of the name."""
    hashed = [
        hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        for text in (f"name {name}", f"address {address}")
    ]
    return list(zip(hashed, (FREE_TRIES, FREE_TRIES_OF_AN_ADDRESS), strict=True))
