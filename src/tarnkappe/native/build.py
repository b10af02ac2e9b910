"""Making the prebuilt library: `python -m tarnkappe.native.build [FOLDER]`; a wheel and `make test` run it.

Numba compiles every kernel for the types in `signatures.txt`, on a baseline of processors instead of the one
at hand, and LLVM emits all of it as one position-independent object. The linker of the machine makes a
library of it; where there is none, the object is kept as it is. Nothing of the interpreter and nothing of
Numba remains in it: wrappers take the arguments (`wrappers.py`; `library.py` says how), and the few functions
with which kernels allocate are in `memory.ll`. What needs more is left out and compiled on first use.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from tarnkappe.native.library import (
    BASELINES,
    CONTENTS,
    FOLDER,
    LIBRARY,
    OBJECT,
    fits_here,
)
from tarnkappe.native.signatures import (
    NoSpellingError,
    Signature,
    numba_type,
    read_signatures,
    spell,
    write_line,
)
from tarnkappe.native.stamp import FORMAT, sources_of, stamp_of
from tarnkappe.native.wrappers import PROBE, wrapper
from tarnkappe.process.libraries import load_numba

MOST_WORKERS = 4
"""A process that compiles takes some hundred megabytes."""

LINKERS = (
    ("cc", "-shared"),
    ("gcc", "-shared"),
    ("clang", "-shared"),
    ("ld", "-shared"),
    ("ld.lld", "-shared"),
)

FOREIGN = frozenset(["malloc", "realloc", "free", "memset", "memcpy", "memmove", "memcmp"]).union(
    ["log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "pow", "sqrt"],
    ["fmod", "floor", "ceil", "fabs", "round", "trunc", "rint"],
)
"""What machine code may call: functions of the standard libraries of C, which every process has."""

MEMORY = Path(__file__).with_name("memory.ll").read_text(encoding="utf-8")
OWN = frozenset(re.findall(r"^define [^\n]*@((?:NRT|numba)_\w+)\(", MEMORY, re.MULTILINE))
OTHER_SHAPES = re.compile(
    r"call [^\n]*@numba_attempt_nocopy_reshape\(i64 (?!0,|1, ptr [^,]+, ptr [^,]+, i64 1,)"
)
"""Arrays that get other dimensions; only single numbers do in what is prebuilt."""

ARGUMENTS_OF_AN_ERROR = re.compile(
    r"^define [^\n]*?@(__excinfo_unwrap_args\w+)\(.*?^}", re.MULTILINE | re.DOTALL
)
"""Makes Python's objects of what an error says; called where Numba hands it to Python, and nowhere here."""


class _Compiler:
    """Collects modules of LLVM and what is in them."""

    def __init__(self, prefix: str = "") -> None:
        import llvmlite.binding as llvm

        self.llvm = llvm
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.module = llvm.parse_assembly(MEMORY + PROBE)
        self.kernels: dict[str, Any] = {}
        self.sources: dict[str, str] = {}
        self.left_out: list[str] = []
        self._prefix = prefix
        self._number = 0
        self._dispatchers: dict[Any, Any] = {}

    def add(self, signature: Signature) -> None:
        """Compile a kernel for some types, if the library can hold it."""
        try:
            kernel = _kernel(signature.kernel)
            types = tuple(numba_type(each) for each in signature.arguments)
            dispatcher = self._dispatcher(kernel.function)
            dispatcher.compile(types)
            made = dispatcher.overloads[types]
            result = spell(made.signature.return_type)
        except NoSpellingError as no:
            self.left_out.append(f"{signature.kernel}: {no}")
            return
        except Exception as error:  # an old line, or what Numba no longer compiles: then it is not prebuilt
            self.left_out.append(f"{signature.kernel}: {type(error).__name__}")
            return
        text = ARGUMENTS_OF_AN_ERROR.sub(
            r"define linkonce_odr ptr @\1(ptr %_) { ret ptr null }", made.library.get_llvm_str()
        )
        part = self.llvm.parse_assembly(text)
        for function in part.functions:  # the doors for the interpreter stay outside
            if not function.is_declaration and re.match(
                r"_ZN7cpython|cfunc\.|_ZN13_3cdynamic_3e", function.name
            ):
                function.linkage = "internal"
        part = self._without_unused(part)
        foreign = {each.name for each in part.functions if each.is_declaration} - FOREIGN
        foreign = {each for each in foreign if not each.startswith("llvm.")} - OWN
        if OTHER_SHAPES.search(text):
            foreign.add("other shapes")
        if foreign or any(each.name.startswith("Py") for each in part.global_variables):
            self.left_out.append(
                f"{signature.kernel}: needs {', '.join(sorted(foreign)) or 'the interpreter'}"
            )
            return
        symbol = f"tarn_{self._prefix}{self._number}"
        self._number += 1
        self.module.link_in(part)
        self.module.link_in(
            self.llvm.parse_assembly(wrapper(symbol, made.fndesc.llvm_func_name, signature.arguments))
        )
        entry = self.kernels.setdefault(
            signature.kernel, {"stamp": stamp_of(kernel.function), "signatures": []}
        )
        self.sources |= sources_of(kernel.function)
        entry["signatures"].append({"symbol": symbol, "arguments": signature.arguments, "result": result})

    def _dispatcher(self, function: Any) -> Any:
        """Numba gives no text of what it finds in its cache, so the kernel itself is always compiled."""
        if function not in self._dispatchers:
            self._dispatchers[function] = load_numba().njit(nogil=True)(function)
        return self._dispatchers[function]

    def _without_unused(self, part: Any) -> Any:
        passes = self.llvm.create_new_module_pass_manager()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(part, self._builder())
        return part

    def _builder(self) -> Any:
        return self.llvm.create_pass_builder(
            self._machine(), self.llvm.create_pipeline_tuning_options(speed_level=2)
        )

    def _machine(self) -> Any:
        target = self.llvm.Target.from_triple(self.llvm.get_process_triple())
        baseline = BASELINES[platform.machine()][0]
        return target.create_target_machine(cpu=baseline, features="", opt=3, reloc="pic", codemodel="small")

    def _shown(self) -> str:
        return rf"tarn_{self._prefix}\d+" if self._number else "tarn_probe|tarn_release"

    def object_file(self) -> bytes:
        """All of it as position-independent machine code; only our own wrappers are seen from outside."""
        for function in self.module.functions:
            if not function.is_declaration and not re.fullmatch(self._shown(), function.name):
                function.linkage = "internal"
        self.module.verify()
        return bytes(self._machine().emit_object(self._without_unused(self.module)))


class ObjectCode(NamedTuple):
    """What was made of the kernels of one module.

    Attributes:
        code: an object file.
        kernels: what is in it, by the names of kernels.
        sources: digests of the files that it was made of.
        left_out: what is not, and why.
    """

    code: bytes
    kernels: dict[str, Any]
    sources: dict[str, str]
    left_out: list[str]


def compile_part(signatures: list[Signature], prefix: str) -> ObjectCode:
    """Compile some kernels; without any, the functions that all of them need once."""
    compiler = _Compiler(prefix)
    for signature in signatures:
        compiler.add(signature)
    return ObjectCode(compiler.object_file(), compiler.kernels, compiler.sources, compiler.left_out)


def build(folder: Path, signatures: list[Signature], workers: int = 0) -> tuple[dict[str, Any], list[str]]:
    """Make the library in a folder, with some processes; returns its contents and what was left out."""
    modules = dict.fromkeys(each.kernel.partition(":")[0] for each in signatures)
    work: list[list[Signature]] = [[]]
    work += [[each for each in signatures if each.kernel.startswith(f"{name}:")] for name in modules]
    prefixes = [f"{place}_" for place in range(len(work))]
    if workers:
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            parts = list(pool.map(compile_part, work, prefixes))
    else:
        parts = [compile_part(each, prefix) for each, prefix in zip(work, prefixes, strict=True)]
    parts = [part for place, part in enumerate(parts) if part.kernels or place == 0]
    contents = {
        "format": FORMAT,
        "machine": platform.machine(),
        "linked": False,
        "objects": len(parts),
        "asked": _lines(signatures),
        "sources": {raw: meant for part in parts for raw, meant in part.sources.items()},
        "kernels": {name: each for part in parts for name, each in part.kernels.items()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    # Everything is made beside and moved into place, the contents last: nobody sees half of a library.
    with tempfile.TemporaryDirectory(dir=folder) as name:
        beside = Path(name)
        objects = [OBJECT.format(place) for place in range(len(parts))]
        for part, file in zip(parts, objects, strict=True):
            (beside / file).write_bytes(part.code)
        contents["linked"] = _link(beside, objects)
        (beside / CONTENTS).write_text(json.dumps(contents, separators=(",", ":")), encoding="utf-8")
        (folder / CONTENTS).unlink(missing_ok=True)
        for old in [folder / LIBRARY, *folder.glob(OBJECT.format("*"))]:
            old.unlink(missing_ok=True)
        for made in [LIBRARY] if contents["linked"] else objects:
            (beside / made).replace(folder / made)
        (beside / CONTENTS).replace(folder / CONTENTS)
    return contents, [line for part in parts for line in part.left_out]


def is_current(folder: Path, signatures: list[Signature]) -> bool:
    """Whether a folder holds the library that would be made of these kernels as they are now."""
    try:
        contents = json.loads((folder / CONTENTS).read_text(encoding="utf-8"))
        there = [LIBRARY] if contents["linked"] else map(OBJECT.format, range(contents["objects"]))
        return (
            contents["format"] == FORMAT
            and contents["machine"] == platform.machine()
            and contents["asked"] == _lines(signatures)
            and all((folder / name).is_file() for name in there)
            and all(
                kernel["stamp"] == stamp_of(_kernel(name).function, contents["sources"])
                for name, kernel in contents["kernels"].items()
            )
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError):
        return False


def _lines(signatures: list[Signature]) -> list[str]:
    return [write_line(*each) for each in signatures]


def _kernel(name: str) -> Any:
    module, _, kernel = name.partition(":")
    return getattr(import_module(module), kernel)


def _link(folder: Path, objects: list[str]) -> bool:
    for program, *flags in LINKERS:
        found = shutil.which(program)
        if found is None:
            continue
        plain = [] if program.startswith("ld") else ["-nostdlib"]
        command = [found, *flags, *plain, "-o", LIBRARY, *objects]
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0:  # noqa: S603
            return True
    return False


def main() -> None:
    """Make the library, and say what it holds."""
    if not fits_here():
        print(f"no kernels are prebuilt on {platform.machine()}: they are compiled on first use")
        return
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    if is_current(folder, read_signatures()):
        print(f"the prebuilt kernels in {folder} are those of these sources")
        return
    # Numba must not look at the processor at hand, nor leave what it makes for another one in its cache.
    os.environ |= {"NUMBA_CPU_NAME": BASELINES[platform.machine()][0], "NUMBA_CPU_FEATURES": ""}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = cache
        contents, left_out = build(folder, read_signatures(), min(os.cpu_count() or 1, MOST_WORKERS))
    for line in left_out:
        print(f"left out: {line}")
    print(f"{len(contents['kernels'])} kernels are prebuilt in {folder}")


if __name__ == "__main__":
    main()
