"""Somebody who has every key of an institution and rewrites its log, which another has witnessed."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.log.rewriter import CHANGES, Entries, tree


@dataclasses.dataclass(frozen=True)
class WitnessedLog:
    """A log, the key that signs its heads, and an institution that has seen a part of it.

    Attributes:
        entries: number, time, event, details and seal of each entry.
        private: signs heads.
        institution: whose log it is.
        witnessed: how many entries the other has seen.
        show: shows the other a head, with everything that comes with it; whether it is taken. Each time it is
            an institution that has seen the first entries and nothing else.
    """

    entries: Entries
    private: bytes
    institution: str
    witnessed: int
    show: Callable[[dict[str, Any]], bool]


class KeyHolder(Attacker[WitnessedLog]):
    name = "holder of all keys"
    promise = "witnessed-log"
    knows = "The program, every entry, and every key of the institution."
    sees = "Whether the other institution goes on."
    does = (
        "Rewrites and cuts what was witnessed, signs new heads, and makes every proof that he can think of."
    )

    def attack(self, target: WitnessedLog) -> Iterator[Victim]:
        honest = hashed(target.entries)
        seen = honest[: target.witnessed]
        if not target.show(self._shown(target, honest, proof(honest, len(seen)), len(seen))):
            yield Victim("the true log", "it was refused, so a refusal tells nothing")
        for name, change in CHANGES.items():
            new = hashed(change([list(entry) for entry in target.entries]))
            for grown, since in itertools.product((0, 1, 9), (0, len(seen), len(seen) - 1)):
                later = new + [hashlib.sha256(b"\0" + bytes([place])).digest() for place in range(grown)]
                if later[: len(seen)] == seen:
                    continue  # nothing of what was witnessed was changed
                for path in proofs(honest, seen, later):
                    if target.show(self._shown(target, later, path, since)):
                        yield Victim(name, f"{len(later)} entries count as the continuation of {len(seen)}")

    def _shown(
        self, target: WitnessedLog, leaves: list[bytes], path: list[bytes], since: int
    ) -> dict[str, Any]:
        root = tree(leaves) if leaves else hashlib.sha256(b"").digest()
        head = {"institution": target.institution, "root": root.hex(), "size": len(leaves), "time": "2027"}
        text = json.dumps(head, sort_keys=True, separators=(",", ":"))
        signature = Ed25519PrivateKey.from_private_bytes(target.private).sign(
            f"tarnkappe/1 log head\n{text}".encode()
        )
        shown = {"head": head, "signature": signature.hex()}
        return {"head": shown, "proof": [each.hex() for each in path], "since": since}


def hashed(entries: Entries) -> list[bytes]:
    """The leaves of the tree of a log."""
    leaves = []
    for number, time, event, details, _ in entries:
        said = {"number": number, "time": time, "event": event, "details": json.loads(details)}
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        leaves.append(hashlib.sha256(f"\0tarnkappe/1 log entry\n{text}".encode()).digest())
    return leaves


def proofs(honest: list[bytes], seen: list[bytes], later: list[bytes]) -> Iterator[list[bytes]]:
    """What might pass for a proof that one log continues the other."""
    yield []
    yield [tree(seen)]
    if later:
        yield [tree(seen), tree(later)]
    if 0 < len(seen) <= len(later):
        yield proof(later, len(seen))
        right = proof(later, len(seen))
        yield [tree(seen), *right]
        yield [tree(seen), *right[1:]]
    yield proof(honest, len(seen))


def proof(leaves: list[bytes], size: int, whole: bool = True) -> list[bytes]:
    """RFC 9162, section 2.1.4.1."""
    if size == len(leaves):
        return [] if whole else [tree(leaves)]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    if size <= half:
        return [*proof(leaves[:half], size, whole), tree(leaves[half:])]
    return [*proof(leaves[half:], size - half, False), tree(leaves[:half])]
