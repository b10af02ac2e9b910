"""Real gates for tests: a protected table in DuckDB, Parquet or PostgreSQL, and a service in front of it."""

from __future__ import annotations

import asyncio
import dataclasses
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from tarnkappe.gate.monitor import QueryMonitor
from tarnkappe.gate.noisy_figures import NoisyFigures
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.server.service import GateServer
from tarnkappe.gate.server.settings import Settings
from tarnkappe.gate.server.users import Users
from tarnkappe.gate.sql.view import TableView
from tarnkappe.state import Store

PASSWORD = "correct horse battery"
USERS = ("ann", "bob")
DISEASES = ("angina", "asthma", "cold", "diabetes", "flu", "gout")
COLUMNS = ("id", "age", "zip", "sex", "disease")


def people(count: int, seed: int = 1) -> list[tuple[Any, ...]]:
    chance = random.Random(seed)
    return [
        (
            f"person-{number}",
            chance.randint(18, 90),
            chance.choice(["10104", "10155", "21410", "21421"]),
            chance.choice("fm"),
            chance.choice(DISEASES),
        )
        for number in range(count)
    ]


def put(rows: list[tuple[Any, ...]], place: str, folder: Path) -> str:
    """Write the table to a place, and return how a policy names it."""
    if place.startswith("postgresql"):
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS patients")
            connection.execute(
                "CREATE TABLE patients (id text PRIMARY KEY, age int, zip text, sex text, disease text)"
            )
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO patients VALUES (%s, %s, %s, %s, %s)", rows)
        return place
    if place == "duckdb":
        with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
            connection.execute("CREATE TABLE patients (id text, age int, zip text, sex text, disease text)")
            connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?)", rows)
        return f"duckdb:///{folder / 'clinic.duckdb'}"
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns), folder / "patients.parquet")
    return str(folder / "patients.parquet")


def policy(source: str, folder: Path, **changes: Any) -> GatePolicy:
    content: dict[str, Any] = {
        "table": {
            "source": source,
            "name": "patients",
            "key": "id",
            "quasi_identifiers": ["age", "zip", "sex"],
            "refresh": 0,
        },
        "sensitive": {"disease": {"values": list(DISEASES)}},
        "protection": {"k": 3},
    }
    return dataclasses.replace(GatePolicy.from_dict(content, folder), **changes)


@dataclasses.dataclass
class Running:
    """A service that runs in this process."""

    service: GateServer
    keeper: QueryMonitor
    port: int

    def url(self, user: str = "ann", password: str = PASSWORD) -> str:
        quoted = password.replace(" ", "%20")
        return f"postgresql://{user}:{quoted}@127.0.0.1:{self.port}/tarnkappe"

    def connect(self, **options: Any) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url(), autocommit=True, **options)


@contextmanager
def running(policy: GatePolicy, folder: Path, **settings: Any) -> Iterator[Running]:
    """A service in a thread of its own, until the block ends."""
    users = Users(folder / "users.toml")
    if not users.path.exists():
        for name in USERS:
            users.put(name, PASSWORD)
    keeper = QueryMonitor.open(policy)
    chosen = Settings(
        **{
            "port": 0,
            "post_processing": False,
            "users": str(users.path),
            "deadline": 0.02,
            "failure_seconds": 0.05,
            **settings,
        }
    )
    noisy = None
    if chosen.aggregates == "noisy":
        store = Store.open(policy.store)
        noisy = NoisyFigures(policy, keeper.source, store, chosen.epsilon, chosen.budget, chosen.bounds)
    view = TableView.of(
        policy,
        keeper.source.types,
        estimates=chosen.aggregates == "estimate",
        post_processing=chosen.computes,
    )
    service = GateServer(keeper, view, policy, chosen, noisy)
    loop = asyncio.new_event_loop()
    stop, ready = asyncio.Event(), threading.Event()

    async def serve() -> None:
        listening = asyncio.Event()
        task = asyncio.ensure_future(service.run(stop, listening))
        await listening.wait()
        ready.set()
        await task

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield Running(service, keeper, service.port)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        assert not thread.is_alive()
        loop.close()
        keeper.close()
