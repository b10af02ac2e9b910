"""New keys for a vault: after somebody has left, or a key may have been seen by others."""

from __future__ import annotations

import json

import sqlalchemy as sa

from tarnkappe.errors import AccessError
from tarnkappe.pseudonym.sealing import POINT_BYTES, KeyPair, open_agreed
from tarnkappe.pseudonym.vault.registrar import TAMPERED, identity_place, mark, sealed_identity
from tarnkappe.pseudonym.vault.tables import IDENTITIES, MEMBERS, PSEUDONYMS, REQUESTS, VAULTS, Role
from tarnkappe.pseudonym.vault.vault import Shares, Vault, add_member
from tarnkappe.pseudonym.vault.voucher import VOUCHER_KEY_BYTES, is_vouched, vouch_identity, vouch_merge
from tarnkappe.state import Key
from tarnkappe.table.encoding import Progress


def rotate(
    vault: Vault,
    requester: tuple[str, Key],
    approver: tuple[str, Key],
    progress: Progress | None = None,
) -> int:
    """Seal everything anew, for the members of today; what anybody had before opens nothing any more.

    Both halves are needed, so two people do it together. All pseudonyms stay; requests that were approved
    have to be made again. It happens in one transaction: wholly, or not at all.

    Returns:
        How many identities were sealed anew.
    """
    requesters = KeyPair(vault.share(*requester, Role.REQUESTER))
    share = vault.share(*approver, Role.APPROVER)
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
                raise AccessError(f"vault '{vault.project}': {TAMPERED}")
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
        members = vault.members(connection)
        connection.execute(sa.delete(MEMBERS).where(MEMBERS.c.project == vault.project))
        for member in members.values():
            add_member(connection, vault.project, member, fresh.of(member.role))
        connection.execute(sa.update(REQUESTS).where(REQUESTS.c.project == vault.project).values(opened=None))
        connection.execute(
            sa.update(VAULTS)
            .where(VAULTS.c.project == vault.project)
            .values(public=fresh.public, generation=record.generation + 1)
        )
    return len(rows)


def _vouch_merges_anew(connection: sa.Connection, vault: Vault, old: bytes, new: bytes) -> None:
    ours = PSEUDONYMS.c.project == vault.project
    merged = sa.select(PSEUDONYMS).where(ours, PSEUDONYMS.c.replaced_by.is_not(None))
    for row in connection.execute(merged).all():
        claim = (vault.project, row.pseudonym, row.replaced_by)
        if not is_vouched(vouch_merge(old, *claim), row.voucher):
            raise AccessError(f"vault '{vault.project}': {TAMPERED}")
        change = sa.update(PSEUDONYMS).where(ours, PSEUDONYMS.c.pseudonym == row.pseudonym)
        connection.execute(change.values(voucher=vouch_merge(new, *claim)))
