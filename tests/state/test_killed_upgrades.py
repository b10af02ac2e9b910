"""Whoever is killed while a store is brought to this version leaves the old one or the new one, whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.state.old_stores import COMPONENTS

WITH_STEPS = sorted(name for name, (_, component) in COMPONENTS.items() if component.migrations)


def killed(name: str, folder: Path, every: int, first: int = 1) -> int:
    """How many places there are at which it can be killed."""
    words = [sys.executable, "-m", "tests.state.killed_upgrade", name, str(folder), str(every), str(first)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("name", WITH_STEPS)
def test_a_kill_at_some_places_leaves_the_old_or_the_new_store(name: str, tmp_path: Path) -> None:
    assert killed(name, tmp_path, every=11, first=3) > 30


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COMPONENTS))
def test_a_kill_at_every_place_leaves_the_old_or_the_new_store(name: str, tmp_path: Path) -> None:
    assert killed(name, tmp_path, every=1) > 30
