"""What a vault keeps in the store: nothing that can be read without the keys of people."""

from __future__ import annotations

from enum import StrEnum

import sqlalchemy as sa

from tarnkappe.errors import ParameterError
from tarnkappe.state.component import Component


class VaultRole(StrEnum):
    """What somebody may do in a vault; nobody has two roles."""

    REGISTRAR = "registrar"
    """Gives people pseudonyms; cannot read who is in the vault."""
    REQUESTER = "requester"
    """Asks who is behind a pseudonym, and is shown it if an approver agrees."""
    APPROVER = "approver"
    """Agrees that a requester is shown who is behind a pseudonym; cannot see it himself."""


class ReidentificationReason(StrEnum):
    """Why somebody must be identified again. Words of one's own could hold the name that is kept secret."""

    FEEDBACK = "feedback"
    """A finding is to be told to the person, by the treating physician."""
    RECRUITING = "recruiting"
    """The person may take part in a study."""
    CONSENT = "consent"
    """The person is asked for consent to a further study."""
    CORRECTION = "correction"
    """Wrong data or a wrong diagnosis are to be cleared up."""

    @classmethod
    def parse(cls, text: str) -> ReidentificationReason:
        """The reason with this name."""
        try:
            return cls(text)
        except ValueError:
            raise ParameterError(
                "pseudonym.unknown-reason-use", "unknown reason: use one of {what}", what=", ".join(cls)
            ) from None


METADATA = sa.MetaData()
VAULT = Component("vault", METADATA, ("tarnkappe.pseudonym.vault.steps:to_signed_members",))
VAULTS = sa.Table(
    "vaults",
    METADATA,
    sa.Column("project", sa.String, primary_key=True),
    sa.Column("fields", sa.Text, nullable=False),
    sa.Column("public", sa.LargeBinary, nullable=False),
    sa.Column("generation", sa.Integer, nullable=False),
)
MEMBERS = sa.Table(
    "vault_members",
    METADATA,
    sa.Column("project", sa.String, primary_key=True),
    sa.Column("person", sa.String, primary_key=True),
    sa.Column("role", sa.String, nullable=False),
    sa.Column("public", sa.LargeBinary, nullable=False),
    sa.Column("share", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("project", "public"),
)
PSEUDONYMS = sa.Table(
    "vault_pseudonyms",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("project", sa.String, nullable=False),
    sa.Column("pseudonym", sa.String, nullable=False),
    sa.Column("replaced_by", sa.String, index=True),
    sa.Column("voucher", sa.LargeBinary),
    sa.UniqueConstraint("project", "pseudonym"),
)
IDENTITIES = sa.Table(
    "vault_identities",
    METADATA,
    sa.Column("project", sa.String, primary_key=True),
    sa.Column("mark", sa.LargeBinary, primary_key=True),
    sa.Column("pseudonym", sa.String, nullable=False, index=True),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
    sa.Column("voucher", sa.LargeBinary, nullable=False),
)
REQUESTS = sa.Table(
    "vault_requests",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("project", sa.String, nullable=False),
    sa.Column("pseudonyms", sa.Text, nullable=False),
    sa.Column("reason", sa.String, nullable=False),
    sa.Column("requester", sa.String, nullable=False),
    sa.Column("expires", sa.String, nullable=False),
    sa.Column("approver", sa.String),
    sa.Column("refused", sa.Boolean, nullable=False, default=False),
    sa.Column("opened", sa.LargeBinary),
)
ROOTS = sa.Table(
    "vault_roots",
    METADATA,
    sa.Column("project", sa.String, primary_key=True),
    sa.Column("generation", sa.Integer, primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("requester_signature", sa.String),
    sa.Column("approver_signature", sa.String),
)
PROOFS = sa.Table(
    "vault_member_proofs",
    METADATA,
    sa.Column("project", sa.String, primary_key=True),
    sa.Column("person", sa.String, primary_key=True),
    sa.Column("signature", sa.String, nullable=False),
)
