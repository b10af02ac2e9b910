"""The types that kernels are called with, as text: what is prebuilt is compiled for these.

A number is its dtype as numpy spells it (`i8`, `f8`, `b1`); an array adds its dimensions, its layout and,
if nothing is written to it, `!` (`u8:1C`, `f8:2C!`); a tuple is a list; a named tuple is an object with the
place of its class. `signatures.txt` has one kernel and its types in a line;
`python -m tests.native.signatures` writes it anew from what a set of commands really calls.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tarnkappe.process.libraries import load_numba

FILE = Path(__file__).with_name("signatures.txt")

Spelling = str | list["Spelling"] | dict[str, list["Spelling"]] | None
"""A type as text; None is the result of a function that returns nothing."""


class Signature(NamedTuple):
    """A kernel and the types of its arguments.

    Attributes:
        kernel: module and name, with a colon between.
        arguments: their types.
    """

    kernel: str
    arguments: list[Spelling]


class NoSpellingError(Exception):
    """A type that has no text here: a kernel that takes or returns it is not prebuilt."""


def name_of(function: Callable[..., Any]) -> str:
    """Module and name of a kernel."""
    return f"{function.__module__}:{function.__qualname__}"


def read_signatures(path: Path = FILE) -> list[Signature]:
    """What is to be prebuilt, as the file says."""
    lines = path.read_text(encoding="utf-8").splitlines()
    split = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    return [Signature(name, json.loads(types)) for name, types in split]


def write_line(name: str, arguments: list[Spelling]) -> str:
    """A line of the file."""
    return f"{name} {json.dumps(arguments, separators=(',', ':'))}"


def record(function: Callable[..., Any], arguments: tuple[Any, ...], seen: set[str]) -> None:
    """Add the types of a call to the file that the environment names."""
    numba = load_numba()
    try:
        line = write_line(name_of(function), [spell(numba.typeof(each)) for each in arguments])
    except (NoSpellingError, ValueError):
        return
    if line not in seen:
        seen.add(line)
        with Path(os.environ["TARN_NATIVE_RECORD"]).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def spell(kind: Any) -> Spelling:
    """The text of a type of Numba."""
    types, as_dtype = load_numba().core.types, load_numba().np.numpy_support.as_dtype
    if isinstance(kind, types.NoneType):
        return None
    if isinstance(kind, types.Boolean):
        return "b1"
    if isinstance(kind, types.Integer | types.Float):
        return str(as_dtype(kind).str)[1:]
    if (
        isinstance(kind, types.Array)
        and kind.aligned
        and isinstance(kind.dtype, types.Number | types.Boolean)
    ):
        return f"{spell(kind.dtype)}:{kind.ndim}{kind.layout}{'' if kind.mutable else '!'}"
    if isinstance(kind, types.BaseNamedTuple):
        place = f"{kind.instance_class.__module__}:{kind.instance_class.__qualname__}"
        return {place: [spell(each) for each in kind.types]}
    if isinstance(kind, types.BaseTuple):
        return [spell(each) for each in kind.types]
    raise NoSpellingError(str(kind))


def numba_type(text: Spelling) -> Any:
    """The type of Numba that a text means."""
    types, from_dtype = load_numba().core.types, load_numba().np.numpy_support.from_dtype
    if isinstance(text, dict):
        ((place, parts),) = text.items()
        return types.BaseTuple.from_types([numba_type(each) for each in parts], tuple_class(place))
    if isinstance(text, list):
        return types.BaseTuple.from_types([numba_type(each) for each in text])
    assert text is not None
    dtype, _, form = text.partition(":")
    kind = from_dtype(np.dtype(dtype))
    return types.Array(kind, int(form[0]), form[1], readonly=form.endswith("!")) if form else kind


def leaves(text: Spelling) -> Iterator[str]:
    """The numbers and arrays of which a type consists, in their order."""
    if isinstance(text, dict):
        (text,) = text.values()
    if isinstance(text, list):
        for each in text:
            yield from leaves(each)
    elif text is not None:
        yield text


@cache
def tuple_class(place: str) -> Any:
    """The class of a named tuple."""
    module, name = place.split(":")
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found
