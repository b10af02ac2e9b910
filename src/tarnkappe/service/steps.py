"""The steps of the service from version to version, with the tables as they were then."""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from tarnkappe.service.jobs.lineage import named_in
from tarnkappe.state import AuditLog
from tarnkappe.state.component import Upgrade, create_tables

DRAFT_FOLDER = "drafts"
"""Where version 0.1.0 kept drafts."""
ADDED = "person added"

THEN = sa.MetaData()
IDENTITIES = sa.Table(
    "service_identities",
    THEN,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("since", sa.Float, nullable=False),
    sa.Column("ended", sa.Float),
)
DRAFTS = sa.Table(
    "service_drafts",
    THEN,
    sa.Column("file", sa.String(32), primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("changed", sa.Float, nullable=False),
)
LINEAGE = sa.Table(
    "service_lineage",
    THEN,
    sa.Column("job", sa.String(32), primary_key=True),
    sa.Column("file", sa.String(32), primary_key=True),
)
REQUESTS = sa.Table(
    "service_requests",
    THEN,
    sa.Column("owner", sa.String, primary_key=True),
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("job", sa.String(32), nullable=False),
)
PEOPLE = sa.table("service_people", sa.column("name"))
WAYS_IN = [sa.table(f"service_{name}", sa.column("name")) for name in ("sessions", "links", "tokens")]
FILES = sa.table("service_files", *map(sa.column, ("id", "owner", "created")))
JOBS = sa.table("service_jobs", *map(sa.column, ("id", "owner", "document", "created")))


def to_ids(upgrade: Upgrade) -> None:
    """Version 2: a person is her id; in version 1 a name was all that a person was.

    People get ids and what they own follows. What belonged to an earlier person of the same name, or comes
    from an upload that is gone, belongs to nobody: the service removes it. Drafts come into the store.
    """
    connection = upgrade.connection
    create_tables(connection, IDENTITIES, DRAFTS, LINEAGE, REQUESTS)
    added = _added(upgrade.log, connection)
    for name in list(connection.execute(sa.select(PEOPLE.c.name)).scalars()):
        _adopt(connection, name, added.get(name, 0.0))
    _trace(connection)
    if upgrade.folder is not None:
        _take_in_drafts(connection, upgrade.folder / DRAFT_FOLDER)


def _added(log: AuditLog, connection: sa.Connection) -> dict[str, float]:
    """When whoever has a name now was added: what is older was somebody else's."""
    return {
        str(entry.details["name"]): datetime.fromisoformat(entry.time).timestamp()
        for entry in log.entries(connection)
        if entry.event == ADDED
    }


def _adopt(connection: sa.Connection, name: str, since: float) -> None:
    person = secrets.token_hex(16)
    connection.execute(sa.insert(IDENTITIES).values(id=person, name=name, since=since or time.time()))
    for table in WAYS_IN:
        connection.execute(sa.update(table).where(table.c.name == name).values(name=person))
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
        for file_id in sorted(behind[job.id]):
            connection.execute(sa.insert(LINEAGE).values(job=job.id, file=file_id))


def _take_in_drafts(connection: sa.Connection, folder: Path) -> None:
    owners = {row.id: row.owner for row in connection.execute(sa.select(FILES.c.id, FILES.c.owner))}
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        content = _draft(path)
        if path.stem in owners and content is not None:
            kept = {"revision": 1, "content": json.dumps(content), "changed": path.stat().st_mtime}
            connection.execute(sa.insert(DRAFTS).values(file=path.stem, owner=owners[path.stem], **kept))


def _draft(path: Path) -> Mapping[str, object] | None:
    """What was decided; nothing if the file is damaged, since nobody can go on with that."""
    with contextlib.suppress(OSError, ValueError):
        content = json.loads(path.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else None
    return None
