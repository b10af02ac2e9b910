"""A vault that links tables, as its registrar uses it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tarnkappe.pseudonym import KeyPair, Vault, VaultMember, VaultRole
from tarnkappe.state import Key, Store
from tests import forked
from tests.attackers.pseudonym.family import FIELDS, Linkage, families

TARN = str(forked.TARN)
PEOPLE = {"rita": VaultRole.REGISTRAR, "quinn": VaultRole.REQUESTER, "ada": VaultRole.APPROVER}


@contextmanager
def vault(folder: Path) -> Iterator[Linkage]:
    members = [
        VaultMember(name, role, KeyPair.of(Key.create(folder / f"{name}.key")).public)
        for name, role in PEOPLE.items()
    ]
    store = Store.open(folder / "vault.db")
    Vault.create(store, "study", FIELDS, members)
    store.close()
    said = ("--vault", str(folder / "vault.db"), "--project", "study", "--as", "rita")
    key = ("--key", str(folder / "rita.key"))
    yield Linkage(folder, (TARN, "--link", "--column", *FIELDS, "--mode", "vault", *said, *key))


@contextmanager
def decided_to_be_one(folder: Path) -> Iterator[Linkage]:
    """A person has said that they are one: then they are."""
    with vault(folder) as made:
        path = folder / "decisions.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(
                ["decision", *(f"{side} {name}" for side in ("left", "right") for name in FIELDS)]
            )
            writer.writerows(("same", *parent, *child) for parent, child in families()[2])
        yield Linkage(folder, (*made.command, "--decisions", str(path)))
