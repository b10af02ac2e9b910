"""The JSON Schema of a document, for editors and for the OpenAPI document of a service.

It is made from the same declarations as the check, and takes what the check takes. What is between several
keys (`rules`), the bounds of fractions written as texts, and that 1.0 is no whole number, it cannot say.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import msgspec
from msgspec import inspect

from tarnkappe.schema.described import LISTED, alternatives
from tarnkappe.schema.documents import extra_of
from tarnkappe.schema.explain import takes_text
from tarnkappe.schema.parameters import Parameters
from tarnkappe.schema.types import NO_NUL

DIALECT = "https://json-schema.org/draft/2020-12/schema"
JsonSchema = dict[str, Any]


def json_schema(kind: type[Parameters], *, at: str = "#/$defs/") -> JsonSchema:
    """The schema of a class of documents.

    Args:
        kind: the class.
        at: where classes that are named several times stand; an OpenAPI document has another place.
    """
    made = schemas({kind.__name__: kind}, at=at)
    return {"$schema": DIALECT, **made.pop(kind.__name__), "$defs": made}


def schemas(kinds: Mapping[str, type], *, at: str = "#/$defs/") -> dict[str, JsonSchema]:
    """The schemas of several classes by their names, with those that they hold."""
    writer = _Writer(at)
    infos = inspect.multi_type_info(kinds.values())  # what several of them hold is looked at once
    for name, info in zip(kinds, infos, strict=True):
        writer.known[name] = writer.struct(info, name)
    return writer.known


class _Writer:
    def __init__(self, at: str) -> None:
        self._at = at
        self.known: dict[str, JsonSchema] = {}

    def value(
        self, info: inspect.Type, extra: Mapping[str, Any] | None = None, *, inside: bool = False
    ) -> JsonSchema:
        """The schema of a type; inside a list or a table, numbers may stand for texts."""
        said: JsonSchema = {}
        if isinstance(info, inspect.Metadata):
            said = {key: each for key, each in (info.extra_json_schema or {}).items() if key == "description"}
        extra = extra_of(info) or extra or {}
        kinds = list(alternatives(info))
        if all(isinstance(each, inspect.IntType | inspect.FloatType) for each in kinds):
            kinds = [each for each in kinds if isinstance(each, inspect.FloatType)] or kinds
        texts = any(map(takes_text, kinds))
        written = [self._one(each, extra, inside=inside, alone=not texts, among=kinds) for each in kinds]
        return {**(written[0] if len(written) == 1 else {"anyOf": written}), **said}

    def _one(
        self,
        info: inspect.Type,
        extra: Mapping[str, Any],
        *,
        inside: bool,
        alone: bool,
        among: list[inspect.Type],
    ) -> JsonSchema:
        match info:
            case inspect.NoneType():
                return {"type": "null"}
            case inspect.BoolType():
                return {"type": "boolean"}
            case inspect.IntType() | inspect.FloatType():
                return {"type": "integer" if isinstance(info, inspect.IntType) else "number", **_bounds(info)}
            case inspect.StrType():
                return _text(info, lenient=inside and not _has_numbers(among))
            case inspect.LiteralType():
                return {"enum": list(info.values)}
            case inspect.EnumType():
                return {"enum": [each.value for each in info.cls]}
            case inspect.TupleType():
                items = [self.value(each, inside=True) for each in info.item_types]
                return {
                    "type": "array",
                    "prefixItems": items,
                    "minItems": len(items),
                    "maxItems": len(items),
                }
            case inspect.DictType():
                return self._table(info)
            case inspect.StructType():
                return self._member(info, extra)
        if isinstance(info, LISTED):
            each = self.value(info.item_type, extra, inside=True)
            listed = {"type": "array", "items": each, **_lengths(info, "Items")}
            if alone and takes_text(info.item_type):  # one name stands for a list of names
                one = self.value(info.item_type, extra)
                return {"anyOf": [one, listed]} if (info.min_length or 0) <= 1 else listed
            return listed
        return {}

    def _table(self, info: inspect.DictType) -> JsonSchema:
        made: JsonSchema = {"type": "object", **_lengths(info, "Properties")}
        made["additionalProperties"] = self.value(info.value_type, inside=True)
        names = self.value(info.key_type)
        if {"minLength", "maxLength", "pattern", "enum"} & set(names):
            made["propertyNames"] = {key: each for key, each in names.items() if key != "type"}
        return made

    def _member(self, info: inspect.StructType, extra: Mapping[str, Any]) -> JsonSchema:
        """A section, by its name; one that is meant if no name is given need not have it."""
        free = info.tag_field is not None and str(info.tag) == (extra.get("otherwise") or None)
        name = f"{info.cls.__name__}{'Default' if free else ''}"
        if name not in self.known:
            self.known[name] = {}
            self.known[name] = self.struct(info, name, free=free)
        return {"$ref": f"{self._at}{name}"}

    def struct(self, info: Any, title: str, *, free: bool = False) -> JsonSchema:
        """The schema of a section: its keys, and no others."""
        properties: JsonSchema = {}
        required = []
        told_by = getattr(info.cls, "told_by", ())  # what it is shows by other keys
        if info.tag_field is not None and not told_by:
            properties[info.tag_field] = {"const": info.tag}
            required += [] if free else [info.tag_field]
        for field in info.fields:
            written = self.value(field.type)
            default = _plain(field.default)
            if default is not None:
                written = {**written, "default": default}
            properties[field.encode_name] = written
            required += [field.encode_name] if field.required else []
        made = {
            "title": title,
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
        }
        if told_by:
            made["anyOf"] = [{"required": [name]} for name in told_by]
        return made | ({"required": required} if required else {})


def _bounds(info: inspect.IntType | inspect.FloatType) -> JsonSchema:
    named = {"minimum": info.ge, "exclusiveMinimum": info.gt, "maximum": info.le, "exclusiveMaximum": info.lt}
    return {name: bound for name, bound in named.items() if bound is not None}


def _lengths(info: Any, of: str) -> JsonSchema:
    named = {f"min{of}": info.min_length, f"max{of}": info.max_length}
    return {name: length for name, length in named.items() if length is not None}


def _text(info: inspect.StrType, *, lenient: bool) -> JsonSchema:
    made: JsonSchema = {"type": ["string", "number", "boolean"] if lenient else "string"}
    made |= _lengths(info, "Length")
    return (
        made if info.pattern is None else {**made, "pattern": info.pattern.replace(NO_NUL, "^[^\\u0000]*$")}
    )


def _has_numbers(kinds: list[inspect.Type]) -> bool:
    return any(isinstance(each, inspect.IntType | inspect.FloatType) for each in kinds)


def _plain(value: object) -> Any:
    """A default as JSON, if it is one that people would write."""
    if value is msgspec.NODEFAULT or isinstance(value, Parameters):
        return None
    if isinstance(value, Enum):
        return value.value
    return (
        list(value) if isinstance(value, tuple) else value if isinstance(value, str | int | float) else None
    )
