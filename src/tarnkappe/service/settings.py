"""What a service needs to know before it starts: where it keeps things, where it listens, what it allows."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, field

from tarnkappe.errors import ParameterError
from tarnkappe.schema import MOST_NAMES, Name, Parameters, Problem, Seconds, param, rule
from tarnkappe.schema.documents import parse
from tarnkappe.schema.written import read_toml
from tarnkappe.table.formats.address import database_file, is_address

GIGABYTE = 2**30
FOLDER = Path("tarnkappe-service")
LOCAL = ("127.0.0.1", "localhost", "::1")
"""Hosts that only this machine reaches."""
PATHS = ("folder", "certificate", "key")
FILES = ("gates", "sites", "federations")


Bytes = Annotated[int, Meta(gt=0, le=2**60)]
Days = Annotated[int, Meta(gt=0, le=100_000)] | Annotated[float, Meta(gt=0, le=100_000)]
Hours = Annotated[int, Meta(gt=0, le=100_000)] | Annotated[float, Meta(gt=0, le=100_000)]
Count = Annotated[int, Meta(gt=0, le=1_000_000)]
NamedFiles = Annotated[
    Mapping[Name, Annotated[Name, param("a file", kind="file")]], Meta(max_length=MOST_NAMES)
]
Addresses = Annotated[
    Mapping[Name, Annotated[Name, param("the address of a database", kind="file")]],
    Meta(max_length=MOST_NAMES),
]


class Limits(Parameters, kw_only=True):
    """What one person, one upload and one job may take: `[limits]`."""

    upload_bytes: Annotated[Bytes, param("of one file", kind="bytes", unit="bytes")] = 8 * GIGABYTE
    unpacked_bytes: Annotated[
        Bytes, param("of what a compressed file becomes", kind="bytes", unit="bytes")
    ] = 32 * GIGABYTE
    compression: Annotated[Count, param("how many times larger it may become", unit="times")] = 200
    stored_bytes: Annotated[Bytes, param("of all files of one person", kind="bytes", unit="bytes")] = (
        64 * GIGABYTE
    )
    request_bytes: Annotated[Bytes, param("of a request that is no upload", kind="bytes", unit="bytes")] = (
        4 * 2**20
    )
    jobs_at_once: Annotated[
        Count, param("how many jobs run; others wait. Two more than cores if not said", unit="jobs")
    ] = field(default_factory=lambda: (os.cpu_count() or 1) + 2)
    jobs_of_one: Annotated[Count, param("how many of one person may wait and run", unit="jobs")] = 1000
    job_seconds: Annotated[Seconds, param("of one job, from its start", kind="seconds", unit="seconds")] = (
        3600.0
    )
    job_memory: Annotated[Bytes, param("that one job may hold", kind="bytes", unit="bytes")] = 8 * GIGABYTE
    attempts: Annotated[Count, param("how often a job begins, if what runs it is killed", unit="times")] = 2
    keep_days: Annotated[Days, param("after which jobs and files go", unit="days")] = 30.0


class ServiceSection(Parameters, kw_only=True):
    """Where a service keeps things and listens: `[service]`."""

    folder: Annotated[Name, param("where files and results are", kind="file")] = str(FOLDER)
    host: Annotated[Name, param("where it listens; nobody but this machine reaches 127.0.0.1")] = "127.0.0.1"
    port: Annotated[int, param("the port; 0 takes a free one", ge=0, le=65_535)] = 8080
    database: Annotated[
        Name | None, param("the address of the store; a file in the folder if not said", kind="file")
    ] = None
    hosts: Annotated[
        tuple[Name, ...], param("names under which browsers reach it", max_length=MOST_NAMES)
    ] = ()
    certificate: Annotated[Name | None, param("the file with its certificate, for https", kind="file")] = None
    key: Annotated[Name | None, param("the file with the key of the certificate", kind="file")] = None
    behind_https: Annotated[bool, param("whether a proxy in front of it speaks https with browsers")] = False
    session_hours: Annotated[Hours, param("after which everybody has to log in again", unit="hours")] = 12.0


class ServiceDocument(Parameters, kw_only=True):
    """The settings file of a service."""

    service: Annotated[ServiceSection, param("where it keeps things and listens")] = ServiceSection()
    limits: Annotated[Limits, param("what people may take")] = Limits()
    databases: Annotated[
        Addresses, param("addresses of databases by the names under which jobs ask for their tables")
    ] = field(default_factory=dict)
    gates: Annotated[NamedFiles, param("policy files of gates by name")] = field(default_factory=dict)
    sites: Annotated[NamedFiles, param("site files of the exchange by name")] = field(default_factory=dict)
    federations: Annotated[NamedFiles, param("files of federated jobs by name")] = field(default_factory=dict)

    def rules(self) -> Iterator[Problem]:
        """Databases have addresses."""
        for name, address in self.databases.items():
            if not is_address(address):
                yield rule(
                    "service.address",
                    "this is no address such as postgresql://user@host/database",
                    "databases",
                    name,
                )


@dataclasses.dataclass(frozen=True)
class ServiceSettings:
    """One service. Relative paths start where the program was started, and are absolute from then on.

    Attributes:
        folder: where files and results are, and the store if no database is named.
        host: where it listens; nobody but this machine reaches 127.0.0.1.
        port: 0 takes a free one.
        database: the address of the store; without it, a file of SQLite in the folder.
        hosts: under which names browsers reach it, beside the host; requests for others are refused.
        certificate: the file with its certificate, for https.
        key: the file with the key of the certificate.
        behind_https: whether a proxy in front of it speaks https with browsers.
        session_hours: after which everybody has to log in again.
        limits: what people may take.
        databases: addresses of databases by the names under which jobs ask for their tables.
        gates: policy files of gates by name.
        sites: site files of the exchange by name.
        federations: files of federated jobs by name.
    """

    folder: Path = FOLDER
    host: str = "127.0.0.1"
    port: int = 8080
    database: str | None = None
    hosts: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None
    behind_https: bool = False
    session_hours: float = 12.0
    limits: Limits = dataclasses.field(default_factory=Limits)
    databases: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False, repr=False)
    gates: Mapping[str, Path] = dataclasses.field(default_factory=dict, hash=False)
    sites: Mapping[str, Path] = dataclasses.field(default_factory=dict, hash=False)
    federations: Mapping[str, Path] = dataclasses.field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        # Jobs work in folders of their own, so what is relative is resolved here, once, and nowhere else.
        for name in PATHS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, Path(value).absolute())
        for name in FILES:
            found = {key: Path(path).absolute() for key, path in getattr(self, name).items()}
            object.__setattr__(self, name, found)
        if self.database is not None:
            object.__setattr__(self, "database", _placed(self.database))
        placed = {name: _placed(address) for name, address in self.databases.items()}
        object.__setattr__(self, "databases", placed)
        if (self.certificate is None) != (self.key is None):
            raise ParameterError(
                "service.certificate-key-belong-together",
                "'certificate' and 'key' belong together: give both or neither",
            )
        if self.host not in LOCAL and not self.secure:
            raise ParameterError(
                "service.whoever-listens-way-would-read",
                "whoever listens on the way to {host} would read passwords: name 'certificate' and 'key', "
                "or say behind_https = true if a proxy in front of the service speaks https",
                host=self.host,
            )

    @property
    def secure(self) -> bool:
        """Whether browsers reach it over https, so that cookies go nowhere else."""
        return self.behind_https or self.certificate is not None

    @property
    def store(self) -> str | Path:
        """Where the state is."""
        return self.database or self.folder / "service.db"

    @classmethod
    def load(cls, path: str | Path) -> ServiceSettings:
        """Read a settings file (TOML); paths start at its folder."""
        return cls.from_dict(read_toml(path, "settings file"), Path(path).parent, name=str(path))

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], folder: Path = Path(), *, name: str = ""
    ) -> ServiceSettings:
        """The content of a settings file.

        >>> ServiceSettings.from_dict({"service": {"port": 9000}, "limits": {"job_seconds": 60}}).port
        9000
        """
        said = parse(ServiceDocument, content, folder.absolute(), name=name)
        own = said.service
        try:
            return cls(
                folder=Path(own.folder),
                host=own.host,
                port=own.port,
                database=own.database,
                hosts=tuple(own.hosts),
                certificate=None if own.certificate is None else Path(own.certificate),
                key=None if own.key is None else Path(own.key),
                behind_https=own.behind_https,
                session_hours=float(own.session_hours),
                limits=said.limits,
                databases=said.databases,
                gates={key: Path(file) for key, file in said.gates.items()},
                sites={key: Path(file) for key, file in said.sites.items()},
                federations={key: Path(file) for key, file in said.federations.items()},
            )
        except ParameterError as error:
            raise (error.within(name) if name else error) from None


def _placed(address: str, folder: Path = Path()) -> str:
    """The address of a database; a file that it names relatively starts at a folder.

    >>> _placed("sqlite:///clinic.db", Path("/srv"))
    'sqlite:////srv/clinic.db'
    """
    file = database_file(address) if is_address(address) else None
    if file is None:
        return address
    scheme, rest = address.split("://", 1)
    options = "".join(rest.partition("?")[1:])
    return f"{scheme}:///{(folder / file).absolute()}{options}"
