"""Database addresses: connecting to them, and speaking of them without their passwords.

What a driver says reaches the user only where it can hold neither a password nor a cell. Of a failed
connection it quotes the host, into which half a password slips when it is not percent-encoded; of a
query that fails while it runs, it quotes the values at which it failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import duckdb
import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from tarnkappe.errors import InputError, ParameterError

ADDRESS = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://(.*)", re.DOTALL)

UNAMBIGUOUS = re.compile(r"[^@?#]*(@[^@?#:/]*(?::\d+)?(?:/[^@?#:/]*)?)(?:\?[^@]*)?")
"""Account, place, options, with no sign in one of them that could begin the next."""

DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
"""The drivers that plain names stand for."""

FILE_DATABASES = ("sqlite", "duckdb")


def is_address(source: object) -> bool:
    """Whether something is a database address and no path."""
    return isinstance(source, str) and ADDRESS.fullmatch(source) is not None


def shown(address: str) -> str:
    """An address as messages may show it: without user, password and options.

    Where it is not beyond doubt which part the password is, nothing but the kind of database is shown.

    >>> shown("postgresql://ann:secret@db.example.org:5432/clinic?sslpassword=secret")
    'postgresql://***@db.example.org:5432/clinic'
    >>> shown("postgresql://ann:se@cret@db.example.org:5432/clinic")
    'postgresql://***'
    """
    scheme, rest = _split(address)
    if _is_file(scheme, rest):
        return f"{scheme}://{rest.partition('?')[0]}"
    place = UNAMBIGUOUS.fullmatch(rest)
    return f"{scheme}://***{place[1] if place else ''}"


def is_duckdb(address: str) -> bool:
    """Whether this is the address of a DuckDB file."""
    return _split(address)[0] == "duckdb"


def database_file(address: str) -> Path | None:
    """The file that an address of SQLite or DuckDB names, None for a server.

    >>> database_file("sqlite:///clinic.db")
    PosixPath('clinic.db')
    """
    scheme, rest = _split(address)
    if scheme.partition("+")[0] not in FILE_DATABASES:
        return None
    name = rest.partition("?")[0]
    if not _is_file(scheme, rest) or name in ("/", "/:memory:"):
        raise ParameterError(f"{shown(address)}: name a file, as in {scheme}:///clinic.db")
    return Path(name[1:])


def _is_file(scheme: str, rest: str) -> bool:
    return scheme.partition("+")[0] in FILE_DATABASES and rest.startswith("/")


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
            raise InputError(f"{shown(address)}: the database refused: {_kind(error)}") from None
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


def _split(address: str) -> tuple[str, str]:
    matched = ADDRESS.fullmatch(address)
    assert matched is not None, "only addresses come here"
    return matched[1].lower(), matched[2]


def _engine(address: str) -> sa.Engine:
    scheme, _ = _split(address)
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


def _kind(error: Exception) -> str:
    state = getattr(_origin(error), "sqlstate", None)
    return type(_origin(error)).__name__ + (f" (SQLSTATE {state})" if state else "")


def _without_secrets(address: str, error: Exception) -> str:
    """What a driver says of a failed connection, unless any part of the password is in it."""
    message = str(_origin(error)).partition("\n")[0]
    return _kind(error) if any(secret in message for secret in _secrets(address)) else message


def _secrets(address: str) -> set[str]:
    """Everything in an address that could be a password or a piece of one."""
    _, rest = _split(address)
    account = rest.rpartition("@")[0]
    password = account.partition(":")[2] or account
    options = rest.partition("?")[2]
    pieces = re.split(r"[@:/?#&=%\[\]]", f"{password}@{options}@{unquote(password)}@{unquote(options)}")
    return {secret for secret in (password, unquote(password), *pieces) if secret}
