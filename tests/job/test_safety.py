"""Whatever happens, what stands under the names of the outputs is whole and belongs together.

The faults are real: processes are killed, disks are full, inputs are cut off. Only the crash at every single
step is simulated: from that step on no call reaches the file system any more, as after a power cut.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import InputError, OutputError, ParameterError
from tarnkappe.job import Job, Output
from tarnkappe.job.publication import publication
from tarnkappe.table.staging import PREFIX
from tests.cli.spoken import lines_of

TARN = Path(sys.executable).with_name("tarn")
NAMES = ("release.csv", "release.csv.certificate.json", "release.csv.manifest.json", "report.html")
ROWS = 400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table = pa.table(
        {
            "name": [f"SECRET-{i}" for i in range(ROWS)],
            "age": [20 + i % 60 for i in range(ROWS)],
            "town": [("Ulm", "Bonn", "Kiel")[i % 3] for i in range(ROWS)],
            "illness": [("flu", "cold", "ulcer", "gout")[i % 4] for i in range(ROWS)],
        }
    )
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    tarnkappe.write(table, tmp_path / "in" / "data.csv")
    return tmp_path


def content(folder: Path, k: int = 2, data: str = "data.csv") -> dict[str, object]:
    return {
        "input": {"path": str(folder / "in" / data)},
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [5, 20]}},
            "town": {"role": "quasi-identifier"},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": k}],
        "search": {"suppression_limit": 0.1},
        "output": {
            "path": str(folder / "out" / "release.csv"),
            "report": str(folder / "out" / "report.html"),
        },
    }


def run_job(folder: Path, k: int = 2) -> None:
    tarnkappe.run(Job.from_dict(content(folder, k)))


def tarn(
    folder: Path, k: int = 2, data: str = "data.csv", replace: bool = False, **options: object
) -> subprocess.Popen[str]:
    out = folder / "out"
    arguments = [
        "anonymize", "--input", folder / "in" / data, "--identifier", "name", "--qi", "age", "town",
        "--sensitive", "illness", "--k", k, "--suppression-limit", "0.1",
        "--out", out / "release.csv", "--report", out / "report.html", *(["--replace"] if replace else []),
    ]  # fmt: skip
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}
    return subprocess.Popen(
        [TARN, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,  # type: ignore[call-overload]
    )


def visible(folder: Path) -> set[str]:
    return {path.name for path in (folder / "out").iterdir() if not path.name.startswith(".")}


def belongs_together(folder: Path) -> str:
    """The promise of what stands in the folder; a mixture of two runs, or half a file, fails the test."""
    out, promises = folder / "out", set()
    if (out / "report.html").exists():
        page = (out / "report.html").read_text()
        assert page.rstrip().endswith("</html>")
        promises.add("k=2" if "k-anonymity(k=2)" in page else "k=5")
    if (out / "release.csv").exists():
        data = (out / "release.csv").read_bytes()
        assert data.endswith(b"\n")
        rows = tarnkappe.read(out / "release.csv").data
        assert rows.column_names == ["age", "town", "illness"]
        if (out / "release.csv.manifest.json").exists():
            manifest = json.loads((out / "release.csv.manifest.json").read_text())
            assert manifest["sha256"] == hashlib.sha256(data).hexdigest()
            assert manifest["released_rows"] == rows.num_rows
            promises.add(f"k={manifest['verified'][0]['k']}")
    assert len(promises) <= 1
    return next(iter(promises), "")


def no_raw_data(folder: Path) -> None:
    """What a dead run has left is in the folder of the output and names nobody."""
    for path in (folder / "out").rglob("*"):
        if path.is_file():
            assert b"SECRET" not in path.read_bytes(), path


# --- a crash at every step ------------------------------------------------------------------------


class PowerCut(BaseException):
    pass


@contextmanager
def power_cut(monkeypatch: pytest.MonkeyPatch, step: int) -> Iterator[list[str]]:
    """From the given step on nothing reaches the file system; the list tells the steps before."""
    steps: list[str] = []

    def cut(name: str, call: Callable[..., object]) -> Callable[..., object]:
        def maybe(*arguments: object, **options: object) -> object:
            if len(steps) >= step:
                raise PowerCut
            steps.append(name)
            return call(*arguments, **options)

        return maybe

    with monkeypatch.context() as patch:
        for name in ("replace", "rename", "unlink", "remove", "rmdir", "mkdir", "fsync"):
            patch.setattr(os, name, cut(name, getattr(os, name)))
        yield steps


def crash_at(steps: Iterable[int], folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[frozenset[str]]:
    """Let a run crash at each step over the outputs of an earlier one; how much of its own was there then."""
    seen, old, new = set(), 2, 5
    run_job(folder, old)
    for step in steps:
        with power_cut(monkeypatch, step), pytest.raises((PowerCut, OutputError)):
            run_job(folder, new)
        promise, names = belongs_together(folder), visible(folder)
        assert "release.csv" in names
        assert promise != f"k={old}" or names == set(NAMES) or "release.csv.manifest.json" not in names
        seen.add(frozenset(names) if promise == f"k={new}" else frozenset())
        no_raw_data(folder)
        run_job(folder, new)
        assert belongs_together(folder) == f"k={new}"
        assert {path.name for path in (folder / "out").iterdir()} == set(NAMES)
        old, new = new, old
    return seen


def count_steps(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    run_job(folder)
    with power_cut(monkeypatch, 10_000) as steps:
        run_job(folder)
    assert len(steps) > 20
    return len(steps)


def test_a_crash_as_the_outputs_appear_leaves_nothing_mixed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = count_steps(folder, monkeypatch)
    seen = crash_at(range(total - 24, total, 2), folder, monkeypatch)
    assert {frozenset(), frozenset(NAMES)} <= seen


@pytest.mark.slow
def test_a_crash_at_any_step_leaves_nothing_mixed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = crash_at(range(count_steps(folder, monkeypatch)), folder, monkeypatch)
    assert {frozenset(), frozenset(NAMES)} <= seen, seen
    assert all("release.csv.manifest.json" not in names for names in seen - {frozenset(NAMES)}), (
        "it is the last"
    )


# --- killed ---------------------------------------------------------------------------------------


def kill_at_random_moments(folder: Path, times: int, longest: float) -> int:
    chance, died = random.Random(3), 0
    for number in range(times):
        process = tarn(folder, k=(2, 5)[number % 2])
        time.sleep(chance.uniform(0, longest))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        died += process.returncode == -signal.SIGKILL
        names = visible(folder)
        assert names in (set(), set(NAMES)) or "release.csv.manifest.json" not in names
        belongs_together(folder)
        no_raw_data(folder)
    return died


def test_killed_it_leaves_nothing_half_written(folder: Path) -> None:
    assert kill_at_random_moments(folder, 3, 2.0) > 0


@pytest.mark.slow
def test_killed_at_many_moments_it_leaves_nothing_half_written(folder: Path) -> None:
    assert kill_at_random_moments(folder, 60, 4.0) > 10
    half = visible(folder) not in (set(), set(NAMES))  # a release without its manifest may be anybody's
    process = tarn(folder)
    _, said = process.communicate()
    assert process.returncode == (2 if half else 0), said
    if half:
        assert "nothing shows that tarn wrote it" in said
        assert tarn(folder, replace=True).wait() == 0
    assert {path.name for path in (folder / "out").iterdir()} == set(NAMES)


def test_told_to_terminate_it_cleans_up(folder: Path) -> None:
    process = tarn(folder)
    until = time.monotonic() + 60
    while not any((folder / "out").iterdir()) and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate()
    assert process.returncode in (0, 143)
    assert "Traceback" not in said
    assert visible(folder) in (set(), set(NAMES))
    assert [path for path in (folder / "out").glob(".*/*") if path.stat().st_size] == []


# --- no room --------------------------------------------------------------------------------------


def kernels_are_compiled(folder: Path) -> None:
    """They are cached in files, too."""
    run_job(folder)
    for name in NAMES:
        (folder / "out" / name).unlink()


def no_more_than(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [1_000, 9_000], ids=["not even the release", "the release, not the report"])
def test_without_room_for_everything_nothing_is_written(folder: Path, size: int) -> None:
    kernels_are_compiled(folder)
    process = tarn(folder, preexec_fn=no_more_than(size))
    printed, said = process.communicate()
    assert process.returncode == 2, said
    assert printed == ""
    assert len(lines_of(said)) == 1
    assert "the file cannot be written: File too large" in said
    assert list((folder / "out").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_full_disk_is_one_clear_line(folder: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tarn", folder / "out"], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        process = tarn(folder)
        _, said = process.communicate()
        assert process.returncode == 2, said
        assert len(lines_of(said)) == 1
        assert "the file cannot be written: No space left on device" in said
        assert list((folder / "out").iterdir()) == []
    finally:
        subprocess.run(["umount", folder / "out"], check=True)


# --- what cannot be read to the end ---------------------------------------------------------------


def damaged(folder: Path, suffix: str) -> None:
    """An input that is cut off in the middle."""
    table = tarnkappe.read(folder / "in" / "data.csv").data
    path = folder / "in" / f"data{suffix}"
    tarnkappe.write(pa.concat_tables([table] * 50), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet", ".arrow", ".xlsx", ".jsonl.gz"])
def test_an_input_that_is_cut_off_is_refused_by_name_and_gives_no_output(folder: Path, suffix: str) -> None:
    damaged(folder, suffix)
    with pytest.raises(InputError, match=f"data{suffix}") as refusal:
        tarnkappe.run(Job.from_dict(content(folder, data=f"data{suffix}")))
    assert "SECRET" not in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert list((folder / "out").iterdir()) == []


def test_a_cut_off_input_is_one_line_in_the_shell(folder: Path) -> None:
    damaged(folder, ".csv.gz")
    process = tarn(folder, data="data.csv.gz")
    printed, said = process.communicate()
    assert process.returncode == 2, said
    assert printed == ""
    assert len(lines_of(said)) == 1, said
    assert list((folder / "out").iterdir()) == []


def test_a_damaged_page_in_the_middle_of_a_file_is_refused(folder: Path) -> None:
    table = tarnkappe.read(folder / "in" / "data.csv").data
    path = folder / "in" / "data.parquet"
    tarnkappe.write(pa.concat_tables([table] * 50), path)
    whole = bytearray(path.read_bytes())
    whole[40 : len(whole) // 3] = bytes(len(whole) // 3 - 40)
    path.write_bytes(whole)
    with pytest.raises(InputError, match=r"data\.parquet"):
        tarnkappe.run(Job.from_dict(content(folder, data="data.parquet")))
    assert list((folder / "out").iterdir()) == []


def test_a_pipe_is_no_input(folder: Path) -> None:
    os.mkfifo(folder / "in" / "pipe.csv")
    with pytest.raises(InputError, match="not a regular file"):
        tarnkappe.run(Job.from_dict(content(folder, data="pipe.csv")))


def test_a_read_error_in_the_middle_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "in" / "data.csv.gz"
    path.write_bytes(gzip.compress((folder / "in" / "data.csv").read_bytes() * 2000))

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(gzip.GzipFile, "read", fail)
    with pytest.raises(
        tarnkappe.TarnkappeError, match=r"data.csv.gz: the file cannot be read: Input/output error"
    ):
        tarnkappe.run(Job.from_dict(content(folder, data="data.csv.gz")))
    assert list((folder / "out").iterdir()) == []


# --- two runs at once -----------------------------------------------------------------------------


def test_a_second_run_into_the_same_output_is_refused(folder: Path) -> None:
    refused = pytest.raises(OutputError, match=r"release.csv: another run is writing this file")
    with publication(Output(path=str(folder / "out" / "release.csv"))), refused:
        run_job(folder)
    run_job(folder)
    assert visible(folder) == set(NAMES)


def test_a_shared_report_is_claimed_too(folder: Path) -> None:
    with publication(Output(report=str(folder / "out" / "report.html"))), pytest.raises(OutputError):
        run_job(folder)
    assert visible(folder) == set()


def test_runs_at_the_same_time_do_not_mix(folder: Path) -> None:
    processes = [tarn(folder, k) for k in (2, 5, 2)]
    said = [process.communicate()[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert 0 in codes
    assert all(
        code == 0 or (code == 2 and "another run is writing" in words)
        for code, words in zip(codes, said, strict=True)
    ), said
    assert belongs_together(folder) in {"k=2", "k=5"}
    assert {path.name for path in (folder / "out").iterdir()} == set(NAMES)


# --- refused before any work ----------------------------------------------------------------------


def test_an_output_that_cannot_be_is_refused_before_the_input_is_read(folder: Path) -> None:
    asked = content(folder, data="none.csv")
    for output, words in (
        ({"path": str(folder / "none" / "release.csv")}, "does not exist"),
        ({"path": str(folder / "out")}, "this is a folder"),
    ):
        with pytest.raises(ParameterError, match=words):
            tarnkappe.run(Job.from_dict(asked | {"output": output}))
    same = {"path": str(folder / "out" / "a.csv"), "report": str(folder / "out" / "a.csv")}
    with pytest.raises(ParameterError, match="each output is a file of its own"):
        tarnkappe.run(Job.from_dict(asked | {"output": same}))


def test_what_a_dead_run_left_is_removed_by_the_next_file_beside_it(folder: Path) -> None:
    abandoned = folder / "out" / f"{PREFIX}abandoned"
    abandoned.mkdir()
    (abandoned / f"{PREFIX}lock").touch()
    (abandoned / "half.csv").write_text("half")
    tarnkappe.write(pa.table({"a": [1]}), folder / "out" / "other.csv")
    assert {path.name for path in (folder / "out").iterdir()} == {"other.csv"}


def test_what_a_living_run_is_making_is_left_alone(folder: Path) -> None:
    with publication(Output(path=str(folder / "out" / "release.csv"))) as made:
        assert made.release is not None
        made.release.write_text("half")
        tarnkappe.write(pa.table({"a": [1]}), folder / "out" / "other.csv")
        assert made.release.read_text() == "half"
