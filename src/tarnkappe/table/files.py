"""Files: which format a name stands for, reading what must not change, writing all or nothing."""

from __future__ import annotations

import dataclasses
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, cast

from tarnkappe.errors import InputError, OutputError, ParameterError
from tarnkappe.table.overwriting import note_read, note_written, refuse_place
from tarnkappe.table.staging import hidden_folder


class Format(StrEnum):
    """The formats in which tables are kept."""

    CSV = "CSV"
    JSON = "JSON"
    PARQUET = "Parquet"
    EXCEL = "Excel"
    ARROW = "Arrow"


SUFFIXES = {
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".txt": Format.CSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSON,
    ".ndjson": Format.JSON,
    ".parquet": Format.PARQUET,
    ".xlsx": Format.EXCEL,
    ".arrow": Format.ARROW,
    ".feather": Format.ARROW,
}
COMPRESSED = ".gz"


def suffix_of(path: Path) -> str:
    """The suffix that tells the format, without that of compression.

    >>> suffix_of(Path("Patients.CSV.gz"))
    '.csv'
    """
    name = path.name.lower().removesuffix(COMPRESSED)
    return Path(name).suffix


def is_compressed(path: Path) -> bool:
    """Whether the name says that the content is gzipped."""
    return path.name.lower().endswith(COMPRESSED)


def format_of(path: Path) -> Format:
    """The format that the file's name stands for; a name that stands for none is refused."""
    chosen = SUFFIXES.get(suffix_of(path))
    if chosen is None:
        raise ParameterError(
            f"{path}: the suffix '{path.suffix}' stands for no known format: use one of {', '.join(SUFFIXES)}"
        )
    if is_compressed(path) and chosen not in (Format.CSV, Format.JSON):
        raise ParameterError(f"{path}: a gzipped {chosen} file is not supported: only text is gzipped")
    return chosen


@dataclasses.dataclass(frozen=True)
class Source:
    """An open file with its name and size; `stream` gives its content uncompressed."""

    path: Path
    size: int
    raw: BinaryIO
    stream: BinaryIO

    def read(self, size: int) -> bytes:
        """The next bytes of the content, fewer than `size` only at its end."""
        try:
            return self.stream.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError(f"{self.path}: the file is not gzipped, damaged or cut off") from None

    def chunks(self, size: int) -> Iterator[tuple[bytes, bool]]:
        """The content in pieces, each with whether it is the last."""
        chunk = self.read(size)
        while chunk:
            following = self.read(size)
            yield chunk, not following
            chunk = following

    @property
    def position(self) -> int:
        """How many bytes of the file have been read."""
        return self.raw.tell()


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a file for reading; a file that is another at the end than at the beginning is refused."""
    before = _stamp(path)
    note_read(path)
    try:
        with path.open("rb") as raw:
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if is_compressed(path) else raw
            yield Source(path, before.size, raw, stream)
    except InputError:
        # What was found wrong may be nothing but the trace of somebody else's writing.
        _refuse_change(path, before)
        raise
    except OSError as error:
        raise InputError(
            f"{path}: the file cannot be read: {error.strerror or type(error).__name__}"
        ) from None
    _refuse_change(path, before)


@dataclasses.dataclass(frozen=True)
class _Stamp:
    size: int
    modified: int
    device: int
    inode: int


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except (OSError, ValueError) as error:  # a name with a NUL byte is a ValueError
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else "it cannot be opened"
        raise InputError(f"{path}: {reason}") from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{path}: this is a folder: name a file in it")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path}: this is not a regular file")
    if found.st_size == 0:
        raise InputError(f"{path}: the file is empty")
    return _Stamp(found.st_size, found.st_mtime_ns, found.st_dev, found.st_ino)


def _refuse_change(path: Path, before: _Stamp) -> None:
    try:
        unchanged = _stamp(path) == before
    except InputError:
        unchanged = False
    if not unchanged:
        raise InputError(f"{path}: the file changed while it was read: read it when nobody writes to it")


@contextmanager
def replace_atomically(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Write a file that appears whole or not at all, in the place of none that is not ours unless told so.

    Give the content to the path that is handed out, in a hidden folder beside the file. At the end it is
    forced to the disk and takes the place of `path`. After any error or interruption nothing new is
    there, and a file that was there before is as it was. What a process that was killed has left in its
    hidden folder is removed when the next file is written beside it.
    """
    target = writable(path, replace=replace)
    with naming_output(path), hidden_folder(target) as folder:
        partial = folder / target.name
        yield partial
        take_place(partial, target, replace=replace)


def writable(path: Path, *, replace: bool = False) -> Path:
    """Where a file will really be; a folder, a place in no folder, or that of another's file is refused."""
    try:
        target = path.resolve()  # what a link points to is replaced, not the link
    except (OSError, ValueError, RuntimeError):  # a NUL byte, a link to itself
        raise ParameterError(f"{path}: this is no name that a file can have") from None
    refuse_place(target, replace=replace)
    if target.is_dir():
        raise ParameterError(f"{path}: this is a folder: name a file in it")
    if not target.parent.is_dir():
        raise ParameterError(f"{path}: the folder {target.parent} does not exist: create it first")
    return target


def take_place(finished: Path, target: Path, *, replace: bool = False) -> None:
    """Put a finished file in the place of another, on the disk too; that of an input is refused."""
    _sync(finished)
    refuse_place(target, replace=replace)
    finished.replace(target)
    note_written(target)
    _sync(target.parent)


@contextmanager
def naming_output(path: Path) -> Iterator[None]:
    """Say in the user's words that a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path}: the file cannot be written: {error.strerror or type(error).__name__}"
        ) from None


def _sync(path: Path) -> None:
    """Force the content of a file, or the names in a folder, to the disk."""
    if path.is_dir() and os.name != "posix":
        return  # folders cannot be opened there, and names are written in order
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
