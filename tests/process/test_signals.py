"""Signals that come where Python drops every error."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tarnkappe.process.signals import UNSAFE

PROGRAM = """
import ctypes, signal, sys, time
from tarnkappe.process.signals import take_over
take_over()
callback = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(int(sys.argv[1])))
callback()
time.sleep(60)
"""
UNSAFE_PLACE = """
import signal, sys, time
from tarnkappe.process.signals import take_over
take_over()
place = "signal.raise_signal(int(sys.argv[1]))\\nfor _ in range(1000): pass\\nprint('over', flush=True)"
exec(compile(place, sys.argv[2], "exec"))
time.sleep(60)
"""
BROKEN = """
from tarnkappe.process.signals import take_over
take_over()
class Broken:
    def __del__(self): raise ValueError("as ever")
Broken()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143)])
def test_a_signal_in_a_callback_of_a_library_still_stops(number: int, code: int) -> None:
    run = [sys.executable, "-c", PROGRAM, str(int(number))]
    done = subprocess.run(run, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == code
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("place", UNSAFE)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143)])
def test_a_signal_waits_until_an_unsafe_place_is_left(number: int, code: int, place: str) -> None:
    run = [sys.executable, "-c", UNSAFE_PLACE, str(int(number)), f"/libraries/{place}/file.py"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == code
    assert done.stdout == "over\n"


@pytest.mark.slow
def test_no_moment_of_a_command_makes_an_interruption_a_crash(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("age,zip,ill\n" + "".join(f"{i % 70},{i % 311},{i % 5}\n" for i in range(3000)))
    run = [Path(sys.executable).with_name("tarn"), "check", str(data), "--qi", "age", "zip", "--k", "2"]
    ends = set()
    for moment in range(150):
        process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(0.4 + moment / 100)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        assert process.returncode in (0, 1, 130, -signal.SIGINT), said
        ends.add(process.returncode)
    assert ends >= {1, 130}  # it was both interrupted and let go


def test_other_dropped_errors_are_still_told() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BROKEN], capture_output=True, text=True, timeout=50, check=True
    )
    assert "ValueError: as ever" in done.stderr
