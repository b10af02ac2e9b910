"""Files in which a user tells what an attacker knows: rules, answers, and folders of earlier releases."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tarnkappe.errors import InputError, ParameterError, TarnkappeError
from tarnkappe.risk.attacks import ExclusionRule, Function, Listing, PublishedAggregate
from tarnkappe.table import Table
from tarnkappe.table.files import SUFFIXES, suffix_of

LIST = "list"
BESIDE = (".manifest.json", ".certificate.json")
"""How the names of manifests and certificates end, which lie beside releases."""


def read_rules(path: Path) -> tuple[ExclusionRule, ...]:
    """Rules from a TOML file: `[[rule]]` with `column`, `excludes` and, if only some are meant, `where`."""
    return rules_of(_content(path), str(path))


def rules_of(content: Mapping[str, Any], where: str) -> tuple[ExclusionRule, ...]:
    """Rules from the content of such a file; errors say where it comes from."""
    keys = {"column": str, "excludes": list, "where": dict}
    return tuple(
        ExclusionRule(_text(entry["column"]), tuple(map(_text, entry["excludes"])), _condition(entry))
        for entry in _entries(content, where, "rule", keys, ("column", "excludes"))
    )


def read_answers(path: Path) -> tuple[tuple[PublishedAggregate, ...], tuple[Listing, ...]]:
    """Answers from a TOML file: aggregates, and lists of values.

    `[[answer]]` has a `function`, and `where` if it is about some people only. With "count" or "sum" it has a
    `value`, and maybe `column` and `equals`; with "list" a `column` and its `values`.
    """
    return answers_of(_content(path), str(path))


def answers_of(
    content: Mapping[str, Any], where: str
) -> tuple[tuple[PublishedAggregate, ...], tuple[Listing, ...]]:
    """Answers from the content of such a file; errors say where it comes from."""
    keys = {
        "function": str,
        "value": int | float,
        "values": list,
        "where": dict,
        "column": str,
        "equals": object,
    }
    answers: list[PublishedAggregate] = []
    listings: list[Listing] = []
    for place, entry in enumerate(_entries(content, where, "answer", keys, ("function",)), start=1):
        try:
            if entry["function"] == LIST:
                listings.append(_listing(entry))
            else:
                answers.append(_aggregate(entry))
        except TarnkappeError as error:
            raise type(error)(f"{where}: answer {place}: {error}") from None
    return tuple(answers), tuple(listings)


def _aggregate(entry: Mapping[str, Any]) -> PublishedAggregate:
    if entry["function"] not in tuple(Function):
        raise ParameterError("the function is count, sum or list")
    if "value" not in entry or "values" in entry:
        raise ParameterError(f"a {entry['function']} has one 'value'")
    equals = None if "equals" not in entry else _text(entry["equals"])
    function = Function(entry["function"])
    return PublishedAggregate(function, entry["value"], _condition(entry), entry.get("column"), equals)


def _listing(entry: Mapping[str, Any]) -> Listing:
    if not {"column", "values"} <= set(entry) or {"value", "equals"} & set(entry):
        raise ParameterError("a list has a 'column' and its 'values'")
    return Listing(entry["column"], tuple(map(_text, entry["values"])), _condition(entry))


def read_earlier(
    folder: Path,
    reading: Callable[[Path], Table],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
) -> dict[str, Table]:
    """The releases in a folder, in the order of their names, with the roles of the columns that they have."""
    files = sorted(p for p in folder.iterdir() if _is_table(p))
    if not files:
        raise InputError(f"{folder}: there is no release (no file with {', '.join(SUFFIXES)})")
    earlier = {}
    for path in files:
        table = reading(path)
        known = [name for name in quasi_identifiers if name in table.column_names]
        if not known:
            raise InputError(
                f"{path}: the earlier release has none of the columns {', '.join(quasi_identifiers)}"
            )
        wanted = [name for name in sensitive if name in table.column_names]
        earlier[path.name] = table.with_roles(quasi_identifiers=known, sensitive=wanted)
    return earlier


def _is_table(path: Path) -> bool:
    hidden = path.name.startswith(".") or path.name.endswith(BESIDE)
    return path.is_file() and not hidden and suffix_of(path) in SUFFIXES


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: this is no TOML: {type(error).__name__}") from None


def _entries(
    content: Mapping[str, Any], where: str, name: str, keys: Mapping[str, Any], required: Sequence[str]
) -> list[dict[str, Any]]:
    """The entries, all of them with known keys and values of the right type."""
    entries = content.get(name)
    if (
        set(content) != {name}
        or not isinstance(entries, list)
        or not all(isinstance(e, dict) for e in entries)
    ):
        raise InputError(f"{where}: write every {name} as [[{name}]], and nothing else")
    for place, entry in enumerate(entries, start=1):
        for key in required:
            if key not in entry:
                raise InputError(f"{where}: {name} {place} lacks '{key}'")
        for key, value in entry.items():
            if key not in keys:
                raise InputError(
                    f"{where}: {name} {place} has the unknown key '{key}': use {', '.join(keys)}"
                )
            if not isinstance(value, keys[key]) or isinstance(value, bool):
                raise InputError(f"{where}: {name} {place}: '{key}' has a value of the wrong type")
    return entries


def _condition(entry: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in entry.get("where", {}).items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)
