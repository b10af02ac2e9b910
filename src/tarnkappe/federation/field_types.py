"""The types of what parties agree on: a contract comes from another party, or from a file written by hand."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tarnkappe.errors import ParameterError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

TYPES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "int": ("a whole number", lambda value: type(value) is int),
    "float": ("a number", lambda value: type(value) in (int, float) and math.isfinite(value)),
    "str": ("a text", lambda value: isinstance(value, str) and bool(value)),
    "str | None": ("a text", lambda value: value is None or isinstance(value, str)),
    "tuple[int, ...]": (
        "a list of whole numbers",
        lambda value: all(type(each) is int for each in value),
    ),
    "tuple[str, ...]": (
        "a list of texts",
        lambda value: all(isinstance(each, str) and each for each in value),
    ),
}


def require_types(agreed: DataclassInstance) -> None:
    """Refuse values of other types: `"false"` would count as true, and a text as a list of letters."""
    for field in dataclasses.fields(agreed):
        words, is_right = TYPES.get(str(field.type), ("", lambda _: True))
        if not is_right(getattr(agreed, field.name)):
            raise ParameterError(
                "federation.field-words-contract",
                "'{field}' of a contract is {words}",
                field=field.name,
                words=words,
            )
