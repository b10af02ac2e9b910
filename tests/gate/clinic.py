"""A small protected table, and keepers before it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from tarnkappe.gate.monitor import QueryMonitor
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import AnswerRows, GateQuery
from tarnkappe.gate.source import ProtectedTable
from tarnkappe.gate.surplus import Coins
from tarnkappe.state.key import Key
from tarnkappe.state.store import Store

RUNNING = [
    ("Alison", 20, "10140", "f", "Asthma", 2490),
    ("Ben", 21, "10140", "m", "Asthma", 2500),
    ("Clark", 21, "12555", "m", "Bronchitis", 2510),
    ("Debra", 22, "13410", "f", "Cholera", 2000),
    ("Elaine", 23, "25011", "f", "Bronchitis", 2200),
    ("Fiona", 24, "25011", "f", "Bronchitis", 9000),
    ("Gary", 25, "30125", "m", "Diabetes", 2000),
    ("Helen", 25, "30125", "f", "Cholera", 5000),
    ("Ian", 28, "42011", "m", "Asthma", 8000),
]
ALL = ("age", "zip", "sex", "disease")
DISEASES = ["Asthma", "Bronchitis", "Cholera", "Diabetes", "(missing)"]
PAYS = [2000, 2200, 2490, 2500, 2510, 5000, 8000, 9000]
"""What the columns may have, as anybody can know it."""


def write(path: Path, rows: Sequence[tuple[Any, ...]] = RUNNING) -> Path:
    """The table in a Parquet file."""
    with duckdb.connect() as connection:
        columns = "name VARCHAR, age INT, zip VARCHAR, sex VARCHAR, disease VARCHAR, pay INT"
        connection.execute(f"CREATE TABLE t ({columns})")
        for row in rows:
            connection.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", list(row))
        connection.execute(f"COPY t TO '{path}' (FORMAT PARQUET)")
    return path


def policy(folder: Path, *, source: str = "t.parquet", two: bool = False, **settings: Any) -> GatePolicy:
    """A policy for it; settings are keys of the section [protection], or whole sections."""
    sections = {
        name: settings.pop(name)
        for name in ("answer", "surplus", "search", "users", "state")
        if name in settings
    }
    content = {
        "table": {
            "source": source,
            "name": "t",
            "key": "name",
            "quasi_identifiers": ["age", "zip", "sex"],
            "refresh": 0,
        },
        "sensitive": {"disease": {"values": DISEASES}, **({"pay": {"values": PAYS}} if two else {})},
        "protection": {"k": 2, **settings},
        **sections,
    }
    return GatePolicy.from_dict(content, folder)


def keeper(policy: GatePolicy, *, seed: int | None = 1, store: Store | None = None) -> QueryMonitor:
    """A keeper whose random numbers are known, with its state in the policy's folder."""
    coins = None if seed is None else Coins(Random(seed))
    key = Key.load(policy.key_file, create=True)
    return QueryMonitor(policy, ProtectedTable.open(policy), store or Store.open(policy.store), key, coins)


def between(low: int, high: int, columns: tuple[str, ...] = ALL) -> GateQuery:
    """The people of some age."""
    return GateQuery(columns, '"age" BETWEEN ? AND ?', (low, high))


def cells(rows: object, column: str) -> list[Any]:
    """The cells of one column of an answer."""
    assert isinstance(rows, AnswerRows)
    place = rows.columns.index(column)
    return sorted((row[place] for row in rows.rows), key=str)
