"""New keys for a vault: after somebody has left, or a key may have been seen by others."""

from __future__ import annotations

import dataclasses
import json

import sqlalchemy as sa

from tarnkappe.errors import AccessError
from tarnkappe.pseudonym.sealing import POINT_BYTES, KeyPair, open_agreed
from tarnkappe.pseudonym.vault.registrar import UNVOUCHED, identity_place, mark, sealed_identity
from tarnkappe.pseudonym.vault.tables import (
    IDENTITIES,
    MEMBERS,
    PROOFS,
    PSEUDONYMS,
    REQUESTS,
    VAULTS,
    VaultRole,
)
from tarnkappe.pseudonym.vault.trust import newest_root, write_root
from tarnkappe.pseudonym.vault.vault import KeyShare, Shares, Vault, VaultMember, add_member
from tarnkappe.pseudonym.vault.voucher import VOUCHER_KEY_BYTES, is_vouched, vouch_identity, vouch_merge
from tarnkappe.state import Key
from tarnkappe.table.encoding import Progress


def rotate(
    vault: Vault,
    requester: tuple[str, Key],
    approver: tuple[str, Key],
    progress: Progress | None = None,
    *,
    trust_members: bool = False,
) -> int:
    """Seal everything anew, for the members of today; what anybody had before opens nothing any more.

    Both halves are needed, so two people do it together. All pseudonyms stay; requests that were approved
    have to be made again. It happens in one transaction: wholly, or not at all.

    Args:
        vault: the vault.
        requester: one of its requesters, with the key.
        approver: one of its approvers, with the key.
        progress: is told how far it is.
        trust_members: whether a vault of an earlier version, whose members nobody has signed, is renewed for
            whoever stands in its list of members. Both people look at that list first.

    Returns:
        How many identities were sealed anew.
    """
    asking, agreeing = _shares(vault, requester, approver, trust_members)
    requesters, share = KeyPair(asking.secret), agreeing.secret
    vouchers, approvers = share[:VOUCHER_KEY_BYTES], KeyPair(share[VOUCHER_KEY_BYTES:])
    fresh = Shares.new()
    ours = IDENTITIES.c.project == vault.project
    with vault.store.writing() as connection:
        record = vault.record(connection)
        rows = connection.execute(sa.select(IDENTITIES).where(ours)).all()
        vault.log("vault keys changed", requester[0], {"with": approver[0], "sealed": len(rows)}, connection)
        connection.execute(sa.delete(IDENTITIES).where(ours))
        sealed = []
        for place, row in enumerate(rows, start=1):
            if not is_vouched(
                vouch_identity(vouchers, vault.project, row.pseudonym, row.sealed), row.voucher
            ):
                raise AccessError(
                    "pseudonym.project-unvouched-vault",
                    "vault '{project}': {unvouched}",
                    project=vault.project,
                    unvouched=UNVOUCHED,
                )
            agreed = approvers.agree(requesters.agree(row.sealed[:POINT_BYTES]))
            content = open_agreed(
                agreed, record.public, row.sealed, identity_place(vault.project, row.pseudonym)
            )
            person = tuple(json.loads(content))
            kept = sealed_identity(fresh.public, fresh.vouchers, vault.project, row.pseudonym, person)
            sealed.append({"mark": mark(fresh.marks, person), **kept})
            if progress and place % 1000 == 0:
                progress("sealing anew", place, len(rows))
        if sealed:
            connection.execute(sa.insert(IDENTITIES), sealed)
        _vouch_merges_anew(connection, vault, vouchers, fresh.vouchers)
        _appoint_anew(connection, vault, fresh, record.generation, asking, agreeing)
        connection.execute(sa.update(REQUESTS).where(REQUESTS.c.project == vault.project).values(opened=None))
        connection.execute(
            sa.update(VAULTS)
            .where(VAULTS.c.project == vault.project)
            .values(public=fresh.public, generation=record.generation + 1)
        )
    return len(rows)


def _shares(
    vault: Vault, requester: tuple[str, Key], approver: tuple[str, Key], trust_members: bool
) -> tuple[KeyShare | _UnsignedShare, KeyShare | _UnsignedShare]:
    with vault.store.reading() as connection:
        is_signed = newest_root(connection, vault.project, None) is not None
    if is_signed or not trust_members:
        return vault.share(*requester, VaultRole.REQUESTER), vault.share(*approver, VaultRole.APPROVER)
    return (
        _UnsignedShare(vault.sealed_share(*requester, VaultRole.REQUESTER)),
        _UnsignedShare(vault.sealed_share(*approver, VaultRole.APPROVER)),
    )


@dataclasses.dataclass(frozen=True, repr=False)
class _UnsignedShare:
    """What a member of a vault of an earlier version has."""

    secret: bytes


def _appoint_anew(
    connection: sa.Connection,
    vault: Vault,
    fresh: Shares,
    generation: int,
    asking: KeyShare | _UnsignedShare,
    agreeing: KeyShare | _UnsignedShare,
) -> None:
    """A new root, signed by both who change the keys, and the members with what they have from now on."""
    members: dict[str, VaultMember]
    if isinstance(asking, KeyShare) and isinstance(agreeing, KeyShare):
        if asking.root != agreeing.root:
            raise AccessError(
                "pseudonym.vault-keys-changed-open",
                "vault '{project}': its keys were changed: open it again",
                project=vault.project,
            )
        members = vault.proven_members(connection, asking.root)
        root = fresh.root(vault.project, generation + 1, vault.fields, asking.root.fingerprint)
        signers = {VaultRole.REQUESTER: asking.signer, VaultRole.APPROVER: agreeing.signer}
        write_root(connection, root, signers)
    else:
        members = vault.members(connection)
        root = fresh.root(vault.project, generation + 1, vault.fields, None)
        write_root(connection, root, {})
    for table in (MEMBERS, PROOFS):
        connection.execute(sa.delete(table).where(table.c.project == vault.project))
    for member in members.values():
        add_member(connection, root, member, fresh.of(member.role))


def _vouch_merges_anew(connection: sa.Connection, vault: Vault, old: bytes, new: bytes) -> None:
    ours = PSEUDONYMS.c.project == vault.project
    merged = sa.select(PSEUDONYMS).where(ours, PSEUDONYMS.c.replaced_by.is_not(None))
    for row in connection.execute(merged).all():
        claim = (vault.project, row.pseudonym, row.replaced_by)
        if not is_vouched(vouch_merge(old, *claim), row.voucher):
            raise AccessError(
                "pseudonym.project-unvouched-vault",
                "vault '{project}': {unvouched}",
                project=vault.project,
                unvouched=UNVOUCHED,
            )
        change = sa.update(PSEUDONYMS).where(ours, PSEUDONYMS.c.pseudonym == row.pseudonym)
        connection.execute(change.values(voucher=vouch_merge(new, *claim)))
