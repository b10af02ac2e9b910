"""A first look at an upload, before anything reads it: is it what its name says, and does it stay small?

Only plain Python looks here. What parses a format for good may have bugs that a made-up file could use, so it
runs in the process of a job, which has its limits and takes nobody with it.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from pathlib import Path

from tarnkappe.errors import InputError, LimitError
from tarnkappe.service.settings import Limits
from tarnkappe.table.compression import GZIP, compression_of
from tarnkappe.table.files import READ_ONLY, Format, format_of, is_compressed, suffix_of
from tarnkappe.table.files import SUFFIXES as ALL_SUFFIXES

PIECE = 2**20
MOST_MEMBERS = 10_000
"""Of a workbook: Excel's largest have some hundred."""
HEAD = 4096
MARKS = {Format.PARQUET: b"PAR1", Format.ARROW: b"ARROW1", Format.EXCEL: b"PK\x03\x04"}
FOREIGN = (
    b"PK\x03\x04",
    b"PAR1",
    b"ARROW1",
    b"\x1f\x8b",
    b"%PDF",
    b"\xd0\xcf\x11\xe0",
    b"\x7fELF",
    b"7z\xbc\xaf",
)
WIDE = (b"\xff\xfe", b"\xfe\xff")

SUFFIXES = tuple(suffix for suffix, form in ALL_SUFFIXES.items() if form not in READ_ONLY)
"""What can be uploaded: only these formats can be looked into before a library parses them."""


def suffix_for(name: str) -> str:
    """The suffix under which an upload is kept; nothing else of its name becomes part of a path."""
    path = Path(name)
    if suffix_of(path) not in SUFFIXES:
        raise InputError(f"this kind of file is not known: its name should end in {', '.join(SUFFIXES)}")
    if compression_of(path) not in (None, "gzip"):
        raise InputError("only files that gzip compressed can be uploaded: unpack it first")
    packed = GZIP if is_compressed(path) else ""
    format_of(Path("file" + suffix_of(path) + packed))
    return suffix_of(path) + packed


def inspect(path: Path, limits: Limits) -> None:
    """Refuse a file that is not what its name says, or that would become too large."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise InputError("the file is empty")
    form = format_of(path)
    if is_compressed(path):
        _unpack(path, limits)
    elif form in MARKS:
        if not head.startswith(MARKS[form]):
            raise InputError(f"this is no {form} file, whatever its name says")
        if form is Format.EXCEL:
            _look_into_workbook(path, limits)
    else:
        _require_text(head)


def _require_text(head: bytes) -> None:
    if head.startswith(FOREIGN):
        raise InputError("this is no text, whatever its name says: rename it, or unpack it first")
    if b"\0" in head and not head.startswith(WIDE):
        raise InputError("this is no text: save it as UTF-8")


def _unpack(path: Path, limits: Limits) -> None:
    """Unpack into nothing, and stop when it gets too large."""
    most = min(limits.unpacked_bytes, path.stat().st_size * limits.compression)
    size = 0
    try:
        with gzip.open(path) as stream:
            while piece := stream.read(PIECE):
                if not size:
                    _require_text(piece[:HEAD])
                size += len(piece)
                if size > most:
                    raise LimitError(f"unpacked, the file has more than {most:,} bytes")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError("the file is not gzipped, damaged or cut off") from None
    if not size:
        raise InputError("the file is empty")


def _look_into_workbook(path: Path, limits: Limits) -> None:
    """Sum up what the workbook says of its members; Python's zipfile unpacks none beyond what it says."""
    most = min(limits.unpacked_bytes, path.stat().st_size * limits.compression)
    try:
        with zipfile.ZipFile(path) as book:
            members = book.infolist()
            if len(members) > MOST_MEMBERS or sum(member.file_size for member in members) > most:
                raise LimitError(
                    f"unpacked, the workbook has more than {most:,} bytes or {MOST_MEMBERS:,} parts"
                )
            if "[Content_Types].xml" not in book.NameToInfo or "xl/workbook.xml" not in book.NameToInfo:
                raise InputError("this is no Excel workbook, whatever its name says")
            for member in members:
                with book.open(member) as stream:
                    if b"<!DOCTYPE" in stream.read(HEAD).upper():  # entities could grow without bound
                        raise InputError("the workbook declares entities, which no spreadsheet program does")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        raise InputError("the workbook is damaged, encrypted or cut off") from None
