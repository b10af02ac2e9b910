"""The steps of the gate's store from version to version, with the tables as they were then."""

from __future__ import annotations

import sqlalchemy as sa

from tarnkappe.state.component import Upgrade, create_tables

THEN = sa.MetaData()
VERSIONS = sa.Table(
    "gate_versions",
    THEN,
    sa.Column("history", sa.String, primary_key=True),
    sa.Column("column", sa.String, primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("versions", sa.LargeBinary, nullable=False),
)
FOUNDERS = sa.Table(
    "gate_founders",
    THEN,
    sa.Column("column", sa.String, primary_key=True),
    sa.Column("founders", sa.LargeBinary, nullable=False),
)
ROSTER = sa.Table(
    "gate_roster",
    THEN,
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("came", sa.LargeBinary, nullable=False),
    sa.Column("went", sa.LargeBinary, nullable=False),
    sa.Column("answers", sa.Text, nullable=False),
)


def to_versions(upgrade: Upgrade) -> None:
    """Version 2: whose values changed, and who was there when a list was read from the table."""
    create_tables(upgrade.connection, VERSIONS, FOUNDERS)


def to_roster(upgrade: Upgrade) -> None:
    """Version 3: who came and went."""
    create_tables(upgrade.connection, ROSTER)
