"""Connecting to databases, and reporting what they say without passwords and cells.

What a driver says reaches the user only where it can hold neither a password nor a cell. Of a failed
connection it quotes the host, into which half a password slips when it is not percent-encoded; of a
query that fails while it runs, it quotes the values at which it failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote

import duckdb
import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.formats.address import database_file, shown, split_address

DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
"""The drivers that plain names stand for."""

CONNECTION_LOST = ("08", "57P")
"""How the SQLSTATE of an error begins when the connection, not the query, is the trouble."""


@contextmanager
def connected(address: str) -> Iterator[sa.Connection]:
    """A connection; what goes wrong is told without secrets and without cells."""
    engine = _engine(address)
    try:
        try:
            connection = engine.connect()
            if engine.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA schema_version")  # shows whether the file is a database
        except (SQLAlchemyError, OSError) as error:
            raise InputError(f"{shown(address)}: no connection: {_without_secrets(address, error)}") from None
        try:
            with connection:
                yield connection
        except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error, OSError, OverflowError) as error:
            raise InputError(f"{shown(address)}: {_what_happened(error)}") from None
    finally:
        engine.dispose()


@contextmanager
def connected_to_duckdb(address: str, *, read_only: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a DuckDB file that neither reads nor writes any other file."""
    path = database_file(address)
    try:
        # Without a folder for it, the engine cannot spill data to disk.
        connection = duckdb.connect(str(path), read_only=read_only, config={"temp_directory": ""})
        connection.execute("SET enable_external_access = false")
    except duckdb.Error:
        raise InputError(
            f"{shown(address)}: this is no DuckDB file, or another program has it open"
        ) from None
    try:
        with connection:
            yield connection
    except duckdb.Error as error:
        raise InputError(f"{shown(address)}: the database refused: {_kind(error)}") from None


@contextmanager
def planning(address: str) -> Iterator[None]:
    """Tell what a database says of a query that it has only planned: it has seen no row yet."""
    try:
        yield
    except (SQLAlchemyError, duckdb.Error) as error:
        message = str(_origin(error)).partition("\n")[0]
        raise InputError(f"{shown(address)}: the database refused: {message}") from None


def quoted(name: str) -> str:
    """A name as an identifier of standard SQL.

    >>> print(quoted('so-called "clinic" 1'))
    "so-called ""clinic"" 1"
    """
    return '"' + name.replace('"', '""') + '"'


def split_name(name: str, known: set[tuple[str, str]], address: str) -> tuple[str, str]:
    """The schema and the table that a name like `patients` or `clinic.patients` means."""
    schema, _, table = name.partition(".")
    fitting = sorted(pair for pair in known if pair[1] == name) or sorted(known & {(schema, table)})
    if len(fitting) > 1:
        places = " and ".join(f"{place}.{table}" for place, table in fitting)
        raise ParameterError(f"{shown(address)}: the table '{name}' exists as {places}: name one of them")
    if not fitting:
        names = ", ".join(sorted(table for _, table in known)[:10]) or "no tables"
        raise InputError(f"{shown(address)}: there is no table '{name}': it has {names}")
    return fitting[0]


def _engine(address: str) -> sa.Engine:
    scheme, _ = split_address(address)
    try:
        url = sa.make_url(address)
        url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    except (ArgumentError, ValueError):
        raise ParameterError(
            f"{scheme}://...: the address is malformed: write {scheme}://user:password@host:port/database, "
            "with special characters of the password percent-encoded (@ as %40, / as %2F, : as %3A)"
        ) from None
    try:
        return sa.create_engine(url, hide_parameters=True)
    except NoSuchModuleError:
        raise ParameterError(f"{shown(address)}: there is no known database '{scheme}'") from None
    except ImportError as error:
        raise ParameterError(
            f"{shown(address)}: the driver {error.name} is not installed: pip install {error.name}"
        ) from None


def _origin(error: Exception) -> Exception:
    """The error of the driver."""
    origin = getattr(error, "orig", None)
    return origin if isinstance(origin, Exception) else error


def _what_happened(error: Exception) -> str:
    state = getattr(_origin(error), "sqlstate", None) or ""
    if getattr(error, "connection_invalidated", False) or state.startswith(CONNECTION_LOST):
        return f"the connection was cut: {_kind(error)}: run it again when the database can be reached"
    return f"the database refused: {_kind(error)}"


def _kind(error: Exception) -> str:
    state = getattr(_origin(error), "sqlstate", None)
    return type(_origin(error)).__name__ + (f" (SQLSTATE {state})" if state else "")


def _without_secrets(address: str, error: Exception) -> str:
    """What a driver says of a failed connection, unless any part of the password is in it."""
    message = str(_origin(error)).partition("\n")[0]
    return _kind(error) if any(secret in message for secret in _secrets(address)) else message


def _secrets(address: str) -> set[str]:
    """Everything in an address that could be a password or a piece of one."""
    _, rest = split_address(address)
    account = rest.rpartition("@")[0]
    password = account.partition(":")[2] or account
    options = rest.partition("?")[2]
    pieces = re.split(r"[@:/?#&=%\[\]]", f"{password}@{options}@{unquote(password)}@{unquote(options)}")
    return {secret for secret in (password, unquote(password), *pieces) if secret}
