"""Compressed files: recognized by their content, read as a stream."""

from __future__ import annotations

import bz2
import gzip
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from tarnkappe.errors import InputError, ParameterError

GZIP = ".gz"
SUFFIXES = {GZIP: "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".zip": "zip"}
"""Suffixes of compressed files, each with the name of the way."""

MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"PK\x03\x04": "zip",
}
"""How compressed files begin."""

DAMAGED = (
    EOFError,
    gzip.BadGzipFile,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    pa.ArrowException,
)
"""What reading a damaged file raises, besides errors of the system."""

MOST_MEMBERS = 1_000


def compression_of(path: Path) -> str | None:
    """How the name says that the content is compressed, or None.

    >>> compression_of(Path("Patients.CSV.gz")), compression_of(Path("a.csv"))
    ('gzip', None)
    """
    return SUFFIXES.get(path.suffix.lower())


def compression_in(beginning: bytes) -> str | None:
    """How the content is compressed, by its first bytes, or None."""
    return next((way for magic, way in MAGIC.items() if beginning.startswith(magic)), None)


def uncompressed(raw: BinaryIO, way: str, path: Path, member: str | None) -> BinaryIO:
    """The content of a compressed file as a stream; of an archive that of its only or of the named table."""
    if way == "gzip":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if way == "bz2":
        return cast(BinaryIO, bz2.BZ2File(raw))
    if way == "zip":
        return _member(raw, path, member)
    return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(_KeptOpen(raw), mode="r"), way))


class _KeptOpen:
    """A file that whoever reads it cannot close, since it will be read again."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        return self._raw.read(size)

    def close(self) -> None:
        self.closed = True


def member_name(raw: BinaryIO, path: Path, member: str | None, suffixes: frozenset[str]) -> str:
    """Which file of an archive is the table."""
    try:
        with zipfile.ZipFile(raw) as archive:
            names = [each.filename for each in archive.infolist()[:MOST_MEMBERS] if not each.is_dir()]
    except (*DAMAGED, ValueError):
        raise InputError(
            "table.archive-damaged-cut-off", "{path}: the archive is damaged or cut off", path=path
        ) from None
    finally:
        raw.seek(0)
    tables = [name for name in names if _suffix(name) in suffixes and not name.startswith("__MACOSX/")]
    if member is not None:
        if member not in tables:
            raise ParameterError(
                "table.no-table",
                "{path}: there is no table '{member}': it has {tables}",
                path=path,
                member=member,
                tables=", ".join(tables) or "none",
            )
        return member
    if not tables:
        raise InputError("table.no-table-archive", "{path}: there is no table in the archive", path=path)
    if len(tables) > 1:
        raise InputError(
            "table.several-tables",
            "{path}: there are several tables, and --sheet chooses one: {names}",
            path=path,
            names=", ".join(tables),
        )
    return tables[0]


def _member(raw: BinaryIO, path: Path, member: str | None) -> BinaryIO:
    assert member is not None
    try:
        return cast(BinaryIO, zipfile.ZipFile(raw).open(member))
    except (*DAMAGED, KeyError, ValueError):
        raise InputError(
            "table.archive-damaged-encrypted-cut",
            "{path}: the archive is damaged, encrypted or cut off",
            path=path,
        ) from None


def _suffix(name: str) -> str:
    return Path(name.lower()).suffix
