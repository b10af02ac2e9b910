"""The first run of the how-to works word by word."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import ROOT
from tests.federation.site_files import free_ports

PAGE = ROOT / "docs" / "how-to" / "federation.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HOSPITALS = ("ulm", "bonn", "kiel")


@pytest.mark.slow
def test_the_first_run_of_the_how_to_works_word_by_word(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## What a site can rely on")[0]
    for port, free in zip(range(7001, 7005), free_ports(4), strict=True):
        text = text.replace(str(port), str(free))
    with background(tmp_path) as start:
        for language, file, block in BLOCK.findall(text):
            if file:
                (tmp_path / file).write_text(block, encoding="utf-8")
            elif language == "console":
                for line in block.splitlines():
                    if line.startswith("$ "):
                        run(line[2:], tmp_path)
            elif language == "sh":
                for line in block.splitlines():
                    if line.startswith(("tarn party serve", "tarn federate")):
                        start(line)
                        continue
                    wait_for_a_contract(line, tmp_path)
                    run(line, tmp_path)
        proposer = start.processes[-1]
        assert proposer.wait(timeout=240) == 0, (tmp_path / "4.log").read_text()
    releases = [pq.read_table(path) for path in tmp_path.glob("releases-*/*/release.parquet")]
    assert len(releases) == len(HOSPITALS)
    for name in HOSPITALS:
        (path,) = tmp_path.glob(f"releases-{name}/*/result.json")
        result = json.loads(path.read_text(encoding="utf-8"))
        assert result["rows"] + result["suppressed"] == 24
        assert (path.parent / "contract.json").exists()
    logs = "".join(path.read_text() for path in tmp_path.glob("*.log"))
    assert "Traceback" not in logs
    assert "ended: the release is kept" in logs


class Background:
    """Commands that go on while others are given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []

    def __call__(self, command: str) -> None:
        log = (self.folder / f"{len(self.processes)}.log").open("wb")
        with log:
            self.processes.append(
                subprocess.Popen(
                    ["/bin/sh", "-c", f"exec {command}"],
                    cwd=self.folder,
                    env=environment(),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                )
            )
        if " serve " in command:
            waited(lambda: b"listens" in Path(log.name).read_bytes(), command)


@contextmanager
def background(folder: Path) -> Iterator[Background]:
    started = Background(folder)
    try:
        yield started
    finally:
        for process in started.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait()


def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "NO_COLOR": "1", "TERM": "dumb"}


def run(command: str, folder: Path) -> str:
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment(), capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def wait_for_a_contract(command: str, folder: Path) -> None:
    """People decide when a contract has come."""
    (site,) = set(re.findall(r"--config (\w+)\.toml", command))
    waited(lambda: (folder / f"releases-{site}" / "ledger.jsonl").exists(), command)


def waited(is_there: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 240
    while not is_there():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
