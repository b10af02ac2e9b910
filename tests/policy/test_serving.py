"""A policy behind a port: who logs in is who asks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tarnkappe.gate.server.settings import Settings
from tarnkappe.gate.server.users import Users
from tarnkappe.policy.policy_file import AccessPolicy
from tarnkappe.policy.server import PolicyService
from tests.policy.clinic import write

PASSWORD = "correct horse battery"


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """A service in a thread of its own; the port."""
    users = Users(folder / "users.toml")
    for name in ("ann", "eve"):
        users.put(name, PASSWORD)
    settings = Settings(port=0, users=str(users.path), failure_seconds=0.05)
    service = PolicyService(AccessPolicy.load(write(folder)), settings)
    loop = asyncio.new_event_loop()
    stop, ready = asyncio.Event(), threading.Event()

    async def serve() -> None:
        listening = asyncio.Event()
        task = asyncio.ensure_future(service.run(stop, listening))
        await listening.wait()
        ready.set()
        await task

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait(60)
    try:
        yield service.port
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)
        loop.close()


def test_a_client_of_postgresql_is_answered_by_the_policy(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        address = f"host=127.0.0.1 port={port} dbname=clinic password='{PASSWORD}'"
        with psycopg.connect(f"{address} user=ann") as client:
            rows = client.execute("SELECT plz, upper(sex) AS s, cost * 2 AS c FROM patients").fetchall()
            assert len(rows) == 12
            assert all(plz.endswith("*") for plz, _, _ in rows)
            assert sorted({c for _, _, c in rows}) == [19, 40, 200]
            counted = client.execute("SELECT noisy_count(epsilon => 1) AS n FROM patients").fetchone()
            assert counted is not None
            assert isinstance(counted[0], int)
            with pytest.raises(
                psycopg.errors.InsufficientPrivilege, match="'name' of patients is an identifier"
            ):
                client.execute("SELECT name FROM patients")
            with pytest.raises(psycopg.errors.InFailedSqlTransaction):
                client.execute("SELECT plz FROM patients")
            client.rollback()
            assert client.execute("SELECT count(*) AS n FROM icd").fetchone() == (3,)
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(f"{address} user=eve")
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(f"host=127.0.0.1 port={port} dbname=clinic password=wrong user=ann")
