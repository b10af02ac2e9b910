"""Ctrl-C at every moment: the best solution so far, verified and marked, or nothing at all."""

from __future__ import annotations

import json
import os
import pty
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tarnkappe
from tarnkappe.cli import anonymize
from tarnkappe.process import signals
from tarnkappe.table.examples import shaped

TARN = Path(sys.executable).with_name("tarn")
NAMES = ("release.csv", "release.csv.certificate.json", "release.csv.manifest.json", "report.html")


class Run:
    """A running `tarn` whose terminal the test reads, as a user does."""

    def __init__(self, *arguments: str | Path, cwd: Path) -> None:
        terminal, its_end = pty.openpty()
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "200"}
        self.process = subprocess.Popen(
            [TARN, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=its_end,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
        os.close(its_end)
        self.seen = ""
        self._terminal = terminal
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._terminal, 4096)
            except OSError:  # the other end is closed
                return
            if not piece:
                return
            self.seen += piece.decode("utf-8", "replace")

    def wait_for(self, words: str) -> None:
        """Wait until the terminal shows something."""
        until = time.monotonic() + 120
        while words not in self.seen:
            assert self.process.poll() is None, f"it ended before it showed '{words}': {self.seen}"
            assert time.monotonic() < until, self.seen
            time.sleep(0.005)

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """The exit code and what was printed on standard output."""
        printed, _ = self.process.communicate(timeout=180)
        self._reader.join(10)
        os.close(self._terminal)
        return self.process.returncode, printed.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose exhaustive search takes a while."""
    place = tmp_path_factory.mktemp("interrupt")
    example = shaped("ADULT", rows=20_000)
    tarnkappe.write(example.table, place / "data.parquet")
    lines = ["[input]", 'path = "data.parquet"']
    for name, levels in example.hierarchies.items():
        hierarchy = tarnkappe.Hierarchy.from_rows(levels)
        tarnkappe.write_hierarchy(hierarchy, place / f"{name}.csv")
        lines += [f'[columns."{name}"]', 'role = "quasi-identifier"', f'hierarchy = "{name}.csv"']
    lines += ["[[privacy]]", 'model = "k-anonymity"', "k = 5", "[search]", 'loss = "discernibility"']
    lines += ["suppression_limit = 0.05", "[output]", 'path = "release.csv"', 'report = "report.html"']
    (place / "job.toml").write_text("\n".join(lines), encoding="utf-8")
    return place


@pytest.fixture
def job(folder: Path) -> Iterator[Path]:
    yield folder / "job.toml"
    for path in left(folder):
        path.unlink()


def left(folder: Path) -> list[Path]:
    """What a run has left in the folder."""
    own = {"data.parquet", "job.toml"} | {f"{name}.csv" for name in shaped("ADULT", rows=1).hierarchies}
    return [path for path in folder.iterdir() if path.name not in own]


def is_ours(code: int, run: Run) -> bool:
    """Whether the interruption came when Python had come as far as the command line."""
    while_python_starts = code in (-signal.SIGINT, 1) and "KeyboardInterrupt" in run.seen
    return not while_python_starts or "tarnkappe/cli/" in run.seen


def is_stopped(code: int, printed: str, run: Run, folder: Path) -> None:
    assert code == 130, run.seen
    assert printed == ""
    assert "Traceback" not in run.seen
    assert "stopped: nothing was written" in run.seen.splitlines()[-1]
    assert left(folder) == []


def test_ctrl_c_during_the_search_gives_the_best_so_far(job: Path) -> None:
    run = Run("anonymize", job, "--algorithm", "exhaustive", "--json", cwd=job.parent)
    run.wait_for("best so far: loss")
    run.interrupt()
    code, printed = run.end()
    assert code == 0, run.seen
    assert "Traceback" not in run.seen
    figures = json.loads(printed)
    assert not figures["optimal"]
    assert figures["stopped"] == "interrupted"
    assert figures["proof"].startswith("not proven optimal (interrupted)")
    assert 0 < figures["checked"] < figures["nodes"]
    assert all(found["holds"] for found in figures["verified"])
    manifest = json.loads((job.parent / "release.csv.manifest.json").read_text())
    assert manifest["stopped"] == "interrupted"
    assert "not proven optimal (interrupted)" in (job.parent / "report.html").read_text()
    assert sorted(path.name for path in left(job.parent)) == sorted(NAMES)
    released = tarnkappe.read(job.parent / "release.csv", delimiter=";")
    known = released.with_roles(quasi_identifiers=released.column_names)
    assert tarnkappe.check(known).k >= 5


def test_the_console_says_that_it_was_interrupted(job: Path) -> None:
    run = Run("anonymize", job, "--algorithm", "exhaustive", cwd=job.parent)
    run.wait_for("best so far: loss")
    run.interrupt()
    code, printed = run.end()
    assert code == 0, run.seen
    assert "not proven optimal (interrupted)" in printed


def test_a_second_ctrl_c_stops_everything(job: Path) -> None:
    run = Run("anonymize", job, "--algorithm", "exhaustive", cwd=job.parent)
    run.wait_for("best so far: loss")
    while run.process.poll() is None:
        run.interrupt()
        time.sleep(0.03)
    is_stopped(*run.end(), run, job.parent)


def test_what_a_library_makes_of_ctrl_c_is_ctrl_c(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB tells an interruption of a callback as an error of its own, without a cause."""
    nothing: Any = None

    def run(*_: object, **__: object) -> None:
        raise RuntimeError("reading failed: KeyboardInterrupt")

    monkeypatch.setattr(anonymize, "run", run)
    with pytest.raises(RuntimeError):
        anonymize.run_or_stop(nothing, None, nothing)
    monkeypatch.setattr(signals, "_stopping", {signal.SIGINT})
    with pytest.raises(signals.StoppedError):
        anonymize.run_or_stop(nothing, None, nothing)


def test_ctrl_c_before_anything_is_found_writes_nothing(job: Path) -> None:
    run = Run(
        "anonymize",
        job,
        "--algorithm",
        "exhaustive",
        "--suppression-limit",
        "0",
        "--k",
        "9000",
        cwd=job.parent,
    )
    run.wait_for("nothing found yet")
    run.interrupt()
    is_stopped(*run.end(), run, job.parent)


@pytest.mark.parametrize("seconds", [0.15, 0.4, 0.8])
def test_ctrl_c_while_it_starts_is_one_line(job: Path, seconds: float) -> None:
    run = Run("anonymize", job, "--algorithm", "exhaustive", cwd=job.parent)
    time.sleep(seconds)
    run.interrupt()
    code, _ = run.end()
    if is_ours(code, run):
        assert code in (0, 130), run.seen
        assert "Traceback" not in run.seen
    if code != 0:
        assert left(job.parent) == []


@pytest.mark.slow
def test_ctrl_c_at_random_moments_leaves_all_or_nothing(job: Path) -> None:
    chance = random.Random(7)
    ends = set()
    for _ in range(40):
        run = Run("anonymize", job, "--json", cwd=job.parent)
        time.sleep(chance.uniform(0, 4))
        run.interrupt()
        code, printed = run.end()
        ends.add(code)
        if is_ours(code, run):
            assert code in (0, 130), run.seen
            assert "Traceback" not in run.seen
        names = sorted(path.name for path in left(job.parent))
        assert names == (sorted(NAMES) if code == 0 else []), run.seen
        if code == 0:
            manifest = json.loads((job.parent / "release.csv.manifest.json").read_text())
            assert manifest["optimal"] == json.loads(printed)["optimal"]
        for path in left(job.parent):
            path.unlink()
    assert 130 in ends


def test_a_time_limit_gives_the_best_so_far(job: Path) -> None:
    for seconds in ("0.2", "0.6", "2"):  # on a busy machine the first test may come late
        limits = ("--seconds", seconds, "--suppression-limit", "1")  # with which every node will do
        run = Run("anonymize", job, "--algorithm", "exhaustive", *limits, "--json", cwd=job.parent)
        code, printed = run.end()
        if code == 0:
            break
    assert code == 0, run.seen
    figures = json.loads(printed)
    assert figures["stopped"] == "out of time"
    assert not figures["optimal"]


def test_a_time_limit_before_anything_is_found_says_so(job: Path) -> None:
    run = Run("anonymize", job, "--algorithm", "exhaustive", "--seconds", "0.01", cwd=job.parent)
    code, _ = run.end()
    assert code == 1
    assert "was found before the search ended (out of time" in run.seen
    assert left(job.parent) == []
