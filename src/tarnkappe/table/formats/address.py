"""Database addresses, and how to speak of them without their passwords."""

from __future__ import annotations

import re
from pathlib import Path

from tarnkappe.errors import ParameterError

ADDRESS = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://(.*)", re.DOTALL)

UNAMBIGUOUS = re.compile(r"[^@?#]*(@[^@?#:/]*(?::\d+)?(?:/[^@?#:/]*)?)(?:\?[^@]*)?")
"""Account, place, options, with no sign in one of them that could begin the next."""

FILE_DATABASES = ("sqlite", "duckdb")
WEB = ("http", "https", "ftp", "ftps", "sftp", "s3", "gs")
"""What stands before addresses of files elsewhere."""
DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
"""The drivers that plain names stand for."""


def quoted(name: str) -> str:
    """A name as an identifier of standard SQL.

    >>> print(quoted('so-called "clinic" 1'))
    "so-called ""clinic"" 1"
    """
    return '"' + name.replace('"', '""') + '"'


def is_address(source: object) -> bool:
    """Whether something is a database address and no path."""
    return isinstance(source, str) and ADDRESS.fullmatch(source) is not None


def refuse_web(source: object) -> None:
    """Refuse the address of something on the web: it is no database, and nothing is fetched from there."""
    if is_address(source) and split_address(str(source))[0].lower() in WEB:
        raise ParameterError(
            "table.address-of-the-web",
            "{address}: files are not fetched from the web: save the file, then name it by its path",
            address=shown(str(source)),
        )


def shown(address: str) -> str:
    """An address as messages may show it: without user, password and options.

    Where it is not beyond doubt which part the password is, nothing but the kind of database is shown.

    >>> shown("postgresql://ann:secret@db.example.org:5432/clinic?sslpassword=secret")
    'postgresql://***@db.example.org:5432/clinic'
    >>> shown("postgresql://ann:se@cret@db.example.org:5432/clinic")
    'postgresql://***'
    """
    scheme, rest = split_address(address)
    if is_file(scheme, rest):
        return f"{scheme}://{rest.partition('?')[0]}"
    place = UNAMBIGUOUS.fullmatch(rest)
    return f"{scheme}://***{place[1] if place else ''}"


def is_duckdb(address: str) -> bool:
    """Whether this is the address of a DuckDB file."""
    return split_address(address)[0] == "duckdb"


def database_file(address: str) -> Path | None:
    """The file that an address of SQLite or DuckDB names, None for a server.

    >>> database_file("sqlite:///clinic.db")
    PosixPath('clinic.db')
    """
    scheme, rest = split_address(address)
    if scheme.partition("+")[0] not in FILE_DATABASES:
        return None
    name = rest.partition("?")[0]
    if not is_file(scheme, rest) or name in ("/", "/:memory:"):
        raise ParameterError(
            "table.name-file-clinic-db",
            "{address}: name a file, as in {scheme}:///clinic.db",
            address=shown(address),
            scheme=scheme,
        )
    return Path(name[1:])


def local_file(source: str) -> str | None:
    """The file that a path or an address leads to, None for a server.

    >>> local_file("clinic.csv"), local_file("sqlite:///clinic.db"), local_file("postgresql://db/clinic")
    ('clinic.csv', 'clinic.db', None)
    """
    if not is_address(source):
        return source
    scheme, rest = split_address(source)
    return rest.partition("?")[0][1:] or None if is_file(scheme, rest) else None


def is_file(scheme: str, rest: str) -> bool:
    """Whether the parts of an address name a file."""
    return scheme.partition("+")[0] in FILE_DATABASES and rest.startswith("/")


def split_address(address: str) -> tuple[str, str]:
    """The kind of database and the rest of an address."""
    matched = ADDRESS.fullmatch(address)
    assert matched is not None, "only addresses come here"
    return matched[1].lower(), matched[2]
