"""Why a member may believe what the file of a vault says, although somebody else may have written to it.

Sealing keeps secrets, but everybody can seal: who can write to the file could give a registrar keys of his
own and read all that comes, or put himself among the members and wait until the keys are changed. So each
role has a signing key, which is part of what its members have:

- The *root* of a generation names the public keys of the vault and of its roles. The root of the next
  generation is signed with the keys of the requesters and of the approvers before it.
- A *member* is signed by the role that took him in.
- What a member has must fit the root, and the root must follow from the one that this member saw last. That
  one is kept beside his key (`KEY.vaults`), where who writes to the vault does not come. The first time there
  is nothing to compare with: then a person compares the fingerprint with the one that was shown when the
  vault was made.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, InputError, OutputError, Reason
from tarnkappe.pseudonym.vault.tables import PROOFS, ROOTS, VaultRole
from tarnkappe.state.key import Key
from tarnkappe.state.statement import Signer, Statement, require_signature

TAMPERED = Reason(
    "pseudonym.what-stands-not-written", "what stands in it was not written by a member: it was tampered with"
)
SIGNING_ROLES = (VaultRole.REQUESTER, VaultRole.APPROVER)
"""Whose signatures, both of them, make the next root."""


@dataclasses.dataclass(frozen=True)
class Root:
    """The public keys of a generation of a vault."""

    project: str
    generation: int
    fields: tuple[str, ...]
    public: bytes
    roles: Mapping[VaultRole, str]
    before: str | None
    """The fingerprint of the root before this one; None for the first."""

    @property
    def statement(self) -> Statement:
        """What is signed, and what the fingerprint is made of."""
        content = {
            "project": self.project,
            "generation": self.generation,
            "fields": list(self.fields),
            "public": self.public.hex(),
            "roles": {str(role): public for role, public in self.roles.items()},
            "before": self.before,
        }
        return Statement("vault keys", content)

    @property
    def fingerprint(self) -> str:
        """Stands for the whole root."""
        return self.statement.digest

    def follows(self, before: Root, signatures: Mapping[VaultRole, object]) -> None:
        """Refuse a root that the requesters and approvers of the one before have not both signed."""
        if self.before != before.fingerprint or self.generation != before.generation + 1:
            raise AccessError.because(TAMPERED)
        for role in SIGNING_ROLES:
            require_signature(before.roles[role], self.statement, signatures[role])


def write_root(connection: sa.Connection, root: Root, signers: Mapping[VaultRole, Signer]) -> None:
    """Keep a root with the signatures of the roles before it; of the first there are none."""
    signed = {role: signers[role].sign(root.statement) for role in SIGNING_ROLES if role in signers}
    connection.execute(
        sa.insert(ROOTS).values(
            project=root.project,
            generation=root.generation,
            content=json.dumps(dict(root.statement.content)),
            requester_signature=signed.get(VaultRole.REQUESTER),
            approver_signature=signed.get(VaultRole.APPROVER),
        )
    )


def newest_root(connection: sa.Connection, project: str, seen: tuple[int, str] | None) -> Root | None:
    """The root of today, which must follow from the generation and fingerprint that were seen before.

    None if the vault has none: an earlier version has made it.
    """
    rows = connection.execute(
        sa.select(ROOTS).where(ROOTS.c.project == project).order_by(ROOTS.c.generation)
    ).all()
    try:
        roots = [(_root(json.loads(row.content)), row) for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise AccessError.because(TAMPERED) from None
    if seen is None and not roots:
        return None
    start = seen[0] if seen is not None else roots[0][0].generation
    trusted = [found for found, _ in roots if found.generation == start]
    if seen is not None and (len(trusted) != 1 or trusted[0].fingerprint != seen[1]):
        raise AccessError(
            "pseudonym.not-vault-key-worked",
            "this is not the vault that this key has worked with before, or an older copy of it. If both "
            "are right, remove the project from the file .vaults beside the key",
        )
    if seen is None and trusted[0].before is not None:
        raise AccessError.because(TAMPERED)
    newest = trusted[0]
    for found, row in roots:
        if found.generation > start:
            signed = {
                VaultRole.REQUESTER: row.requester_signature,
                VaultRole.APPROVER: row.approver_signature,
            }
            found.follows(newest, signed)
            newest = found
    return newest


def _root(content: Mapping[str, Any]) -> Root:
    return Root(
        content["project"],
        content["generation"],
        tuple(content["fields"]),
        bytes.fromhex(content["public"]),
        {VaultRole(role): public for role, public in content["roles"].items()},
        content["before"],
    )


def member_statement(root: Root, person: str, role: VaultRole, public: bytes) -> Statement:
    """That somebody has a role in a generation, with a public key."""
    content = {
        "project": root.project,
        "generation": root.generation,
        "person": person,
        "role": str(role),
        "public": public.hex(),
    }
    return Statement("vault member", content)


def require_member(
    connection: sa.Connection, root: Root, person: str, role: VaultRole, public: bytes
) -> None:
    """Refuse a member whom nobody of his role has taken in."""
    found = connection.execute(
        sa.select(PROOFS.c.signature).where(PROOFS.c.project == root.project, PROOFS.c.person == person)
    ).scalar()
    require_signature(root.roles[role], member_statement(root, person, role, public), found)


class Seen:
    """The roots that the holder of a key has seen, in a file beside the key.

    A key that is in no file has seen nothing: whoever uses one compares fingerprints by himself.
    """

    def __init__(self, key: Key) -> None:
        self._path = None if key.path is None else Path(f"{key.path}.vaults")

    def of(self, project: str) -> tuple[int, str] | None:
        """Generation and fingerprint that were seen last."""
        found = self._read().get(project)
        return None if found is None else (found[0], found[1])

    def keep(self, root: Root) -> bool:
        """Remember a root; whether it is the first of its project."""
        seen, new = self._read(), [root.generation, root.fingerprint]
        first = root.project not in seen
        if self._path is not None and seen.get(root.project) != new:
            _write(self._path, json.dumps(seen | {root.project: new}, indent=1, ensure_ascii=False) + "\n")
        return first

    def _read(self) -> dict[str, Sequence[Any]]:
        if self._path is None or not self._path.exists():
            return {}
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            if not all(isinstance(one[0], int) and isinstance(one[1], str) for one in found.values()):
                raise ValueError
        except OSError as error:
            raise InputError(
                "pseudonym.cannot-read",
                "{path}: cannot be read: {strerror}",
                path=self._path,
                strerror=error.strerror,
            ) from None
        except (ValueError, AttributeError, TypeError, IndexError):
            raise InputError(
                "pseudonym.no-list-vaults-seen",
                "{path}: this is no list of vaults that were seen",
                path=self._path,
            ) from None
        return dict(found)


def _write(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.new")
    try:
        with os.fdopen(
            os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise OutputError(
            "pseudonym.cannot-written",
            "{path}: cannot be written: {strerror}",
            path=path,
            strerror=error.strerror,
        ) from None
