"""The steps of vaults from version to version, with the tables as they were then."""

from __future__ import annotations

import sqlalchemy as sa

from tarnkappe.state.component import Upgrade, create_tables

THEN = sa.MetaData()
ROOTS = sa.Table(
    "vault_roots",
    THEN,
    sa.Column("project", sa.String, primary_key=True),
    sa.Column("generation", sa.Integer, primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("requester_signature", sa.String),
    sa.Column("approver_signature", sa.String),
)
PROOFS = sa.Table(
    "vault_member_proofs",
    THEN,
    sa.Column("project", sa.String, primary_key=True),
    sa.Column("person", sa.String, primary_key=True),
    sa.Column("signature", sa.String, nullable=False),
)


def to_signed_members(upgrade: Upgrade) -> None:
    """Version 2: members are signed for.

    Only people can do that, with their keys: `tarn reidentify rotate --trust-members`.
    """
    create_tables(upgrade.connection, ROOTS, PROOFS)
