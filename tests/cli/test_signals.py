"""Signals that come where Python drops every error."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, signal, sys, time
from tarnkappe.cli.signals import take_over
take_over()
callback = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(int(sys.argv[1])))
callback()
time.sleep(60)
"""
BROKEN = """
from tarnkappe.cli.signals import take_over
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


def test_other_dropped_errors_are_still_told() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BROKEN], capture_output=True, text=True, timeout=50, check=True
    )
    assert "ValueError: as ever" in done.stderr
