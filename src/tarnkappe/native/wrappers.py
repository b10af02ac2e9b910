"""The text of the wrappers in a prebuilt library: how it takes arrays apart."""

from __future__ import annotations

import numpy as np

from tarnkappe.native.library import HEAD_OF_RESULT, WRONG_TYPES
from tarnkappe.native.signatures import Spelling, leaves

# Where an array has its address, dimensions, shape, strides, dtype and flags; where a dtype has its byte
# order and its number.
ADDRESS, DIMENSIONS, SHAPE, STRIDES, DTYPE, FLAGS = 16, 24, 32, 40, 56, 64
BYTE_ORDER, NUMBER = 26, 28
CONTIGUOUS, FORTRAN, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400


def _load(name: str, kind: str, base: str, offset: int) -> str:
    at = f"  %{name}.at = getelementptr i8, ptr {base}, i64 {offset}\n"
    return f"{at}  %{name} = load {kind}, ptr %{name}.at\n"


PROBE = (
    "define void @tarn_probe(ptr %array, ptr %told) {\n"
    + _load("address", "i64", "%array", ADDRESS)
    + _load("nd", "i32", "%array", DIMENSIONS)
    + _load("shape", "ptr", "%array", SHAPE)
    + _load("n0", "i64", "%shape", 0)
    + _load("n1", "i64", "%shape", 8)
    + _load("strides", "ptr", "%array", STRIDES)
    + _load("s0", "i64", "%strides", 0)
    + _load("dtype", "ptr", "%array", DTYPE)
    + _load("number", "i32", "%dtype", NUMBER)
    + _load("flags", "i32", "%array", FLAGS)
    + "".join(f"  %{name}.wide = sext i32 %{name} to i64\n" for name in ("nd", "number", "flags"))
    + "".join(
        f"  %to{place} = getelementptr i64, ptr %told, i64 {place}\n  store i64 %{name}, ptr %to{place}\n"
        for place, name in enumerate(("address", "nd.wide", "n0", "n1", "s0", "number.wide", "flags.wide"))
    )
    + "  ret void\n}\n"
)


def wrapper(symbol: str, kernel: str, arguments: list[Spelling]) -> str:
    """A function that takes arrays as objects, numbers as they are, and calls a kernel with their parts."""
    kinds = [leaf for each in arguments for leaf in leaves(each)]
    taken, checks, parts, passed = [], [], [], []
    for place, kind in enumerate(kinds):
        name, (dtype, _, form) = f"a{place}", kind.partition(":")
        if not form:
            wide = {"f8": "double", "f4": "float"}.get(dtype, "i64")
            bits = 8 * np.dtype(dtype).itemsize
            taken.append(f"{wide} %{name}")
            if wide == "i64" and bits < 64:
                parts.append(f"  %{name}.cut = trunc i64 %{name} to i{bits}\n")
                passed.append(f"i{bits} %{name}.cut")
            else:
                passed.append(f"{wide} %{name}")
            continue
        taken.append(f"ptr %{name}")
        checks.append(_check(name, dtype, form))
        text, given = _taken_apart(name, int(form[0]), np.dtype(dtype).itemsize)
        parts.append(text)
        passed += given
    declared = ", ".join(["ptr", "ptr", *(each.split(" ")[0] for each in passed)])
    handed = ", ".join(["ptr %result", "ptr %told", *passed])
    return (
        f"declare i32 @{kernel}({declared})\n"
        f"define i32 @{symbol}({', '.join(['ptr %told', *taken])}) {{\nstart:\n"
        + "".join(checks)
        + f"  %result = getelementptr i8, ptr %told, i64 {HEAD_OF_RESULT}\n"
        + "".join(parts)
        + f"  %status = call i32 @{kernel}({handed})\n  ret i32 %status\n"
        + (f"wrong:\n  ret i32 {WRONG_TYPES}\n" if checks else "")
        + "}\n"
    )


def _check(name: str, dtype: str, form: str) -> str:
    """Go on if an array has the dtype, the dimensions and the layout that the kernel was compiled for."""
    asked = (
        ALIGNED | {"C": CONTIGUOUS, "F": FORTRAN, "A": 0}[form[1]] | (0 if form.endswith("!") else WRITEABLE)
    )
    return (
        _load(f"{name}.nd", "i32", f"%{name}", DIMENSIONS)
        + _load(f"{name}.flags", "i32", f"%{name}", FLAGS)
        + _load(f"{name}.dtype", "ptr", f"%{name}", DTYPE)
        + _load(f"{name}.number", "i32", f"%{name}.dtype", NUMBER)
        + _load(f"{name}.order", "i8", f"%{name}.dtype", BYTE_ORDER)
        + f"  %{name}.kept = and i32 %{name}.flags, {asked}\n"
        f"  %{name}.is0 = icmp eq i32 %{name}.nd, {form[0]}\n"
        f"  %{name}.is1 = icmp eq i32 %{name}.kept, {asked}\n"
        f"  %{name}.is2 = icmp eq i32 %{name}.number, {np.dtype(dtype).num}\n"
        f"  %{name}.is3 = icmp ne i8 %{name}.order, {ord('>')}\n"
        f"  %{name}.and1 = and i1 %{name}.is0, %{name}.is1\n"
        f"  %{name}.and2 = and i1 %{name}.is2, %{name}.is3\n"
        f"  %{name}.all = and i1 %{name}.and1, %{name}.and2\n"
        f"  br i1 %{name}.all, label %{name}.right, label %wrong\n{name}.right:\n"
    )


def _taken_apart(name: str, dimensions: int, itemsize: int) -> tuple[str, list[str]]:
    """An array as kernels take it: owner, parent, items, their size, address, shape, strides."""
    text = _load(f"{name}.data", "ptr", f"%{name}", ADDRESS)
    text += _load(f"{name}.shape", "ptr", f"%{name}", SHAPE) + _load(
        f"{name}.strides", "ptr", f"%{name}", STRIDES
    )
    for each in range(dimensions):
        text += _load(f"{name}.n{each}", "i64", f"%{name}.shape", 8 * each)
        text += _load(f"{name}.s{each}", "i64", f"%{name}.strides", 8 * each)
    items = "1"
    for each in range(dimensions):
        text += f"  %{name}.m{each} = mul i64 {items}, %{name}.n{each}\n"
        items = f"%{name}.m{each}"
    shape = [f"i64 %{name}.n{each}" for each in range(dimensions)]
    strides = [f"i64 %{name}.s{each}" for each in range(dimensions)]
    return text, [
        "ptr null",
        "ptr null",
        f"i64 {items}",
        f"i64 {itemsize}",
        f"ptr %{name}.data",
        *shape,
        *strides,
    ]
