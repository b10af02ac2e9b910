"""Somebody who can write to the database of an exchange, knows the program, and has no key.

He speaks SQLite himself, takes triggers away, and computes every hash again that needs no key.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.attackers.attacker import Attacker, Victim

RAW = "the original rows"


@dataclasses.dataclass(frozen=True)
class Scene:
    """The desk of an institution, in some state, with people who do their work honestly.

    Attributes:
        database: the file that the attacker can write to.
        yesterday: what it was before the last things happened.
        request: the digest of the request whose package he wants.
        other: another request, which was answered before.
        raw: a package with columns and rows that nobody has looked at.
        signed: who has signed which package of this request before.
        may_leave: whether anything may leave at all.
        decide: lets somebody decide honestly: she looks at the request and signs what she is shown; the
            digest of the package that she signed, or nothing if she was told that something is wrong.
        fetch: lets the requester fetch the answer; the bytes that left, if any did.
        check: lets the steward check the request again, honestly.
        audit: whether the audit says that something is wrong.
    """

    database: Path
    yesterday: Path
    request: str
    other: str
    raw: bytes
    signed: Mapping[str, str]
    may_leave: bool
    decide: Callable[[str], str | None]
    fetch: Callable[[], bytes | None]
    check: Callable[[], bool]
    audit: Callable[[], bool]


@dataclasses.dataclass(frozen=True)
class House:
    """Makes scenes, each from the beginning: 'checked', 'half agreed', 'accepted', 'taken back'."""

    scene: Callable[[str], contextlib.AbstractContextManager[Scene]]


class Writer(Attacker[House]):
    name = "writer in the database"
    promise = "signed-is-sent"
    knows = "The program, all rows of the database, and the requests."
    sees = "The database of the exchange, as often as he likes."
    does = "Changes, adds, removes and puts back rows, drops triggers, and computes hashes without a key."

    def attack(self, target: House) -> Iterator[Victim]:
        for state, manipulation in MANIPULATIONS:
            with target.scene(state) as scene:
                manipulation(scene)
                name = manipulation.__name__.replace("_", " ")
                yield from judged(scene, name, ("Ann", "Cleo"))


class OneKey(Attacker[House]):
    name = "writer with one staff key"
    promise = "two-people"
    knows = "The program, all rows of the database, and the key of one physician."
    sees = "The database of the exchange, as often as he likes."
    does = "Everything that a writer in the database does, and decides as that physician."

    def attack(self, target: House) -> Iterator[Victim]:
        for state, manipulation in FORGED_AGREEMENTS:
            with target.scene(state) as scene:
                manipulation(scene)
                name = manipulation.__name__.replace("_", " ")
                yield from judged(scene, name, ("Ann",))


def judged(scene: Scene, name: str, people: tuple[str, ...]) -> Iterator[Victim]:
    """What became of a manipulation: did anything leave that two people did not sign, and was it noticed?"""
    noticed = scene.audit()
    signed = dict(scene.signed) | {
        person: scene.decide(person) for person in people if person not in scene.signed
    }
    left = scene.fetch()
    if left is not None:
        agreed = [person for person, package in signed.items() if package == hashed(left)]
        if left == scene.raw:
            yield Victim(name, f"{RAW} left the house")
        elif len(agreed) < 2:
            yield Victim(name, f"a package left that {len(agreed)} people have signed")
        elif not scene.may_leave:
            yield Victim(name, "a package left that was taken back")
    if not noticed and not scene.audit():
        yield Victim(name, "the audit found nothing")


def rows(scene: Scene, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(scene.database)) as connection:
        return connection.execute(query, values).fetchall()


def write(scene: Scene, *statements: tuple[Any, ...]) -> None:
    """Run statements, after taking all triggers away."""
    with contextlib.closing(sqlite3.connect(scene.database)) as connection:
        for (trigger,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f'DROP TRIGGER "{trigger}"')
        for statement, *values in statements:
            connection.execute(statement, values)
        connection.commit()


def hashed(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def canonical(kind: str, content: Any) -> bytes:
    """A statement as the program writes it; his texts need no more of RFC 8785 than this."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"tarnkappe/1 {kind}\n{text}".encode()


def row_digest(table: str, values: dict[str, Any]) -> str:
    return hashed(canonical("row", {"table": table, "values": values}))


def recompute_log(scene: Scene) -> None:
    """The roots of all entries and the frontier, by RFC 9162; seals he copies from where they are."""
    entries = rows(scene, "SELECT number, time, event, details FROM log_entries ORDER BY number")
    leaves: list[bytes] = []
    statements: list[tuple[Any, ...]] = []
    for number, time, event, details in entries:
        said = {"number": number, "time": time, "event": event, "details": json.loads(details)}
        leaves.append(hashlib.sha256(b"\0" + canonical("log entry", said)).digest())
        statements.append(("UPDATE log_entries SET root = ? WHERE number = ?", tree(leaves).hex(), number))
    sizes = [1 << bit for bit in reversed(range(len(leaves).bit_length())) if len(leaves) >> bit & 1]
    roots, start = [], 0
    for size in sizes:
        roots.append(tree(leaves[start : start + size]).hex())
        start += size
    statements.append(("UPDATE log_frontier SET size = ?, roots = ?", len(leaves), " ".join(roots)))
    write(scene, *statements)


def tree(leaves: list[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return hashlib.sha256(b"\1" + tree(leaves[:half]) + tree(leaves[half:])).digest()


def change_log(scene: Scene, event: str, **changes: Any) -> None:
    """Let the last entry of a kind say something else."""
    query = "SELECT number, details FROM log_entries WHERE event = ? ORDER BY number DESC"
    for number, details in rows(scene, query, event):
        said = json.loads(details)
        if said.get("request") == scene.request:
            text = json.dumps(said | changes, sort_keys=True, ensure_ascii=False)
            write(scene, ("UPDATE log_entries SET details = ? WHERE number = ?", text, number))
            return


def swap_package_and_digest(scene: Scene) -> None:
    write(
        scene,
        (
            "UPDATE exchange_recommendations SET package = ?, package_digest = ? WHERE digest = ?",
            scene.raw,
            hashed(scene.raw),
            scene.request,
        ),
    )


def swap_package_and_rewrite_the_log(scene: Scene) -> None:
    """Every hash that needs no key fits again: in the check, in its entry, in the tree."""
    [(number, content)] = rows(
        scene, "SELECT number, content FROM exchange_recommendations WHERE digest = ?", scene.request
    )
    said = json.loads(content)
    if "check" in said:
        said["check"]["package"] |= {"sha256": hashed(scene.raw), "bytes": len(scene.raw)}
    text = json.dumps(said, ensure_ascii=False)
    values = {"digest": scene.request, "number": number, "content": text, "package_digest": hashed(scene.raw)}
    write(
        scene,
        (
            "UPDATE exchange_recommendations SET package = ?, package_digest = ?, content = ? WHERE digest = ?",
            scene.raw,
            hashed(scene.raw),
            text,
            scene.request,
        ),
    )
    change_log(scene, "request checked", row=row_digest("exchange_recommendations", values))
    recompute_log(scene)


def add_a_column(scene: Scene) -> None:
    """Only the package and its digest change, and what the check says of columns: one column more."""
    [(content,)] = rows(scene, "SELECT content FROM exchange_recommendations WHERE digest = ?", scene.request)
    said = json.loads(content)
    if "check" in said:
        said["check"]["columns"].append(["name", "insensitive"])
    write(
        scene,
        (
            "UPDATE exchange_recommendations SET package = ?, package_digest = ?, content = ? WHERE digest = ?",
            scene.raw,
            hashed(scene.raw),
            json.dumps(said),
            scene.request,
        ),
    )


def swap_the_package_of_the_answer(scene: Scene) -> None:
    write(scene, ("UPDATE exchange_answers SET package = ? WHERE digest = ?", scene.raw, scene.request))


def take_the_signed_answer_of_another_request(scene: Scene) -> None:
    write(
        scene,
        ("DELETE FROM exchange_answers WHERE digest = ?", scene.request),
        (
            "INSERT INTO exchange_answers (digest, content, signature, package)"
            " SELECT ?, content, signature, ? FROM exchange_answers WHERE digest = ?",
            scene.request,
            scene.raw,
            scene.other,
        ),
        ("UPDATE exchange_requests SET state = 'accepted' WHERE digest = ?", scene.request),
    )


def forge_an_agreement(scene: Scene) -> None:
    """A decision of Cleo's with a signature of zeros."""
    [(number, package)] = rows(
        scene, "SELECT number, package_digest FROM exchange_recommendations WHERE digest = ?", scene.request
    )
    said = {"request": scene.request, "check": number, "package": package, "accepts": True, "person": "Cleo"}
    write(
        scene,
        (
            "INSERT INTO exchange_decisions (digest, number, person, accepts, content, signature)"
            " VALUES (?, ?, 'Cleo', 1, ?, '00')",
            scene.request,
            number,
            json.dumps(said | {"reason": "yes"}),
        ),
        ("UPDATE exchange_requests SET state = 'half agreed' WHERE digest = ?", scene.request),
    )


def forge_an_agreement_in_the_log_too(scene: Scene) -> None:
    """The entry of another decision is written once more, for Cleo, with the digest of the forged row."""
    forge_an_agreement(scene)
    [(number, content)] = rows(
        scene,
        "SELECT number, content FROM exchange_decisions WHERE digest = ? AND person = 'Cleo'",
        scene.request,
    )
    values = {
        "digest": scene.request,
        "number": number,
        "person": "Cleo",
        "accepts": True,
        "content": content,
        "signature": "00",
    }
    told = {"request": scene.request, "check": number, "by": "Cleo", "accepts": True, "signature": "00"}
    told |= {"moves": "first agreement", "row": row_digest("exchange_decisions", values)}
    write(
        scene,
        (
            "INSERT INTO log_entries (number, time, event, details, root, seal)"
            " SELECT number + 1, time, 'decided', ?, root, seal FROM log_entries ORDER BY number DESC LIMIT 1",
            json.dumps(told),
        ),
    )
    recompute_log(scene)


def give_an_agreement_another_name(scene: Scene) -> None:
    """Ann's own decision once more, as Cleo's."""
    write(
        scene,
        (
            "INSERT INTO exchange_decisions (digest, number, person, accepts, content, signature)"
            " SELECT digest, number, 'Cleo', accepts, replace(content, 'Ann', 'Cleo'), signature"
            " FROM exchange_decisions WHERE digest = ? AND person = 'Ann'",
            scene.request,
        ),
    )


def replay_an_agreement_to_another_request(scene: Scene) -> None:
    """What Cleo has agreed to before counts here, too."""
    write(
        scene,
        (
            "INSERT INTO exchange_decisions (digest, number, person, accepts, content, signature)"
            " SELECT ?, 1, person, accepts, replace(content, ?, ?), signature FROM exchange_decisions"
            " WHERE digest = ? AND person = 'Cleo'",
            scene.request,
            scene.other,
            scene.request,
            scene.other,
        ),
        ("UPDATE exchange_requests SET state = 'half agreed' WHERE digest = ?", scene.request),
    )


def let_the_request_ask_for_more(scene: Scene) -> None:
    [(content,)] = rows(scene, "SELECT content FROM exchange_requests WHERE digest = ?", scene.request)
    said = json.loads(content)
    said["anchor"]["values"] = ["Y"]
    write(
        scene,
        ("UPDATE exchange_requests SET content = ? WHERE digest = ?", json.dumps(said), scene.request),
    )


def undo_a_withdrawal(scene: Scene) -> None:
    write(scene, ("DELETE FROM exchange_withdrawals",))
    scene.check()


def forget_what_was_told_before(scene: Scene) -> None:
    told = ("exchange_trails", "exchange_pending", "exchange_ledger")
    write(scene, *((f"DELETE FROM {table}",) for table in told))
    scene.check()


def put_yesterdays_database_back(scene: Scene) -> None:
    with (
        contextlib.closing(sqlite3.connect(scene.yesterday)) as source,
        contextlib.closing(sqlite3.connect(scene.database)) as target,
    ):
        source.backup(target)


def cut_the_log(scene: Scene) -> None:
    [(most,)] = rows(scene, "SELECT max(number) FROM log_entries")
    write(scene, ("DELETE FROM log_entries WHERE number > ?", most - 2))
    recompute_log(scene)


def take_a_patient_out_of_the_notes(scene: Scene) -> None:
    write(
        scene,
        ("DELETE FROM exchange_release_log WHERE number = (SELECT min(number) FROM exchange_release_log)",),
    )


def strip_all_seals(scene: Scene) -> None:
    """As if the log had never been sealed, with a forged agreement in it."""
    forge_an_agreement_in_the_log_too(scene)
    write(scene, ("UPDATE log_entries SET seal = NULL",), ("UPDATE log_frontier SET seal = NULL",))


MANIPULATIONS: list[tuple[str, Callable[[Scene], None]]] = [
    ("checked", swap_package_and_digest),
    ("checked", swap_package_and_rewrite_the_log),
    ("half agreed", add_a_column),
    ("accepted", swap_the_package_of_the_answer),
    ("checked", take_the_signed_answer_of_another_request),
    ("checked", let_the_request_ask_for_more),
    ("checked", undo_a_withdrawal),
    ("checked", forget_what_was_told_before),
    ("taken back", put_yesterdays_database_back),
    ("accepted", cut_the_log),
    ("accepted", take_a_patient_out_of_the_notes),
    ("checked", strip_all_seals),
]
FORGED_AGREEMENTS: list[tuple[str, Callable[[Scene], None]]] = [
    ("checked", forge_an_agreement),
    ("checked", forge_an_agreement_in_the_log_too),
    ("half agreed", give_an_agreement_another_name),
    ("checked", replay_an_agreement_to_another_request),
    ("checked", strip_all_seals),
]
