"""The stamp of a kernel: what its machine code was made of.

A library is older than the source when somebody changes a kernel, or takes a newer version. Machine code is
used only if its stamp is that of the source at hand; it covers the files of all functions that the kernel
reaches, and the constants that they read, wherever these come from. A file counts by its syntax tree:
comments and docstrings say nothing to the machine, so a better one leaves the library in use.

A library keeps the digests of the files as they were when it was made. Where they are the same, byte by byte,
nothing is parsed: the start of a command does not pay for it, and the stamp does not depend on the version of
Python, whose trees differ.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tarnkappe.native import CompiledFunction

FORMAT = "2"
"""Changes whenever libraries of before must not be used."""


def stamp_of(function: Callable[..., Any], known: Mapping[str, str] | None = None) -> str:
    """The stamp of a kernel; empty if its source is not at hand.

    Args:
        function: the kernel as it is written.
        known: what `sources_of` told of the files when the library was made.
    """
    facts = {f"format {FORMAT}"}
    for each in _reached(function):
        source = _source(each.__code__.co_filename)
        if source is None:
            return ""
        digest = (known or {}).get(_digest(source)) or _meaning(source)
        facts.add(f"{each.__module__} {digest}")
        for name, value in _read_by(each):
            if isinstance(value, type):
                facts.add(f"{name} {value.__qualname__} {getattr(value, '_fields', '')}")
            elif not isinstance(value, CompiledFunction | FunctionType | ModuleType):
                facts.add(f"{each.__module__} {name} {value!r}")
    return _digest("\n".join(sorted(facts)).encode())


def sources_of(function: Callable[..., Any]) -> dict[str, str]:
    """The files of all that a kernel reaches: the digest of what each means, by that of its bytes."""
    found = [_source(each.__code__.co_filename) for each in _reached(function)]
    return {_digest(source): _meaning(source) for source in found if source is not None}


def _reached(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """A function and those of the project that it calls, directly or not."""
    waiting, seen = [function], set()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        yield each
        for _, value in _read_by(each):
            if isinstance(value, CompiledFunction):
                waiting.append(value.function)
            elif isinstance(value, FunctionType):
                waiting.append(value)


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
def _source(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None


@cache
def _meaning(source: bytes) -> str:
    """The digest of a file's syntax tree, without texts that stand for themselves: these are docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_docstring(each)]  # type: ignore[attr-defined]
    return _digest(ast.dump(tree).encode())


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
