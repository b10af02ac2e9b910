"""Encodings: every text is brought to UTF-8, and none is guessed where a guess could be wrong."""

from __future__ import annotations

import codecs
import io
import itertools
from collections.abc import Iterator
from pathlib import Path

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.files import Source

CHUNK = 2**24

Chunks = Iterator[tuple[bytes, bool]]
"""Pieces of text in UTF-8, each with whether it is the last."""

MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark begins alike
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks and the encodings that they announce."""


def utf8_chunks(source: Source, encoding: str | None = None) -> tuple[Chunks, int]:
    """The content as UTF-8, and how many bytes of mark were left out at its beginning.

    Without a stated encoding it is UTF-8 unless a byte order mark, or the zero bytes of every second
    place, say that it is UTF-16 or UTF-32. Whether it is valid UTF-8 is not looked at here.
    """
    chunks = source.chunks(CHUNK)
    first, last = next(chunks, (b"", True))
    name = _canonical(encoding) if encoding is not None else _announced(first)
    mark = len(codecs.BOM_UTF8) if name == "utf-8" and first.startswith(codecs.BOM_UTF8) else 0
    if len(first) == mark:
        raise InputError(f"{source.path}: the file is empty")
    whole = itertools.chain([(first[mark:], last)], chunks)
    return (whole, mark) if name == "utf-8" else (_transcoded(source.path, whole, name), 0)


def _canonical(encoding: str) -> str:
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # also refuses codecs that are no encodings of text
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise ParameterError(
            f"the encoding {encoding!r} is unknown: use for instance utf-8, latin-1, cp1252 or utf-16"
        ) from None
    return "utf-8" if name == "utf-8-sig" else name


def _announced(beginning: bytes) -> str:
    for mark, encoding in MARKS.items():
        if beginning.startswith(mark):
            return encoding
    even, odd = beginning[0:2000:2], beginning[1:2000:2]
    if odd.count(0) > len(odd) / 2 and not even.count(0):
        return "utf-16-le"
    if even.count(0) > len(even) / 2 and not odd.count(0):
        return "utf-16-be"
    return "utf-8"


def _transcoded(path: Path, chunks: Chunks, encoding: str) -> Chunks:
    decoder = codecs.getincrementaldecoder(encoding)()
    offset, line = 0, 1
    for chunk, last in chunks:
        offset += len(chunk)
        try:
            text = decoder.decode(chunk, last)
        except UnicodeDecodeError as error:
            place = offset - len(error.object) + error.start
            line += error.object[: error.start].decode(encoding, errors="ignore").count("\n")
            raise InputError(_invalid(path, line, place, encoding)) from None
        line += text.count("\n")
        yield text.removeprefix("\ufeff").encode() if offset == len(chunk) else text.encode(), last


def require_utf8(path: Path, data: bytes, offset: int, line: int) -> None:
    """Refuse text that is not UTF-8; it begins at this offset and line of the file."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line += line_breaks(data[: error.start])
        raise InputError(_invalid(path, line, offset + error.start, "utf-8")) from None


def _invalid(path: Path, line: int, offset: int, encoding: str) -> str:
    return (
        f"{path}, line {line}, byte {offset}: this is not valid {encoding.upper()}: "
        'pass the encoding that the file has, for instance encoding="latin-1" or encoding="cp1252"'
    )


def line_breaks(data: bytes) -> int:
    """How many lines end in a text, whichever way its lines end."""
    return data.count(b"\n") or data.count(b"\r")
