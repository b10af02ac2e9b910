"""Whether what somebody sends makes sense: looked at in a process of its own, before anything is kept.

Reading a document builds models, hierarchies and query plans, and a number in it
may be as large as he likes; so it is read under limits of time and memory, and nobody else waits for it.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError, LimitError, TarnkappeError
from tarnkappe.schema import replace
from tarnkappe.service.jobs.process import Ending, ForkServer, JobProcess
from tarnkappe.service.people import Account
from tarnkappe.service.settings import Limits
from tarnkappe.service.work import JobKind
from tarnkappe.service.work.kind import require_sense
from tarnkappe.service.work.unpacking import require_unpackable
from tarnkappe.service.worker import UNPACKING

SECONDS = 20.0
MEMORY = 2 * 2**30
AT_ONCE = 2
"""Documents of one person that are read at the same time; others of hers wait."""
MOST_WAITING = 60
"""Of one person; each holds a thread that others may need."""


class SenseCheck:
    """Reads documents of people."""

    def __init__(self, limits: Limits) -> None:
        self._limits = replace(limits, job_seconds=SECONDS, job_memory=MEMORY)
        self._lock = threading.Lock()
        self._waiting: Counter[str] = Counter()
        self._turns: dict[str, threading.Semaphore] = {}

    def require(
        self, kind: type[JobKind], document: Mapping[str, Any], who: Account, server: ForkServer | None
    ) -> None:
        """Refuse a document that its job could not read.

        Args:
            kind: of the job.
            document: with paths in place of names.
            who: asks.
            server: where processes come from; without one the house is closed, and nobody waits for it.

        Raises:
            TarnkappeError: as the job would.
        """
        if server is None:
            require_sense(kind, document)
            return
        with self._turn(who.id):
            ending = self._read(kind, document, server)
        _require_done(ending, "the document")

    def require_unpackable(self, path: Path, who: Account, server: ForkServer | None) -> None:
        """Refuse an upload that would become too large when it is read; a row of it is never read here."""
        asked = {
            "unpacked_bytes": self._limits.unpacked_bytes,
            "compression": self._limits.compression,
        }
        if server is None:
            require_unpackable(path, **asked)
            return
        with self._turn(who.id):
            never = threading.Event()
            ending = JobProcess(server).run(
                UNPACKING, {"path": str(path), **asked}, {}, Path(), self._limits, never, lambda _: None
            )
        _require_done(ending, "the file")

    def _read(self, kind: type[JobKind], document: Mapping[str, Any], server: ForkServer) -> Ending:
        never, nobody = threading.Event(), Path()
        return JobProcess(server).run(
            kind.name, document, {}, nobody, self._limits, never, lambda _: None, check=True
        )

    @contextmanager
    def _turn(self, person: str) -> Iterator[None]:
        with self._lock:
            if self._waiting[person] >= MOST_WAITING:
                raise LimitError(
                    "service.too-many-requests-being",
                    "too many of your requests are being read: wait for some to be answered",
                )
            self._waiting[person] += 1
            turns = self._turns.setdefault(person, threading.Semaphore(AT_ONCE))
        try:
            with turns:
                yield
        finally:
            with self._lock:
                self._waiting[person] -= 1
                if not self._waiting[person]:
                    del self._waiting[person], self._turns[person]


def _require_done(ending: Ending, what: str) -> None:
    """Raise what the process has refused, or that it was ended."""
    if ending.how == "done":
        return
    if ending.how == "killed":
        raise JobError(
            "service.could-not-read-process",
            "{what} could not be read: the process that read it ended unexpectedly",
            what=what,
        )
    if not ending.kind:
        raise LimitError(
            "service.reading-took-too-much",
            "reading {what} took too much and was ended: {error}",
            what=what,
            error=ending.error,
        )
    assert ending.error is not None
    raise TarnkappeError.again(ending.error.document() | {"kind": ending.kind})
