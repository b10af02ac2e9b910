"""Writes the page of the public Python names: what no version changes unsaid (`make docs`)."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import tarnkappe

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "python.md"

INTRODUCTION = """\
# Python

Written by `make docs`. What stands here is public: from 1.0 on it changes only as [support](support.md) says.
Everything else of the package may change with any version, whatever its name begins with.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *(_entry(name) for name in sorted(tarnkappe.__all__, key=str.lower))])


def _entry(name: str) -> str:
    """A section about one name of the package."""
    thing = getattr(tarnkappe, name)
    lines = [f"## `{name}`", "", _sentence(thing), ""]
    if not isinstance(thing, ModuleType):
        lines += [
            "```python",
            textwrap.fill(f"{name}{_signature(thing)}", 100, subsequent_indent="    "),
            "```",
            "",
        ]
    if isinstance(thing, ModuleType):
        lines += [*_members(thing, f"{name}.", vars_of_module(thing)), ""]
    elif inspect.isclass(thing):
        lines += [*_members(thing, f"{name}.", vars_of_class(thing)), ""]
    return "\n".join(lines)


def vars_of_module(module: ModuleType) -> list[str]:
    """What a module offers: the names that it lists, or else the functions and classes that it defines."""
    if listed := getattr(module, "__all__", None):
        return sorted(listed)
    return sorted(
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
    )


def vars_of_class(kind: type) -> list[str]:
    """What a class of ours offers, inherited names too."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("tarnkappe")]
    named = {name for base in ours for name in (*vars(base), *vars(base).get("__annotations__", {}))}
    return sorted(name for name in named if not name.startswith("_"))


def _members(owner: Any, prefix: str, names: list[str]) -> Iterator[str]:
    """A line for each member."""
    for name in names:
        thing = inspect.getattr_static(owner, name, None) if inspect.isclass(owner) else getattr(owner, name)
        if isinstance(thing, classmethod | staticmethod):
            thing = thing.__func__
        if isinstance(thing, property | cached_property) or not callable(thing):
            told = _sentence(thing) if isinstance(thing, property | cached_property) else ""
            yield f"- `{prefix}{name}`{': ' if told else ''}{told}"
        else:
            told = _sentence(thing)
            yield f"- `{prefix}{name}{_signature(thing)}`{': ' if told else ''}{told}"


def _signature(thing: Any) -> str:
    """The names of the parameters, with defaults that are the same on every machine."""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return "()"
    if isinstance(thing, FunctionType) and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    shown, only_named = [], False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not only_named:
            shown.append("*")
        only_named |= one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        star = "*" * (one.kind is one.VAR_POSITIONAL) + "**" * (one.kind is one.VAR_KEYWORD)
        shown.append(f"{star}{one.name}{'' if one.default is one.empty else f'={_default(one.default)}'}")
    return f"({', '.join(shown)})"


def _default(value: Any) -> str:
    """A default as one writes it; what has no such form is only marked as there."""
    if isinstance(value, Enum):
        value = value.value
    simple = value is None or isinstance(value, bool | int | float | str | tuple)
    return repr(value) if simple else "..."


def _sentence(thing: Any) -> str:
    """The first sentence of a docstring, in one line."""
    text = inspect.getdoc(thing.func if isinstance(thing, cached_property) else thing) or ""
    return re.sub(r"\s+", " ", text.split("\n\n")[0]).strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
