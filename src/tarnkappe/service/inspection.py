"""A first look at an upload, before anything reads it: is it what its name says, and does it stay small?

Only plain Python looks here. What parses a format for good may have bugs that a made-up file could use, so it
runs in the process of a job, which has its limits and takes nobody with it.
"""

from __future__ import annotations

import bz2
import gzip
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from tarnkappe.errors import InputError, LimitError
from tarnkappe.service.settings import Limits
from tarnkappe.table.compression import SUFFIXES as PACKED
from tarnkappe.table.compression import compression_in, compression_of
from tarnkappe.table.files import SUFFIXES, TEXT_SUFFIXES, Format, format_of, suffix_of

PIECE = 2**20
MOST_MEMBERS = 10_000
"""Of a workbook: Excel's largest have some hundred."""
HEAD = 4096
ARCHIVE, OLD_OFFICE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
MARKS: dict[str, tuple[bytes, ...]] = {
    ".parquet": (b"PAR1",),
    ".arrow": (b"ARROW1",),
    ".feather": (b"ARROW1",),
    ".xlsx": (ARCHIVE,),
    ".xlsb": (ARCHIVE,),
    ".ods": (ARCHIVE,),
    ".xls": (OLD_OFFICE,),
    ".dta": (b"<stata_dta>", *(bytes([version, order]) for version in range(104, 116) for order in (1, 2))),
    ".sav": (b"$FL2", b"$FL3"),
    ".zsav": (b"$FL3",),
    ".sas7bdat": (bytes(12) + b"\xc2\xea\x81\x60",),
    ".xpt": (b"HEADER RECORD*******LIB",),
}
"""How files that are no text begin."""
PORTABLE = (b"SPSS PORT FILE", "SPSS PORT FILE".encode("cp500"))
"""What a portable file of SPSS has in its beginning, behind a line in other alphabets."""
PARTS = {
    ".xlsx": ("[Content_Types].xml", "xl/workbook.xml"),
    ".xlsb": ("[Content_Types].xml", "xl/workbook.bin"),
    ".ods": ("content.xml",),
}
"""The parts without which an archive is no workbook."""
STREAMS: dict[str, Callable[[Path], gzip.GzipFile | bz2.BZ2File]] = {
    "gzip": lambda path: gzip.GzipFile(path),
    "bz2": lambda path: bz2.BZ2File(path),
}
"""What plain Python unpacks; what other ways have packed is unpacked in another process."""
FOREIGN = (
    ARCHIVE,
    b"PAR1",
    b"ARROW1",
    b"\x1f\x8b",
    b"%PDF",
    OLD_OFFICE,
    b"\x7fELF",
    b"7z\xbc\xaf",
)
WIDE = (b"\xff\xfe", b"\xfe\xff")


def suffix_for(name: str) -> str:
    """The suffix under which an upload is kept; nothing else of its name becomes part of a path."""
    path = Path(name)
    if compression_of(path) == "zip":
        return path.suffix.lower()  # which table in it is read is said with each job
    if suffix_of(path) not in SUFFIXES:
        raise InputError(
            "service.kind-file-not-known",
            "this kind of file is not known: its name should end in {what}",
            what=", ".join((*SUFFIXES, *PACKED)),
        )
    packed = path.suffix.lower() if compression_of(path) else ""
    format_of(Path("file" + suffix_of(path) + packed))
    return suffix_of(path) + packed


def inspect(path: Path, limits: Limits) -> None:
    """Refuse a file that is not what its name says, or that would become too large."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise InputError("service.file-empty", "the file is empty")
    suffix, way = suffix_of(path), compression_of(path)
    if way is not None and compression_in(head) != way:
        raise InputError(
            "service.file-not-compressed-name",
            "the file is not compressed as its name says, damaged or cut off",
        )
    if way == "zip":
        _look_into_archive(path, limits)
    elif way is not None:
        _unpack(path, way, limits)
    elif suffix in MARKS:
        if not head.startswith(MARKS[suffix]):
            raise InputError(
                "service.no-file-whatever-name",
                "this is no {suffixes} file, whatever its name says",
                suffixes=SUFFIXES[suffix],
            )
        if suffix in PARTS:
            _look_into_archive(path, limits, PARTS[suffix])
    elif suffix == ".por":
        if not any(mark in head for mark in PORTABLE):
            raise InputError(
                "service.no-file-whatever-name",
                "this is no {suffixes} file, whatever its name says",
                suffixes=SUFFIXES[suffix],
            )
    else:
        _require_text(head)


def needs_parser(path: Path) -> bool:
    """Whether only what parses the format can tell how large a file becomes; that is asked elsewhere."""
    packed = compression_of(path)
    if packed is not None:
        return packed not in (*STREAMS, "zip")
    return format_of(path) in (Format.PARQUET, Format.ARROW)


def _require_text(head: bytes) -> None:
    if head.startswith(FOREIGN):
        raise InputError(
            "service.no-text-whatever-name",
            "this is no text, whatever its name says: rename it, or unpack it first",
        )
    if b"\0" in head and not head.startswith(WIDE):
        raise InputError("service.no-text-save-utf", "this is no text: save it as UTF-8")


def _unpack(path: Path, way: str, limits: Limits) -> None:
    """Unpack into nothing, and stop when it gets too large."""
    if way not in STREAMS:
        return
    most = min(limits.unpacked_bytes, path.stat().st_size * limits.compression)
    size = 0
    try:
        with STREAMS[way](path) as stream:
            while piece := stream.read(PIECE):
                if not size:
                    _require_text(piece[:HEAD])
                size += len(piece)
                if size > most:
                    raise LimitError(
                        "service.unpacked-file-more-bytes",
                        "unpacked, the file has more than {most:,} bytes",
                        most=most,
                    )
    except (EOFError, OSError, zlib.error, ValueError):
        raise InputError(
            "service.file-not-compressed-name",
            "the file is not compressed as its name says, damaged or cut off",
        ) from None
    if not size:
        raise InputError("service.file-empty", "the file is empty")


def _look_into_archive(path: Path, limits: Limits, parts: tuple[str, ...] = ()) -> None:
    """Sum up what an archive says of its members; Python's zipfile unpacks none beyond what it says.

    One with `parts` is a workbook; any other holds at least one table.
    """
    most = min(limits.unpacked_bytes, path.stat().st_size * limits.compression)
    kind = "workbook" if parts else "archive"
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS or sum(member.file_size for member in members) > most:
                raise LimitError(
                    "service.unpacked-more-bytes-parts",
                    "unpacked, the {kind} has more than {most:,} bytes or {most_members:,} parts",
                    kind=kind,
                    most=most,
                    most_members=MOST_MEMBERS,
                )
            if any(part not in archive.NameToInfo for part in parts):
                raise InputError(
                    "service.no-workbook-kind-whatever",
                    "this is no workbook of its kind, whatever its name says",
                )
            if not parts:
                _require_tables(archive)
                return
            for member in members:
                with archive.open(member) as stream:
                    if b"<!DOCTYPE" in stream.read(HEAD).upper():  # entities could grow without bound
                        raise InputError(
                            "service.workbook-declares-entities-no-spreadsheet",
                            "the workbook declares entities, which no spreadsheet program does",
                        )
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        raise InputError(
            "service.damaged-encrypted-cut-off", "the {kind} is damaged, encrypted or cut off", kind=kind
        ) from None


def _require_tables(archive: zipfile.ZipFile) -> None:
    """The tables in an archive are texts; which one is read is said later, if there are several."""
    tables = [
        member for member in archive.infolist() if Path(member.filename.lower()).suffix in TEXT_SUFFIXES
    ]
    if not tables:
        raise InputError(
            "service.no-table-archive-holds",
            "there is no table in the archive: it holds text files with a table, such as .csv",
        )
    for member in tables:
        with archive.open(member) as stream:
            _require_text(stream.read(HEAD))
