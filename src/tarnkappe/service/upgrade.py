"""Stores of version 0.1.0, in which a name was all that a person was, become stores of this version.

Nothing of the old tables changes its shape. People get ids, what they own follows, and what belonged to an
earlier person of the same name, or to an upload that is gone, belongs to nobody: the house removes it.
"""

from __future__ import annotations

import json
import shutil
import time
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from tarnkappe.service.drafts import DRAFTS
from tarnkappe.service.files import FILES
from tarnkappe.service.jobs.lineage import LINEAGE, named_in, note_lineage
from tarnkappe.service.jobs.record import JOBS
from tarnkappe.service.people.identities import new_identity
from tarnkappe.service.people.tables import IDENTITIES, LINKS, PEOPLE, SESSIONS, TOKENS
from tarnkappe.state import AuditLog, Store

DRAFT_FOLDER = "drafts"
ADDED = "person added"


def upgrade(store: Store, folder: Path) -> None:
    """Bring a store and a folder to this version; one that is of this version stays as it is."""
    with store.writing() as connection:
        known = sa.select(IDENTITIES.c.name).where(IDENTITIES.c.ended.is_(None))
        nameless = list(
            connection.execute(sa.select(PEOPLE.c.name).where(PEOPLE.c.name.not_in(known))).scalars()
        )
        is_old = bool(nameless)
        if is_old:
            added = _added(AuditLog(store))
            for name in nameless:
                _adopt(connection, name, added.get(name, 0.0))
            _trace(connection)
        _take_in_drafts(connection, folder / DRAFT_FOLDER)
    shutil.rmtree(folder / DRAFT_FOLDER, ignore_errors=True)
    if is_old:
        store.scrub()


def _added(log: AuditLog) -> dict[str, float]:
    """When whoever has a name now was added: what is older was somebody else's."""
    return {
        str(entry.details["name"]): datetime.fromisoformat(entry.time).timestamp()
        for entry in log.entries()
        if entry.event == ADDED
    }


def _adopt(connection: sa.Connection, name: str, since: float) -> None:
    person = new_identity(connection, name, since or time.time())
    for table in (SESSIONS, LINKS, TOKENS):
        connection.execute(sa.update(table).where(table.c.person == name).values(person=person))
    for owned in (FILES, JOBS):
        hers = sa.and_(owned.c.owner == name, owned.c.created >= since - 1.0)
        connection.execute(sa.update(owned).where(hers).values(owner=person))


def _trace(connection: sa.Connection) -> None:
    """Note from which uploads every job comes; what it names and is not there counts as an upload gone."""
    files = set(connection.execute(sa.select(FILES.c.id)).scalars())
    behind: dict[str, set[str]] = {}
    for job in connection.execute(sa.select(JOBS.c.id, JOBS.c.document).order_by(JOBS.c.created)).all():
        named = set(named_in(json.loads(job.document)))
        behind[job.id] = {each for each in named if each not in behind}
        behind[job.id].update(*(behind[each] for each in named - files if each in behind))
        connection.execute(sa.delete(LINEAGE).where(LINEAGE.c.job == job.id))
        note_lineage(connection, job.id, behind[job.id])


def _take_in_drafts(connection: sa.Connection, folder: Path) -> None:
    owners = {row.id: row.owner for row in connection.execute(sa.select(FILES.c.id, FILES.c.owner))}
    for path in folder.glob("*.json") if folder.is_dir() else ():
        if path.stem in owners:
            kept = {
                "revision": 1,
                "content": path.read_text(encoding="utf-8"),
                "changed": path.stat().st_mtime,
            }
            connection.execute(sa.insert(DRAFTS).values(file=path.stem, owner=owners[path.stem], **kept))
