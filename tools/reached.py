"""A plugin of pytest for `mutate.py`: which lines each test reaches, and its processor time."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

_recorder = coverage.Coverage(data_file=None, config_file=False, source=[os.environ["TARN_MUTANTS_OF"]])
_seconds: dict[str, float] = {}
_failed: set[str] = set()
_recorder.start()  # before the first import, whose lines belong to no test


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """All that happens for a test is its own: also the fixtures that it is the first to need."""
    _recorder.switch_context(item.nodeid)
    began = time.process_time()
    yield
    _seconds[item.nodeid] = time.process_time() - began
    _recorder.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Who fails without a mistake cannot tell of one; who is skipped says nothing."""
    if report.outcome != "passed":
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write down what was found."""
    _recorder.stop()
    data, here = _recorder.get_data(), Path.cwd()
    lines = {
        Path(file).relative_to(here).as_posix(): data.contexts_by_lineno(file)
        for file in sorted(data.measured_files())
    }
    seconds = {test: spent for test, spent in _seconds.items() if test not in _failed and "\n" not in test}
    found = {"lines": lines, "seconds": seconds, "failed": sorted(_failed)}
    Path(os.environ["TARN_MUTANTS"]).write_text(json.dumps(found), encoding="utf-8")
