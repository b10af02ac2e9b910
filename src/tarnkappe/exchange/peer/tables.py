"""What an institution keeps of what it asks of others."""

from __future__ import annotations

import sqlalchemy as sa

from tarnkappe.state.component import Component

METADATA = sa.MetaData()
PEER = Component("peer", METADATA)
OUTBOX = sa.Table(
    "exchange_outbox",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("receiver", sa.String, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("answer", sa.Text),
    sa.Column("package", sa.LargeBinary),
)
PARTS = sa.Table(
    "exchange_parts",
    METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("begin", sa.BigInteger, primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
"""What has come so far of packages."""
WISHES = sa.Table(
    "exchange_wishes",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("receiver", sa.String, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("state", sa.String, nullable=False),
)
"""Wishes that somebody in a package be identified again."""
