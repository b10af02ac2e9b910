"""The steps of the audit log from version to version, with the tables as they were then."""

from __future__ import annotations

import sqlalchemy as sa

from tarnkappe.state.component import Upgrade, create_tables
from tarnkappe.state.log_tables import fence

THEN = sa.MetaData()
LOG = sa.Table(
    "log_entries",
    THEN,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String, nullable=False),
    sa.Column("event", sa.String, nullable=False),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("root", sa.String(64), nullable=False),
    sa.Column("seal", sa.String(81)),
)
FRONTIER = sa.Table(
    "log_frontier",
    THEN,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("roots", sa.Text, nullable=False),
    sa.Column("seal", sa.String(81)),
)


def to_tree(upgrade: Upgrade) -> None:
    """Version 2: the log goes on as a tree. The chain stays as it is, with its hashes and triggers."""
    create_tables(upgrade.connection, LOG, FRONTIER)
    fences = fence(LOG.name, "entries of the audit log are not changed")
    for statement in fences.get(upgrade.connection.dialect.name, ()):
        upgrade.connection.exec_driver_sql(statement)
