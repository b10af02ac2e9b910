"""Runs the whole life of a vault in child processes that are killed, at every statement or at any moment.

Each child works on a copy of the same file and tells what it was handed before it dies. The driver then
finishes the work on what the child left, and prints what it found, one JSON object for each child.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

from tarnkappe.errors import TarnkappeError
from tarnkappe.pseudonym import (
    Approver,
    KeyPair,
    Registrar,
    ReidentificationReason,
    Requester,
    Vault,
    VaultMember,
    VaultRole,
)
from tarnkappe.pseudonym.vault import registrar as registering
from tarnkappe.pseudonym.vault import requests, rotate
from tarnkappe.pseudonym.vault.tables import IDENTITIES, PSEUDONYMS
from tarnkappe.state import AuditLog, Key, Store

KEYS = {name: Key(bytes([number]) * 32) for number, name in enumerate(["rita", "quinn", "ada"], start=1)}
ROLES = dict(zip(KEYS, VaultRole, strict=True))
PEOPLE = [("Planted", f"Name{number}", None) for number in range(4)]
SPELLED = ("Plannted", "Name0", None)
TRACES = (b"Planted", b"Plannted", b"Name")
Tell = Callable[[str, object], None]


def life(path: Path, tell: Tell, before: Callable[[Store], None] = lambda _: None) -> None:
    """Everything that can happen in a vault; it may have begun and been cut off earlier."""
    store = Store.open(path)
    before(store)
    try:
        vault = Vault(store, "asthma")
    except TarnkappeError:
        members = [VaultMember(name, ROLES[name], KeyPair.of(key).public) for name, key in KEYS.items()]
        vault = Vault.create(store, "asthma", ("surname", "given", "born"), members)
    desk = Registrar(vault, "rita", KEYS["rita"])
    for person in [*PEOPLE, SPELLED]:
        tell("given", [person, desk.pseudonyms([person])[0]])
    [merged] = desk.register([(PEOPLE[0], SPELLED)])
    tell("merged", merged)
    quinn, ada = Requester(vault, "quinn", KEYS["quinn"]), Approver(vault, "ada", KEYS["ada"])
    number = quinn.request([merged], ReidentificationReason.FEEDBACK)
    tell("requested", number)
    ada.approve(number)
    tell("approved", number)
    tell("shown", [number, sorted(quinn.show(number)[merged], key=str)])
    rotate(vault, ("quinn", KEYS["quinn"]), ("ada", KEYS["ada"]))
    tell("rotated", vault.record().generation)
    desk = Registrar(vault, "rita", KEYS["rita"])
    tell("again", desk.pseudonyms(PEOPLE))
    store.close()


def child(path: Path, before: Callable[[Store], None]) -> tuple[int, int]:
    """Start a life in a process of its own; its number and where it tells."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)

        def tell(what: str, about: object) -> None:
            os.write(writing, json.dumps([what, about]).encode() + b"\n")

        try:
            life(path, tell, before)
        finally:
            os._exit(0)
    os.close(writing)
    return process, reading


def die_at(point: int) -> Callable[[Store], None]:
    """Kill the process before its statement or commit of this number."""
    left = point

    def count(*_: object, **__: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def arm(store: Store) -> None:
        sa.event.listen(store.engine, "before_cursor_execute", count)
        sa.event.listen(store.engine, "commit", count)

    return arm


def examine(path: Path, reading: int) -> dict[str, object]:
    """What a dead child was handed, and whether all of it is still true."""
    with os.fdopen(reading, "rb") as pipe:
        told = [json.loads(line) for line in pipe.read().splitlines()]
    files = [file.name for file in path.parent.iterdir() if any(word in file.read_bytes() for word in TRACES)]
    found: dict[str, object] = {"told": len(told), "traces": files}
    after: list[tuple[str, object]] = []
    life(path, lambda what, about: after.append((what, about)))
    store = Store.open(path)
    before = {tuple(about[0]): about[1] for what, about in told if what == "given"}
    now = {tuple(about[0]): about[1] for what, about in after if what == "given"}
    merged = next(about for what, about in after if what == "merged")
    lost = [
        person
        for person, given in before.items()
        # A spelling that was merged has the pseudonym of the other one from then on.
        if now[person] != given and not (person == SPELLED and now[person] == merged)
    ]
    with store.reading() as connection:
        names = connection.execute(sa.select(PSEUDONYMS.c.pseudonym)).scalars().all()
        marks = connection.execute(sa.select(IDENTITIES.c.pseudonym)).scalars().all()
    entries = list(AuditLog(store).entries())
    events = [entry.event for entry in entries]
    numbers = {what: [about for kind, about in told if kind == what] for what in ("requested", "shown")}
    known = {found.number for found in requests(Vault(store, "asthma"))}
    logged = [entry.details["request"] for entry in entries if entry.event == "re-identification shown"]
    again = next(about for what, about in after if what == "again")
    shown = next(about for what, about in after if what == "shown")
    found |= {
        "lost": lost,
        "doubled": len(names) - len(set(names)) + len(marks) - len(set(PEOPLE)) - 1,
        "pseudonyms": len(names),
        "distinct": len(set(again)),
        "requests lost": [number for number in numbers["requested"] if number not in known],
        "unlogged": [about[0] for about in numbers["shown"] if about[0] not in logged],
        "shown": shown[1],
        "chain": AuditLog(store).verify() == len(events),
    }
    store.close()
    return found


def together(path: Path, amount: int) -> None:
    """Several processes register the same people at once, and one of them is killed on the way."""
    life(path, lambda *_: None)
    people = [("Planted", f"Fellow{number}", None) for number in range(40)]
    children = []
    for number in range(amount):
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            store = Store.open(path)
            if number == 0:
                die_at(25)(store)
            desk = Registrar(Vault(store, "asthma"), "rita", KEYS["rita"])
            turned = people[number * 7 :] + people[: number * 7]
            given = dict(zip(turned, desk.pseudonyms(turned), strict=True))
            os.write(writing, json.dumps([given[person] for person in people]).encode())
            os._exit(0)
        os.close(writing)
        children.append((process, reading))
    told = []
    for process, reading in children:
        with os.fdopen(reading, "rb") as pipe:
            content = pipe.read()
        os.waitpid(process, 0)
        told.append(json.loads(content) if content else None)
    store = Store.open(path)
    with store.reading() as connection:
        count = connection.execute(sa.select(sa.func.count()).select_from(IDENTITIES)).scalar()
    print(json.dumps({"told": told, "identities": count - len(PEOPLE) - 1, "people": len(people)}))
    AuditLog(store).verify()


def main(folder: Path, mode: str, amount: int) -> None:
    """Kill children at points spread over all of them, or at random moments."""
    registering.BATCH = 4
    if mode == "together":
        together(folder / "vault.db", amount)
        return
    draw = random.Random(amount)
    path = folder / "vault.db"
    point = seconds = 0
    if mode == "moments":
        start = time.perf_counter()
        os.waitpid(child(folder / "whole.db", lambda _: None)[0], 0)
        seconds = time.perf_counter() - start
    for number in range(100_000 if mode == "points" else amount):
        for old in folder.glob("vault.db*"):
            old.unlink()
        point += amount
        process, reading = child(path, die_at(point) if mode == "points" else lambda _: None)
        if mode == "moments":
            time.sleep(draw.uniform(0, seconds))
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        killed = os.WIFSIGNALED(status)
        if not killed and mode == "points":
            os.close(reading)
            return
        print(json.dumps({"number": number, "killed": killed} | examine(path, reading)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
