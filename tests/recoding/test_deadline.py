"""How long methods go on: by the clock on the wall, or by their own work."""

from __future__ import annotations

import time

import pytest

from tarnkappe.recoding.deadline import Patience, by_processor_time


def test_what_else_the_machine_does_takes_nobodys_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with by_processor_time():
        own = Patience(5.0)
    by_the_wall = Patience(5.0)
    now = time.monotonic()
    monkeypatch.setattr("tarnkappe.recoding.deadline.time.monotonic", lambda: now + 1000.0)
    assert own.over == ""
    assert by_the_wall.over == "out of time"


def test_own_work_ends_it() -> None:
    with by_processor_time():
        own = Patience(0.01)
    while not own.over:
        sum(range(1000))
    assert own.over == "out of time"
