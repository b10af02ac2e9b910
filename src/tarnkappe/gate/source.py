"""Where the protected table is: a Parquet or CSV file, a DuckDB file or PostgreSQL. It is only ever read.

One statement reads all that a question needs, so that what it sees is one state of the table. The condition
is evaluated where no sensitive column is in sight, whatever it says.
"""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from tarnkappe.engines.duckdb import literal
from tarnkappe.errors import ColumnError, InputError, ParameterError
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import GateQuery
from tarnkappe.table.formats.address import database_file, is_address, shown, split_address
from tarnkappe.table.formats.database import quoted

KEY, PEOPLE, CHOSEN = "tarnkappe_key", "tarnkappe_people", "tarnkappe_chosen"
PLACEHOLDERS = re.compile(r'"(?:[^"]|"")*"|\?|%')
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


@dataclasses.dataclass(frozen=True, repr=False)
class SelectedPeople:
    """The people whom a question selects, in the order of the columns.

    Attributes:
        keys: who they are; only the owner may see it.
        cells: the quasi-identifiers of each, by column.
        secrets: the sensitive values of each as text, by column; None if missing.
    """

    keys: tuple[str, ...]
    cells: dict[str, tuple[Any, ...]]
    secrets: dict[str, tuple[str | None, ...]]

    def only(self, places: Sequence[int]) -> SelectedPeople:
        """Those at some places."""
        cells = {name: tuple(column[place] for place in places) for name, column in self.cells.items()}
        secrets = {name: tuple(column[place] for place in places) for name, column in self.secrets.items()}
        return SelectedPeople(tuple(self.keys[place] for place in places), cells, secrets)


class ProtectedTable(ABC):
    """The protected table of a policy.

    Attributes:
        types: the type of every column that may be shown, by its PostgreSQL name.
    """

    def __init__(self, policy: GatePolicy) -> None:
        self.policy = policy
        self.types = self._look()
        self._check_keys()

    @staticmethod
    def open(policy: GatePolicy) -> ProtectedTable:
        """The source that a policy names."""
        if is_address(policy.source) and split_address(policy.source)[0].startswith("postgres"):
            return PostgresSource(policy)
        return DuckSource(policy)

    def people(self, question: GateQuery) -> SelectedPeople:
        """Whom a question selects, as the table is now."""
        inner = ", ".join(map(quoted, self.policy.quasi_identifiers))
        key = quoted(self.policy.key)
        seen = (
            f"SELECT CAST({key} AS {self.text}) AS {KEY}{', ' if inner else ''}{inner} FROM {self.relation}"
        )
        # A subquery could look at the columns of the query around it; this one has none.
        chosen = f"SELECT {KEY} FROM ({seen}) AS {PEOPLE} WHERE {question.where or '(1 = 1)'}"
        statement = (
            f"WITH {CHOSEN} AS ({chosen}) {self._columns()} AS {PEOPLE} "
            f"JOIN {CHOSEN} ON CAST({key} AS {self.text}) = {KEY}"
        )
        return self._people(self._fetch(statement, question.parameters))

    def everyone(self) -> SelectedPeople:
        """Everybody in the table."""
        return self._people(self._fetch(self._columns(), ()))

    def values(self, column: str) -> dict[str | None, int]:
        """The different values of a sensitive column, and how many people have each."""
        value = f"CAST({quoted(column)} AS {self.text})"
        statement = f"SELECT {value}, count(*) FROM {self.relation} GROUP BY 1"
        return dict(self._fetch(statement, ()))

    @property
    @abstractmethod
    def relation(self) -> str:
        """The table as SQL names it."""

    text: str = "VARCHAR"

    @abstractmethod
    def _look(self) -> dict[str, str]:
        """The types of the columns."""

    @abstractmethod
    def _fetch(self, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows of a statement, which sees one state of the table."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    def _columns(self) -> str:
        shown_ = [self._cell(name) for name in self.policy.quasi_identifiers]
        secret = [f"CAST({quoted(column.name)} AS {self.text})" for column in self.policy.sensitive]
        key = f"CAST({quoted(self.policy.key)} AS {self.text})"
        return f"SELECT {', '.join([key, *shown_, *secret])} FROM {self.relation}"

    def _cell(self, name: str) -> str:
        return f"CAST({quoted(name)} AS {self.text})" if self.types[name] == "text" else quoted(name)

    def _people(self, rows: list[tuple[Any, ...]]) -> SelectedPeople:
        rows.sort(key=lambda row: str(row[0]))
        keys = tuple(row[0] for row in rows)
        if None in keys or len(set(keys)) < len(keys):
            raise ColumnError(
                f"the column '{self.policy.key}' must name exactly one person in every row: it does not"
            )
        names = (*self.policy.quasi_identifiers, *(column.name for column in self.policy.sensitive))
        columns = list(zip(*rows, strict=True))[1:] if rows else [()] * len(names)
        cells = dict(zip(names, columns, strict=True))
        secrets = {column.name: cells.pop(column.name) for column in self.policy.sensitive}
        return SelectedPeople(keys, cells, secrets)

    def _named(self, found: dict[str, str]) -> dict[str, str]:
        for name in (self.policy.key, *self.policy.columns):
            if name not in found:
                raise ColumnError(f"the protected table has no column '{name}'; it has {', '.join(found)}")
        return {
            name: TYPES.get(found[name].partition("(")[0].lower(), "text") for name in self.policy.columns
        }

    def _check_keys(self) -> None:
        key = quoted(self.policy.key)
        numbers = f"count(*), count({key}), count(DISTINCT {key})"
        rows, named, different = self._fetch(f"SELECT {numbers} FROM {self.relation}", ())[0]
        if rows == 0:
            raise InputError("the protected table is empty")
        if named < rows or different < rows:
            raise ColumnError(
                f"the column '{self.policy.key}' must name exactly one person in every row: of {rows} rows "
                f"{rows - named} have no name and {named - different} repeat one"
            )


class DuckSource(ProtectedTable):
    """A Parquet or CSV file, or a table of a DuckDB file. It is read anew for every question.

    A DuckDB file is also opened anew, so that others can write to it in between.
    """

    def __init__(self, policy: GatePolicy) -> None:
        self._reader: duckdb.DuckDBPyConnection | None = None
        super().__init__(policy)

    @property
    def relation(self) -> str:
        path = self._path
        if self._is_database:
            return ".".join(map(quoted, self.policy.table.split(".")))
        reader = "read_parquet" if path.suffix.lower() in (".parquet", ".pq") else "read_csv"
        plain = re.sub(r"([*?\[])", r"[\1]", str(path))  # no character stands for others
        return f"{reader}({literal(plain)})"

    def _look(self) -> dict[str, str]:
        found = self._fetch(f"DESCRIBE SELECT * FROM {self.relation}", ())
        return self._named({row[0]: row[1] for row in found})

    def _fetch(self, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        path = self._path
        if not path.is_file():
            raise InputError(f"{path}: there is no such file")
        with self._connected() as connection:
            try:
                return connection.execute(statement, list(parameters)).fetchall()
            except duckdb.Error as error:
                raise InputError(f"{path}: the table cannot be read ({type(error).__name__})") from None

    @contextmanager
    def _connected(self) -> Iterator[duckdb.DuckDBPyConnection]:
        if self._is_database:
            with self._opened() as connection:
                yield connection
            return
        if self._reader is None:
            self._reader = self._opened()
        with self._reader.cursor() as connection:  # each thread needs one of its own
            yield connection

    def _opened(self) -> duckdb.DuckDBPyConnection:
        """A connection that can reach the file of the table and nothing else."""
        path, is_database = self._path, self._is_database
        config: dict[str, Any] = {"temp_directory": "", "autoinstall_known_extensions": "false"}
        try:
            connection = duckdb.connect(
                str(path) if is_database else ":memory:", read_only=is_database, config=config
            )
        except duckdb.Error:
            raise InputError(f"{path}: this is no DuckDB file, or another program has it open") from None
        if not is_database:
            connection.execute(f"SET allowed_paths = [{literal(str(path))}]")
            connection.execute("SET enable_external_file_cache = false")  # the file may change at any time
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return connection

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    @property
    def _path(self) -> Path:
        if not is_address(self.policy.source):
            return Path(self.policy.source)
        file = database_file(self.policy.source)
        if file is None or split_address(self.policy.source)[0] != "duckdb":
            raise ParameterError(
                f"{shown(self.policy.source)}: the gate reads Parquet and CSV files, duckdb:/// and postgresql://"
            )
        return file

    @property
    def _is_database(self) -> bool:
        return is_address(self.policy.source) or self._path.suffix.lower() in (".duckdb", ".ddb")


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

        cursor = self._execute(f"SELECT * FROM {self.relation} LIMIT 0", ())
        types = psycopg.adapters.types
        return self._named(
            {
                column.name: kind.name if (kind := types.get(column.type_code)) else "text"
                for column in cursor.description
            }
        )

    def _fetch(self, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._execute(statement, parameters).fetchall()
        return found

    def _execute(self, statement: str, parameters: Sequence[Any]) -> Any:
        import psycopg

        text = PLACEHOLDERS.sub(_psycopg_sign, statement)
        for attempt in (1, 2):
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = psycopg.connect(self.policy.source, autocommit=True)
                    self._connection.execute("SET default_transaction_read_only = on")
                return self._connection.execute(text, list(parameters))
            except psycopg.Error as error:
                lost = self._connection is None or self._connection.closed or self._connection.broken
                self.close()
                if attempt == 2 or not lost:
                    what = "no connection" if lost else "the table cannot be read"
                    place = shown(self.policy.source)
                    raise InputError(f"{place}: {what} ({type(error).__name__})") from None
        raise AssertionError("the loop returns or raises")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _psycopg_sign(found: re.Match[str]) -> str:
    """A sign of a parameter as the driver writes it; in names only the sign that it would take for one."""
    return "%s" if found[0] == "?" else found[0].replace("%", "%%")
