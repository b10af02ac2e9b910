"""Making components, and bringing those of earlier versions to this one.

All of it is one transaction, on SQLite as on PostgreSQL: whoever is killed leaves the store as it was, and
the next opening begins again. Before the first step a file of SQLite is copied, since a step may be wrong
although it ends well.
"""

from __future__ import annotations

import contextlib
import filecmp
import glob
import logging
import os
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import count
from pathlib import Path

import sqlalchemy as sa

from tarnkappe.errors import OutputError, VerificationError
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.component import ABSENT, VERSIONS, Component, Upgrade
from tarnkappe.state.heads import sync_folder
from tarnkappe.state.store import Store

MIGRATED = "store migrated"
"""The event of the audit log when a component came to another version, or into a store that has a log."""

log = logging.getLogger("tarnkappe.state")


def bring_up(
    store: Store, connection: sa.Connection, versions: Mapping[Component, int], backup: str | None
) -> None:
    """Make what is not there, and take every step that is due.

    Args:
        store: where.
        connection: a transaction that writes.
        versions: the components with their versions; that of the log first.
        backup: the name of the copy of the store, if there is one.
    """
    VERSIONS.create(connection, checkfirst=True)
    audit = AuditLog(store)
    for component, before in versions.items():
        if before == ABSENT:
            component.metadata.create_all(connection, checkfirst=False)
        for step in component.steps(before) if before else ():
            step(Upgrade(connection, audit, store.folder))
        _note_version(connection, component)
    if audit.is_empty(connection):
        return
    for component, before in versions.items():
        if before != component.version:
            _note(audit, connection, component, before, backup)


def _note(
    audit: AuditLog, connection: sa.Connection, component: Component, before: int, backup: str | None
) -> None:
    """Write into the log what was done, unless the log says that it was done before."""
    reached = [
        entry.details["to"]
        for entry in audit.entries(connection)
        if entry.event == MIGRATED and entry.details["component"] == component.name
    ]
    if reached and max(reached) > before:
        raise VerificationError(
            "state.log-says-brought-version",
            "{store}: the log says that '{component}' was brought to version {reached}, and the store that "
            "it has version {before}: the store was changed, and not by this program",
            store=audit.store.place,
            component=component.name,
            reached=max(reached),
            before=before,
        )
    told = {"component": component.name, "from": before, "to": component.version}
    audit.append(MIGRATED, told | ({} if backup is None or not before else {"backup": backup}), connection)
    log.info("%s: '%s' went from version %d to %d", audit.store.place, component.name, before, told["to"])


def _note_version(connection: sa.Connection, component: Component) -> None:
    values = {
        "component": component.name,
        "version": component.version,
        "changed": datetime.now(UTC).isoformat(timespec="seconds"),
        "by_version": version("tarnkappe"),
    }
    mine = VERSIONS.c.component == component.name
    if not connection.execute(sa.update(VERSIONS).where(mine).values(values)).rowcount:
        connection.execute(sa.insert(VERSIONS).values(values))


def copy_store(path: Path, number: int) -> Path:
    """Copy a file of SQLite, synced, for its owner only; one that is there already stays.

    Nobody may write meanwhile. The copy is made by SQLite itself: whoever opens and closes a file by other
    means in this process gives up all locks that SQLite has on it.
    """
    partial = path.with_name(f"{path.name}.backup-partial")
    try:
        with _new_file(partial):
            source, target = (sqlite3.connect(each, isolation_level=None) for each in (path, partial))
            with contextlib.closing(source), contextlib.closing(target):
                target.execute("PRAGMA journal_mode = OFF")
                target.execute("PRAGMA synchronous = FULL")
                source.backup(target)
        for name in _names(path, number):
            if name.exists() and filecmp.cmp(partial, name, shallow=False):
                partial.unlink()  # a crash after the copy, and nothing has changed since
                return name
            if not name.exists():
                partial.replace(name)
                sync_folder(path.parent)
                return name
        raise AssertionError("there are enough names")
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise OutputError(
            "state.store-needs-brought-version",
            "{path}: this store needs to be brought to this version, and cannot be copied first ({why}): "
            "make room for it; nothing was changed",
            path=path,
            why=why,
        ) from None


@contextlib.contextmanager
def _new_file(path: Path) -> Iterator[None]:
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield
        with path.open("rb") as file:
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _names(path: Path, number: int) -> Iterator[Path]:
    yield path.with_name(f"{path.name}.v{number}-backup")
    for again in count(2):
        yield path.with_name(f"{path.name}.v{number}-backup-{again}")


def backups_of(path: Path) -> list[Path]:
    """The backups that were made of a store before steps."""
    return sorted(path.parent.glob(f"{glob.escape(path.name)}.v*-backup*"))
