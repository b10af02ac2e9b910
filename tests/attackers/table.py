"""Writes `docs/explanation/promises.md`, the table of promises, attackers and tests: `make docs`."""

from __future__ import annotations

import os
from pathlib import Path

from tests.attackers import PARTS, PROMISES, TRIALS
from tests.attackers.attacker import Promise, Trial
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "explanation" / "promises.md"
TITLES = {
    "publish": "Published tables",
    "proof": "Certificates",
    "newcomer": "The first hour",
    "service": "Service and web application",
    "sql": "SQL",
    "gate": "Gate",
    "federation": "Federation",
    "exchange": "Exchange",
    "pseudonym": "Pseudonyms",
    "log": "Signed statements and the audit log",
}
INTRODUCTION = """\
# Who tries to break which promise

Every promise stands here with the attackers who are let loose on it in the tests (`tests/attackers`), with what each of them
knows, sees and does. They share no code with what they attack. Each of them is also tried where the promise is not made, and must win
there. A promise that is not in this table is none; what lies outside is told by [limits](limits.md). *Long* trials run in
`make test-all`, all others in `make test`, too.

This page is written by `make docs` from the registry of the attackers.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([INTRODUCTION, *map(_part, PARTS)])


def _part(part: str) -> str:
    promises = [promise for promise in PROMISES if promise.part == part]
    return "\n".join([f"## {TITLES[part]}\n", *map(_promise, promises)])


def _promise(promise: Promise) -> str:
    said = ", ".join(f"[{name}]({os.path.relpath(ROOT / name, PAGE.parent)})" for name in promise.said)
    trials = [t for part, t in TRIALS if part == promise.part and t.attacker.promise == promise.key]
    lines = [_line(trial) for trial in trials]
    head = "| attacker | knows | sees | does | is tried on |\n|---|---|---|---|---|"
    return f"### {promise.sentence}\n\nSaid in {said}.\n\n" + "\n".join([head, *lines]) + "\n"


def _line(trial: Trial) -> str:
    attacker = trial.attacker
    file = Path(*type(attacker).__module__.split(".")).with_suffix(".py")
    link = f"[{attacker.name}]({os.path.relpath(ROOT / file, PAGE.parent)})"
    stages = "; ".join(
        stage.name + " (long)" * stage.slow + " (must win)" * stage.unprotected for stage in trial.stages
    )
    cells = (link, attacker.knows, attacker.sees, attacker.does, stages)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
