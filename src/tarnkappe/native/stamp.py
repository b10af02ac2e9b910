"""The stamp of a kernel: what its machine code was made of.

A library is older than the source when somebody changes a kernel, or takes a newer version. Machine code is
used only if its stamp is that of the source at hand; it covers the files of all functions that the kernel
reaches, and the constants that they read, wherever these come from. It does not depend on the version of
Python.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tarnkappe.native import CompiledFunction

FORMAT = "1"
"""Changes whenever libraries of before must not be used."""


def stamp_of(function: Callable[..., Any]) -> str:
    """The stamp of a kernel; empty if its source is not at hand."""
    facts, waiting, seen = {f"format {FORMAT}"}, [function], set()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        source = _digest(each.__code__.co_filename)
        if source is None:
            return ""
        facts.add(f"{each.__module__} {source}")
        for name, value in _read_by(each):
            if isinstance(value, CompiledFunction):
                waiting.append(value.function)
            elif isinstance(value, FunctionType):
                waiting.append(value)
            elif isinstance(value, type):
                facts.add(f"{name} {value.__qualname__} {getattr(value, '_fields', '')}")
            elif not isinstance(value, ModuleType):
                facts.add(f"{each.__module__} {name} {value!r}")
    return hashlib.sha256("\n".join(sorted(facts)).encode()).hexdigest()


def _read_by(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The global names that a function reads, and what it closes over."""
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _names(code: CodeType) -> set[str]:
    nested = [_names(each) for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*nested)


@cache
def _digest(path: str) -> str | None:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None
