"""A clinic under a policy, and the same tables without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from tarnkappe.errors import TarnkappeError
from tarnkappe.policy.enforcer import Enforcer
from tarnkappe.policy.policy_file import AccessPolicy
from tests.attackers.sql.write_queries import Port
from tests.policy.clinic import write

NAMES = (
    "Adler",
    "Bergmann",
    "Claasen",
    "Dornbusch",
    "Ehlers",
    "Falke",
    "Grube",
    "Hansen",
    "Ibsen",
    "Jahnke",
    "Krohn",
    "Lohse",
)
PIDS = tuple(7_340_001 + 17 * n for n in range(12))
PLZ = ("18055",) * 3 + ("18057",) * 2 + ("18059",) * 3 + ("18106",) * 3 + ("18107",)
DAYS = tuple(f"2024-{1 + n // 4:02}-{1 + n:02}" for n in range(12))
TABLES: dict[str, dict[str, list[Any]]] = {
    "patients": {
        "pid": list(PIDS),
        "name": list(NAMES),
        "plz": list(PLZ),
        "age": [34, 36, 35, 61, 62, 66, 23, 25, 27, 41, 45, 48],
        "sex": list("fmfmffmfmmff"),
        "diagnosis": ["flu", "flu", "hiv", "flu", "asthma", "flu", "hiv", "asthma", "flu", "asthma", "flu", "hiv"],
        "cost": [9.5, 20.0, 100.0] * 4,
        "admitted": list(DAYS),
    },
    "visits": {"pid": [PIDS[0]] * 5 + list(PIDS[1:]), "ward": list("AABAAAABBBAABABA")},
    "icd": {"code": ["flu", "hiv", "asthma"], "chapter": ["J", "B", "J"]},
}  # fmt: skip
SECRETS = (*NAMES, *map(str, PIDS), *sorted(set(PLZ)), *DAYS)


@contextmanager
def enforced(folder: Path, statements: int = 80) -> Iterator[Port]:
    with Enforcer(AccessPolicy.load(write(folder, TABLES))) as enforcer:

        def ask(query: str) -> str:
            try:
                answer = enforcer.ask("ann", query, by="test")
            except TarnkappeError as error:
                return f"error: {error}"
            return str(answer.table.to_pydict())

        shown = ask("SELECT * FROM patients")
        assert not any(plz in shown for plz in PLZ), "the release shows no whole postal code"
        yield Port(ask, SECRETS, statements, frozenset(PLZ))


@contextmanager
def enforced_for_long(folder: Path) -> Iterator[Port]:
    with enforced(folder, 10_000) as port:
        yield port


@contextmanager
def unenforced(folder: Path) -> Iterator[Port]:
    """The files, read by DuckDB itself."""
    write(folder, TABLES)
    with duckdb.connect() as connection:
        for name in TABLES:
            path = folder / f"{name}.csv"
            connection.execute(f"CREATE VIEW {name} AS FROM read_csv('{path}', all_varchar = true)")

        def ask(query: str) -> str:
            try:
                return str(connection.execute(query).fetchall())
            except duckdb.Error:
                return "error"

        yield Port(ask, SECRETS, 20)
