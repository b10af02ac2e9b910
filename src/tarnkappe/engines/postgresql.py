"""PostgreSQL: everything in one transaction on one connection.

The transaction sees the database as it was when it began, so what is counted is what is released, whoever
writes meanwhile. The release is a new table that others see, whole and verified, when the transaction ends;
if it fails, or the connection is cut, nothing was ever there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import ibis
import pyarrow as pa
import sqlalchemy as sa

from tarnkappe.engines.engine import DIGITS, SOURCE, Engine, Grouped, StagedRelease
from tarnkappe.engines.statements import (
    KEPT,
    LEVELS,
    LevelTable,
    ReleasePlan,
    kept_rows,
    left,
    level_rows,
    unused,
)
from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.address import DRIVERS, quoted, shown, split_address
from tarnkappe.table.formats.database import connected, planning
from tarnkappe.table.formats.names import check_names
from tarnkappe.table.formats.sql_read import look_up, read_answer
from tarnkappe.table.formats.sql_write import copy_rows, schema_and_name

NUMBERED = "tarnkappe_numbered"
RELEASE = "tarnkappe_release"


@contextmanager
def open_postgresql(
    database: str, target: str, *, table: str | None = None, query: str | None = None
) -> Iterator[PostgreSQL]:
    """The rows of a table or a query; the release becomes the table `target` of the same database."""
    if split_address(database)[0].partition("+")[0] not in DRIVERS:
        raise ParameterError(
            "engines.no-address-postgresql-write",
            "{database}: this is no address of PostgreSQL: write postgresql://...",
            database=shown(database),
        )
    with connected(database) as connection:
        connection = connection.execution_options(isolation_level="REPEATABLE READ")
        yield PostgreSQL(connection, database, table, query, target)


class PostgreSQL(Engine):
    """Rows of a PostgreSQL database."""

    name: ClassVar[str] = "postgresql"
    dialect: ClassVar[str] = "postgres"
    numbered: ClassVar[str] = NUMBERED

    def __init__(
        self, connection: sa.Connection, address: str, table: str | None, query: str | None, target: str
    ) -> None:
        self.source, self._address, self._connection = shown(address), address, connection
        self._run("SET LOCAL idle_in_transaction_session_timeout = 0")  # the search takes its time
        self._target = self._new_table(target)
        if table is not None:
            place, _ = look_up(connection, table, address)
            query = f"SELECT * FROM {'.'.join(quoted(part) for part in place if part)}"
        query = (query or "").strip().rstrip(";")
        with planning(address):
            result = self._run(f"SELECT * FROM ({query}\n) AS q LIMIT 0")
            self.columns = tuple(check_names(list(result.keys()), self.source))
            result.close()
        self.row = unused("row", self.columns)
        self._run(f"CREATE TEMP VIEW {SOURCE} AS SELECT * FROM ({query}\n) AS q")
        self._run(
            f"CREATE TEMP VIEW {NUMBERED} AS SELECT *, row_number() OVER () AS {self.row} FROM {SOURCE}"
        )

    def _new_table(self, target: str) -> str:
        schema, name = schema_and_name(self._connection, target)
        if len(name.encode()) > self._connection.dialect.max_identifier_length:
            raise ColumnError(
                "engines.name-too-long-postgresql",
                "the name '{name}' is too long for postgresql: it would be cut",
                name=name,
            )
        if sa.inspect(self._connection).has_table(name, schema or None):
            raise ParameterError(
                "engines.table-exists-choose-another-name",
                "{source}: the table '{target}' exists: choose another name, or drop it",
                source=self.source,
                target=target,
            )
        return ".".join(quoted(part) for part in (schema, name) if part)

    def _run(self, statement: str) -> sa.CursorResult[Any]:
        # Without parameters, a percent sign is a percent sign.
        return self._connection.exec_driver_sql(statement, execution_options={"no_parameters": True})

    def answer(self, statement: str, progress: Progress | None = None) -> pa.Table:
        """The rows that a query gives, read as rows of a table are."""
        return read_answer(self._connection, statement, self._address, progress=progress)

    def digest(self, text: Any) -> Any:
        """As in other engines, in the words of this one."""
        return left(encode(sha256(convert_to(text, "UTF8")), "hex"), DIGITS)

    @contextmanager
    def release(self, plan: ReleasePlan, progress: Progress | None = None) -> Iterator[StagedRelease]:
        """Create the table of the release; others see it when the context ends without an error."""
        for index, level in enumerate(plan.levels):
            self._create_levels(index, level)
        classes = ", ".join(f"q{index} integer" for index in range(len(plan.levels)))
        self._run(f"CREATE TEMP TABLE {KEPT} ({classes}) ON COMMIT DROP")
        self._fill(KEPT, kept_rows(plan))
        if progress:
            progress("writing", 0, 1)
        self._run(f"CREATE TABLE {self._target} AS {self.statement(plan)}")
        self._run(f"CREATE TEMP VIEW {RELEASE} AS SELECT * FROM {self._target}")
        result = self._run(f"SELECT * FROM {RELEASE} LIMIT 0")
        columns = tuple(result.keys())
        result.close()
        yield _WrittenTable(self, columns)
        # The session may end a moment later than we do; nothing of it must hold on to the tables.
        self._run(f"DROP VIEW {RELEASE}, {NUMBERED}, {SOURCE}")
        self._connection.commit()
        if progress:
            progress("writing", 1, 1)

    def _create_levels(self, index: int, level: LevelTable) -> None:
        """The table of levels has the column's own type, so that values are compared as the database does."""
        name, own = LEVELS.format(index), quoted(level.column)
        released = own if level.own else "''::text"
        self._run(
            f"CREATE TEMP TABLE {name} ON COMMIT DROP AS "
            f"SELECT {own} AS v{index}, 0 AS k{index}, {released} AS s{index} FROM {SOURCE} WITH NO DATA"
        )
        self._fill(name, level_rows(index, level))

    def _fill(self, name: str, rows: pa.Table) -> None:
        copy_rows(self._connection, name, rows)
        self._run(f"ANALYZE {name}")  # else the size of the joins is a guess


class _WrittenTable(StagedRelease):
    def __init__(self, engine: PostgreSQL, columns: tuple[str, ...]) -> None:
        self.columns, self._engine = columns, engine

    def group(self, names: Sequence[str]) -> Grouped:
        return self._engine.grouped(RELEASE, names)


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def convert_to(text: str, encoding: str) -> bytes:  # type: ignore[empty-body]
    """A text as bytes, in PostgreSQL."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def sha256(data: bytes) -> bytes:  # type: ignore[empty-body]
    """A hash of bytes, in PostgreSQL."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def encode(data: bytes, form: str) -> str:  # type: ignore[empty-body]
    """Bytes as text, in PostgreSQL."""
