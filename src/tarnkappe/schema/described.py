"""Types in words, as errors, forms and reference pages say them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import inspect

from tarnkappe.errors import Reason
from tarnkappe.schema.problem import either
from tarnkappe.schema.types import FRACTION, MOST

MANY_CHOICES = 8
"""More are not listed where a type is told in words."""
LISTED = (inspect.VarTupleType, inspect.ListType, inspect.SetType, inspect.FrozenSetType)


SIMPLE: dict[type, tuple[str, str]] = {
    inspect.IntType: (
        Reason("schema.a-whole-number", "a whole number"),
        Reason("schema.whole-numbers", "whole numbers"),
    ),
    inspect.FloatType: (Reason("schema.a-number", "a number"), Reason("schema.numbers", "numbers")),
    inspect.StrType: (Reason("schema.a-text", "a text"), Reason("schema.texts", "texts")),
    inspect.BoolType: (
        Reason("schema.true-or-false", "true or false"),
        Reason("schema.truth-values", "truth values"),
    ),
    inspect.NoneType: (Reason("schema.nothing", "nothing"), Reason("schema.nothing", "nothing")),
}


def described(info: inspect.Type) -> str:
    """A type in words.

    >>> described(inspect.type_info(int | None)), described(inspect.type_info(tuple[str, ...]))
    ('a whole number', 'a list of texts')
    """
    if isinstance(info, inspect.Metadata):
        return described(info.type)
    if isinstance(info, inspect.UnionType):
        return described_any(info.types)
    if isinstance(info, inspect.LiteralType):
        if len(info.values) > MANY_CHOICES:
            return Reason("schema.a-name", "a name")
        return either([repr(each) for each in info.values])
    if isinstance(info, inspect.EnumType):
        return either([repr(str(each.value)) for each in info.cls])
    if isinstance(info, inspect.DictType):
        return Reason("schema.a-table-of", "a table of {values}", values=_several(info.value_type))
    if isinstance(info, LISTED):
        return Reason("schema.a-list-of", "a list of {values}", values=_several(info.item_type))
    if isinstance(info, inspect.TupleType):
        return Reason("schema.a-list-of-values", "a list of {number} values", number=len(info.item_types))
    if isinstance(info, inspect.StructType):
        return Reason("schema.a-table", "a table")
    if isinstance(info, inspect.StrType) and info.pattern == FRACTION:
        return Reason("schema.a-fraction", "a fraction")
    return SIMPLE.get(type(info), (Reason("schema.a-value", "a value"), ""))[0]


def described_any(kinds: Iterable[inspect.Type]) -> str:
    """Several types in words; what may be left out is not named, and any number may be a whole one."""
    words = list(dict.fromkeys(described(each) for each in kinds))
    if "a number" in words and "a whole number" in words:
        words.remove("a whole number")
    if "nothing" in words and len(words) > 1:
        words.remove("nothing")
    return either(words)


def _several(info: inspect.Type) -> str:
    if isinstance(info, inspect.Metadata):
        return _several(info.type)
    if isinstance(info, inspect.UnionType) and {type(each) for each in info.types} <= {
        inspect.IntType,
        inspect.FloatType,
    }:
        return SIMPLE[inspect.FloatType][1]
    if all(isinstance(each, inspect.StructType) for each in alternatives(info)):
        return Reason("schema.tables", "tables")
    return SIMPLE.get(type(info), (Reason("schema.nothing", "nothing"), Reason("schema.values", "values")))[1]


def bounds_of(info: inspect.Type) -> str:
    """The bounds of a number in words; nothing if it has none that anybody would meet.

    >>> bounds_of(inspect.IntType(ge=1, le=64)), bounds_of(inspect.FloatType(ge=0, lt=1))
    (' from 1 to 64', ' from 0 to below 1')
    """
    kinds = [kind for kind in alternatives(info) if isinstance(kind, inspect.IntType | inspect.FloatType)]
    if not kinds:
        return ""
    # A whole number beside a number is there for those who write 0 for 0.0: the bounds are the number's.
    number = next((kind for kind in kinds if isinstance(kind, inspect.FloatType)), kinds[0])
    low, high = number.ge if number.gt is None else number.gt, number.le if number.lt is None else number.lt
    words = ""
    if low is not None and low > -MOST:
        words = f" {'from' if number.gt is None else 'above'} {_written(low)}"
    if high is not None and high < MOST:
        words += (" to" if words else " up to") if number.lt is None else (" to below" if words else " below")
        words += f" {_written(high)}"
    return words


def _written(number: float) -> str:
    return f"{int(number) if number == int(number) else number:,}"


def alternatives(info: inspect.Type) -> Iterator[inspect.Type]:
    """The types that a value may be of, without what is said about them."""
    if isinstance(info, inspect.Metadata):
        yield from alternatives(info.type)
    elif isinstance(info, inspect.UnionType):
        for each in info.types:
            yield from alternatives(each)
    else:
        yield info
