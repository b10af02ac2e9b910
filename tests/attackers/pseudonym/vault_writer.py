"""Somebody without any key who can write to the file of a vault, while others go on working with it."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterator

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.pseudonym.sealed import place, seal, signing_key, unseal
from tests.attackers.pseudonym.vault_insider import WorkingVault, opened

ROLES = ("registrar", "requester", "approver")


class VaultWriter(Attacker[WorkingVault]):
    name = "vault writer"
    promise = "a_writer_learns_nobody"
    knows = "The program; he has no key."
    sees = "The whole file of the vault, at any time."
    does = (
        "Puts himself among the members before the keys are changed; gives the registrar keys of his own "
        "before people are registered; then reads what others wrote."
    )

    def attack(self, target: WorkingVault) -> Iterator[Victim]:
        before = target.file.read_bytes()
        yield from self._as_member(target)
        target.file.write_bytes(before)
        yield from self._as_key_maker(target)

    def _as_member(self, target: WorkingVault) -> Iterator[Victim]:
        """A requester and an approver of his own, for whom a change of the keys would seal the halves."""
        pairs = {role: X25519PrivateKey.generate() for role in ROLES[1:]}
        forged = signing_key(secrets.token_bytes(32))
        with sqlite3.connect(target.file) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS vault_member_proofs (project, person, signature)")
            for role, pair in pairs.items():
                public = pair.public_key().public_bytes_raw()
                connection.execute(
                    "INSERT INTO vault_members VALUES (?, ?, ?, ?, ?)",
                    (target.project, f"m-{role}", role, public, secrets.token_bytes(160)),
                )
                signature = forged.sign(public).hex()
                connection.execute(
                    "INSERT INTO vault_member_proofs VALUES (?, ?, ?)",
                    (target.project, f"m-{role}", signature),
                )
        target.rotate()
        halves = []
        with sqlite3.connect(target.file) as connection:
            for role, pair in pairs.items():
                (share,) = connection.execute(
                    "SELECT share FROM vault_members WHERE person = ?", (f"m-{role}",)
                ).fetchone()
                context = place("vault share", target.project, f"m-{role}", role)
                found = unseal(share, pair.public_key().public_bytes_raw(), [pair], context)
                halves += [found[-32:]] if found else []
            yield from opened(connection, target, [X25519PrivateKey.from_private_bytes(h) for h in halves])

    def _as_key_maker(self, target: WorkingVault) -> Iterator[Victim]:
        """A vault of his own in the place of the real one, in which every registrar seals for him."""
        own = X25519PrivateKey.generate()
        public, signing = own.public_key().public_bytes_raw(), secrets.token_bytes(32)
        with sqlite3.connect(target.file) as connection:
            (fields,) = connection.execute("SELECT fields FROM vaults").fetchone()
            connection.execute("UPDATE vaults SET public = ?, generation = 1", (public,))
            connection.execute("DELETE FROM vault_identities")
            columns = "project, generation, content, requester_signature, approver_signature"
            connection.execute(f"CREATE TABLE IF NOT EXISTS vault_roots ({columns})")
            connection.execute("DELETE FROM vault_roots")
            root = {
                "project": target.project,
                "generation": 1,
                "fields": json.loads(fields),
                "public": public.hex(),
                "roles": {role: signing_key(signing).public_key().public_bytes_raw().hex() for role in ROLES},
                "before": None,
            }
            connection.execute(
                "INSERT INTO vault_roots VALUES (?, 1, ?, NULL, NULL)", (target.project, json.dumps(root))
            )
            members = connection.execute(
                "SELECT person, public FROM vault_members WHERE role = 'registrar'"
            ).fetchall()
            for person, key in members:
                share = signing + hashlib.sha256(b"v").digest() + hashlib.sha256(b"m").digest() + public
                sealed = seal(key, share, place("vault share", target.project, person, "registrar"))
                connection.execute("UPDATE vault_members SET share = ? WHERE person = ?", (sealed, person))
        target.register()
        with sqlite3.connect(target.file) as connection:
            yield from opened(connection, target, [own])
