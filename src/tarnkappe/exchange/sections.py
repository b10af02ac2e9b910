"""Reading the TOML files of the exchange; anything unknown in them is refused by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from tarnkappe.errors import JobError
from tarnkappe.job.unknown_keys import refuse_unknown
from tarnkappe.schema.written import read_toml

Built = TypeVar("Built")

__all__ = ["built", "read_toml", "refuse_unknown"]


def built(kind: type[Built], values: Mapping[str, Any], where: str) -> Built:
    """An object of a class of plain data from a section; keys that it lacks are refused."""
    fields = tuple(field.name for field in dataclasses.fields(kind))  # type: ignore[arg-type]
    refuse_unknown(values, fields, f"key of {where}")
    try:
        return kind(**values)
    except TypeError:
        raise JobError(
            "exchange.key-missing-wrong-type", "{where}: a key is missing or has the wrong type", where=where
        ) from None
