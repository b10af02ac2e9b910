"""Services and processes of federations that end with their test."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tarnkappe.federation.contract import Partitioning, Protocol
from tests.federation.federations import example
from tests.federation.sites import Sites


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[Callable[..., Sites]]:
    made: list[Sites] = []

    def make(protocol: Protocol, distribution: Partitioning, **options: float) -> Sites:
        made.append(Sites(tmp_path / f"{len(made)}", example(protocol, distribution), **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
