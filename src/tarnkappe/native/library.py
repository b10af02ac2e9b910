"""The prebuilt library: loading it, and calling what it holds without Numba.

A function of the library gets its arrays as the objects that numpy makes of them and reads address, shape and
strides there, as the binary interface of numpy lays them out (`ndarraytypes.h`). Asking for an address in
Python takes microseconds, and a search has forty arrays. It looks at dtype, dimensions and layout before it
does anything and says so if they are not those that it was compiled for; whether an argument is an array at
all, and a number of the right kind, is looked at here.
"""

from __future__ import annotations

import ctypes
import json
import platform
import struct
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tarnkappe.native.signatures import Spelling, leaves, name_of, tuple_class
from tarnkappe.native.stamp import FORMAT, stamp_of

FOLDER = Path(__file__).with_name("prebuilt")
LIBRARY, OBJECT, CONTENTS = "kernels.so", "kernels-{}.o", "kernels.json"
"""The library; its parts, for machines that have no linker; what it holds."""

BASELINES = {"x86_64": ("x86-64-v2", ("SSE42", "POPCNT", "SSSE3")), "aarch64": ("generic", ())}
"""The processors that machine code is made for: as LLVM names them, and what numpy says they have."""

DONE, WRONG_TYPES = 0, -100
OBJECT_HEAD = 16
"""Bytes before the fields of an object; Python without its lock has more, and no library yet."""

HEAD_OF_RESULT = 16
"""Bytes before a result, in which the place of an error is told."""


class PrebuiltFunction:
    """A kernel compiled for certain types."""

    def __init__(self, symbol: Any, release: Any, arguments: list[Spelling], result: Spelling) -> None:
        self._kinds = [leaf for each in arguments for leaf in leaves(each)]
        self._arguments = arguments
        self._is_flat = all(isinstance(each, str) for each in arguments)
        self._symbol = symbol
        self._symbol.argtypes = [ctypes.c_void_p, *map(_passed_as, self._kinds)]
        self._symbol.restype = ctypes.c_int32
        self._wholes = [place for place, kind in enumerate(self._kinds) if kind in ("i8", "u8")]
        self._plans: dict[tuple[type, ...], tuple[int, ...] | None] = {}
        self._layout = struct.Struct(_layout_of(result))
        self._result = result
        self._release = release

    def call(self, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
        """Whether the arguments are those it was compiled for, and then the result."""
        flat: list[Any] | tuple[Any, ...] = arguments
        if not self._is_flat:
            flat = []
            if not _flatten(arguments, self._arguments, flat):
                return False, None
        types = tuple(map(type, flat))
        if types not in self._plans:
            self._plans[types] = self._plan(types)
        converted = self._plans[types]
        if converted is None:
            return False, None
        if converted:
            flat = list(flat)
            for place in converted:
                flat[place] = flat[place].item()
        for place in self._wholes:
            if not -(2**63) <= flat[place] < 2**63:
                return False, None
        told = bytearray(HEAD_OF_RESULT + self._layout.size)
        status = self._symbol((ctypes.c_char * len(told)).from_buffer(told), *flat)
        if status == WRONG_TYPES:
            return False, None
        if status != DONE:
            _fail(told)
        if self._result is None:
            return True, None
        return True, self._read(self._result, iter(self._layout.unpack_from(told, HEAD_OF_RESULT)))

    def _plan(self, types: tuple[type, ...]) -> tuple[int, ...] | None:
        """Which of the arguments are numbers of numpy, that must become Python's; None if some do not fit."""
        if len(types) != len(self._kinds):
            return None
        converted = []
        for place, (given, kind) in enumerate(zip(types, self._kinds, strict=True)):
            if ":" in kind:
                if given is not np.ndarray:
                    return None
            elif issubclass(given, np.generic):
                if np.dtype(given) != np.dtype(kind):
                    return None
                converted.append(place)
            elif {"i8": int, "f8": float, "b1": bool}.get(kind) is not given:
                return None
        return tuple(converted)

    def _read(self, kind: Spelling, values: Iterator[Any]) -> Any:
        if isinstance(kind, dict):
            ((place, parts),) = kind.items()
            return tuple_class(place)(*[self._read(each, values) for each in parts])
        if isinstance(kind, list):
            return tuple([self._read(each, values) for each in kind])
        assert kind is not None
        if ":" not in kind:
            return next(values)
        dtype, _, form = kind.partition(":")
        owner, _, _, _, address = (next(values) for _ in range(5))
        shape = tuple(next(values) for _ in range(int(form[0])))
        strides = tuple(next(values) for _ in range(int(form[0])))
        array = np.asarray(_Memory(address, shape, strides, np.dtype(dtype).str, owner, self._release))
        return array if owner else array.copy()  # a part of an argument, which has an owner already


class _Memory:
    """What a kernel has allocated; given back when no array uses it any more."""

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: str,
        owner: int,
        release: Callable[[int], None],
    ) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (address, False),
            "shape": shape,
            "strides": strides,
            "typestr": dtype,
        }
        self._owner = owner
        self._release = release

    def __del__(self) -> None:
        if self._owner:
            self._release(self._owner)


def entries_of(function: Callable[..., Any]) -> list[PrebuiltFunction]:
    """The machine code of a kernel, if it was made of the source that is here."""
    found = load(FOLDER)
    if found is None:
        return []
    symbols, contents = found
    kernel = contents["kernels"].get(name_of(function))
    if kernel is None or not kernel["stamp"] or kernel["stamp"] != stamp_of(function, contents["sources"]):
        return []
    return [
        PrebuiltFunction(symbols(each["symbol"]), symbols("tarn_release"), each["arguments"], each["result"])
        for each in kernel["signatures"]
    ]


@cache
def load(folder: Path) -> tuple[Callable[[str], Any], dict[str, Any]] | None:
    """What a folder holds, if this machine can run it: a function from names to symbols, and the contents."""
    try:
        contents = json.loads((folder / CONTENTS).read_text(encoding="utf-8"))
        if contents["format"] != FORMAT or contents["machine"] != platform.machine() or not fits_here():
            return None
        if not isinstance(contents["kernels"], dict) or not isinstance(contents["sources"], dict):
            return None
        symbols = _linked(folder) if contents["linked"] else _unlinked(folder, contents["objects"])
        release = symbols("tarn_release")
        release.argtypes, release.restype = [ctypes.c_void_p], None
        return (symbols, contents) if _reads_arrays(symbols("tarn_probe")) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError, RuntimeError):
        return None


def fits_here() -> bool:
    """Whether there can be a library for this interpreter and processor."""
    if (
        platform.machine() not in BASELINES
        or object.__basicsize__ != OBJECT_HEAD
        or sys.byteorder != "little"
    ):
        return False
    features = import_module("numpy._core._multiarray_umath").__cpu_features__  # numpy tells it nowhere else
    return all(features.get(name) for name in BASELINES[platform.machine()][1])


def _linked(folder: Path) -> Callable[[str], Any]:
    library = ctypes.CDLL(str(folder / LIBRARY))
    return lambda name: getattr(library, name)


def _unlinked(folder: Path, objects: int) -> Callable[[str], Any]:
    """Without a linker LLVM puts the object into place: slower at the start, and still without Numba."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(reloc="pic", codemodel="small")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    for place in range(objects):
        engine.add_object_file(llvm.ObjectFileRef.from_path(str(folder / OBJECT.format(place))))
    engine.finalize_object()

    @cache
    def symbol(name: str) -> Any:
        address = engine.get_function_address(name)
        if not address:
            raise AttributeError(name)
        return ctypes.CFUNCTYPE(ctypes.c_int32)(address)

    return symbol


def _reads_arrays(probe: Any) -> bool:
    """Whether the library finds in an array of this numpy what it was made to find there."""
    probe.argtypes, probe.restype = [ctypes.py_object, ctypes.c_void_p], None
    array = np.arange(24, dtype=np.int64).reshape(2, 3, 4)[:, ::2]
    told = (ctypes.c_int64 * 7)()
    probe(array, told)
    return list(told) == [
        array.ctypes.data,
        3,
        *array.shape[:2],
        array.strides[0],
        array.dtype.num,
        array.flags.num,
    ]


def _passed_as(kind: str) -> Any:
    if ":" in kind:
        return ctypes.py_object
    return {"f8": ctypes.c_double, "f4": ctypes.c_float}.get(kind, ctypes.c_int64)


def _flatten(values: Any, kinds: list[Spelling], flat: list[Any]) -> bool:
    if len(values) != len(kinds):
        return False
    for value, kind in zip(values, kinds, strict=True):
        if isinstance(kind, dict):
            ((place, parts),) = kind.items()
            if type(value) is not tuple_class(place) or not _flatten(value, parts, flat):
                return False
        elif isinstance(kind, list):
            if type(value) is not tuple or not _flatten(value, kind, flat):
                return False
        else:
            flat.append(value)
    return True


def _layout_of(kind: Spelling) -> str:
    """How a result lies in memory, for `struct`: as C lays out a struct of its parts."""
    layout, _ = _laid_out(kind, 0)
    return "=" + layout


def _laid_out(kind: Spelling, offset: int) -> tuple[str, int]:
    if kind is None:
        return "", offset
    if isinstance(kind, dict):
        (kind,) = kind.values()
    if isinstance(kind, list):
        layout, start = "", offset
        for each in kind:
            part, offset = _laid_out(each, offset)
            layout += part
        pad = -(offset - start) % max([_alignment(each) for each in leaves(kind)], default=1)
        return layout + f"{pad}x", offset + pad
    pad = -offset % _alignment(kind)
    dtype, _, form = kind.partition(":")
    part = f"{5 + 2 * int(form[0])}q" if form else "?" if dtype == "b1" else np.dtype(dtype).char
    part = part.replace("l", "q").replace("L", "Q")
    return f"{pad}x{part}", offset + pad + struct.calcsize("=" + part)


def _alignment(kind: str) -> int:
    return 8 if ":" in kind else np.dtype(kind).itemsize


def _fail(told: bytearray) -> None:
    """Raise what the kernel raised: it leaves the place of a record of the error, whose class it names."""
    (place,) = struct.unpack_from("=Q", told)
    text = b""
    if place:
        address, size = struct.unpack("=QI", ctypes.string_at(place, 12))
        text = ctypes.string_at(address, size)
    for kind in (MemoryError, ZeroDivisionError, ValueError, IndexError):
        if kind.__name__.encode() in text:
            raise kind("a kernel failed")
    raise ArithmeticError("a kernel failed")
