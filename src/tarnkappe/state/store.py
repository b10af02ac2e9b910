"""The store: one database for everything that must outlive a run. SQLite by default, PostgreSQL by URL.

A part of the house that keeps something defines its tables on `METADATA` and works in `writing()` or
`reading()`. A write is durable when the block ends, and nothing of it is there if the block fails.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from tarnkappe.errors import InputError
from tarnkappe.state.heads import HeadFile
from tarnkappe.state.statement import Seals
from tarnkappe.table.formats.address import is_address, shown

METADATA = sa.MetaData()
DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
READING = "tarnkappe_only_reads"
WRITERS_LOCK = 7_461_726_110
"""The advisory lock of PostgreSQL under which writers take turns."""


class Store:
    """A database that holds state.

    >>> store = Store.in_memory()
    >>> with store.reading() as connection:
    ...     connection.execute(sa.text("SELECT 1")).scalar()
    1
    """

    def __init__(self, engine: sa.Engine, place: str) -> None:
        self.engine, self.place = engine, place
        # What its log is guarded by (`audit.guard`), and how far the transaction that is under way let it
        # grow.
        self.seals: Seals | None = None
        self.heads: HeadFile | None = None
        self._grown: tuple[int, str] | None = None
        # Threads of one process queue here: SQLite would let them look again and again, with pauses.
        self._turns = threading.RLock()
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "connect", _prepare_sqlite)
            sa.event.listen(engine, "begin", _begin_sqlite)
        try:
            with self.writing() as connection:
                _check_tables(connection, place)
                METADATA.create_all(connection)
        except SQLAlchemyError as error:
            raise InputError(f"{place}: the store cannot be opened ({type(error).__name__})") from None

    @classmethod
    def open(cls, place: str | Path) -> Store:
        """Open a store, or make it: a file of SQLite, which only its owner can read, or a server by URL."""
        if isinstance(place, str) and is_address(place):
            scheme, rest = place.split("://", 1)
            if not scheme.startswith("sqlite"):
                return cls(sa.create_engine(f"{DRIVERS.get(scheme, scheme)}://{rest}"), shown(place))
            place = rest.removeprefix("/")
        path = Path(place)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: the store cannot be opened: {error.strerror}") from None
        return cls(sa.create_engine(f"sqlite:///{path.absolute()}"), str(path))

    @classmethod
    def in_memory(cls) -> Store:
        """A store that is forgotten when the program ends."""
        return cls(sa.create_engine("sqlite://", poolclass=sa.StaticPool), "memory")

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction; writers take turns, so that what one reads does not change before it writes."""
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

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()


def _check_tables(connection: sa.Connection, place: str) -> None:
    """A store of another version has other columns: say so before anything is read or written wrongly."""
    inspector = sa.inspect(connection)
    there = set(inspector.get_table_names())
    for table in METADATA.sorted_tables:
        if table.name in there:
            found = {column["name"] for column in inspector.get_columns(table.name)}
            wanted = {column.name for column in table.columns}
            if found != wanted:
                missing, unknown = sorted(wanted - found), sorted(found - wanted)
                what = [f"lacks {', '.join(missing)}"] * bool(missing)
                what += [f"has {', '.join(unknown)}"] * bool(unknown)
                raise InputError(
                    f"{place}: this store was written by another version of Tarnkappe: its table "
                    f"'{table.name}' {' and '.join(what)}. Use that version, or name a new store; nothing "
                    "was changed"
                )


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
    connection.execute("PRAGMA busy_timeout = 30000")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten


def _begin_sqlite(connection: sa.Connection) -> None:
    only_reads = connection.get_execution_options().get(READING, False)
    connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")
