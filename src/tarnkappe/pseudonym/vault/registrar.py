"""Who gives people pseudonyms: the same person the same one, whatever happens in between."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.pseudonym.code import encode
from tarnkappe.pseudonym.identity import Identity
from tarnkappe.pseudonym.sealing import seal
from tarnkappe.pseudonym.vault.tables import IDENTITIES, PSEUDONYMS, VaultRole
from tarnkappe.pseudonym.vault.vault import MARK_KEY_BYTES, Vault
from tarnkappe.pseudonym.vault.voucher import VOUCHER_KEY_BYTES, is_vouched, vouch_identity, vouch_merge
from tarnkappe.state import Key
from tarnkappe.table.encoding import Progress

CODE_BYTES = 8
BATCH = 1000
"""How many people get their pseudonyms in one transaction."""

UNVOUCHED = "what stands in it was not written by a registrar: it was tampered with"

Group = tuple[Identity, ...]
Known = Mapping[bytes, str]


class Registrar:
    """A registrar of a vault, at work.

    A pseudonym is random, and durable in the store before it is handed out. If the process dies at any
    moment, whoever comes next finds either nothing of a batch or all of it; so no pseudonym is lost that
    somebody may have seen, and nobody gets two.
    """

    def __init__(self, vault: Vault, person: str, key: Key, progress: Progress | None = None) -> None:
        self._vault, self._person, self._progress = vault, person, progress
        self._generation = vault.record().generation
        share = vault.share(person, key, VaultRole.REGISTRAR).secret
        self._vouchers, rest = share[:VOUCHER_KEY_BYTES], share[VOUCHER_KEY_BYTES:]
        self._secret, self._public = rest[:MARK_KEY_BYTES], rest[MARK_KEY_BYTES:]
        self._refuse_another_share()

    @property
    def fields(self) -> tuple[str, ...]:
        """What an identity consists of in this vault."""
        return self._vault.fields

    @property
    def person(self) -> str:
        """Who is at work."""
        return self._person

    @property
    def is_first(self) -> bool:
        """Whether nobody has a pseudonym in this vault yet."""
        with self._vault.store.reading() as connection:
            ours = sa.select(IDENTITIES.c.mark).where(IDENTITIES.c.project == self._vault.project)
            return connection.execute(ours.limit(1)).first() is None

    def count_known(self, people: Sequence[Identity]) -> int:
        """How many of some people have a pseudonym already."""
        with self._vault.store.reading() as connection:
            return len(self._known(connection, [self._mark(person) for person in people]))

    def pseudonyms(self, people: Sequence[Identity]) -> list[str]:
        """The pseudonym of each person."""
        distinct = list(dict.fromkeys(people))
        given = dict(zip(distinct, self.register([(person,) for person in distinct]), strict=True))
        return [given[person] for person in people]

    def register(self, groups: Sequence[Group]) -> list[str]:
        """One pseudonym for each group, whose members are all spellings of one person.

        If members of a group have had different pseudonyms, the oldest of these stands for all from now
        on; the others still lead to the person.
        """
        every = [person for group in groups for person in group]
        if len(set(every)) < len(every):
            raise ParameterError(
                "pseudonym.two-people-same-identity",
                "two people have the same identity: add a field that tells them apart, as the place of birth",
            )
        wrong = {len(person) for person in every} - {len(self._vault.fields)}
        if wrong:
            raise ParameterError(
                "pseudonym.identity-vault-consists-name",
                "an identity in vault '{project}' consists of {fields}: name {fields_2} columns in this "
                "order",
                project=self._vault.project,
                fields=", ".join(self._vault.fields),
                fields_2=len(self._vault.fields),
            )
        given: list[str] = []
        for start in range(0, len(groups), BATCH):
            given += self._register(groups[start : start + BATCH])
            if self._progress:
                self._progress("registering", len(given), len(groups))
        return given

    def _register(self, groups: Sequence[Group]) -> list[str]:
        marked = [{self._mark(person): person for person in group} for group in groups]
        marks = [mark for group in marked for mark in group]
        while True:
            with self._vault.store.reading() as connection:
                known = self._known(connection, marks)
            # Sealing takes long, so it is done while others can write.
            plan = _Plan(self._vault.project, self._public, self._vouchers, known)
            given = [plan.add(group) for group in marked]
            try:
                with self._vault.store.writing() as connection:
                    if self._known(connection, marks) != known:
                        continue  # another process has been here since
                    self._write(connection, plan, len(groups))
            except IntegrityError:
                continue  # a new pseudonym is one that somebody has: draw again
            return self._current(given) if known else given

    def _write(self, connection: sa.Connection, plan: _Plan, asked: int) -> None:
        if self._vault.record(connection).generation != self._generation:
            raise AccessError(
                "pseudonym.vault-keys-changed-open",
                "vault '{project}': its keys were changed: open it again",
                project=self._vault.project,
            )
        told = {"asked": asked, "new": len(plan.pseudonyms), "spellings": len(plan.identities)}
        self._vault.log("pseudonyms given", self._person, told, connection)
        if plan.pseudonyms:
            connection.execute(sa.insert(PSEUDONYMS), plan.pseudonyms)
        if plan.identities:
            connection.execute(sa.insert(IDENTITIES), plan.identities)
        for merged in plan.merged:
            self._merge(connection, merged)

    def _merge(self, connection: sa.Connection, pseudonyms: Iterable[str]) -> None:
        ours = PSEUDONYMS.c.project == self._vault.project
        current = set(self._resolved(connection, pseudonyms).values())
        oldest, *others = connection.execute(
            sa.select(PSEUDONYMS.c.pseudonym)
            .where(ours, PSEUDONYMS.c.pseudonym.in_(current))
            .order_by(PSEUDONYMS.c.number)
        ).scalars()
        if not others:
            return
        replaced = PSEUDONYMS.c.pseudonym.in_(others) | PSEUDONYMS.c.replaced_by.in_(others)
        for name in list(
            connection.execute(sa.select(PSEUDONYMS.c.pseudonym).where(ours, replaced)).scalars()
        ):
            voucher = vouch_merge(self._vouchers, self._vault.project, name, oldest)
            change = sa.update(PSEUDONYMS).where(ours, PSEUDONYMS.c.pseudonym == name)
            connection.execute(change.values(replaced_by=oldest, voucher=voucher))
        self._vault.log("pseudonyms merged", self._person, {"into": oldest, "merged": others}, connection)

    def _current(self, pseudonyms: Sequence[str]) -> list[str]:
        with self._vault.store.reading() as connection:
            resolved = self._resolved(connection, set(pseudonyms))
        return [resolved[pseudonym] for pseudonym in pseudonyms]

    def _resolved(self, connection: sa.Connection, pseudonyms: Iterable[str]) -> dict[str, str]:
        """The pseudonym that stands for each one now."""
        rows = connection.execute(
            sa.select(PSEUDONYMS.c.pseudonym, PSEUDONYMS.c.replaced_by).where(
                PSEUDONYMS.c.project == self._vault.project, PSEUDONYMS.c.pseudonym.in_(list(pseudonyms))
            )
        )
        return {row.pseudonym: row.replaced_by or row.pseudonym for row in rows}

    def _known(self, connection: sa.Connection, marks: Sequence[bytes]) -> Known:
        found: dict[bytes, str] = {}
        for start in range(0, len(marks), BATCH):
            some = IDENTITIES.c.mark.in_(marks[start : start + BATCH])
            rows = connection.execute(
                sa.select(IDENTITIES.c.mark, IDENTITIES.c.pseudonym).where(
                    IDENTITIES.c.project == self._vault.project, some
                )
            )
            found |= {row.mark: row.pseudonym for row in rows}
        return found

    def _mark(self, person: Identity) -> bytes:
        return mark(self._secret, person)

    def _refuse_another_share(self) -> None:
        """Who can write to the store could give a registrar keys of his own, and read all that comes."""
        project = self._vault.project
        with self._vault.store.reading() as connection:
            row = connection.execute(
                sa.select(IDENTITIES).where(IDENTITIES.c.project == project).limit(1)
            ).first()
        if row is not None:
            expected = vouch_identity(self._vouchers, project, row.pseudonym, row.sealed)
            if not is_vouched(expected, row.voucher):
                self._vault.refuse(self._person, UNVOUCHED, VaultRole.REGISTRAR)


class _Plan:
    """What is to be written for a batch."""

    def __init__(self, project: str, public: bytes, vouchers: bytes, known: Known) -> None:
        self._project, self._public, self._vouchers, self._known = project, public, vouchers, known
        self.pseudonyms: list[dict[str, object]] = []
        self.identities: list[dict[str, object]] = []
        self.merged: list[set[str]] = []

    def add(self, group: Mapping[bytes, Identity]) -> str:
        """Plan for one person; the pseudonym may be one that another stands for."""
        had = {self._known[mark] for mark in group if mark in self._known}
        pseudonym = min(had) if had else encode([secrets.token_bytes(CODE_BYTES)])[0]
        if not had:
            self.pseudonyms.append({"project": self._project, "pseudonym": pseudonym})
        if len(had) > 1:
            self.merged.append(had)
        for found, person in group.items():
            if found not in self._known:
                sealed = sealed_identity(self._public, self._vouchers, self._project, pseudonym, person)
                self.identities.append({"mark": found, **sealed})
        return pseudonym


def mark(secret: bytes, person: Identity) -> bytes:
    """What an identity is found by; it can only be made, and tried, with the key of the registrars."""
    return hmac.digest(secret, json.dumps(person).encode(), "sha256")


def sealed_identity(
    public: bytes, vouchers: bytes, project: str, pseudonym: str, person: Identity
) -> dict[str, object]:
    """An identity that only a requester and an approver together can read, as the store keeps it."""
    content = json.dumps(person, ensure_ascii=False).encode()
    sealed = seal(public, content, identity_place(project, pseudonym))
    return {
        "project": project,
        "pseudonym": pseudonym,
        "sealed": sealed,
        "voucher": vouch_identity(vouchers, project, pseudonym, sealed),
    }


def identity_place(project: str, pseudonym: str) -> bytes:
    """Where a sealed identity belongs: put beside another pseudonym, it is refused."""
    return json.dumps(["vault identity", project, pseudonym]).encode()
