"""The types of PostgreSQL that the gate speaks: their numbers, and values as text or binary."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from tarnkappe.gate.sql.numeric import pack_numeric, unpack_numeric

TEXT_FORMAT, BINARY_FORMAT = 0, 1
EPOCH = dt.date(2000, 1, 1)
MIDNIGHT = dt.datetime(2000, 1, 1)
WHOLE = re.compile(r"\s*[+-]?\d{1,18}\s*")
DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\s*")


class ValueOutOfTypeError(ValueError):
    """A value is not one of its type. The value itself is not told."""


@dataclasses.dataclass(frozen=True)
class WireType:
    """A type: how PostgreSQL names and numbers it, and how its values are written.

    Attributes:
        name: what `format_type` calls it.
        size: in bytes; -1 if it varies.
        category: of the catalog's `typcategory`.
        array: the number of the type of its arrays.
    """

    name: str
    short: str
    oid: int
    array: int
    size: int
    category: str
    parse: Callable[[str], Any]
    text: Callable[[Any], str]
    pack: Callable[[Any], bytes]
    unpack: Callable[[bytes], Any]

    def write(self, value: Any, form: int) -> bytes | None:
        """A value on the wire."""
        if value is None:
            return None
        return self.pack(value) if form == BINARY_FORMAT else self.text(value).encode()

    def read(self, data: bytes | None, form: int) -> Any:
        """A value from the wire."""
        if data is None:
            return None
        try:
            return self.unpack(data) if form == BINARY_FORMAT else self.parse(data.decode())
        except (struct.error, UnicodeDecodeError, ValueError, OverflowError, InvalidOperation):
            raise ValueOutOfTypeError(self.name) from None


def _bool(text: str) -> bool:
    word = text.strip().lower()
    if word in ("t", "true", "on", "yes", "1", "y"):
        return True
    if word in ("f", "false", "off", "no", "0", "n"):
        return False
    raise ValueError


def _whole(text: str) -> int:
    if WHOLE.fullmatch(text) is None:
        raise ValueError
    return int(text)


def _float(text: str) -> float:
    if DECIMAL.fullmatch(text) is None:  # no infinities: they compare differently from place to place
        raise ValueError
    return float(text)


def _decimal(text: str) -> Decimal:
    if DECIMAL.fullmatch(text) is None:
        raise ValueError
    return Decimal(text.strip())


def _plain(text: str) -> str:
    if "\x00" in text:
        raise ValueError
    return text


def _packed(code: str) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    layout = struct.Struct(f"!{code}")

    def pack(value: Any) -> bytes:
        return layout.pack(value)

    def unpack(data: bytes) -> Any:
        return layout.unpack(data)[0]

    return pack, unpack


def _finite(data: bytes) -> float:
    return _float(repr(struct.unpack("!d" if len(data) == 8 else "!f", data)[0]))


def _float_text(value: float) -> str:
    return repr(value).removesuffix(".0") if abs(value) < 1e15 else repr(value)


def _timestamp(text: str) -> dt.datetime:
    found = dt.datetime.fromisoformat(text.strip())
    return found if found.tzinfo is None else found.astimezone(dt.UTC).replace(tzinfo=None)


def _timestamp_text(value: dt.datetime) -> str:
    return value.isoformat(" ")


def _microseconds(value: dt.datetime) -> bytes:
    passed = value - MIDNIGHT
    return struct.pack("!q", (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds)


def _from_microseconds(data: bytes) -> dt.datetime:
    return MIDNIGHT + dt.timedelta(microseconds=struct.unpack("!q", data)[0])


def _number_type(name: str, short: str, oid: int, array: int, code: str) -> WireType:
    pack, unpack = _packed(code)
    return WireType(name, short, oid, array, struct.calcsize(f"!{code}"), "N", _whole, str, pack, unpack)


def _text_type(name: str, short: str, oid: int, array: int, size: int = -1) -> WireType:
    return WireType(
        name,
        short,
        oid,
        array,
        size,
        "S",
        _plain,
        str,
        lambda v: str(v).encode(),
        lambda d: _plain(d.decode()),
    )


BOOLEAN = WireType(
    "boolean",
    "bool",
    16,
    1000,
    1,
    "B",
    _bool,
    lambda v: "t" if v else "f",
    lambda v: b"\x01" if v else b"\x00",
    lambda d: bool(struct.unpack("!B", d)[0]),
)
BIGINT = _number_type("bigint", "int8", 20, 1016, "q")
SMALLINT = _number_type("smallint", "int2", 21, 1005, "h")
INTEGER = _number_type("integer", "int4", 23, 1007, "i")
OID = _number_type("oid", "oid", 26, 1028, "I")
TEXT = _text_type("text", "text", 25, 1009)
NAME = _text_type("name", "name", 19, 1003, 64)
VARCHAR = _text_type("character varying", "varchar", 1043, 1015)
CHAR = _text_type('"char"', "char", 18, 1002, 1)
UNKNOWN = _text_type("unknown", "unknown", 705, 0, -2)
DOUBLE = WireType(
    "double precision", "float8", 701, 1022, 8, "N", _float, _float_text, _packed("d")[0], _finite
)
REAL = WireType("real", "float4", 700, 1021, 4, "N", _float, _float_text, _packed("f")[0], _finite)
NUMERIC = WireType(
    "numeric",
    "numeric",
    1700,
    1231,
    -1,
    "N",
    _decimal,
    lambda v: format(v, "f") if isinstance(v, Decimal) else str(v),
    pack_numeric,
    unpack_numeric,
)
DATE = WireType(
    "date",
    "date",
    1082,
    1182,
    4,
    "D",
    lambda t: dt.date.fromisoformat(t.strip()),
    lambda v: v.isoformat(),
    lambda v: struct.pack("!i", (v - EPOCH).days),
    lambda d: EPOCH + dt.timedelta(days=struct.unpack("!i", d)[0]),
)
TIMESTAMP = WireType(
    "timestamp without time zone",
    "timestamp",
    1114,
    1115,
    8,
    "D",
    _timestamp,
    _timestamp_text,
    _microseconds,
    _from_microseconds,
)

TYPES: tuple[WireType, ...] = (
    BOOLEAN,
    SMALLINT,
    INTEGER,
    BIGINT,
    REAL,
    DOUBLE,
    NUMERIC,
    TEXT,
    VARCHAR,
    NAME,
    CHAR,
    OID,
    DATE,
    TIMESTAMP,
    UNKNOWN,
)
BY_OID = {kind.oid: kind for kind in TYPES}
BY_NAME = {kind.name: kind for kind in TYPES}
BY_ARRAY = {kind.array: kind for kind in TYPES if kind.array}


@dataclasses.dataclass(frozen=True)
class ResultField:
    """A column of an answer; arrays are of the catalog alone."""

    name: str
    kind: WireType
    is_array: bool = False

    @property
    def oid(self) -> int:
        """The number of its type."""
        return self.kind.array if self.is_array else self.kind.oid

    @property
    def size(self) -> int:
        """In bytes; -1 if it varies."""
        return -1 if self.is_array else self.kind.size

    def write(self, value: Any, form: int) -> bytes | None:
        """A value on the wire."""
        if value is None or not self.is_array:
            return self.kind.write(value, form)
        return _array_binary(self.kind, value) if form == BINARY_FORMAT else _array_text(self.kind, value)


def _array_text(kind: WireType, values: Sequence[Any]) -> bytes:
    cells = []
    for value in values:
        if value is None:
            cells.append("NULL")
            continue
        text = kind.text(value)
        plain = re.fullmatch(r"[^\s{}\",\\]+", text) is not None and text.upper() != "NULL"
        cells.append(text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
    return ("{" + ",".join(cells) + "}").encode()


def _array_binary(kind: WireType, values: Sequence[Any]) -> bytes:
    if not values:
        return struct.pack("!iiI", 0, 0, kind.oid)
    parts = [struct.pack("!iiIii", 1, int(None in values), kind.oid, len(values), 1)]
    for value in values:
        cell = None if value is None else kind.pack(value)
        parts.append(struct.pack("!i", -1) if cell is None else struct.pack("!i", len(cell)) + cell)
    return b"".join(parts)


def read_array(kind: WireType, data: bytes, form: int) -> list[Any]:
    """A one-dimensional array from the wire."""
    try:
        return _read_binary(kind, data) if form == BINARY_FORMAT else _read_text(kind, data.decode())
    except (struct.error, UnicodeDecodeError, ValueError, IndexError):
        raise ValueOutOfTypeError(f"{kind.name}[]") from None


def _read_binary(kind: WireType, data: bytes) -> list[Any]:
    dimensions, _, oid = struct.unpack_from("!iiI", data)
    if dimensions == 0:
        return []
    if dimensions != 1 or oid not in BY_OID:
        raise ValueError
    (length,) = struct.unpack_from("!i", data, 12)
    found: list[Any] = []
    place, element = 20, BY_OID[oid]
    for _ in range(length):
        (size,) = struct.unpack_from("!i", data, place)
        place += 4
        if size == -1:
            found.append(None)
            continue
        if size < 0 or place + size > len(data):
            raise ValueError
        cell = element.read(data[place : place + size], BINARY_FORMAT)
        found.append(kind.parse(element.text(cell)))
        place += size
    return found


def _read_text(kind: WireType, text: str) -> list[Any]:
    body = text.strip()
    if not (body.startswith("{") and body.endswith("}")):
        raise ValueError
    if not body[1:-1].strip():
        return []
    cells = re.findall(r'\s*("(?:[^"\\]|\\.)*"|[^",{}\\]+)\s*(?:,|$)', body[1:-1])
    if ",".join(cells).replace(" ", "") != body[1:-1].replace(" ", ""):
        raise ValueError
    found: list[Any] = []
    for cell in cells:
        if cell.startswith('"'):
            found.append(kind.parse(re.sub(r"\\(.)", r"\1", cell[1:-1])))
        else:
            found.append(None if cell.strip().upper() == "NULL" else kind.parse(cell.strip()))
    return found
