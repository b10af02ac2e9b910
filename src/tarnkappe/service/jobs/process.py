"""One process that runs one job, and the limits that it is held to."""

from __future__ import annotations

import dataclasses
import json
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from tarnkappe.service.jobs.nursery import Nursery
from tarnkappe.service.settings import Limits

LOOK_EVERY = 0.25
"""Seconds between two looks at the memory of a process."""
GRACE = 3.0
"""Seconds that a process has to clean up before it is killed."""

Message = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Ending:
    """How a process ended.

    Attributes:
        how: done, failed, stopped (by us, as asked) or killed (by somebody else).
        error: why, for people.
        exit_code: as of the command.
        kind: the class of the error, if it was one of ours.
    """

    how: str
    error: str = ""
    exit_code: int = 2
    kind: str = ""


class JobProcess:
    """A process that is ready for a job, or runs it."""

    def __init__(self, nursery: Nursery) -> None:
        self._nursery = nursery
        self.pid, self._line = nursery.birth()
        self._messages: queue.Queue[Message | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def run(
        self,
        kind: str,
        document: Mapping[str, Any],
        names: Mapping[str, str],
        folder: Path,
        limits: Limits,
        stop: threading.Event,
        tell: Callable[[Message], None],
        *,
        check: bool = False,
    ) -> Ending:
        """Run a job to its end, which comes early if it takes too much or `stop` is set.

        With `check` its document is only read.
        """
        task = {"kind": kind, "document": document, "names": names, "folder": str(folder), "check": check}
        try:
            self._line.sendall(json.dumps(task).encode() + b"\n")
        except OSError:
            return self._killed()
        until, looked = time.monotonic() + limits.job_seconds, 0.0
        while True:
            now = time.monotonic()
            if now - looked > LOOK_EVERY:
                looked = now
                if self.memory() > limits.job_memory:
                    self.end(grace=0.0)
                    most = limits.job_memory / 2**20
                    return Ending("failed", f"the job took more than {most:,.0f} MB of memory and was ended")
            message = self._next()
            if message is None:
                return self._killed()
            if "end" in message:
                self.end()
                said = message.get("error", ""), message.get("exit_code", 0), message.get("kind", "")
                return Ending(message["end"], *said)
            if message:
                tell(message)
            if stop.is_set():
                self.end()
                return Ending("stopped")
            if time.monotonic() > until:
                self.end()
                return Ending(
                    "failed", f"the job took longer than {limits.job_seconds:,.0f} seconds and was ended"
                )

    def interrupt(self) -> None:
        """As Ctrl-C: a search ends with the best that it has found."""
        self._signal(signal.SIGINT)

    def memory(self) -> int:
        """The bytes that the process and what it has started hold."""
        try:
            own = psutil.Process(self.pid)
            return sum(each.memory_info().rss for each in [own, *own.children(recursive=True)])
        except psutil.Error:
            return 0

    def end(self, grace: float = GRACE) -> None:
        """End it, with everything that it has started."""
        if grace:
            self._signal(signal.SIGTERM)
            self._nursery.wait(self.pid, grace)
        self._signal(signal.SIGKILL)
        self._nursery.wait(self.pid, GRACE)
        self._nursery.forget(self.pid)
        self._line.close()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):  # it has ended
            os.killpg(self.pid, number)

    def _next(self) -> Message | None:
        try:
            return self._messages.get(timeout=LOOK_EVERY)
        except queue.Empty:
            return {}

    def _listen(self) -> None:
        """Take in what the process tells; one that was killed may end in the middle of a line."""
        with suppress(OSError, ValueError), self._line.makefile("r", encoding="utf-8") as lines:
            for line in lines:
                self._messages.put(json.loads(line))
        self._messages.put(None)

    def _killed(self) -> Ending:
        code = self._nursery.wait(self.pid, GRACE)
        self.end(grace=0.0)  # what it has started, and itself if only its line broke
        by = "" if code is None else f" by signal {-code}" if code < 0 else f" with exit code {code}"
        return Ending("killed", f"the process of the job ended unexpectedly{by}")
