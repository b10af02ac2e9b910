"""What an institution keeps of the logs of others, and of what others have seen of its own.

Every row is sealed: who can write to the database cannot forge one.
"""

from __future__ import annotations

import sqlalchemy as sa

from tarnkappe.state.component import Component

METADATA = sa.MetaData()
WITNESSES = Component("witnesses", METADATA)
HEADS = sa.Table(
    "exchange_heads",
    METADATA,
    sa.Column("institution", sa.String, primary_key=True),
    sa.Column("head", sa.Text, nullable=False),
    sa.Column("seal", sa.String(81), nullable=False),
)
"""The newest head of each other institution's log, as that institution has signed it."""
COSIGNED = sa.Table(
    "exchange_cosigned",
    METADATA,
    sa.Column("witness", sa.String, primary_key=True),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("seal", sa.String(81), nullable=False),
)
"""The newest head of the own log that each other institution has seen, with its signature."""
CONTRADICTIONS = sa.Table(
    "exchange_contradictions",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("institution", sa.String, nullable=False),
    sa.Column("known", sa.Text, nullable=False),
    sa.Column("shown", sa.Text, nullable=False),
    sa.Column("time", sa.String, nullable=False),
    sa.Column("accepted_by", sa.String),
    sa.Column("seal", sa.String(81), nullable=False),
)
"""Two signed documents that cannot both be true of one log: the evidence."""
