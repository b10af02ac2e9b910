"""Somebody who owns the database of an audit log, knows the program, and has no key."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.attackers.attacker import Attacker, Victim

Entries = list[list[Any]]
"""Number, time, event, details, seal."""


@dataclasses.dataclass(frozen=True)
class Log:
    """A log that was whole when somebody last looked.

    Attributes:
        database: where it is.
        verify: whether who looks again finds it whole.
        restore: makes the database as it was.
        before: a copy of the database from before the last entries.
    """

    database: Path
    verify: Callable[[], bool]
    restore: Callable[[], None]
    before: Path


class Rewriter(Attacker[Log]):
    name = "rewriter of the log"
    promise = "kept-head"
    knows = "The program, and every entry."
    sees = "The database."
    does = "Changes, adds, removes, moves and puts back entries, drops triggers, and computes the tree again."

    def attack(self, target: Log) -> Iterator[Victim]:
        for name, change in CHANGES.items():
            for with_seals in (True, False):
                target.restore()
                if not target.verify():
                    yield Victim(name, "the log was not whole to begin with")
                rewrite(target.database, change, with_seals)
                if target.verify():
                    yield Victim(name, "the log counts as whole")
        target.restore()
        with (
            contextlib.closing(sqlite3.connect(target.before)) as source,
            contextlib.closing(sqlite3.connect(target.database)) as database,
        ):
            source.backup(database)
        if target.verify():
            yield Victim("yesterday's database", "the log counts as whole")


def changed(entries: Entries) -> Entries:
    return [[n, t, e, '{"rows": 1}' if n == 3 else d, s] for n, t, e, d, s in entries]


def backdated(entries: Entries) -> Entries:
    return [[n, "2001-01-01" if n == 2 else t, e, d, s] for n, t, e, d, s in entries]


def removed(entries: Entries) -> Entries:
    return numbered([entry for entry in entries if entry[0] != 2])


def cut(entries: Entries) -> Entries:
    return entries[:-2]


def emptied(_: Entries) -> Entries:
    return []


def put_in(entries: Entries) -> Entries:
    return numbered([*entries[:2], [0, "2026-01-01", "allowed", "{}", entries[2][4]], *entries[2:]])


def exchanged(entries: Entries) -> Entries:
    return numbered([entries[1], entries[0], *entries[2:]])


def begun_anew(entries: Entries) -> Entries:
    return [[n, t, "nothing happened", "{}", s] for n, t, _, _, s in entries]


def cut_and_grown(entries: Entries) -> Entries:
    return [*entries[:-1], [entries[-1][0], "2026-01-01", "another end", "{}", entries[-1][4]]]


CHANGES: dict[str, Callable[[Entries], Entries]] = {
    change.__name__.replace("_", " "): change
    for change in (changed, backdated, removed, cut, emptied, put_in, exchanged, begun_anew, cut_and_grown)
}


def numbered(entries: Entries) -> Entries:
    return [[number, *rest] for number, (_, *rest) in enumerate(entries, start=1)]


def rewrite(database: Path, change: Callable[[Entries], Entries], with_seals: bool) -> None:
    """Replace the log, with all hashes as the program would write them."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        for (trigger,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f'DROP TRIGGER "{trigger}"')
        query = "SELECT number, time, event, details, seal FROM log_entries ORDER BY number"
        entries = change([list(row) for row in connection.execute(query)])
        connection.execute("DELETE FROM log_entries")
        leaves: list[bytes] = []
        for number, time, event, details, seal in entries:
            said = {"number": number, "time": time, "event": event, "details": json.loads(details)}
            text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            leaves.append(hashlib.sha256(f"\0tarnkappe/1 log entry\n{text}".encode()).digest())
            row = (number, time, event, details, tree(leaves).hex(), seal if with_seals else None)
            connection.execute("INSERT INTO log_entries VALUES (?, ?, ?, ?, ?, ?)", row)
        seal = "seal" if with_seals else "NULL"
        update = f"UPDATE log_frontier SET size = ?, roots = ?, seal = {seal}"
        connection.execute(update, (len(leaves), " ".join(frontier(leaves))))
        connection.commit()


def tree(leaves: list[bytes]) -> bytes:
    """RFC 9162, section 2.1.1."""
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return hashlib.sha256(b"\1" + tree(leaves[:half]) + tree(leaves[half:])).digest()


def frontier(leaves: list[bytes]) -> Iterator[str]:
    start = 0
    for bit in reversed(range(len(leaves).bit_length())):
        if len(leaves) >> bit & 1:
            yield tree(leaves[start : start + (1 << bit)]).hex()
            start += 1 << bit


class SealBreaker(Rewriter):
    name = "rewriter of a sealed log"
    promise = "sealed-log"
