"""Files of TOML and JSON as plain data, not yet understood.

No other module of the package reads TOML, or JSON that people write.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path as FilePath
from typing import Any

from tarnkappe.errors import InputError, JobError


class UnreadableError(JobError, InputError):
    """A file with a document cannot be read, or is not written as such files are."""


def read_toml(path: str | FilePath, what: str = "file") -> dict[str, Any]:
    """The content of a file, not yet understood."""
    text = _text(path, what)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(
            "schema.not-valid-toml",
            "the {what} {path} is not valid TOML: {error}",
            what=what,
            path=path,
            error=_reason(error),
        ) from None


def read_json(path: str | FilePath, what: str = "file") -> Any:
    """The content of a file of JSON, not yet understood."""
    text = _text(path, what)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(
            "schema.not-valid-json",
            "the {what} {path} is not valid JSON: {error}",
            what=what,
            path=path,
            error=_reason(error),
        ) from None


def toml_value(text: str) -> Any:
    """One value as TOML writes it.

    Raises:
        ValueError: if it is none.

    >>> toml_value("[1, 'a']")
    [1, 'a']
    """
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def toml_table(text: str) -> dict[str, Any]:
    """The content of a text that comes with the package, or that it has written itself.

    >>> toml_table("a = 1")
    {'a': 1}
    """
    return tomllib.loads(text)


def _text(path: str | FilePath, what: str) -> str:
    try:
        return FilePath(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UnreadableError(
            "schema.not-utf-8-text", "the {what} {path} is not UTF-8 text", what=what, path=path
        ) from None
    except (OSError, ValueError) as error:
        raise UnreadableError(
            "schema.cannot-read",
            "cannot read the {what} {path}: {error}",
            what=what,
            path=path,
            error=_reason(error),
        ) from None


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
