"""Where the protected table is: a file of any kind, a DuckDB file or PostgreSQL. It is only ever read.

One statement reads all of it into the gate's memory, so that what it sees is one state of the table
(`snapshot`). It is read again when the table may have changed: when the file's time or size is another, or,
in PostgreSQL, the number of rows or the largest value of the column that the policy names.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from tarnkappe.errors import ColumnError, InputError, ParameterError
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import GateQuery
from tarnkappe.gate.snapshot import KEY, Rows, Snapshot, TableEvents
from tarnkappe.table import read
from tarnkappe.table.formats.address import database_file, is_address, quoted, shown, split_address
from tarnkappe.table.spelling.typed import typed_column

TYPES = {
    "bool": "boolean",
    "boolean": "boolean",
    "int2": "smallint",
    "smallint": "smallint",
    "tinyint": "smallint",
    "utinyint": "smallint",
    "int4": "integer",
    "integer": "integer",
    "usmallint": "integer",
    "int8": "bigint",
    "bigint": "bigint",
    "uinteger": "bigint",
    "float": "double precision",
    "float4": "double precision",
    "float8": "double precision",
    "double": "double precision",
    "numeric": "numeric",
    "decimal": "numeric",
    "hugeint": "numeric",
    "ubigint": "numeric",
    "date": "date",
    "timestamp": "timestamp without time zone",
}
"""What the databases call the types that answers may have; all others are shown as text."""
ARROW = {
    "boolean": pa.bool_(),
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "double precision": pa.float64(),
    "date": pa.date32(),
    "timestamp without time zone": pa.timestamp("us"),
    "text": pa.string(),
}
"""How a snapshot of PostgreSQL keeps them; decimals have the places that they need."""
ROWS_AT_ONCE = 100_000
FILE = "file"
"""How statements name the table of a file."""


@dataclasses.dataclass(frozen=True, repr=False)
class SelectedPeople:
    """The people whom a question selects, in the order of the columns.

    Attributes:
        keys: who they are; only the owner may see it.
        cells: the quasi-identifiers of each, by column.
        secrets: the sensitive values of each as text, by column; None if missing.
        rows: where they are in the snapshot; None for everybody.
    """

    keys: tuple[str, ...]
    cells: dict[str, tuple[Any, ...]]
    secrets: dict[str, tuple[str | None, ...]]
    rows: Rows | None = None

    def only(self, places: Sequence[int]) -> SelectedPeople:
        """Those at some places."""
        cells = {name: tuple(column[place] for place in places) for name, column in self.cells.items()}
        secrets = {name: tuple(column[place] for place in places) for name, column in self.secrets.items()}
        rows = np.array(places, dtype=np.int64) if self.rows is None else self.rows[list(places)]
        return SelectedPeople(tuple(self.keys[place] for place in places), cells, secrets, rows)


class ProtectedTable(ABC):
    """The protected table of a policy.

    Attributes:
        types: the type of every column that may be shown, by its PostgreSQL name.
    """

    def __init__(self, policy: GatePolicy) -> None:
        self.policy = policy
        self.types = self._look()
        self._stamp = self._state_now()
        self.snapshot = self._read()

    @staticmethod
    def open(policy: GatePolicy) -> ProtectedTable:
        """The source that a policy names."""
        if is_address(policy.source) and split_address(policy.source)[0].startswith("postgres"):
            return PostgresSource(policy)
        return DuckSource(policy)

    def look(self) -> Snapshot | None:
        """The table as it is now, if it may be another than the snapshot; else None."""
        stamp = self._state_now()
        if stamp is not None and stamp == self._stamp:
            return None
        found = self._read()
        self._stamp = stamp
        return found

    def put_in_place(self, snapshot: Snapshot) -> TableEvents:
        """Answer from another snapshot from now on; says what happened since the last one."""
        before, self.snapshot = self.snapshot, snapshot
        events = snapshot.since(before)
        before.close()
        return events

    def people(self, question: GateQuery) -> SelectedPeople:
        """Whom a question selects, as the snapshot has them."""
        return self.in_rows(self.snapshot.chosen(question.where, question.parameters))

    def everyone(self) -> SelectedPeople:
        """Everybody in the table."""
        return self.in_rows(None)

    def in_rows(self, rows: Rows | None) -> SelectedPeople:
        """The people in some rows of the snapshot, or in all."""
        snapshot = self.snapshot
        return SelectedPeople(
            snapshot.keys(rows),
            {name: snapshot.cells(name, rows) for name in self.policy.quasi_identifiers},
            {column.name: snapshot.cells(column.name, rows) for column in self.policy.sensitive},
            rows,
        )

    def values(self, column: str) -> dict[str | None, int]:
        """The different values of a sensitive column, and how many people have each."""
        return dict(Counter(self.snapshot.cells(column)))

    @property
    @abstractmethod
    def relation(self) -> str:
        """The table as SQL names it."""

    text: str = "VARCHAR"

    @abstractmethod
    def _look(self) -> dict[str, str]:
        """The types of the columns."""

    @abstractmethod
    def _state_now(self) -> object:
        """Something that is another if the table has changed; None if nothing cheap tells."""

    @abstractmethod
    def _fetch_table(self, statement: str) -> pa.Table:
        """The rows of a statement, which sees one state of the table."""

    def close(self) -> None:
        """Let go of the database."""
        self.snapshot.close()

    def _read(self) -> Snapshot:
        shown_ = [f"{self._cell(name)} AS {quoted(name)}" for name in self.policy.quasi_identifiers]
        names = [column.name for column in self.policy.sensitive]
        secret = [f"CAST({quoted(name)} AS {self.text}) AS {quoted(name)}" for name in names]
        key = f"CAST({quoted(self.policy.key)} AS {self.text}) AS {KEY}"
        table = self._fetch_table(f"SELECT {', '.join([key, *shown_, *secret])} FROM {self.relation}")
        return Snapshot(self.policy.key, table, self.policy.quasi_identifiers, names)

    def _cell(self, name: str) -> str:
        return f"CAST({quoted(name)} AS {self.text})" if self.types[name] == "text" else quoted(name)

    def _named(self, found: dict[str, str]) -> dict[str, str]:
        for name in (self.policy.key, *self.policy.columns):
            if name not in found:
                raise ColumnError(
                    "gate.protected-table-no-column",
                    "the protected table has no column '{name}'; it has {found}",
                    name=name,
                    found=", ".join(found),
                )
        return {
            name: TYPES.get(found[name].partition("(")[0].lower(), "text") for name in self.policy.columns
        }


class DuckSource(ProtectedTable):
    """A table of a DuckDB file, or any other file that holds one: it is read as `tarn anonymize` reads it.

    It is opened anew whenever it is read, so that others can write to it in between.
    """

    @property
    def relation(self) -> str:
        if self._is_database:
            return ".".join(map(quoted, self.policy.table.split(".")))
        return quoted(FILE)

    def _look(self) -> dict[str, str]:
        found = self._fetch_table(f"SELECT column_name, column_type FROM (DESCRIBE FROM {self.relation})")
        names, kinds = (column.to_pylist() for column in found.columns)
        return self._named(dict(zip(names, kinds, strict=True)))

    def _state_now(self) -> object:
        places = (self._path, Path(f"{self._path}.wal"))  # what a DuckDB file does not have yet is beside it
        found = [place.stat() for place in places if place.exists()]
        return [(one.st_mtime_ns, one.st_size, one.st_ino) for one in found]

    def _fetch_table(self, statement: str) -> pa.Table:
        path = self._path
        if not path.is_file():
            raise InputError("gate.no-file", "{path}: there is no such file", path=path)
        with self._opened() as connection:
            try:
                return connection.sql(statement).to_arrow_table()
            except duckdb.Error as error:
                raise InputError(
                    "gate.table-cannot-read",
                    "{path}: the table cannot be read ({name})",
                    path=path,
                    name=type(error).__name__,
                ) from None

    def _opened(self) -> duckdb.DuckDBPyConnection:
        """A connection that can reach the table and nothing else."""
        path, is_database = self._path, self._is_database
        config: dict[str, Any] = {"temp_directory": "", "autoinstall_known_extensions": "false"}
        try:
            connection = duckdb.connect(
                str(path) if is_database else ":memory:", read_only=is_database, config=config
            )
        except duckdb.Error:
            raise InputError(
                "gate.no-duckdb-file-another-program",
                "{path}: this is no DuckDB file, or another program has it open",
                path=path,
            ) from None
        if not is_database:
            connection.register(FILE, _read_file(path))
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return connection

    @property
    def _path(self) -> Path:
        if not is_address(self.policy.source):
            return Path(self.policy.source)
        file = database_file(self.policy.source)
        if file is None or split_address(self.policy.source)[0] != "duckdb":
            raise ParameterError(
                "gate.gate-reads-files-duckdb",
                "{source}: the gate reads files, duckdb:/// and postgresql://",
                source=shown(self.policy.source),
            )
        return file

    @property
    def _is_database(self) -> bool:
        return is_address(self.policy.source) or self._path.suffix.lower() in (".duckdb", ".ddb")


def _read_file(path: Path) -> pa.Table:
    """The table of a file. What says itself what is text stays so; in CSV numbers and days are texts."""
    table = read(path)
    spelled = table.reading is not None and table.reading.format == "CSV"
    return pa.table(
        {
            name: typed_column(table.data.column(name), table.spelling(name) if spelled else None)
            for name in table.column_names
        }
    )


class PostgresSource(ProtectedTable):
    """A table of PostgreSQL, in transactions that only read."""

    text = "text"

    def __init__(self, policy: GatePolicy) -> None:
        self._connection: Any = None
        super().__init__(policy)

    @property
    def relation(self) -> str:
        return ".".join(map(quoted, self.policy.table.split(".")))

    def _look(self) -> dict[str, str]:
        import psycopg

        cursor = self._execute(f"SELECT * FROM {self.relation} LIMIT 0")
        types = psycopg.adapters.types
        return self._named(
            {
                column.name: kind.name if (kind := types.get(column.type_code)) else "text"
                for column in cursor.description
            }
        )

    def _state_now(self) -> object:
        column = self.policy.changed_by
        if column is None:
            return None
        found = self._execute(f"SELECT count(*), max({quoted(column)}) FROM {self.relation}").fetchone()
        return tuple(found)

    def _fetch_table(self, statement: str) -> pa.Table:
        cursor = self._execute(statement)
        names = [column.name for column in cursor.description]
        plain = self.policy.quasi_identifiers
        kinds = [ARROW.get(self.types[name]) if name in plain else pa.string() for name in names]
        columns: list[list[Any]] = [[] for _ in names]
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
                column += cells
        return pa.table([_array(*each) for each in zip(columns, kinds, strict=True)], names)

    def _execute(self, statement: str) -> Any:
        import psycopg

        for attempt in (1, 2):
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = psycopg.connect(self.policy.source, autocommit=True)
                    self._connection.execute("SET default_transaction_read_only = on")
                return self._connection.execute(statement)
            except psycopg.Error as error:
                lost = self._connection is None or self._connection.closed or self._connection.broken
                self._disconnect()
                if attempt == 2 or not lost:
                    what = "no connection" if lost else "the table cannot be read"
                    place = shown(self.policy.source)
                    raise InputError(
                        "gate.place-what-name",
                        "{place}: {what} ({name})",
                        place=place,
                        what=what,
                        name=type(error).__name__,
                    ) from None
        raise AssertionError("the loop returns or raises")

    def close(self) -> None:
        super().close()
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _array(cells: list[Any], kind: pa.DataType | None) -> pa.Array:
    if kind is None:
        cells = [cell if isinstance(cell, Decimal) and cell.is_finite() else None for cell in cells]
        kind = None if any(cell is not None for cell in cells) else pa.decimal128(38, 0)
    return pa.array(cells, kind)
