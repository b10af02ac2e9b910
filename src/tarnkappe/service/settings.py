"""What a service needs to know before it starts: where it keeps things, where it listens, what it allows."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.job import read_job_file
from tarnkappe.schema import near
from tarnkappe.table.formats.address import database_file, is_address

GIGABYTE = 2**30
FOLDER = Path("tarnkappe-service")
LOCAL = ("127.0.0.1", "localhost", "::1")
"""Hosts that only this machine reaches."""
TYPES = {
    "folder": str,
    "host": str,
    "port": int,
    "database": str,
    "hosts": list,
    "certificate": str,
    "key": str,
    "behind_https": bool,
}
PATHS = ("folder", "certificate", "key")
FILES = ("gates", "sites", "federations")
SECTIONS = ("service", "limits", "databases", *FILES)


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one person, one upload and one job may take.

    Attributes:
        upload_bytes: of one file.
        unpacked_bytes: of what a compressed file becomes.
        compression: how many times larger it may become.
        stored_bytes: of all files of one person.
        request_bytes: of a request that is no upload.
        jobs_at_once: how many run; others wait.
        jobs_of_one: how many of one person may wait and run.
        job_seconds: of one job, from its start.
        job_memory: bytes that one job may hold.
        attempts: how often a job begins, if what runs it is killed.
        keep_days: after which jobs and files go.
    """

    upload_bytes: int = 8 * GIGABYTE
    unpacked_bytes: int = 32 * GIGABYTE
    compression: int = 200
    stored_bytes: int = 64 * GIGABYTE
    request_bytes: int = 4 * 2**20
    jobs_at_once: int = dataclasses.field(default_factory=lambda: (os.cpu_count() or 1) + 2)
    jobs_of_one: int = 1000
    job_seconds: float = 3600.0
    job_memory: int = 8 * GIGABYTE
    attempts: int = 2
    keep_days: float = 30.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                raise ParameterError(f"[limits]: '{field.name}' is a positive number, not {value!r}")


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
            raise ParameterError("'certificate' and 'key' belong together: give both or neither")
        if self.host not in LOCAL and not self.secure:
            raise ParameterError(
                f"whoever listens on the way to {self.host} would read passwords: name 'certificate' "
                "and 'key', or say behind_https = true if a proxy in front of the service speaks https"
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
        try:
            return cls.from_dict(read_job_file(path), Path(path).absolute().parent)
        except ParameterError as error:
            raise ParameterError(f"{path}: {error}") from None

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path()) -> ServiceSettings:
        """The content of a settings file.

        >>> ServiceSettings.from_dict({"service": {"port": 9000}, "limits": {"job_seconds": 60}}).port
        9000
        """
        for name, section in content.items():
            _known(name, SECTIONS, "section")
            if not isinstance(section, Mapping):
                raise ParameterError(f"[{name}] must be a section")
        said = dict(content.get("service", {}))
        own = [field.name for field in dataclasses.fields(cls) if field.name not in SECTIONS]
        limits = dict(content.get("limits", {}))
        for key in said:
            _known(key, own, "key of [service]")
        for key in limits:
            _known(key, [field.name for field in dataclasses.fields(Limits)], "key of [limits]")
        for key, kind in TYPES.items():
            if key in said and (
                not isinstance(said[key], kind) or isinstance(said[key], bool) != (kind is bool)
            ):
                raise ParameterError(f"[service]: '{key}' must be of the type {kind.__name__}")
        if "hosts" in said:
            said["hosts"] = tuple(map(str, said["hosts"]))
        said["folder"] = str(said.get("folder", FOLDER))
        said |= {key: folder / said[key] for key in PATHS if key in said}
        if "database" in said:
            said["database"] = _placed(said["database"], folder)
        files = {
            name: {key: folder / str(file) for key, file in content.get(name, {}).items()} for name in FILES
        }
        return cls(
            **said,
            limits=Limits(**limits),
            databases=_addresses(content.get("databases", {}), folder),
            gates=files["gates"],
            sites=files["sites"],
            federations=files["federations"],
        )


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


def _addresses(said: Mapping[str, Any], folder: Path) -> dict[str, str]:
    for name, address in said.items():
        if not is_address(address):
            raise ParameterError(
                f"[databases]: '{name}' is no address such as postgresql://user@host/database"
            )
    return {name: _placed(address, folder) for name, address in said.items()}


def _known(key: str, known: Any, what: str) -> None:
    if key not in known:
        meant = near(key, list(known))
        hint = f"did you mean '{meant[0]}'?" if meant else f"known are {', '.join(known)}"
        raise ParameterError(f"unknown {what} '{key}': {hint}")
