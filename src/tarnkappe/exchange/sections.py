"""Reading the TOML files of the exchange; anything unknown in them is refused by name."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from tarnkappe.errors import JobError
from tarnkappe.job.job import refuse_unknown

Built = TypeVar("Built")

__all__ = ["built", "read_toml", "refuse_unknown"]


def read_toml(path: str | Path, what: str) -> dict[str, Any]:
    """The content of a file, not yet understood."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise JobError(f"cannot read the {what} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise JobError(f"the {what} {path} is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise JobError(f"the {what} {path} is not valid TOML: {error}") from None


def built(kind: type[Built], values: Mapping[str, Any], where: str) -> Built:
    """An object of a class of plain data from a section; keys that it lacks are refused."""
    fields = tuple(field.name for field in dataclasses.fields(kind))  # type: ignore[arg-type]
    refuse_unknown(values, fields, f"key of {where}")
    try:
        return kind(**values)
    except TypeError:
        raise JobError(f"{where}: a key is missing or has the wrong type") from None
