"""Encodings: every text is brought to UTF-8, and what is guessed is told."""

from __future__ import annotations

import codecs
import dataclasses
import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from tarnkappe.errors import InputError, ParameterError, Reason
from tarnkappe.table.files import OpenFile
from tarnkappe.table.formats.encoding_guess import DAMAGED, UNDEFINED, guess_encoding

CHUNK = 2**24
SAMPLE = 2**16
"""So many bytes of lines with characters above 127 decide about the encoding."""
LONG_LINE = 2**12
MOSTLY = 9
"""A file with so many characters of UTF-8 for each byte that belongs to none is UTF-8, and damaged."""

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


@dataclasses.dataclass(frozen=True)
class Encoding:
    """How the characters of a file are written.

    Attributes:
        name: as Python calls it.
        mark: whether the file begins with a byte order mark.
        stated: whether the user says so; then whatever does not fit is refused.
        errors: what becomes of bytes that do not fit, as Python calls it.
        lines: how many lines show that the file is no UTF-8, of those that were looked at.
        misfits: one entry once a byte was read that the encoding has no character for.
    """

    name: str = "utf-8"
    mark: bool = False
    stated: bool = False
    errors: str = "strict"
    lines: int = 0
    misfits: list[int] = dataclasses.field(default_factory=list, compare=False, repr=False)


def find_encoding(source: OpenFile, encoding: str | None = None) -> Encoding:
    """Find out how characters are written, from the whole content, which is read once for it.

    A byte order mark decides, then zero bytes at every second place (UTF-16), then whether all of it is
    valid UTF-8: the first umlaut may stand in the last line. What is none is read in the encoding in which
    its letters fit best (see `encoding_guess`).
    """
    chunks = source.chunks(CHUNK)
    first, end = next(chunks, (b"", True))
    mark = next((mark for mark in MARKS if first.startswith(mark)), None)
    if encoding is not None:
        return Encoding(_canonical(encoding), mark is not None, stated=True)
    announced = _announced(first)
    if announced != "utf-8":
        return Encoding(announced, mark is not None)
    evidence = _Evidence()
    for chunk, last in itertools.chain([(first, end)], chunks):
        evidence.take(chunk, last)
    return evidence.encoding(mark is not None)


class _Evidence:
    """What the bytes above 127 of a file say, collected from one chunk after the other."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._valid = True
        self._rest = b""
        self._sample: list[bytes] = []
        self._size = self._lines = 0

    def take(self, chunk: bytes, last: bool) -> None:
        """Look at the next chunk."""
        if self._valid:
            try:
                self._decoder.decode(chunk, last)
            except UnicodeDecodeError:
                self._valid = False
        if chunk.isascii() and not self._rest:
            return
        *lines, self._rest = re.split(rb"[\r\n]+", self._rest + chunk)
        if last or len(self._rest) > LONG_LINE:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            if self._size < SAMPLE and not line.isascii():
                self._sample.append(line[:LONG_LINE])
                self._size += len(self._sample[-1])
                self._lines += 1

    def encoding(self, mark: bool) -> Encoding:
        """The encoding, after the last chunk."""
        if self._valid:
            return Encoding(mark=mark)
        sample = b"\n".join(self._sample)
        whole, broken = _sequences(sample)
        if mark or whole > MOSTLY * broken:
            return Encoding(mark=mark, errors=DAMAGED, lines=self._lines)
        return Encoding(guess_encoding(sample), errors=UNDEFINED, lines=self._lines)


def _sequences(sample: bytes) -> tuple[int, int]:
    """How many characters of several bytes are UTF-8, and how many bytes belong to none."""
    decoded = sample.decode("utf-8", "surrogateescape")
    broken = sum("\udc80" <= character <= "\udcff" for character in decoded)
    return sum(character > "\x7f" for character in decoded) - broken, broken


def utf8_chunks(source: OpenFile, encoding: Encoding) -> tuple[Chunks, int]:
    """The content as UTF-8, and how many bytes of mark were left out at its beginning.

    Whether what is said to be UTF-8 is valid is not looked at here.
    """
    chunks = source.chunks(CHUNK)
    first, last = next(chunks, (b"", True))
    name = encoding.name
    mark = len(codecs.BOM_UTF8) if name == "utf-8" and first.startswith(codecs.BOM_UTF8) else 0
    if len(first) == mark:
        raise InputError("table.file-empty", "{path}: the file is empty", path=source.path)
    whole = itertools.chain([(first[mark:], last)], chunks)
    if name == "utf-8" and encoding.errors == "strict":
        return whole, mark
    return _transcoded(source.path, whole, encoding), 0


def _canonical(encoding: str) -> str:
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # also refuses codecs that are no encodings of text
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise ParameterError(
            "table.encoding-unknown-use-instance",
            "the encoding {encoding!r} is unknown: use for instance utf-8, latin-1, cp1252 or utf-16",
            encoding=encoding,
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


def _transcoded(path: Path, chunks: Chunks, found: Encoding) -> Chunks:
    encoding = found.name
    decoder = codecs.getincrementaldecoder(encoding)(found.errors)
    strict = codecs.getincrementaldecoder(encoding)() if found.errors != "strict" else None
    offset, line = 0, 1
    for chunk, last in chunks:
        offset += len(chunk)
        try:
            text = decoder.decode(chunk, last)
        except UnicodeDecodeError as error:
            place = offset - len(error.object) + error.start
            line += error.object[: error.start].decode(encoding, errors="ignore").count("\n")
            raise InputError.because(_invalid(path, line, place, encoding)) from None
        line += text.count("\n")
        if strict is not None and not found.misfits:
            try:
                strict.decode(chunk, last)
            except UnicodeDecodeError as error:
                found.misfits.append(error.start)
        yield text.removeprefix("\ufeff").encode() if offset == len(chunk) else text.encode(), last


def require_utf8(path: Path, data: bytes, offset: int, line: int) -> None:
    """Refuse text that is not UTF-8; it begins at this offset and line of the file."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line += line_breaks(data[: error.start])
        raise InputError.because(_invalid(path, line, offset + error.start, "utf-8")) from None


def _invalid(path: Path, line: int, offset: int, encoding: str) -> Reason:
    return Reason(
        "table.line-byte-not-valid",
        "{path}, line {line}, byte {offset}: this is not valid {encoding}: say which encoding it has, for "
        "instance with --encoding cp1252, or leave that out to have it found",
        path=path,
        line=line,
        offset=offset,
        encoding=encoding.upper(),
    )


def line_breaks(data: bytes) -> int:
    """How many lines end in a text, whichever way its lines end."""
    return data.count(b"\n") or data.count(b"\r")
