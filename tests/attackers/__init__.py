"""The red team: one folder a part, one file an attacker, and a table of what each of them tries to break."""

from __future__ import annotations

import importlib

from tests.attackers.attacker import Promise, Trial, promises_of

PARTS = (
    "publish",
    "proof",
    "newcomer",
    "service",
    "sql",
    "gate",
    "federation",
    "exchange",
    "pseudonym",
    "log",
)
"""Each is a folder here with its `promises.toml`, its attackers, and `TRIALS` in its `__init__.py`."""

PROMISES: list[Promise] = [promise for part in PARTS for promise in promises_of(part)]
TRIALS: list[tuple[str, Trial]] = [
    (part, trial) for part in PARTS for trial in importlib.import_module(f"tests.attackers.{part}").TRIALS
]
