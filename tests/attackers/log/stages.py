"""Logs with and without a head that was kept elsewhere, and with and without a key."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tarnkappe.errors import TarnkappeError
from tarnkappe.exchange.network import Network, NetworkMember
from tarnkappe.exchange.peer.witnesses import Witnesses
from tarnkappe.state import AuditLog, HeadFile, Key, Seals, Signer, Store, guard
from tests.attackers.log.key_holder import WitnessedLog
from tests.attackers.log.rewriter import Log

OWN, OTHER = Key(bytes([9] * 32)), Key(bytes([8] * 32))


def opened(folder: Path, sealed: bool) -> AuditLog:
    store = Store.open(folder / "log.db")
    if sealed:
        guard(store, Seals(OWN), HeadFile(folder / "log.head", "B", Signer(OWN)))
    return AuditLog(store)


@contextmanager
def log(folder: Path, *, keeps_head: bool = False, sealed: bool = False) -> Iterator[Log]:
    """Somebody looks at a log of seven entries, and later again."""
    own = opened(folder, sealed)
    for number in range(7):
        own.append("released", {"rows": 100 + number})
        if number == 4:
            shutil.copy(folder / "log.db", folder / "before.db")
    head = own.head if keeps_head else None
    own.store.close()
    shutil.copy(folder / "log.db", folder / "kept.db")

    def verify() -> bool:
        with contextlib.closing(opened(folder, sealed).store) as store:
            AuditLog(store).verify(head)
        return True

    def is_whole() -> bool:
        try:
            return verify()
        except TarnkappeError:
            return False

    yield Log(
        folder / "log.db",
        is_whole,
        lambda: shutil.copy(folder / "kept.db", folder / "log.db") and None,
        folder / "before.db",
    )


@contextmanager
def kept_head(folder: Path) -> Iterator[Log]:
    with log(folder, keeps_head=True) as target:
        yield target


@contextmanager
def no_head(folder: Path) -> Iterator[Log]:
    with log(folder) as target:
        yield target


@contextmanager
def sealed(folder: Path) -> Iterator[Log]:
    with log(folder, sealed=True) as target:
        yield target


@contextmanager
def witnessed(folder: Path, *, remembers: bool = True) -> Iterator[WitnessedLog]:
    """The log of A, seven entries; B has seen five of them."""
    guarded = Store.in_memory()
    guard(guarded, Seals(OWN))
    own = AuditLog(guarded)
    signer, network = Signer(OWN), Network([NetworkMember("A", public_key=Signer(OWN).public)])
    numbers = itertools.count()

    def head() -> dict[str, Any]:
        return HeadFile(folder / "unused", "A", signer).signed(*own.end)

    for number in range(5):
        own.append("released", {"rows": 100 + number})
    first = {"head": head(), "proof": [], "since": 0}
    own.append("released", {"rows": 105})
    own.append("released", {"rows": 106})
    rows = [[e.number, e.time, e.event, json.dumps(dict(e.details)), None] for e in own.entries()]

    def show(document: dict[str, Any]) -> bool:
        store = Store.in_memory()
        guard(store, Seals(OTHER), HeadFile(folder / f"B-{next(numbers)}", "B", Signer(OTHER)))
        other = Witnesses(store, network, Signer(OTHER), "B")
        try:
            if remembers:
                other.take("A", first)
            return (
                other.take("A", document if remembers else {**document, "since": 0, "proof": []}) is not None
            )
        except TarnkappeError:
            return False
        finally:
            store.close()

    yield WitnessedLog(rows, OWN.derived("signatures")[:32], "A", 5, show)


@contextmanager
def forgetful(folder: Path) -> Iterator[WitnessedLog]:
    with witnessed(folder, remembers=False) as target:
        yield target
