"""Streams of Java's object serialization, read as plain data.

Java programs keep objects in such streams (ARX its functional hierarchies and configurations). The format is
that of the *Java Object Serialization Specification*, chapter 6. Nothing of a stream is executed and no class
is looked up: objects become `JavaObject`, with the fields that the stream itself describes. A stream may come
from a stranger, so depth and number of objects are limited, and no array is longer than the bytes left.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import Any, Final

from tarnkappe.errors import InputError

MAGIC: Final = b"\xac\xed\x00\x05"
MOST_OBJECTS: Final = 2_000_000
DEEPEST: Final = 100
"""What nests deeper is refused: ours is a recursive descent, and lists of Java do not nest."""

_NULL, _REFERENCE, _CLASS, _OBJECT, _STRING, _ARRAY, _CLASS_OBJECT = range(0x70, 0x77)
_BLOCK, _END, _RESET, _LONG_BLOCK, _EXCEPTION, _LONG_STRING, _PROXY, _ENUM = range(0x77, 0x7F)
_FIRST_HANDLE: Final = 0x7E0000
_WRITES_ITSELF, _SERIALIZABLE, _EXTERNAL, _BLOCKS = 1, 2, 4, 8
_PRIMITIVES: Final = {"B": "b", "D": "d", "F": "f", "I": "i", "J": "q", "S": "h", "Z": "?", "C": "H"}


@dataclasses.dataclass(eq=False)
class JavaObject:
    """An object of a stream.

    Attributes:
        kind: the name of its class.
        fields: its fields by name; where a class and its parent have the same, that of the class.
        written: what its classes wrote by themselves: objects, and runs of bytes.
    """

    kind: str
    fields: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    written: list[Any] = dataclasses.field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        """The name of the class without its package."""
        return self.kind.rpartition(".")[2]


@dataclasses.dataclass(frozen=True)
class JavaEnum:
    """A constant of an enumeration."""

    kind: str
    constant: str


@dataclasses.dataclass(eq=False)
class _Description:
    """What a stream says of a class: its fields, with the type code of each, and its parent."""

    name: str
    flags: int = 0
    fields: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    parent: _Description | None = None

    @property
    def lineage(self) -> list[_Description]:
        """The class and those that it extends, the most general first."""
        found: list[_Description] = []
        each: _Description | None = self
        while each is not None:
            if len(found) > DEEPEST:
                raise InputError(
                    "table.java-stream-describes-class",
                    "a Java stream describes a class that extends too many others",
                )
            found.append(each)
            each = each.parent
        return found[::-1]


def read_java_stream(content: bytes) -> list[Any]:
    """The objects of a stream, in their order."""
    if not content.startswith(MAGIC):
        raise InputError(
            "table.no-stream-serialized-java",
            "this is no stream of serialized Java objects: it does not begin as one",
        )
    reader = _Reader(content)
    try:
        return reader.contents()
    except (struct.error, IndexError, UnicodeDecodeError, OverflowError, RecursionError):
        raise InputError(
            "table.stream-serialized-java-objects",
            "a stream of serialized Java objects is cut off or damaged",
        ) from None


def unboxed(value: Any) -> Any:
    """The number or truth value in an object of Integer, Double and so on; other values as they are.

    >>> unboxed(JavaObject("java.lang.Integer", {"value": 7}))
    7
    """
    if isinstance(value, JavaObject) and value.kind.startswith("java.lang.") and "value" in value.fields:
        return value.fields["value"]
    return value


def java_list(value: Any) -> list[Any]:
    """The elements of a list, a set or an array; nothing for null."""
    if value is None:
        return []
    if isinstance(value, list):
        return [unboxed(each) for each in value]
    if isinstance(value, JavaObject) and value.kind in _LISTS:
        array = value.fields.get("a")
        if isinstance(array, list):  # what Arrays.asList gives
            return [unboxed(each) for each in array]
        return [unboxed(each) for each in value.written if not isinstance(each, bytes)]
    raise InputError(
        "table.stream-java-objects-something",
        "a stream of Java objects has something else where a list is expected",
    )


def java_mapping(value: Any) -> dict[Any, Any]:
    """What a map has, by its keys, which must be numbers, texts or constants; nothing for null."""
    if value is None:
        return {}
    if not isinstance(value, JavaObject) or value.kind not in _MAPS:
        raise InputError(
            "table.stream-java-objects-something-else",
            "a stream of Java objects has something else where a map is expected",
        )
    items = [unboxed(each) for each in value.written if not isinstance(each, bytes)]
    keys = items[::2]
    if len(items) % 2 or not all(isinstance(key, int | str | float | JavaEnum) for key in keys):
        raise InputError(
            "table.stream-java-objects-map", "a stream of Java objects has a map that cannot be read"
        )
    return dict(zip(keys, items[1::2], strict=True))


def java_date(value: Any) -> int | None:
    """The milliseconds since 1970 of a date; None if it is none."""
    if isinstance(value, JavaObject) and value.kind == "java.util.Date":
        block = b"".join(each for each in value.written if isinstance(each, bytes))
        if len(block) == 8:
            return int(struct.unpack(">q", block)[0])
    return None


_LISTS: Final = frozenset(
    {
        "java.util.ArrayList",
        "java.util.Arrays$ArrayList",
        "java.util.LinkedList",
        "java.util.HashSet",
        "java.util.LinkedHashSet",
    }
)
_MAPS: Final = frozenset({"java.util.HashMap", "java.util.LinkedHashMap", "java.util.TreeMap"})


class _Reader:
    """One pass over a stream; every thing that may be referred to gets the next handle."""

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)
        self._at = len(MAGIC)
        self._handles: list[Any] = []
        self._depth = 0

    def contents(self) -> list[Any]:
        found: list[Any] = []
        while self._at < len(self._content):
            if self._content[self._at] == _RESET:
                self._at += 1
                self._handles.clear()
            else:
                found.append(self._content_element())
        return found

    def _content_element(self) -> Any:
        """An object, or bytes that a class wrote by itself."""
        code = self._content[self._at]
        if code == _BLOCK:
            self._at += 1
            return self._bytes(self._number("B") & 0xFF)
        if code == _LONG_BLOCK:
            self._at += 1
            return self._bytes(self._number("I"))
        return self._object()

    def _object(self) -> Any:
        self._depth += 1
        if self._depth > DEEPEST:
            raise InputError(
                "table.stream-java", "a stream of Java objects nests deeper than {deepest}", deepest=DEEPEST
            )
        code = self._content[self._at]
        self._at += 1
        try:
            return self._of_code(code)
        finally:
            self._depth -= 1

    def _of_code(self, code: int) -> Any:
        if code == _NULL:
            return None
        if code == _REFERENCE:
            return self._handles[self._handle_at()]
        if code == _STRING:
            return self._keep(self._text())
        if code == _LONG_STRING:
            return self._keep(_java_text(self._bytes(self._number("J"))))
        if code == _OBJECT:
            return self._instance()
        if code == _ARRAY:
            return self._array()
        if code == _ENUM:
            description = self._description()
            place = self._keep_place()
            constant = self._object()
            if not isinstance(constant, str):
                raise InputError(
                    "table.stream-java-objects-constant",
                    "a stream of Java objects has a constant without a name",
                )
            self._handles[place] = JavaEnum(description.name, constant)
            return self._handles[place]
        if code == _CLASS_OBJECT:
            description = self._description()
            return self._keep(JavaObject("java.lang.Class", {"name": description.name}))
        if code == _CLASS:
            self._at -= 1
            return JavaObject("java.io.ObjectStreamClass", {"name": self._description().name})
        raise InputError(
            "table.stream-java-objects-something-not-read",
            "a stream of Java objects has something that is not read here (code {code})",
            code=code,
        )

    def _instance(self) -> JavaObject:
        description = self._description()
        found = JavaObject(description.name)
        self._keep(found)
        for each in description.lineage:
            if each.flags & _SERIALIZABLE:
                for code, name in each.fields:
                    found.fields[name] = self._value(code)
                if each.flags & _WRITES_ITSELF:
                    found.written += self._annotations()
            elif each.flags & _EXTERNAL:
                if not each.flags & _BLOCKS:
                    raise InputError(
                        "table.stream-java-objects-object",
                        "a stream of Java objects has an object of its own format",
                    )
                found.written += self._annotations()
        return found

    def _array(self) -> list[Any]:
        description = self._description()
        code = description.name[1:2]
        found: list[Any] = self._keep([])
        length = self._number("I")
        if not 0 <= length <= len(self._content) - self._at:
            raise IndexError
        for _ in range(length):
            found.append(self._value(code))  # noqa: PERF401 - an element may refer to the array
        return found

    def _annotations(self) -> list[Any]:
        found: list[Any] = []
        while self._content[self._at] != _END:
            found.append(self._content_element())
        self._at += 1
        return found

    def _description(self) -> _Description:
        """The description of a class; `_no_class` stands for null, which only a parent may be."""
        found = self._description_or_none()
        if found is None:
            raise InputError(
                "table.stream-java-objects-object-without-class",
                "a stream of Java objects has an object without a class",
            )
        return found

    def _description_or_none(self) -> _Description | None:
        code = self._content[self._at]
        self._at += 1
        if code == _NULL:
            return None
        if code == _REFERENCE:
            known = self._handles[self._handle_at()]
            if not isinstance(known, _Description):
                raise InputError(
                    "table.stream-java-objects-takes",
                    "a stream of Java objects takes something else for a class",
                )
            return known
        if code != _CLASS:
            raise InputError(
                "table.stream-java-objects-class",
                "a stream of Java objects has a class that is not read here (code {code})",
                code=code,
            )
        self._depth += 1
        if self._depth > DEEPEST:
            raise InputError(
                "table.stream-java",
                "a stream of Java objects nests deeper than {deepest}",
                deepest=DEEPEST,
            )
        found = _Description(self._text())
        self._at += 8  # the version of the class
        self._keep(found)
        found.flags = self._number("B")
        for _ in range(self._number("S")):
            kind = chr(self._content[self._at])
            self._at += 1
            name = self._text()
            if kind in "L[":
                self._object()  # the name of the field's class
            elif kind not in _PRIMITIVES:
                raise InputError(
                    "table.stream-java-objects-field",
                    "a stream of Java objects has a field of an unknown type",
                )
            found.fields.append((kind, name))
        self._annotations()
        found.parent = self._description_or_none()
        self._depth -= 1
        return found

    def _value(self, code: str) -> Any:
        if code in ("L", "["):
            return self._object()
        number = self._number(code)
        return chr(number) if code == "C" else number

    def _number(self, code: str) -> Any:
        form = ">" + _PRIMITIVES[code] if code in _PRIMITIVES else None
        if form is None:
            raise InputError(
                "table.stream-java-objects-array", "a stream of Java objects has an array of an unknown type"
            )
        (number,) = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return number

    def _handle_at(self) -> int:
        place = int(self._number("I")) - _FIRST_HANDLE
        if place < 0:
            raise IndexError
        return place

    def _text(self) -> str:
        return _java_text(self._bytes(self._number("S") & 0xFFFF))

    def _bytes(self, length: int) -> bytes:
        if not 0 <= length <= len(self._content) - self._at:
            raise IndexError
        found = bytes(self._content[self._at : self._at + length])
        self._at += length
        return found

    def _keep_place(self) -> int:
        self._keep(None)
        return len(self._handles) - 1

    def _keep(self, value: Any) -> Any:
        if len(self._handles) >= MOST_OBJECTS:
            raise InputError(
                "table.stream-java-objects-more-objects",
                "a stream of Java objects has more than {most_objects:,} objects",
                most_objects=MOST_OBJECTS,
            )
        self._handles.append(value)
        return value


def _java_text(content: bytes) -> str:
    """Java's own UTF-8: two bytes for NUL, and six for what lies beyond the first plane."""
    text = content.replace(b"\xc0\x80", b"\x00").decode("utf-8", "surrogatepass")
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


__all__ = [
    "JavaEnum",
    "JavaObject",
    "java_date",
    "java_list",
    "java_mapping",
    "read_java_stream",
    "unboxed",
]
