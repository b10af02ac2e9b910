"""The store: one database for everything that must outlive a run. SQLite by default, PostgreSQL by URL.

A part of the house that keeps something has a `Component`, its tables, and works in `writing()` or
`reading()`. A write is durable when the block ends, and nothing of it is there if the block fails.
"""

from __future__ import annotations

import math
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from tarnkappe.errors import InputError, Reason
from tarnkappe.state.component import ABSENT, Component, standings
from tarnkappe.state.heads import HeadFile
from tarnkappe.state.log_tables import AUDIT
from tarnkappe.state.statement import Seals
from tarnkappe.table.formats.address import is_address, shown

DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
READING = "tarnkappe_only_reads"
WRITERS_LOCK = 7_461_726_110
"""The advisory lock of PostgreSQL under which writers take turns."""

Mode = Literal["create", "write", "read"]


class Store:
    """A database that holds state; as a context it is closed at the end.

    >>> with Store.in_memory() as store, store.reading() as connection:
    ...     connection.execute(sa.text("SELECT 1")).scalar()
    1

    Args:
        engine: the database.
        place: what people call it.
        components: what is kept there; the audit log always is.
        mode: as of `open`.
        folder: where the files are that belong to it, if there are any.
    """

    def __init__(
        self,
        engine: sa.Engine,
        place: str,
        *components: Component,
        mode: Mode = "create",
        folder: Path | None = None,
    ) -> None:
        self.engine, self.place, self.mode, self.folder = engine, place, mode, folder
        # What its log is guarded by (`audit.guard`), and how far the transaction that is under way let it
        # grow.
        self.seals: Seals | None = None
        self.heads: HeadFile | None = None
        self.verified_log: Any = None
        self._grown: tuple[int, str] | None = None
        # Threads of one process queue here: SQLite would let them look again and again, with pauses.
        self._turns = threading.RLock()
        self._ready: set[str] = set()
        self._backup: Path | None = None
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "connect", _prepare_sqlite)
            sa.event.listen(engine, "begin", _begin_sqlite)
        try:
            self.ensure(*components)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(
        cls, place: str | Path, *components: Component, mode: Mode = "create", folder: Path | None = None
    ) -> Store:
        """Open a store: a file of SQLite, which only its owner can read, or a server by URL.

        Args:
            place: the file or the URL.
            components: what is kept there; those of an earlier version are brought to this one.
            mode: `create` makes what is not there. `write` makes nothing: the store and its components are
                there, or it is refused. `read` makes and changes nothing at all, and waits for nobody.
            folder: where the files are that belong to it, if there are any.

        Raises:
            InputError: it cannot be opened so; it was not changed.
        """
        engine, name = engine_of(place, mode)
        return cls(engine, name, *components, mode=mode, folder=folder)

    @classmethod
    def in_memory(cls, *components: Component) -> Store:
        """A store that is forgotten when the program ends."""
        return cls(sa.create_engine("sqlite://", poolclass=sa.StaticPool), "memory", *components)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path | None:
        """The file, of a store that is one."""
        database = self.engine.url.database
        return Path(database) if self.engine.dialect.name == "sqlite" and database else None

    def ensure(self, *components: Component) -> None:
        """See to it that components are there in this version; what the mode does not allow is refused.

        Raises:
            InputError: a component has a version that is not known, or not for this mode.
        """
        wanted = [each for each in (AUDIT, *components) if each.name not in self._ready]
        if not wanted:
            return
        try:
            with self._turns:
                if self._outdated(wanted):
                    self._bring_up(wanted)
                self._ready.update(each.name for each in wanted)
        except SQLAlchemyError as error:
            raise InputError.because(why_not(self.place, error)) from None

    def _outdated(self, components: list[Component]) -> bool:
        """Whether something must be written; what the mode does not allow is refused."""
        with self.reading() as connection:
            found = standings(connection, components, self.place)
        for component, (version, _) in found.items():
            if version == ABSENT and self.mode != "create":
                raise InputError(
                    "state.store-holds",
                    "{place}: this store holds nothing of '{component}'",
                    place=self.place,
                    component=component.name,
                )
            if version < component.version and self.mode == "read":
                raise InputError(
                    "state.store-earlier-version-version",
                    "{place}: this store is of an earlier version ('{component}' has version {version}, and"
                    " {version_2} is needed): what writes to it brings it to this one when it is started "
                    "next; nothing was changed",
                    place=self.place,
                    component=component.name,
                    version=version,
                    version_2=component.version,
                )
        return self.mode != "read" and any(
            version < component.version or not is_noted for component, (version, is_noted) in found.items()
        )

    def _bring_up(self, components: list[Component]) -> None:
        from tarnkappe.state.migrating import bring_up, copy_store  # needed seldom

        with self.writing() as connection:
            found = standings(connection, components, self.place)  # somebody else may have been faster
            versions = {component: version for component, (version, _) in found.items()}
            due = [version for each, version in versions.items() if ABSENT < version < each.version]
            if due and self._backup is None and self.path is not None:
                self._backup = copy_store(self.path, due[0])
            bring_up(self, connection, versions, None if self._backup is None else self._backup.name)

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction; writers take turns, so that what one reads does not change before it writes."""
        if self.mode == "read":
            raise InputError(
                "state.store-opened-read", "{place}: this store was opened to be read only", place=self.place
            )
        with self._turns:
            self._grown = None
            with self.engine.begin() as connection:
                if connection.dialect.name == "postgresql":
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": WRITERS_LOCK})
                yield connection
            self._keep_head()

    def _keep_head(self) -> None:
        if self._grown is not None and self.heads is not None:
            self.heads.write(*self._grown)

    def log_grew(self, size: int, root: str) -> None:
        """The transaction that is under way added to the log: its head is kept when that is done."""
        self._grown = size, root

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only reads; it does not wait for one that is still writing."""
        with self.engine.connect().execution_options(**{READING: True}) as connection:
            yield connection

    def scrub(self) -> None:
        """Write the file of SQLite anew: nothing of what was deleted is left in its pages.

        A server has pages of its own, which it writes anew when it likes.
        """
        if self.engine.dialect.name != "sqlite":
            return
        with self._turns:
            connection = self.engine.raw_connection()  # VACUUM runs outside of any transaction
            try:
                connection.cursor().execute("VACUUM")
            finally:
                connection.close()

    def remove_backups(self, before: float = math.inf) -> None:
        """Remove the backups that were made before steps, if they are older: what was deleted is in them."""
        from tarnkappe.state.migrating import backups_of  # needed seldom

        for backup in () if self.path is None else backups_of(self.path):
            if backup.stat().st_mtime < before:
                backup.unlink()

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()


def engine_of(place: str | Path, mode: Mode) -> tuple[sa.Engine, str]:
    """The database at a place, and what people call it; a file is made if the mode is to create."""
    if isinstance(place, str) and is_address(place):
        scheme, rest = place.split("://", 1)
        if not scheme.startswith("sqlite"):
            only = {"options": "-c default_transaction_read_only=on"} if mode == "read" else {}
            address = f"{DRIVERS.get(scheme, scheme)}://{rest}"
            return sa.create_engine(address, connect_args=only), shown(place)
        place = rest.removeprefix("/")
    path = Path(place)
    try:
        if mode == "create":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600, exist_ok=True)
        elif not path.is_file():
            raise InputError("state.no-store", "{path}: there is no store", path=path)
    except OSError as error:
        raise InputError(
            "state.store-cannot-opened",
            "{path}: the store cannot be opened: {strerror}",
            path=path,
            strerror=error.strerror,
        ) from None
    return _sqlite(path, mode), str(path)


def _sqlite(path: Path, mode: Mode) -> sa.Engine:
    if mode != "read":
        return sa.create_engine(sa.URL.create("sqlite", database=str(path.absolute())))
    # Without a journal, and without any other file that would have to be made.
    address = f"file:{quote(str(path.absolute()))}"
    return sa.create_engine(sa.URL.create("sqlite", database=address, query={"mode": "ro", "uri": "true"}))


def why_not(place: str, error: SQLAlchemyError) -> Reason:
    """Why a store cannot be opened."""
    cause = getattr(error, "orig", None)
    if getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_ROLLBACK:
        return Reason(
            "state.store-needs-recovery-program",
            "{place}: the store needs recovery: a program that wrote to it was killed. What writes to it "
            "repairs it when it is started next; nothing was changed",
            place=place,
        )
    return Reason(
        "state.store-store-cannot-opened",
        "{place}: the store cannot be opened ({name})",
        place=place,
        name=type(error).__name__,
    )


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
    connection.execute("PRAGMA busy_timeout = 30000")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten


def _begin_sqlite(connection: sa.Connection) -> None:
    only_reads = connection.get_execution_options().get(READING, False)
    connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")
