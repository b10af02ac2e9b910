"""What a site has received, agreed to, started and ended: an append-only file that outlives the service.

A contract that was started once never starts again, whatever becomes of it. Consent names the digest of a
stored contract, so it cannot pass to another one that arrives meanwhile.
"""

from __future__ import annotations

import dataclasses
import datetime
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

from tarnkappe.errors import AccessError, InputError, NotFoundError, ParameterError
from tarnkappe.federation.contract import Contract
from tarnkappe.state.canonical import canonical_json

LEAST_DIGITS = 16
FIRST = "0" * 64


class LedgerEvent(StrEnum):
    """What happens to a contract at a site."""

    RECEIVED = "received"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of the ledger.

    Attributes:
        digest: of the contract.
        event: what happened.
        time: when.
        by: who did it: the proposer, the person who agreed, or the site.
        note: the reason of a rejection or failure; the digest of the data that a consent is about.
    """

    digest: str
    event: LedgerEvent
    time: str
    by: str
    note: str


class Ledger:
    """The ledger and the stored contracts of a site.

    Args:
        folder: where they are.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ledger.jsonl"
        self._contracts = folder / "contracts"
        self._read: tuple[tuple[int, int], list[Line]] = ((0, 0), [])

    def receive(self, contract: Contract, proposer: str) -> None:
        """Store a contract; one that was started before, or was rejected, is refused."""
        digest = contract.digest.hex()
        self._contracts.mkdir(parents=True, exist_ok=True)
        with self._open() as file:
            events = {line.event for line in _lines(file) if line.digest == digest}
            _refuse_second_start(events)
            if LedgerEvent.REJECTED in events or LedgerEvent.FAILED in events:
                raise AccessError(
                    "federation.contract-rejected-ended-before-propose",
                    "this contract was rejected or ended before: propose it anew (--new-run)",
                )
            if not events:
                stored = self._contracts / f"{digest}.json"
                waiting = stored.with_suffix(".part")
                waiting.write_bytes(canonical_json(contract.as_document()))
                waiting.replace(stored)
                _append(file, digest, LedgerEvent.RECEIVED, proposer, "")

    def decide(self, digest: str, event: LedgerEvent, by: str, note: str = "") -> None:
        """Agree to a contract, or reject it; only once."""
        with self._open() as file:
            events = {line.event for line in _lines(file) if line.digest == digest}
            if LedgerEvent.RECEIVED not in events:
                raise NotFoundError(
                    "federation.no-contract-arrived-site", "no such contract has arrived at this site"
                )
            if events - {LedgerEvent.RECEIVED}:
                raise AccessError("federation.contract-decided", "this contract was decided before")
            _append(file, digest, event, by, note)

    def start(self, digest: str, site: str) -> None:
        """Note that a run begins; a contract runs once, also after a restart."""
        with self._open() as file:
            events = {line.event for line in _lines(file) if line.digest == digest}
            _refuse_second_start(events)
            if LedgerEvent.ACCEPTED not in events:
                raise AccessError(
                    "federation.nobody-site-agreed-contract",
                    "nobody at this site has agreed to this contract",
                )
            _append(file, digest, LedgerEvent.STARTED, site, "")

    def end(self, digest: str, event: LedgerEvent, site: str, note: str = "") -> None:
        """Note how a run, or a contract that never ran, has ended."""
        with self._open() as file:
            ended = {LedgerEvent.FINISHED, LedgerEvent.FAILED, LedgerEvent.REJECTED}
            if not any(line.digest == digest and line.event in ended for line in _lines(file)):
                _append(file, digest, event, site, note)

    def history(self, digest: str) -> list[Line]:
        """What happened to a contract."""
        return [line for line in self.lines() if line.digest == digest]

    def decision(self, digest: str) -> Line | None:
        """Who has agreed to a contract or rejected it, if anybody has."""
        decided = [e for e in self.history(digest) if e.event in (LedgerEvent.ACCEPTED, LedgerEvent.REJECTED)]
        return decided[0] if decided else None

    def pending(self) -> list[Line]:
        """The contracts that wait for people, the oldest first."""
        seen: dict[str, list[Line]] = {}
        for line in self.lines():
            seen.setdefault(line.digest, []).append(line)
        return [lines[0] for lines in seen.values() if len(lines) == 1]

    def find(self, digits: str) -> str:
        """The digest that begins with these digits: at least sixteen, so that no other one does tomorrow."""
        if len(digits) < LEAST_DIGITS or not set(digits) <= set("0123456789abcdef"):
            raise ParameterError(
                "federation.name-contract-least-digits",
                "name a contract by at least {least_digits} digits of its digest",
                least_digits=LEAST_DIGITS,
            )
        found = [path.stem for path in self._contracts.glob("*.json") if path.stem.startswith(digits)]
        if len(found) != 1:
            raise NotFoundError(
                "federation.no-contract-arrived-site", "no such contract has arrived at this site"
            )
        return found[0]

    def contract(self, digest: str) -> Contract:
        """A stored contract, which is the one that its name says."""
        try:
            document = json.loads((self._contracts / f"{digest}.json").read_bytes())
        except (OSError, ValueError):
            raise NotFoundError(
                "federation.no-contract-arrived-site", "no such contract has arrived at this site"
            ) from None
        contract = Contract.from_document(document)
        if contract.digest.hex() != digest:
            raise InputError(
                "federation.stored-contract-changed-digest",
                "a stored contract was changed: its digest is another one",
            )
        return contract

    def lines(self) -> list[Line]:
        """The whole ledger."""
        try:
            state = self._file.stat()
        except FileNotFoundError:
            return []
        version = (state.st_size, state.st_mtime_ns)
        if self._read[0] != version:  # people are waited for by looking again and again
            with self._file.open("rb") as file:
                self._read = version, list(_lines(file))
        return self._read[1]

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        """The file for one writer; others wait, also those in other processes."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file


def _refuse_second_start(events: set[LedgerEvent]) -> None:
    if LedgerEvent.STARTED in events:
        raise AccessError(
            "federation.contract-started-before-contract",
            "this contract was started before, and a contract runs once: propose it anew (--new-run)",
        )


def _complete(file: IO[bytes]) -> bytes:
    """All complete lines; what a process began to write when it was killed is none."""
    file.seek(0)
    content = file.read()
    return content[: content.rfind(b"\n") + 1]


def _lines(file: IO[bytes]) -> Iterator[Line]:
    previous = FIRST
    for raw in _complete(file).splitlines():
        try:
            said: dict[str, Any] = json.loads(raw)
            broken = said.pop("previous") != previous
            yield Line(**{**said, "event": LedgerEvent(said["event"])})
        except (ValueError, KeyError, TypeError):
            broken = True
        if broken:
            raise InputError(
                "federation.ledger-site-changed-lines",
                "the ledger of this site was changed: its lines do not follow each other",
            )
        previous = hashlib.sha256(raw).hexdigest()


def _append(file: IO[bytes], digest: str, event: LedgerEvent, by: str, note: str) -> None:
    content = _complete(file)
    file.truncate(len(content))
    file.seek(0, os.SEEK_END)
    last = content.splitlines()[-1:]
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    line = Line(digest, event, now, by, note)
    previous = hashlib.sha256(last[0]).hexdigest() if last else FIRST
    file.write(canonical_json({**dataclasses.asdict(line), "previous": previous}) + b"\n")
    file.flush()
    os.fsync(file.fileno())
