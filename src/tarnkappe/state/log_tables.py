"""How the audit log is kept: its tables, and the statements that are its leaves and that are sealed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from tarnkappe.state.component import Component
from tarnkappe.state.merkle import Frontier
from tarnkappe.state.statement import MOST_NUMBER, Statement

METADATA = sa.MetaData()
AUDIT = Component("audit", METADATA, ("tarnkappe.state.steps:to_tree",))

LOG = sa.Table(
    "log_entries",
    METADATA,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String, nullable=False),
    sa.Column("event", sa.String, nullable=False),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("root", sa.String(64), nullable=False),
    sa.Column("seal", sa.String(81)),
)
FRONTIER = sa.Table(
    "log_frontier",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("roots", sa.Text, nullable=False),
    sa.Column("seal", sa.String(81)),
)
"""One row: what is needed to add the next entry."""
CHAIN = sa.Table(
    "audit_log",
    METADATA,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String, nullable=False),
    sa.Column("event", sa.String, nullable=False),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
"""The log of version 0.1.0; empty in newer stores, and never written to."""


def fence(table: str, said: str) -> dict[str, list[str]]:
    """Triggers that refuse changes of a table, by the database; a fence against accidents.

    Who owns the database can take them away.
    """
    return {
        "sqlite": [
            f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{said}'); END"
            for action in ("UPDATE", "DELETE")
        ],
        "postgresql": [
            f"CREATE OR REPLACE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{said}'; END $$",
            f"CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_refuse()",
        ],
    }


FENCES = {
    LOG.name: fence(LOG.name, "entries of the audit log are not changed"),
    CHAIN.name: fence(CHAIN.name, "the audit log is append-only"),
}


@sa.event.listens_for(LOG, "after_create")
@sa.event.listens_for(CHAIN, "after_create")
def _refuse_changes(table: sa.Table, connection: sa.Connection, **__: Any) -> None:
    for statement in FENCES[table.name].get(connection.dialect.name, ()):
        connection.exec_driver_sql(statement)


def entry_statement(number: int, time: str, event: str, details: Mapping[str, Any]) -> Statement:
    """An entry as the tree has it."""
    return Statement("log entry", {"number": number, "time": time, "event": event, "details": details})


def sealed_entry(entry: Statement, root: str) -> Statement:
    """What is sealed of an entry."""
    # With the root, a seal vouches for all entries before, too: entries of two copies of a log do not mix.
    return Statement("sealed log entry", {"entry": entry.digest, "root": root})


def frontier_statement(tree: Frontier) -> Statement:
    """What is sealed of the end of the tree."""
    return Statement("log frontier", {"size": tree.size, "roots": [each.hex() for each in tree.roots]})


def without_floats(value: Any) -> Any:
    """As a statement allows it: an event must not be lost because of a number in it."""
    if isinstance(value, Mapping):
        return {str(key): without_floats(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_floats(inner) for inner in value]
    if isinstance(value, str):
        return str(value).encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and -MOST_NUMBER < value < MOST_NUMBER:
        return int(value)
    return str(value)
