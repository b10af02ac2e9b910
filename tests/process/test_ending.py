"""A process that ends at once has said everything, cleared everything away, and ends with its own code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

START = "import atexit, os, sys, threading, time\nfrom tarnkappe.process.ending import ended_at_once\n"


def ended(work: str, **streams: int) -> subprocess.CompletedProcess[str]:
    """A process that does some work in the block, with an object that tells if it is taken apart."""
    kept = "class Kept:\n    def __del__(self):\n        os.write(1, b'taken apart')\nkept = Kept()\n"
    block = f"with ended_at_once():\n    {work}\n"
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    words = [sys.executable, "-c", START + kept + block]
    known = {**os.environ, "PYTHONUNBUFFERED": ""}  # what is printed may wait until the end
    return subprocess.run(words, text=True, check=False, env=known, **streams)


@pytest.mark.parametrize("code", [0, 1, 3, 130])
def test_it_ends_with_its_code_and_takes_nothing_apart(code: int) -> None:
    found = ended(f"sys.exit({code})")
    assert (found.returncode, found.stdout, found.stderr) == (code, "", "")


def test_all_that_was_printed_arrives() -> None:
    found = ended("sys.stdout.write('x' * 1_000_000); sys.stderr.write('y'); sys.exit(2)")
    assert (found.returncode, len(found.stdout), found.stderr) == (2, 1_000_000, "y")


def test_what_was_registered_for_the_end_is_done_and_threads_are_awaited() -> None:
    work = "atexit.register(print, 'cleared'); "
    work += "threading.Thread(target=lambda: (time.sleep(0.1), print('worked'))).start(); sys.exit(4)"
    found = ended(work)
    assert (found.returncode, found.stdout.split()) == (4, ["worked", "cleared"])


@pytest.mark.parametrize(
    ("work", "code"), [("pass", 0), ("raise ValueError('why')", 1), ("sys.exit('why')", 1), ("sys.exit()", 0)]
)
def test_any_other_end_is_that_of_python(work: str, code: int) -> None:
    found = ended(work)
    assert (found.returncode, found.stdout) == (code, "taken apart")
    assert ("why" in found.stderr) == ("why" in work)


def test_an_output_that_cannot_be_written_is_told_as_python_tells_it() -> None:
    with Path("/dev/full").open("w") as full:
        found = ended("print('lost'); sys.exit(0)", stdout=full.fileno())
    assert found.returncode == 120
    assert "No space left on device" in found.stderr
