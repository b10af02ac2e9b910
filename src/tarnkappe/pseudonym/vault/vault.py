"""The vault: who is behind the pseudonyms of a project, so that nobody can read it alone.

An identity is sealed with a public key whose private key nobody has: it is the product of two halves, of
which the requesters have one and the approvers the other. To read one identity, an approver applies his
half to that one sealed message and seals the outcome for the requester, who applies his own. So four eyes
are not a rule that the program keeps but something that the keys do: the file, with any one role's key,
opens nothing. Registrars have a third key, under which an identity becomes a mark, to be found again, and
share a fourth one with the approvers, with which they vouch for what they write.

The attackers: a thief of the file; a registrar, requester or approver who acts alone, also if he can write
to the file; somebody with the key of another; somebody who cuts the power. What is not withstood: a
requester and an approver who conspire. An approver who does not look at what he approves approves it all
the same; the log says what it was.
"""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import sqlalchemy as sa

from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.pseudonym.sealing import KeyPair, seal
from tarnkappe.pseudonym.vault.tables import MEMBERS, PROOFS, VAULT, VAULTS, VaultRole
from tarnkappe.pseudonym.vault.trust import (
    TAMPERED,
    Root,
    Seen,
    member_statement,
    newest_root,
    require_member,
    write_root,
)
from tarnkappe.pseudonym.vault.voucher import VOUCHER_KEY_BYTES
from tarnkappe.state import AuditLog, Key, Store
from tarnkappe.state.key import KEY_BYTES
from tarnkappe.state.statement import Signer
from tarnkappe.table.formats.address import is_address

MARK_KEY_BYTES = 32

Clock = Callable[[], datetime]


@dataclasses.dataclass(frozen=True)
class VaultMember:
    """Somebody with a role in a vault, and the public key of this person."""

    person: str
    role: VaultRole
    public: bytes


@dataclasses.dataclass(frozen=True, repr=False)
class Shares:
    """All secrets of a vault, of which each role has some."""

    marks: bytes
    vouchers: bytes
    requester: KeyPair
    approver: KeyPair
    signing: Mapping[VaultRole, bytes]

    @classmethod
    def new(cls) -> Shares:
        """New random ones."""
        return cls(
            secrets.token_bytes(MARK_KEY_BYTES),
            secrets.token_bytes(VOUCHER_KEY_BYTES),
            KeyPair.new(),
            KeyPair.new(),
            {role: secrets.token_bytes(KEY_BYTES) for role in VaultRole},
        )

    @property
    def public(self) -> bytes:
        """The public key of both halves together."""
        return self.requester.agree(self.approver.public)

    def signer(self, role: VaultRole) -> Signer:
        """Signs for a role."""
        return Signer(Key(self.signing[role]))

    def root(self, project: str, generation: int, fields: Sequence[str], before: str | None) -> Root:
        """The public keys that belong to these."""
        roles = {role: self.signer(role).public for role in VaultRole}
        return Root(project, generation, tuple(fields), self.public, roles, before)

    def of(self, role: VaultRole) -> bytes:
        """What a role has."""
        return self.signing[role] + self._secret_of(role)

    def _secret_of(self, role: VaultRole) -> bytes:
        if role is VaultRole.REGISTRAR:  # the public key, too: one from the store could be an attacker's
            return self.vouchers + self.marks + self.public
        if role is VaultRole.APPROVER:
            return self.vouchers + self.approver.private_bytes()
        return self.requester.private_bytes()


@dataclasses.dataclass(frozen=True, repr=False)
class KeyShare:
    """What a member has, after it was found to be genuine."""

    content: bytes
    root: Root

    @property
    def secret(self) -> bytes:
        """What the role reads or seals with."""
        return self.content[KEY_BYTES:]

    @property
    def signer(self) -> Signer:
        """Signs for the role."""
        return Signer(Key(self.content[:KEY_BYTES]))


class Vault:
    """The vault of a project in a store.

    Attributes:
        first_seen: is told the fingerprint when a key in a file works with this vault for the first time.
    """

    def __init__(
        self,
        store: Store,
        project: str,
        now: Clock | None = None,
        first_seen: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.store, self.project, self.first_seen = store, project, first_seen
        self.now: Clock = now or (lambda: datetime.now(UTC))
        self._log = AuditLog(store)
        store.ensure(VAULT)
        found = self.record()
        self.fields: tuple[str, ...] = tuple(json.loads(found.fields))

    @classmethod
    def create(
        cls, store: Store, project: str, fields: Sequence[str], members: Sequence[VaultMember]
    ) -> Vault:
        """A new vault; from the beginning every role has somebody, or nobody could ever take it.

        Args:
            store: where it is kept.
            project: its name; the same person has another pseudonym in the vault of another project.
            fields: what an identity consists of, as in ("surname", "given name", "born").
            members: who has which role, each with a public key.
        """
        if not fields or len(set(fields)) < len(fields):
            raise ParameterError(
                "pseudonym.name-fields-identity-once", "name the fields of an identity, each once"
            )
        missing = set(VaultRole) - {member.role for member in members}
        if missing:
            raise ParameterError(
                "pseudonym.vault-needs", "a vault needs at least one {missing}", missing=min(missing)
            )
        shares = Shares.new()
        store.ensure(VAULT)
        with store.writing() as connection:
            if connection.execute(sa.select(VAULTS).where(VAULTS.c.project == project)).first():
                raise ParameterError(
                    "pseudonym.vault-already",
                    "{store}: there is a vault '{project}' already",
                    store=store.place,
                    project=project,
                )
            connection.execute(
                sa.insert(VAULTS).values(
                    project=project, fields=json.dumps(list(fields)), public=shares.public, generation=1
                )
            )
            told = {"project": project, "members": {member.person: member.role for member in members}}
            AuditLog(store).append("vault created", told, connection)
            root = shares.root(project, 1, fields, None)
            write_root(connection, root, {})
            for member in members:
                add_member(connection, root, member, shares.of(member.role))
        return cls(store, project)

    @classmethod
    def open(
        cls, place: str | Path, project: str, first_seen: Callable[[str], None] = lambda _: None
    ) -> Vault:
        """The vault of a project that somebody has made there."""
        return cls(existing_store(place), project, first_seen=first_seen)

    def __enter__(self) -> Vault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    @property
    def fingerprint(self) -> str:
        """Stands for the public keys of today; people compare it before they use a vault first."""
        with self.store.reading() as connection:
            return self._require(newest_root(connection, self.project, None)).fingerprint

    def record(self, connection: sa.Connection | None = None) -> sa.Row[Any]:
        """What the store says about this vault now."""
        if connection is None:
            with self.store.reading() as opened:
                return self.record(opened)
        found = connection.execute(sa.select(VAULTS).where(VAULTS.c.project == self.project)).first()
        if found is None:
            raise ParameterError(
                "pseudonym.no-vault",
                "{store}: there is no vault '{project}'",
                store=self.store.place,
                project=self.project,
            )
        return found

    def members(self, connection: sa.Connection | None = None) -> dict[str, VaultMember]:
        """Who has which role."""
        if connection is None:
            with self.store.reading() as opened:
                return self.members(opened)
        rows = connection.execute(sa.select(MEMBERS).where(MEMBERS.c.project == self.project))
        return {row.person: VaultMember(row.person, VaultRole(row.role), row.public) for row in rows}

    def share(self, person: str, key: Key, role: VaultRole) -> KeyShare:
        """What a member of a role has; a wrong person, key or role is refused, and that is logged.

        So is a share, or a root of the vault, that this member has no reason to believe.
        """
        content = self.sealed_share(person, key, role)
        seen = Seen(key)
        try:
            with self.store.reading() as connection:
                root = self._require(newest_root(connection, self.project, seen.of(self.project)))
        except AccessError as error:
            self.refuse(person, str(error), role)
        share = KeyShare(content, root)
        if share.signer.public != root.roles[role]:
            self.refuse(person, TAMPERED, role)
        if seen.keep(root):
            self.first_seen(root.fingerprint)
        return share

    def sealed_share(self, person: str, key: Key, role: VaultRole) -> bytes:
        """What was sealed for a member, whoever has sealed it."""
        with self.store.reading() as connection:
            row = connection.execute(
                sa.select(MEMBERS).where(MEMBERS.c.project == self.project, MEMBERS.c.person == person)
            ).first()
        if row is None:
            # The name is not logged: it may be that of a patient, typed into the wrong place.
            self.refuse("somebody unknown", "this person has no role in the vault", role)
        pair = KeyPair.of(key)
        if pair.public != row.public:
            self.refuse(person, f"this is not the key of '{person}'", role)
        if row.role != role:
            self.refuse(person, f"'{person}' has the role {row.role}, and this takes the role {role}", role)
        return pair.unseal(row.share, _place(self.project, person, role))

    def proven_members(self, connection: sa.Connection, root: Root) -> dict[str, VaultMember]:
        """Who has which role, each signed by that role; anybody else is refused."""
        members = self.members(connection)
        for member in members.values():
            require_member(connection, root, member.person, member.role, member.public)
        return members

    def _require(self, root: Root | None) -> Root:
        if root is None:
            raise AccessError(
                "pseudonym.earlier-version-made-vault",
                "an earlier version has made this vault, and nobody has signed its members. A requester and"
                " an approver look at the list of members and renew it: tarn reidentify rotate "
                "--trust-members",
            )
        return root

    def appoint(self, by: str, key: Key, new: VaultMember) -> None:
        """Take somebody into the own role: who has a share can pass it on, and nobody else can."""
        share = self.share(by, key, new.role)
        with self.store.writing() as connection:
            self.log("member appointed", by, {"member": new.person, "role": new.role}, connection)
            add_member(connection, share.root, new, share.content)

    def dismiss(self, by: str, key: Key, person: str) -> None:
        """Take away the role of a colleague. Only a rotation makes worthless what he may have kept."""
        known = self.members().get(person)
        if known is None:
            raise ParameterError("pseudonym.person-no-role-vault", "this person has no role in the vault")
        self.share(by, key, known.role)
        if not [other for other in self.members().values() if other.role is known.role and other != known]:
            raise ParameterError(
                "pseudonym.last-appoint-another-first",
                "'{person}' is the last {role}: appoint another one first",
                person=person,
                role=known.role,
            )
        with self.store.writing() as connection:
            self.log("member dismissed", by, {"member": person, "role": known.role}, connection)
            for table in (MEMBERS, PROOFS):
                connection.execute(
                    sa.delete(table).where(table.c.project == self.project, table.c.person == person)
                )

    def log(
        self, event: str, person: str, details: Mapping[str, Any], connection: sa.Connection | None = None
    ) -> None:
        """Add an entry to the audit log of the store."""
        self._log.append(event, {"project": self.project, "person": person, **details}, connection=connection)

    def refuse(self, person: str, why: str, action: str) -> NoReturn:
        """Refuse an access, and log that it was tried."""
        self.log("vault refused", person, {"action": str(action), "why": why})
        raise AccessError(
            "pseudonym.project-why-vault", "vault '{project}': {why}", project=self.project, why=why
        )


def existing_store(place: str | Path) -> Store:
    """The store in which vaults are; a place without one is refused, not made."""
    if not is_address(place) and not Path(place).is_file():
        raise ParameterError(
            "pseudonym.no-vault-make-tarn",
            "{place}: there is no vault: make one with tarn reidentify new-vault",
            place=place,
        )
    return Store.open(place, VAULT, mode="write")


def add_member(connection: sa.Connection, root: Root, member: VaultMember, share: bytes) -> None:
    """Give somebody a role, signed with the key of the role; a person or a key that has one is refused."""
    same = (MEMBERS.c.person == member.person) | (MEMBERS.c.public == member.public)
    ours = MEMBERS.c.project == root.project
    taken = connection.execute(sa.select(MEMBERS.c.person).where(ours, same)).first()
    if taken:
        raise AccessError(
            "pseudonym.cannot-become-person-key",
            "'{person}' cannot become {role}: the person or the key is in the vault already, as "
            "'{person_2}', and four eyes are two people's",
            person=member.person,
            role=member.role,
            person_2=taken.person,
        )
    sealed = seal(member.public, share, _place(root.project, member.person, member.role))
    connection.execute(
        sa.insert(MEMBERS).values(
            project=root.project, person=member.person, role=member.role, public=member.public, share=sealed
        )
    )
    signer = Signer(Key(share[:KEY_BYTES]))
    proof = signer.sign(member_statement(root, member.person, member.role, member.public))
    connection.execute(sa.insert(PROOFS).values(project=root.project, person=member.person, signature=proof))


def _place(*parts: str) -> bytes:
    return json.dumps(["vault share", *parts]).encode()
