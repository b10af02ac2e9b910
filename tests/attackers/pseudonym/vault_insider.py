"""Somebody who has copied the file of a vault and has the keys of some of its members."""

from __future__ import annotations

import dataclasses
import itertools
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.pseudonym.sealed import key_pair, place, unseal


@dataclasses.dataclass(frozen=True)
class WorkingVault:
    """A vault in a file, and people who go on working with it when they are asked to."""

    file: Path
    project: str
    names: tuple[str, ...]
    """Surnames that are in the vault, or will be: to tell what was learned."""
    stolen: Mapping[str, Path]
    """Keys that the attacker has, by the name of the member."""
    register: Callable[[], object]
    """A registrar gives the people pseudonyms (again)."""
    rotate: Callable[[], object]
    """A requester and an approver change the keys."""


class VaultInsider(Attacker[WorkingVault]):
    """Opens every share that a stolen key opens, and tries all parts of all shares on every identity."""

    name = "vault insider"
    promise = "one_role_opens_nothing"
    knows = "The program, and the key of one role."
    sees = "The whole file of the vault."
    does = "Looks for names in the file, and tries whatever his key opens on every sealed identity."

    def attack(self, target: WorkingVault) -> Iterator[Victim]:
        content = target.file.read_bytes()
        for name in target.names:
            if name.encode() in content or name.encode("utf-16-le") in content:
                yield Victim(name, "stands in the file")
        with sqlite3.connect(target.file) as connection:
            halves = [
                part
                for member, key in target.stolen.items()
                for share in _shares(connection, target.project, member, key)
                for part in _parts(share)
            ]
            yield from opened(connection, target, halves)


def opened(
    connection: sqlite3.Connection, target: WorkingVault, halves: Sequence[X25519PrivateKey]
) -> Iterator[Victim]:
    """Whom any one or two private keys open."""
    publics = [row[0] for row in connection.execute("SELECT public FROM vaults")]
    publics += [half.public_key().public_bytes_raw() for half in halves]
    rows = connection.execute("SELECT pseudonym, sealed FROM vault_identities").fetchall()
    tries = [*itertools.product(halves), *itertools.permutations(halves, 2)]
    for pseudonym, sealed in rows:
        context = place("vault identity", target.project, pseudonym)
        for public, some in itertools.product(publics, tries):
            found = unseal(sealed, public, some, context)
            if found is not None:
                yield Victim(found.decode(), f"is {pseudonym}")
                break


def _shares(connection: sqlite3.Connection, project: str, member: str, key: Path) -> Iterator[bytes]:
    pair = key_pair(key)
    public = pair.public_key().public_bytes_raw()
    for role, share in connection.execute(
        "SELECT role, share FROM vault_members WHERE person = ?", (member,)
    ):
        found = unseal(share, public, [pair], place("vault share", project, member, role))
        if found is not None:
            yield found


def _parts(share: bytes) -> list[X25519PrivateKey]:
    """Every 32 bytes of a share, as if they were a private key."""
    return [
        X25519PrivateKey.from_private_bytes(share[start : start + 32])
        for start in range(0, len(share) - 31, 32)
    ]
