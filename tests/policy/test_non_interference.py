"""Data that agree in what somebody may see give the same answers, errors and verdicts, whatever else they hold."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from tarnkappe.errors import TarnkappeError
from tarnkappe.policy.enforcer import Enforcer
from tarnkappe.policy.policy_file import AccessPolicy
from tests.attackers.sql.policy_stages import TABLES
from tests.attackers.sql.write_queries import BY_HAND, statement_of
from tests.policy.clinic import write

STATEMENTS = 40
CHANCE = ("noisy_", "slice(", "LIMIT", "first_value", "string_agg")
"""What draws at random, or depends on the order of rows, which is a new one for every answer."""


def told(enforcer: Enforcer, query: str) -> str:
    try:
        found = enforcer.ask("ann", query, by="test").table
    except TarnkappeError as error:
        return f"{type(error).__name__}: {error}"
    return str((found.schema, sorted(map(str, found.to_pylist()))))


def test_what_is_not_granted_changes_no_answer(tmp_path: Path) -> None:
    other = {name: dict(columns) for name, columns in TABLES.items()}
    patients, chance = other["patients"], random.Random(5)
    patients["name"] = [f"somebody{n}" for n in range(12)]
    patients["admitted"] = [f"2019-{1 + n:02}-28" for n in range(12)]
    patients["pid"] = [990_000 + n for n in range(12)]
    other["visits"] = {
        "pid": [990_000 + n for n in range(12)],
        "ward": [chance.choice("AB") for _ in range(12)],
    }
    enforcers: list[Enforcer] = []
    for name, tables in (("one", TABLES), ("other", other)):
        folder = tmp_path / name
        folder.mkdir()
        path = write(folder, tables)
        if enforcers:  # the release is one that both may see
            shutil.copytree(tmp_path / "one" / "policy-state", folder / "policy-state")
        enforcers.append(Enforcer(AccessPolicy.load(path)))
    asked = random.Random(7)
    queries = [*BY_HAND, *(statement_of(asked) for _ in range(STATEMENTS))]
    compared = 0
    try:
        for query in queries:
            if any(word in query for word in CHANCE):
                continue
            first, second = (told(enforcer, query) for enforcer in enforcers)
            assert first == second, query
            compared += not first.startswith(("AccessError", "QueryError"))
    finally:
        for enforcer in enforcers:
            enforcer.close()
    assert compared > 5
