"""Files: which format a name stands for, reading what must not change, writing all or nothing."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from tarnkappe.errors import InputError, OutputError, ParameterError
from tarnkappe.table.compression import DAMAGED, compression_in, compression_of, member_name, uncompressed
from tarnkappe.table.overwriting import note_read, note_written, refuse_place
from tarnkappe.table.staging import hidden_folder


class Format(StrEnum):
    """The formats in which tables are kept."""

    CSV = "CSV"
    JSON = "JSON"
    PARQUET = "Parquet"
    EXCEL = "Excel"
    ARROW = "Arrow"
    SPREADSHEET = "spreadsheet"
    STATISTICS = "statistics"


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
    ".xls": Format.SPREADSHEET,
    ".xlsb": Format.SPREADSHEET,
    ".ods": Format.SPREADSHEET,
    ".dta": Format.STATISTICS,
    ".sav": Format.STATISTICS,
    ".zsav": Format.STATISTICS,
    ".por": Format.STATISTICS,
    ".sas7bdat": Format.STATISTICS,
    ".xpt": Format.STATISTICS,
}
READ_ONLY = (Format.SPREADSHEET, Format.STATISTICS)
"""Formats that are read and never written."""
TEXT_FORMATS = (Format.CSV, Format.JSON)
TEXT_SUFFIXES = frozenset(suffix for suffix, form in SUFFIXES.items() if form in TEXT_FORMATS)

STDIN = ("-", "/dev/stdin")
"""Names of what is piped into a command."""
PIECE = 2**20
BEGINNINGS = {b"PAR1": Format.PARQUET, b"ARROW1": Format.ARROW, b"\xd0\xcf\x11\xe0": Format.SPREADSHEET}


def suffix_of(path: Path) -> str:
    """The suffix that tells the format, without that of compression.

    >>> suffix_of(Path("Patients.CSV.gz"))
    '.csv'
    """
    name = path.name.lower()
    return Path(name.removesuffix(Path(name).suffix) if compression_of(path) else name).suffix


def is_compressed(path: Path) -> bool:
    """Whether the name says that the content is compressed."""
    return compression_of(path) is not None


def format_of(path: Path) -> Format:
    """The format that the file's name stands for; a name that stands for none is refused."""
    chosen = SUFFIXES.get(suffix_of(path))
    if chosen is None:
        raise ParameterError(
            "table.suffix-stands-no-known",
            "{path}: the suffix '{suffix}' stands for no known format: use one of {suffixes}",
            path=path,
            suffix=path.suffix,
            suffixes=", ".join(SUFFIXES),
        )
    if is_compressed(path) and chosen not in TEXT_FORMATS:
        raise ParameterError(
            "table.compressed-file-not-supported",
            "{path}: a compressed {chosen} file is not supported: only text is compressed",
            path=path,
            chosen=chosen,
        )
    return chosen


class OpenFile:
    """An open file with its name and size; `stream` gives its content uncompressed.

    Attributes:
        path: as the user names it.
        size: in bytes, as it lies on the disk.
        compression: how it is compressed, or None.
        member: of an archive, the name of the file that is read.
    """

    def __init__(self, path: Path, size: int, raw: BinaryIO, member: str | None = None) -> None:
        self.path, self.size, self.raw = path, size, raw
        self.compression = self._found_compression()
        self.member = None
        if self.compression == "zip":
            self.member = member_name(raw, path, member, TEXT_SUFFIXES)
        elif member is not None:
            raise ParameterError(
                "table.sheet-not-apply-file", "`sheet` does not apply to a file with one table: leave it out"
            )
        self.stream: BinaryIO
        self.restart()

    def _found_compression(self) -> str | None:
        """By the content, in files that are text or whose name says that they are compressed."""
        beginning = self.raw.read(16)
        self.raw.seek(0)
        found, named = compression_in(beginning), compression_of(self.path)
        if self.is_piped:
            return None if found == "zip" and _is_workbook(self.raw) else found
        if named is not None and found is None:
            raise InputError(
                "table.file-not-damaged-cut",
                "{path}: the file is not {named}, damaged or cut off",
                path=self.path,
                named=WAYS.get(named, named),
            )
        is_text = SUFFIXES.get(suffix_of(self.path)) in TEXT_FORMATS
        return found if named is not None or is_text else None

    @property
    def is_piped(self) -> bool:
        """Whether it has no name."""
        return str(self.path) in STDIN

    @property
    def suffix(self) -> str:
        """The suffix that tells the format, if it has a name."""
        return suffix_of(Path(self.member) if self.member else self.path)

    @property
    def form(self) -> Format:
        """The format: by the name, or by the content of what has none."""
        if self.member is not None:
            return format_of(Path(self.member))
        return self._sniffed() if self.is_piped else format_of(self.path)

    def restart(self) -> None:
        """Begin again with the content."""
        self.raw.seek(0)
        if self.compression is None:
            self.stream = self.raw
        else:
            self.stream = uncompressed(self.raw, self.compression, self.path, self.member)

    def _sniffed(self) -> Format:
        """The format of what has no name."""
        beginning = self.read(64)
        self.restart()
        if self.compression is None and beginning.startswith(b"PK"):
            return Format.EXCEL
        found = next((form for mark, form in BEGINNINGS.items() if beginning.startswith(mark)), None)
        if found is not None:
            return found
        return Format.JSON if beginning.lstrip()[:1] in (b"{", b"[") else Format.CSV

    def read(self, size: int) -> bytes:
        """The next bytes of the content, fewer than `size` only at its end."""
        try:
            content = self.stream.read(size)
            while self.compression not in (None, "gzip") and 0 < len(content) < size:
                more = self.stream.read(size - len(content))  # these streams give what they have at hand
                if not more:
                    break
                content += more
            return content
        except DAMAGED:
            raise self._damaged() from None
        except OSError as error:
            if self.compression is None or error.errno is not None:
                raise  # the disk, not the content
            raise self._damaged() from None

    def _damaged(self) -> InputError:
        way = WAYS.get(self.compression or "", self.compression)
        return InputError(
            "table.file-not-damaged-cut-off",
            "{path}: the file is not {way}, damaged or cut off",
            path=self.path,
            way=way,
        )

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


WAYS = {"gzip": "gzipped", "zip": "a zip archive"}


def _is_workbook(raw: BinaryIO) -> bool:
    try:
        with zipfile.ZipFile(raw) as archive:
            return "[Content_Types].xml" in archive.NameToInfo
    except (zipfile.BadZipFile, ValueError, OSError):
        return False
    finally:
        raw.seek(0)


@contextmanager
def _piped(path: Path, member: str | None) -> Iterator[OpenFile]:
    """What is piped into a command, kept in a file without a name while it is read."""
    with tempfile.TemporaryFile() as raw:
        shutil.copyfileobj(sys.stdin.buffer, raw, PIECE)
        size = raw.tell()
        raw.seek(0)
        if not size:
            raise InputError("table.nothing-piped", "nothing was piped in")
        yield OpenFile(path, size, cast(BinaryIO, raw), member)


@contextmanager
def opened(path: Path, member: str | None = None) -> Iterator[OpenFile]:
    """Open a file for reading; a file that is another at the end than at the beginning is refused.

    Args:
        path: of the file; `-` is what is piped in.
        member: of an archive with several tables, the name of the one to read.
    """
    if str(path) in STDIN:
        with _piped(path, member) as source:
            yield source
        return
    before = _stamp(path)
    note_read(path)
    try:
        with path.open("rb") as raw:
            yield OpenFile(path, before.size, raw, member)
    except InputError:
        # What was found wrong may be nothing but the trace of somebody else's writing.
        _refuse_change(path, before)
        raise
    except OSError as error:
        raise InputError(
            "table.file-cannot-read",
            "{path}: the file cannot be read: {strerror}",
            path=path,
            strerror=error.strerror or type(error).__name__,
        ) from None
    _refuse_change(path, before)


class _Stamp(NamedTuple):
    size: int
    modified: int
    device: int
    inode: int


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except (OSError, ValueError) as error:  # a name with a NUL byte is a ValueError
        if not isinstance(error, FileNotFoundError):
            raise InputError("table.cannot-be-opened", "{path}: it cannot be opened", path=path) from None
        raise InputError("table.file-not-there", "{path}: there is no such file", path=path) from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError("table.folder-name-file", "{path}: this is a folder: name a file in it", path=path)
    if not stat.S_ISREG(found.st_mode):
        raise InputError("table.not-regular-file", "{path}: this is not a regular file", path=path)
    if found.st_size == 0:
        raise InputError("table.file-empty", "{path}: the file is empty", path=path)
    return _Stamp(found.st_size, found.st_mtime_ns, found.st_dev, found.st_ino)


def _refuse_change(path: Path, before: _Stamp) -> None:
    try:
        unchanged = _stamp(path) == before
    except InputError:
        unchanged = False
    if not unchanged:
        raise InputError(
            "table.file-changed-while-read",
            "{path}: the file changed while it was read: read it when nobody writes to it",
            path=path,
        )


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
        raise ParameterError(
            "table.no-name-file", "{path}: this is no name that a file can have", path=path
        ) from None
    refuse_place(target, replace=replace)
    if target.is_dir():
        raise ParameterError(
            "table.folder-name-file", "{path}: this is a folder: name a file in it", path=path
        )
    if not target.parent.is_dir():
        raise ParameterError(
            "table.folder-not-exist-create",
            "{path}: the folder {parent} does not exist: create it first",
            path=path,
            parent=target.parent,
        )
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
            "table.file-cannot-written",
            "{path}: the file cannot be written: {strerror}",
            path=path,
            strerror=error.strerror or type(error).__name__,
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
