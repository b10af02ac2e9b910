"""Prebuilt kernels do what Numba and the functions as written do, and are used only where they fit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tarnkappe.native import CompiledFunction, build, library
from tarnkappe.native.library import CONTENTS, LIBRARY, OBJECT, PrebuiltFunction, entries_of, load
from tarnkappe.native.signatures import Signature, read_signatures, tuple_class
from tarnkappe.native.stamp import sources_of, stamp_of
from tests.native import kernels
from tests.native.kernels import Pair

pytestmark = pytest.mark.skipif(not library.fits_here(), reason="no library is made for this machine")

HERE = "tests.native.kernels:"
PAIR = {f"{HERE}Pair": ["u8:1C", "i8"]}
SIGNATURES = [
    Signature(f"{HERE}scaled", ["i8:1C!"]),
    Signature(f"{HERE}scaled", ["i4:1C!"]),
    Signature(f"{HERE}several", ["f8:1C", "f8", "b1"]),
    Signature(f"{HERE}write", ["f8:2C", "f8:1C!"]),
    Signature(f"{HERE}of_pair", [PAIR, "f4"]),
    Signature(f"{HERE}divide", ["i8", "i8"]),
    Signature(f"{HERE}strided", ["f8:1A"]),
    Signature(f"{HERE}part_of", ["i8:1C"]),
    Signature(f"{HERE}many", ["i8"]),
    Signature(f"{HERE}greatest", ["i8:1C"]),
    Signature(f"{HERE}sums", ["i8:1C"]),
    Signature(f"{HERE}sums", ["i8:1A"]),
]
TOO_MUCH = [
    Signature(f"{HERE}dot", ["f8:1C", "f8:1C"]),
    Signature(f"{HERE}reshaped", ["f8:2C"]),
    Signature(f"{HERE}gone", ["i8"]),
    Signature(f"{HERE}scaled", ["f8", "f8"]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("prebuilt")
    contents, left_out = build.build(made, [*SIGNATURES, *TOO_MUCH])
    assert sum(len(each["signatures"]) for each in contents["kernels"].values()) == len(SIGNATURES)
    assert len(left_out) == len(TOO_MUCH)
    return made


@pytest.fixture
def prebuilt(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(library, "FOLDER", folder)
    return folder


def entries(name: str) -> list[PrebuiltFunction]:
    return entries_of(getattr(kernels, name).function)


def call(name: str, *arguments: Any) -> Any:
    """What the machine code returns, if some of it fits the arguments."""
    results = [each.call(arguments) for each in entries(name)]
    fitting = [result for fits, result in results if fits]
    assert fitting
    return fitting[0]


def fits(name: str, *arguments: Any) -> bool:
    return any(each.call(arguments)[0] for each in entries(name))


def cases(seed: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    drawn = np.random.default_rng(seed)
    number = int(drawn.integers(0, 40))
    whole = drawn.integers(-100, 100, number)
    real = drawn.normal(size=number)
    yield "scaled", (whole,)
    yield "scaled", (whole.astype(np.int32),)
    yield "several", (real, float(drawn.random()), bool(drawn.integers(2)))
    yield "several", (real, np.float64(2.5), np.bool_(True))
    yield "write", (drawn.normal(size=(3, number)), real)
    yield "of_pair", (Pair(drawn.integers(0, 99, number).astype(np.uint64), 50), np.float32(0.1))
    yield "divide", (int(drawn.integers(-99, 99)), np.int64(7))
    yield "sums", (whole,)
    yield "sums", (drawn.integers(-9, 99, number)[::2],)
    yield "greatest", (drawn.integers(-9, 99, number + 1),)
    yield "strided", (real[::-3],)
    yield "strided", (drawn.normal(size=(4, 5))[:, 2],)


@pytest.mark.parametrize("seed", range(20))
def test_it_returns_what_numba_and_the_function_as_written_return(prebuilt: Path, seed: int) -> None:
    for name, arguments in cases(seed):
        kernel = getattr(kernels, name)
        copies = [_copied(arguments) for _ in range(3)]
        results = [call(name, *copies[0]), kernel.dispatcher(*copies[1]), kernel.function(*copies[2])]
        for other, given in ((1, copies[1]), (2, copies[2])):
            _require_equal(results[0], results[other])
            _require_equal(copies[0], given)  # what was written into the arguments


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy() if value.flags.c_contiguous else value
    if isinstance(value, tuple):
        parts = [_copied(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _require_equal(one: Any, other: Any) -> None:
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, tuple):
        assert type(one) is type(other)
        for each, same in zip(one, other, strict=True):
            _require_equal(each, same)
    else:
        assert one == other


def test_arrays_that_it_was_not_made_for_are_left_to_numba(prebuilt: Path) -> None:
    whole, real = np.arange(6), np.arange(6.0)
    assert fits("scaled", whole)
    readonly = whole.copy()
    readonly.flags.writeable = False
    assert fits("scaled", readonly), "nothing is written to it"
    for wrong in (
        whole[::2],
        whole.reshape(2, 3),
        whole.astype(">i8"),
        whole.astype(np.int16),
        real,
        [1, 2],
        None,
    ):
        assert not fits("scaled", wrong)
    fixed = np.zeros((2, 6))
    fixed.flags.writeable = False
    assert not fits("write", fixed, real), "a kernel that writes gets no array that must not be written to"
    assert not fits("write", np.zeros((2, 6)).T, real)
    assert not fits("write", np.zeros((2, 6)))


def test_numbers_that_it_was_not_made_for_are_left_to_numba(prebuilt: Path) -> None:
    assert fits("divide", 5, 2)
    for wrong in (2.0, True, 2**63, -(2**63) - 1, np.int32(2), np.uint64(2), "2", None):
        assert not fits("divide", 5, wrong)
    assert not fits("several", np.zeros(2), 1, True)
    words = np.arange(3, dtype=np.uint64)
    assert fits("of_pair", Pair(words, 2), np.float32(1))
    assert not fits("of_pair", (words, 2), np.float32(1))
    assert not fits("of_pair", Pair(words, 2), 1.0)


def test_an_error_of_a_kernel_is_raised(prebuilt: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        call("divide", 5, 0)


def test_memory_is_given_back(prebuilt: Path) -> None:
    import resource

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    values = np.arange(1_000_000)
    kept = call("scaled", values)
    before = peak()
    for _ in range(60):  # some 480 MB, if they stayed
        call("scaled", values)
    call("many", 100_000)  # and 800 MB
    assert peak() - before < 200_000
    assert kept[-1] == 3 * 999_999


def test_a_part_of_an_argument_does_not_outlive_it(prebuilt: Path) -> None:
    values = np.arange(4)
    part = call("part_of", values)
    values[:] = 0
    assert part.tolist() == [1, 2, 3]


def test_machine_code_of_another_source_is_not_used(prebuilt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert entries("scaled")
    assert entries("divide")
    monkeypatch.setattr(kernels, "FACTOR", 4)  # read two calls deep
    assert not entries("scaled")
    assert entries("divide")
    fresh = CompiledFunction(kernels.scaled.function)  # type: ignore[attr-defined]
    assert not fresh.is_prebuilt


def test_the_stamp_knows_every_file_that_a_kernel_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    from tarnkappe.lattice.core import run
    from tarnkappe.native import stamp

    seen: list[str] = []
    truth = stamp._source
    monkeypatch.setattr(stamp, "_source", lambda path: seen.append(Path(path).name) or truth(path))
    whole = stamp_of(run.function)  # type: ignore[attr-defined]
    assert {"core.py", "core_classes.py", "space.py", "border_search.py", "forecast.py", "kernels.py"} <= set(
        seen
    )
    for name in sorted(set(seen)):
        monkeypatch.setattr(
            stamp,
            "_source",
            lambda path, name=name: truth(path) + (b"\nMORE = 1\n" if path.endswith(name) else b""),
        )
        assert stamp_of(run.function) != whole, name  # type: ignore[attr-defined]


KERNEL = """
LIMIT = 3


def kernel(values):
    return values[0] + LIMIT
"""
SAID_BETTER = """# what this is for

LIMIT = 3
'''The largest.'''


def kernel(values):
    '''The first one and more.

    Values are sorted.
    '''
    # the order is that of the caller
    return values[0] + LIMIT  # never too large
"""


def source_stamp(folder: Path, text: str, known: dict[str, str] | None = None) -> str:
    """The stamp of a kernel in a file of its own."""
    path = folder / f"written{len(list(folder.iterdir()))}.py"
    path.write_text(text)
    names: dict[str, Any] = {"__name__": "written"}
    exec(compile(text, str(path), "exec"), names)
    return stamp_of(names["kernel"], known)


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        (KERNEL, True),
        (SAID_BETTER, True),
        (KERNEL.replace("values[0] + LIMIT", "(values[0]\n            + LIMIT)"), True),
        (KERNEL.replace("[0]", "[1]"), False),
        (KERNEL.replace("+", "-"), False),
        (KERNEL.replace("LIMIT = 3", "LIMIT = 4"), False),
        (KERNEL + "\nOTHER = 1\n", False),
    ],
)
def test_the_stamp_is_of_what_the_source_means_and_not_of_its_comments(
    tmp_path: Path, text: str, is_same: bool
) -> None:
    assert (source_stamp(tmp_path, text) == source_stamp(tmp_path, KERNEL)) == is_same


def test_a_source_that_the_library_knows_is_not_parsed(
    folder: Path, prebuilt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the start of a command costs nothing, and another version of Python finds the same stamp."""
    from tarnkappe.native import stamp

    contents = json.loads((folder / CONTENTS).read_text())
    assert set(sources_of(kernels.scaled.function).items()) <= set(contents["sources"].items())  # type: ignore[attr-defined]
    monkeypatch.setattr(stamp, "_meaning", lambda source: pytest.fail("parsed"))
    assert entries("scaled")


@pytest.mark.parametrize(
    "change",
    [{"format": "0"}, {"machine": "pdp-11"}, {"linked": None}, {"kernels": None}, {"sources": None}],
)
def test_a_library_that_was_not_made_for_this_is_refused(
    folder: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    shutil.copytree(folder, tmp_path / "other")
    contents = json.loads((folder / CONTENTS).read_text())
    (tmp_path / "other" / CONTENTS).write_text(json.dumps(contents | change))
    assert load(tmp_path / "other") is None


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"format": "2"}'])
def test_broken_contents_are_no_library(folder: Path, tmp_path: Path, broken: str) -> None:
    shutil.copytree(folder, tmp_path / "other")
    (tmp_path / "other" / CONTENTS).write_text(broken)
    assert load(tmp_path / "other") is None


def test_half_a_library_is_no_library(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "other")
    for made in [tmp_path / "other" / LIBRARY, *(tmp_path / "other").glob(OBJECT.format("*"))]:
        made.unlink(missing_ok=True)
    assert load(tmp_path / "other") is None
    assert load(tmp_path / "nothing") is None


def test_what_is_current_is_not_compiled_anew(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [*SIGNATURES, *TOO_MUCH]
    assert build.is_current(folder, asked)
    assert not build.is_current(folder, SIGNATURES)
    assert not build.is_current(tmp_path, asked)
    monkeypatch.setattr(kernels, "FACTOR", 7)  # a kernel reads it
    assert not build.is_current(folder, asked)


@pytest.mark.parametrize("change", [{"format": "0"}, {"machine": "pdp-11"}, {"asked": []}, {"kernels": None}])
def test_what_was_made_of_something_else_is_not_current(
    folder: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    shutil.copytree(folder, tmp_path / "other")
    contents = json.loads((folder / CONTENTS).read_text())
    (tmp_path / "other" / CONTENTS).write_text(json.dumps(contents | change))
    assert not build.is_current(tmp_path / "other", [*SIGNATURES, *TOO_MUCH])


def test_without_a_linker_llvm_puts_the_object_into_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "LINKERS", ())
    contents, _ = build.build(tmp_path, SIGNATURES[:3])
    assert not contents["linked"]
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    for name, arguments in cases(1):
        if name in ("scaled", "several"):
            _require_equal(call(name, *arguments), getattr(kernels, name).function(*arguments))


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is missing (apt install binutils)")
def test_the_library_needs_nothing_but_the_standard_libraries_of_c(folder: Path) -> None:
    if not json.loads((folder / CONTENTS).read_text())["linked"]:
        pytest.skip("there is no linker here")
    told = subprocess.run(
        ["readelf", "--wide", "-d", "--dyn-syms", folder / LIBRARY],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "TEXTREL" not in told
    symbols = [line.split() for line in told.splitlines() if " UND " in line or "GLOBAL" in line]
    undefined = {
        line[-1].split("@")[0] for line in symbols if "UND" in line and "WEAK" not in line and len(line) == 8
    }
    assert "malloc" in undefined
    assert undefined <= build.FOREIGN
    shown = {line[-1] for line in symbols if "UND" not in line}
    assert shown
    assert all(name.startswith(("tarn_", "_")) for name in shown)


def test_everything_that_is_to_be_prebuilt_exists() -> None:
    signatures = read_signatures()
    assert len({str(each) for each in signatures}) == len(signatures) > 20
    for signature in signatures:
        assert isinstance(tuple_class(signature.kernel), CompiledFunction), signature.kernel


MODES = """
import sys
import numpy as np
from tarnkappe.lattice import auto
from tarnkappe.lattice.auto import AutoSearch, Hunt
from tarnkappe.lattice.compiled_sweep import CompiledSweep
from tests.lattice.test_compiled_sweep import LOSSES_WITH_KERNELS, small
for seed in range(12):
    problem = small(seed, LOSSES_WITH_KERNELS[3 * seed % 17], (0.0, 0.05, 0.5)[seed % 3], 3, limited=False)
    hunt = Hunt(problem, lower_bounds=True, effort=AutoSearch().effort)
    hunt.begin()
    CompiledSweep.of(hunt).search()
    best = hunt.best.evaluation
    print(hunt.tests, best and (best.node, best.loss.hex()), hunt.space.least.tobytes().hex())
print("numba" in sys.modules, file=sys.stderr)
"""


def test_a_search_is_the_same_bit_by_bit_however_it_was_compiled() -> None:
    told = {}
    for mode in ("python", "jit", "prebuilt"):
        run = subprocess.run(
            [sys.executable, "-c", MODES],
            env=os.environ | {"TARN_NATIVE": mode},
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        told[mode] = run.stdout
        if mode == "python":
            assert run.stderr.splitlines()[-1] == "False"
    assert told["python"] == told["jit"] == told["prebuilt"]
    assert len(told["jit"]) > 1000
