"""The attacker who cuts the power: a vault is killed at every write, and at random moments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.pseudonym.crash_driver import PEOPLE, SPELLED

PERSONS = len(PEOPLE) + 1


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: a process that is killed loses nothing there that a disk keeps."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory, ignore_cleanup_errors=True) as made:
        yield Path(made)


def outcomes(folder: Path, mode: str, amount: int) -> list[dict]:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.pseudonym.crash_driver", folder, mode, str(amount)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def check(found: dict) -> None:
    assert found["lost"] == [], "a pseudonym that was handed out is another one now"
    assert found["doubled"] == 0
    assert found["pseudonyms"] == PERSONS, "somebody got two pseudonyms"
    assert found["distinct"] == len(PEOPLE)
    assert found["requests lost"] == []
    assert found["unlogged"] == [], "somebody was shown an identity, and the log does not know"
    assert found["shown"] == sorted([list(PEOPLE[0]), list(SPELLED)], key=str)
    assert found["chain"]
    assert found["traces"] == [], "what was left behind, journals included, holds a name"


def killed_at_points(folder: Path, step: int) -> list[dict]:
    found = outcomes(folder, "points", step)
    for outcome in found:
        check(outcome)
    assert all(outcome["killed"] for outcome in found)
    return found


def test_a_vault_that_is_killed_at_a_write_loses_and_doubles_nothing(folder: Path) -> None:
    found = killed_at_points(folder, step=17)
    assert len(found) >= 5
    assert {outcome["told"] for outcome in found} > {0}, "some die before, some after they were told"


@pytest.mark.slow
def test_a_vault_that_is_killed_at_every_single_write_loses_and_doubles_nothing(folder: Path) -> None:
    assert len(killed_at_points(folder, step=1)) > 100


def test_processes_that_register_the_same_people_at_once_agree_although_one_is_killed(folder: Path) -> None:
    [found] = outcomes(folder, "together", 4)
    killed, *others = found["told"]
    assert killed is None
    assert others[0] == others[1] == others[2]
    assert len(set(others[0])) == found["people"] == found["identities"]


@pytest.mark.parametrize("times", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_a_vault_that_is_killed_at_a_random_moment_loses_and_doubles_nothing(
    folder: Path, times: int
) -> None:
    found = outcomes(folder, "moments", times)
    for outcome in found:
        check(outcome)
    assert len(found) == times
    assert any(outcome["killed"] for outcome in found)
