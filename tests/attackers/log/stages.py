"""Logs with and without a head that was kept elsewhere, and with and without a key."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tarnkappe.errors import TarnkappeError
from tarnkappe.state import AuditLog, HeadFile, Key, Seals, Signer, Store, guard
from tests.attackers.log.rewriter import Log

OWN = Key(bytes([9] * 32))


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
