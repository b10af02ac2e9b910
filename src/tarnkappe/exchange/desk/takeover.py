"""Taking over what an earlier version has left, which sealed nothing.

That happens once, when its log is sealed, and never later. Withdrawals, consents and the notes of earlier
packages count as they stand on that day. Requests that were not finished are closed: nobody can tell
whether their checks and decisions are those that were made.
"""

from __future__ import annotations

import sqlalchemy as sa

from tarnkappe.exchange.desk.logged import CONSENTED, REGISTERS, TAKEN_OVER, TOLD, WITHDRAWN, registers
from tarnkappe.exchange.desk.people import release_digest
from tarnkappe.exchange.desk.states import State
from tarnkappe.exchange.desk.tables import ANSWERS, PENDING, PEOPLE, RECOMMENDATIONS, RELEASES, REQUESTS
from tarnkappe.state import AuditLog
from tarnkappe.state.audit import CARRIED_OVER, SEALED

FINISHED = (State.DELIVERED, State.WITHDRAWN, State.EXPIRED)


def take_over(log: AuditLog) -> None:
    """Vouch for what is there, if the log was sealed just now and nothing has happened since."""
    with log.store.reading() as connection:
        entries = log.verified(connection)
    if not entries or entries[-1].event not in (CARRIED_OVER, SEALED):
        return
    if any(entry.event == TAKEN_OVER or REGISTERS in entry.details for entry in entries):
        return
    with log.store.writing() as connection:
        closed = _close(connection)
        noted = set(connection.execute(sa.select(RELEASES.c.digest)).scalars())
        every = connection.execute(sa.select(REQUESTS.c.digest)).scalars()
        known = {digest: release_digest(connection, digest) if digest in noted else None for digest in every}
        told = {"requests": known, "closed": closed, **registers(connection, WITHDRAWN, CONSENTED, TOLD)}
        log.append(TAKEN_OVER, told, connection)


def _close(connection: sa.Connection) -> int:
    """Close what is not finished; how many requests that were. What may have left stays noted as told."""
    done = [state.value for state in FINISHED]
    query = sa.select(REQUESTS.c.digest).where(REQUESTS.c.state.not_in(done))
    closed = list(connection.execute(query).scalars())
    for table in (ANSWERS, PEOPLE, PENDING):
        connection.execute(sa.delete(table).where(table.c.digest.in_(closed)))
    mine = RECOMMENDATIONS.c.digest.in_(closed)
    connection.execute(sa.update(RECOMMENDATIONS).where(mine).values(package=None))
    expired = sa.update(REQUESTS).where(REQUESTS.c.digest.in_(closed)).values(state=State.EXPIRED.value)
    connection.execute(expired)
    return len(closed)
