"""Arguments of functions and settings that hold objects of Python: tables, hierarchies, models.

What people write is declared (`Parameters`). A function such as `anonymize` also takes objects that no
document can hold; its annotations say what an argument may be, and anything else is refused with a sentence
before anything is computed: nan, infinity, a truth value in place of a number, a missing value.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import numbers
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar, cast

from tarnkappe.errors import ParameterError
from tarnkappe.schema.problem import place_of, shown
from tarnkappe.schema.types import GREATEST, MOST

Kind = TypeVar("Kind", bound=type)
Work = TypeVar("Work", bound=Callable[..., Any])


def checked(kind: Kind) -> Kind:
    """Let a dataclass refuse parameters that are not of the annotated types."""
    made: Any = kind
    if "_parameters_checked" in vars(kind) or not dataclasses.is_dataclass(kind):
        return kind
    original = made.__init__
    order = [field.name for field in dataclasses.fields(kind) if field.init and not field.kw_only]

    @functools.wraps(original)
    def init(self: Any, *given: Any, **named: Any) -> None:
        values = {**dict(zip(order, given, strict=False)), **named}
        try:  # what a member says of its own parameters says more
            original(self, *given, **named)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
            _refuse_all(kind, values)
            raise
        _refuse_all(kind, values)

    made.__init__ = init
    made._parameters_checked = True
    return kind


def _refuse_all(kind: type, values: Mapping[str, object]) -> None:
    hints = _hints(kind)
    label = getattr(kind, "name", None)
    for name, value in values.items():
        if name in hints:
            refuse_wrong(label if isinstance(label, str) else kind.__name__, name, value, hints[name])


def checked_call(work: Work) -> Work:
    """Let a function refuse arguments that are not of the annotated types."""

    @functools.wraps(work)
    def call(*given: Any, **named: Any) -> Any:
        hints = _hints(work)
        for name, value in inspect.signature(work).bind(*given, **named).arguments.items():
            if name in hints:
                refuse_wrong(work.__name__, name, value, hints[name])
        return work(*given, **named)

    return cast(Work, call)


def refuse_wrong(owner: str, name: str, value: object, hint: Any) -> None:
    """Refuse a parameter that is not of a type: by the entry that is wrong, where it is a list or a table."""
    if fits(value, hint):
        return
    wrong = _wrong_part(value, hint, (name,))
    if wrong.is_key:
        raise ParameterError(
            "schema.owner-name-key",
            "{owner}: a name in {name} is {hint}, not {value}",
            owner=owner,
            name=place_of(wrong.path),
            hint=described(wrong.hint),
            value=shown(wrong.value),
        )
    if isinstance(wrong.value, numbers.Integral) and any(
        each in (int, float) for each in _choices(wrong.hint)
    ):
        most = MOST if int in _choices(wrong.hint) else GREATEST
        if abs(int(wrong.value)) > most:
            raise ParameterError(
                "schema.owner-name-bound",
                "{owner}: {name} is too large a number: at most {most} (without its sign) is allowed",
                owner=owner,
                name=place_of(wrong.path),
                most=f"{most:,}" if most == MOST else f"{most:g}",
            )
    raise ParameterError(
        "schema.owner-name-hint",
        "{owner}: {name} is {hint}, not {value}",
        owner=owner,
        name=place_of(wrong.path),
        hint=described(wrong.hint),
        value=shown(wrong.value),
    )


class _Wrong(typing.NamedTuple):
    """The innermost part of a value that does not fit, where it stands and what it should be."""

    value: object
    hint: Any
    path: tuple[str | int, ...]
    is_key: bool = False


def _choices(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _wrong_part(value: object, hint: Any, path: tuple[str | int, ...]) -> _Wrong:
    """Down into a list or a table, where only one of the kinds that are allowed is one."""
    whole = _Wrong(value, hint, path)
    if not _is_listed(value) and not isinstance(value, Mapping):
        return whole
    table = isinstance(value, Mapping)
    kinds = []
    for each in _choices(hint):
        origin = typing.get_origin(each)
        if (
            isinstance(origin, type)
            and issubclass(origin, Collection)
            and issubclass(origin, Mapping) == table
        ):
            kinds.append(each)
    if len(kinds) != 1:
        return whole
    inner = typing.get_args(kinds[0])
    if isinstance(value, Mapping):
        for key, entry in value.items():
            if not fits(key, inner[0]):
                return _Wrong(key, inner[0], path, is_key=True)
            if not fits(entry, inner[1]):
                return _wrong_part(entry, inner[1], (*path, str(key)))
        return whole
    if typing.get_origin(kinds[0]) is tuple and inner[-1] is not Ellipsis:
        return whole
    for place, entry in enumerate(value):
        fine = _is_cell(entry) if inner[0] is str and inner[-1] is Ellipsis else fits(entry, inner[0])
        if not fine:
            return _wrong_part(entry, inner[0], (*path, place))
    return whole


@functools.cache
def _hints(what: Any) -> dict[str, Any]:
    return typing.get_type_hints(what)


def fits(value: object, hint: Any) -> bool:
    """Whether a value may stand where a type is annotated; numbers are finite, and truth is no number.

    >>> fits(3, float), fits(True, int), fits(float("nan"), float), fits(["a"], tuple[str, ...])
    (True, False, False, True)
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return _finite(value)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, each) for each in inner)
    if origin is typing.Literal:
        return any(value is each or (type(value) is type(each) and value == each) for each in inner)
    if hint in (None, type(None)):
        return value is None
    if hint is bool:
        return isinstance(value, bool)
    if hint is int:
        return _is_number(value) and isinstance(value, numbers.Integral) and abs(int(value)) <= MOST
    if hint is float:
        return _is_number(value)
    if hint is str:
        return isinstance(value, str) and "\0" not in value
    if origin is not None and isinstance(origin, type):
        return _fits_inside(value, origin, inner)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return isinstance(value, hint | str)
    if getattr(hint, "_is_protocol", False) and not getattr(hint, "_is_runtime_protocol", False):
        return value is not None  # what a protocol asks for shows when it is used
    return not isinstance(hint, type) or isinstance(value, hint)


def _fits_inside(value: object, origin: type, inner: tuple[Any, ...]) -> bool:
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return False
        key, each = inner
        return all(fits(k, key) and fits(v, each) for k, v in value.items())
    if origin is tuple and inner[-1] is Ellipsis:
        if inner[0] is str:  # one name stands for a list of names, and values may be numbers
            return isinstance(value, str) or (_is_listed(value) and all(map(_is_cell, value)))
        return _is_listed(value) and all(fits(each, inner[0]) for each in value)
    if origin is tuple:
        listed = list(value) if _is_listed(value) else []
        return len(listed) == len(inner) and all(map(fits, listed, inner))
    if issubclass(origin, type):
        return isinstance(value, type)
    if issubclass(origin, Sequence):
        if inner[0] is str and isinstance(value, str):
            return True
        return _is_listed(value) and all(fits(each, inner[0]) for each in value)
    if origin is cast(type, Callable):
        return callable(value)
    if issubclass(origin, Iterable):
        return isinstance(value, Iterable)
    return isinstance(value, origin)


def _is_listed(value: object) -> typing.TypeGuard[Collection[Any]]:
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _is_cell(value: object) -> bool:
    return isinstance(value, str) or _is_number(value)


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and _finite(value)


def _finite(value: object) -> bool:
    if not isinstance(value, numbers.Real):
        return True
    number: Any = value
    return bool((isinstance(number, numbers.Rational) or math.isfinite(number)) and abs(number) <= GREATEST)


def described(hint: Any) -> str:
    """A type in words.

    >>> described(int | None), described(tuple[str, ...])
    ('a whole number or nothing', 'a list of texts')
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        words = list(dict.fromkeys(described(each) for each in sorted(inner, key=lambda i: i is type(None))))
        return " or ".join(words)
    if origin is typing.Literal:
        return " or ".join(repr(each) for each in inner)
    simple = {int: "a whole number", float: "a finite number", bool: "true or false", str: "a text"}
    if hint in simple:
        return simple[hint]
    if hint in (None, type(None)):
        return "nothing"
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a table of {_several(inner[-1])}"
    if origin is not None and isinstance(origin, type) and issubclass(origin, Collection):
        return f"a list of {_several(inner[0])}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " or ".join(repr(str(each.value)) for each in hint)
    return f"a {getattr(hint, '__name__', 'value')}"


def _several(hint: Any) -> str:
    several = {int: "whole numbers", float: "finite numbers", str: "texts"}
    return several.get(hint, "values") if isinstance(hint, type) else "values"
