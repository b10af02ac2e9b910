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
from tarnkappe.table.formats.address import DRIVERS, database_file, shown, split_address

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
            raise InputError(
                "table.no-connection",
                "{address}: no connection: {address_2}",
                address=shown(address),
                address_2=_without_secrets(address, error),
            ) from None
        try:
            with connection:
                yield connection
        except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error, OSError, OverflowError) as error:
            raise InputError(
                "table.address-error",
                "{address}: {error}",
                address=shown(address),
                error=_what_happened(error),
            ) from None
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
            "table.no-duckdb-file-another-program",
            "{address}: this is no DuckDB file, or another program has it open",
            address=shown(address),
        ) from None
    try:
        with connection:
            yield connection
    except duckdb.Error as error:
        raise InputError(
            "table.database-refused",
            "{address}: the database refused: {error}",
            address=shown(address),
            error=_kind(error),
        ) from None


@contextmanager
def planning(address: str) -> Iterator[None]:
    """Tell what a database says of a query that it has only planned: it has seen no row yet."""
    try:
        yield
    except (SQLAlchemyError, duckdb.Error) as error:
        message = str(_origin(error)).partition("\n")[0]
        raise InputError(
            "table.database-database-refused",
            "{address}: the database refused: {message}",
            address=shown(address),
            message=message,
        ) from None


def split_name(name: str, known: set[tuple[str, str]], address: str) -> tuple[str, str]:
    """The schema and the table that a name like `patients` or `clinic.patients` means."""
    schema, _, table = name.partition(".")
    fitting = sorted(pair for pair in known if pair[1] == name) or sorted(known & {(schema, table)})
    if len(fitting) > 1:
        places = " and ".join(f"{place}.{table}" for place, table in fitting)
        raise ParameterError(
            "table.table-exists-name",
            "{address}: the table '{name}' exists as {places}: name one of them",
            address=shown(address),
            name=name,
            places=places,
        )
    if not fitting:
        names = ", ".join(sorted(table for _, table in known)[:10]) or "no tables"
        raise InputError(
            "table.database-no-table",
            "{address}: there is no table '{name}': it has {names}",
            address=shown(address),
            name=name,
            names=names,
        )
    return fitting[0]


def _engine(address: str) -> sa.Engine:
    scheme, _ = split_address(address)
    try:
        url = sa.make_url(address)
        url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    except (ArgumentError, ValueError):
        raise ParameterError(
            "table.address-malformed-write-user",
            "{scheme}://...: the address is malformed: write {scheme}://user:password@host:port/database, "
            "with special characters of the password percent-encoded (@ as %40, / as %2F, : as %3A)",
            scheme=scheme,
        ) from None
    try:
        return sa.create_engine(url, hide_parameters=True)
    except NoSuchModuleError:
        raise ParameterError(
            "table.no-known-database",
            "{address}: there is no known database '{scheme}'",
            address=shown(address),
            scheme=scheme,
        ) from None
    except ImportError as error:
        raise ParameterError(
            "table.driver-not-installed-pip",
            "{address}: the driver {error} is not installed: pip install {error}",
            address=shown(address),
            error=error.name,
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
