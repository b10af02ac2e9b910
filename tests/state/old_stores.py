"""Stores that version 0.1.0 has written (`stores/make.py`), unpacked, and as PostgreSQL has them."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy as sa

from tarnkappe.exchange.desk.tables import EXCHANGE
from tarnkappe.exchange.peer.tables import PEER
from tarnkappe.exchange.statistics.store import STATISTICS
from tarnkappe.gate.history_store import GATE
from tarnkappe.pseudonym.vault.tables import VAULT
from tarnkappe.service.tables import SERVICE
from tarnkappe.state import Component, HeadFile, Seals, Signer, Store, guard
from tarnkappe.state.budgets import BUDGETS_COMPONENT
from tarnkappe.state.log_tables import AUDIT
from tarnkappe.state.releases import RELEASES_COMPONENT
from tests.exchange.test_desk import OWN

STORES = Path(__file__).resolve().parent / "stores" / "0.1.0"
COMPONENTS: dict[str, tuple[str, Component]] = {
    "gate": ("tarnkappe.state", GATE),
    "budgets": ("budgets.db", BUDGETS_COMPONENT),
    "releases": ("releases.db", RELEASES_COMPONENT),
    "vault": ("vault.db", VAULT),
    "exchange": ("desk.db", EXCHANGE),
    "peer": ("outbox.db", PEER),
    "statistics": ("statistics.db", STATISTICS),
    "service": ("service.db", SERVICE),
}
ALL = (AUDIT, *(component for _, component in COMPONENTS.values()))

Rows = Mapping[str, list[tuple[Any, ...]]]


def unpacked(name: str, folder: Path) -> Path:
    """The folder of an old store, to be written to; the path of the store itself."""
    shutil.copytree(STORES / name, folder)
    for packed in folder.rglob("*.gz"):
        path = packed.with_suffix("")
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        path.chmod(0o600)
        packed.unlink()
    for key in folder.rglob("*.key"):
        key.chmod(0o600)
    return folder / COMPONENTS[name][0]


@contextmanager
def looking(place: str | Path) -> Iterator[sa.Connection]:
    """A connection that is not the store's."""
    url = f"sqlite:///{place}" if isinstance(place, Path) else place.replace("://", "+psycopg://")
    engine = sa.create_engine(url)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def rows_of(place: str | Path) -> Rows:
    """Everything that is in a store."""
    with looking(place) as connection:
        metadata = sa.MetaData()
        metadata.reflect(connection)
        return {
            table.name: sorted((tuple(row) for row in connection.execute(sa.select(table))), key=repr)
            for table in metadata.sorted_tables
        }


def into_postgres(path: Path, address: str) -> str:
    """The same store on a server, in the tables that version 0.1.0 makes there."""
    script = (STORES / "schema" / "postgresql.sql").read_text(encoding="utf-8").split(";\n")
    with looking(path) as old, psycopg.connect(address) as new:
        new.execute("DROP SCHEMA public CASCADE")
        new.execute("CREATE SCHEMA public")
        metadata = sa.MetaData()
        metadata.reflect(old)
        for statement in filter(str.strip, script):
            if "audit_log" in statement or any(_is_about(statement, name) for name in metadata.tables):
                new.execute(statement.encode())
        for table in metadata.sorted_tables:
            found = [dict(row._mapping) for row in old.execute(sa.select(table))]
            _insert(new, table.name, found)
        new.commit()
    return address


def _is_about(statement: str, table: str) -> bool:
    words = statement.split()
    return words[:3] == ["CREATE", "TABLE", table] or f" ON {table} " in statement


def _insert(new: psycopg.Connection[Any], table: str, rows: list[dict[str, Any]]) -> None:
    kinds = dict(
        new.execute(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s", [table]
        ).fetchall()
    )
    as_it_is: Callable[[Any], Any] = lambda value: value  # noqa: E731
    for row in rows:
        cells = {name: (bool if kinds[name] == "boolean" else as_it_is)(row[name]) for name in row}
        names = ", ".join(f'"{name}"' for name in cells)
        places = ", ".join(["%s"] * len(cells))
        new.execute(f'INSERT INTO "{table}" ({names}) VALUES ({places})'.encode(), list(cells.values()))
    for name in kinds:
        [sequence] = new.execute("SELECT pg_get_serial_sequence(%s, %s)", [f'"{table}"', name]).fetchone()
        if sequence is not None and rows:
            new.execute("SELECT setval(%s, %s)", [sequence, max(row[name] for row in rows)])


def guarded(path: Path) -> Store:
    """The store of a desk whose log is sealed, with a head file beside."""
    store = Store.open(path)
    guard(store, Seals(OWN), HeadFile(path.with_suffix(".head"), "B", Signer(OWN)))
    return store
