"""A writer of Java object streams, from the Java Object Serialization Specification (chapter 6).

It shares nothing with the reader. Strings and classes that occur again are written as references, as Java does.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import Any


@dataclasses.dataclass(frozen=True)
class Char:
    text: str


@dataclasses.dataclass(frozen=True)
class Long:
    value: int


@dataclasses.dataclass(frozen=True)
class Constant:
    kind: str
    name: str


@dataclasses.dataclass(eq=False)
class Obj:
    """An object: its class, its fields, what its class writes by itself, and the fields of its parent."""

    kind: str
    fields: dict[str, Any] = dataclasses.field(default_factory=dict)
    written: list[Any] | None = None
    parent: tuple[str, dict[str, Any]] | None = None


@dataclasses.dataclass(eq=False)
class Array:
    kind: str
    """The type code of the elements: I, J, D, or the name of a class."""
    items: list[Any]


def boxed(value: int | float | bool) -> Obj:
    name = {bool: "Boolean", int: "Integer", float: "Double"}[type(value)]
    parent = None if name == "Boolean" else ("java.lang.Number", {})
    return Obj(f"java.lang.{name}", {"value": value}, parent=parent)


def boxed_long(value: int) -> Obj:
    return Obj("java.lang.Long", {"value": Long(value)}, parent=("java.lang.Number", {}))


def array_list(*items: Any) -> Obj:
    return Obj("java.util.ArrayList", {"size": len(items)}, [struct.pack(">i", len(items)), *items])


def hash_set(*items: Any) -> Obj:
    return Obj("java.util.HashSet", {}, [struct.pack(">ifi", 16, 0.75, len(items)), *items])


def hash_map(items: dict[Any, Any]) -> Obj:
    flat = [each for pair in items.items() for each in pair]
    head = struct.pack(">ii", 16, len(items))
    return Obj("java.util.HashMap", {"loadFactor": 0.75, "threshold": 12}, [head, *flat])


def java_stream(*contents: Any) -> bytes:
    writer = _Writer()
    for content in contents:
        writer.content(content)
    return b"\xac\xed\x00\x05" + bytes(writer.out)


class _Writer:
    def __init__(self) -> None:
        self.out = bytearray()
        self.handles: dict[Any, int] = {}
        self.next = 0x7E0000

    def handle(self, key: Any) -> None:
        self.handles[key] = self.next
        self.next += 1

    def reference(self, key: Any) -> bool:
        if key not in self.handles:
            return False
        self.out += b"\x71" + struct.pack(">I", self.handles[key])
        return True

    def utf(self, text: str) -> None:
        encoded = b"".join(_modified(character) for character in text)
        self.out += struct.pack(">H", len(encoded)) + encoded

    def content(self, value: Any) -> None:
        if value is None:
            self.out += b"\x70"
        elif isinstance(value, str):
            if not self.reference(("text", value)):
                self.out += b"\x74"
                self.handle(("text", value))
                self.utf(value)
        elif isinstance(value, bytes):
            assert len(value) < 256
            self.out += b"\x77" + bytes([len(value)]) + value
        elif isinstance(value, Constant):
            if not self.reference(value):
                self.out += b"\x7e"
                self.description(value.kind, {}, 0x12, ("java.lang.Enum", {}, 0x12))
                self.handle(value)
                self.content(value.name)
        elif isinstance(value, Array):
            self.array(value)
        else:
            self.object(value)

    def object(self, value: Obj) -> None:
        if self.reference(id(value)):
            return
        self.out += b"\x73"
        flags = 2 if value.written is None else 3
        parent = None if value.parent is None else (value.parent[0], value.parent[1], 2)
        self.description(value.kind, value.fields, flags, parent)
        self.handle(id(value))
        for fields in (value.parent[1] if value.parent else {}, value.fields):
            for name in _ordered(fields):
                self.field(fields[name])
        if value.written is not None:
            for each in value.written:
                self.content(each)
            self.out += b"\x78"

    def array(self, value: Array) -> None:
        if self.reference(id(value)):
            return
        self.out += b"\x75"
        primitive = len(value.kind) == 1
        self.description("[" + (value.kind if primitive else f"L{value.kind};"), {}, 2, None)
        self.handle(id(value))
        self.out += struct.pack(">i", len(value.items))
        for item in value.items:
            if primitive:
                self.out += struct.pack({"I": ">i", "J": ">q", "D": ">d"}[value.kind], item)
            else:
                self.content(item)

    def description(
        self, kind: str, fields: dict[str, Any], flags: int, parent: tuple[str, dict[str, Any], int] | None
    ) -> None:
        key = ("class", kind, tuple(_ordered(fields)))
        if self.reference(key):
            return
        self.out += b"\x72"
        self.utf(kind)
        self.out += struct.pack(">q", 1)
        self.handle(key)
        self.out += struct.pack(">BH", flags, len(fields))
        for name in _ordered(fields):
            code = _code(fields[name])
            self.out += code.encode()
            self.utf(name)
            if code in "L[":
                self.content("Ljava/lang/Object;" if code == "L" else "[Ljava/lang/Object;")
        self.out += b"\x78"
        if parent is None:
            self.out += b"\x70"
        else:
            self.description(*parent, None)

    def field(self, value: Any) -> None:
        code = _code(value)
        if code in "L[":
            self.content(value)
        elif code == "C":
            self.out += struct.pack(">H", ord(value.text))
        else:
            number = value.value if isinstance(value, Long) else value
            self.out += struct.pack({"Z": ">?", "I": ">i", "J": ">q", "D": ">d"}[code], number)


def _ordered(fields: dict[str, Any]) -> list[str]:
    """Java writes primitive fields first."""
    return sorted(fields, key=lambda name: (_code(fields[name]) in "L[", name))


def _code(value: Any) -> str:
    kinds = {bool: "Z", int: "I", Long: "J", float: "D", Char: "C", Array: "["}
    return kinds.get(type(value), "L")


def _modified(character: str) -> bytes:
    """Java's UTF-8: no byte is zero, and what lies beyond the first plane is two surrogates."""
    if character == "\0":
        return b"\xc0\x80"
    if ord(character) > 0xFFFF:
        units = character.encode("utf-16-be")
        halves = (
            units[:2].decode("utf-16-be", "surrogatepass"),
            units[2:].decode("utf-16-be", "surrogatepass"),
        )
        return b"".join(half.encode("utf-8", "surrogatepass") for half in halves)
    return character.encode("utf-8")
