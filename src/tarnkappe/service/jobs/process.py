"""Processes of jobs: where they come from, the limits that they are held to, and how they end.

They come from the standard library's fork server, which has loaded everything: loading takes two seconds,
forking some milliseconds. The server itself never does anything else, so every job begins in the same clean
state, and none sees what another left. It ends with the service.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, get_context, spawn
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import psutil

from tarnkappe.errors import Reason
from tarnkappe.service.settings import Limits
from tarnkappe.service.worker import attend

PRELOAD = "tarnkappe.service.preload"
STARTER = "worker-python"
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "OMP_NUM_THREADS", "NUMBA_CACHE_DIR", "JAVA_HOME", "TZ")
"""All that a job gets of the environment, in which there may be secrets of the service."""
FOLDERS = ("HOME", "TMPDIR", "NUMBA_CACHE_DIR", "JAVA_HOME")
"""Those of them that name a folder: a job works in one of its own, where a relative name means another."""
LONGEST_FOLDER = 107 - len("/pymp-12345678/listener-12345678")
"""How long the name of the folder for temporary files may be for a socket in it; systems have 107 bytes."""
SHORT_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  the folder in it is made by mkdtemp
LOOK_EVERY = 0.25
"""Seconds between two looks at the memory of a process."""
TRIES, PAUSE = 100, 0.1
"""How often a process is asked for, and the seconds between: a killed server takes a moment to end."""
GRACE = 3.0
"""Seconds that a process has to clean up before it is killed."""

Message = dict[str, Any]

_lock = threading.Lock()
"""The server and the list of its processes are one for the whole process, and know no threads."""


@dataclasses.dataclass(frozen=True)
class Ending:
    """How a process ended.

    Attributes:
        how: done, failed, stopped (by us, as asked) or killed (by somebody else).
        error: why.
        exit_code: as of the command.
        kind: the class of the error, if it was one of ours.
    """

    how: str
    error: Reason | None = None
    exit_code: int = 2
    kind: str = ""


class JobProcess:
    """A process that is ready for a job, or runs it."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server
        self._process, self._line, self._seen = server.spawn()
        self.pid = self._seen.pid
        self._has_ended = False

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
            self._line.send_bytes(json.dumps(task).encode())
        except OSError:
            return self._killed()
        until, looked = time.monotonic() + limits.job_seconds, 0.0
        while True:
            now = time.monotonic()
            if now - looked > LOOK_EVERY:
                looked = now
                if self.memory() > limits.job_memory:
                    self.end(grace=0.0)
                    return Ending(
                        "failed",
                        Reason(
                            "service.job-memory",
                            "the job took more than {most:,.0f} MB of memory and was ended",
                            most=limits.job_memory / 2**20,
                        ),
                    )
            message = self._next()
            if message is None:
                return self._killed()
            if "end" in message:
                self.end()
                reason = message.get("reason")
                why = None if reason is None else Reason.again(reason)
                return Ending(
                    message["end"], why, message.get("exit_code", 0), (reason or {}).get("kind", "")
                )
            if message:
                tell(message)
            if stop.is_set():
                self.end()
                return Ending("stopped")
            if time.monotonic() > until:
                self.end()
                return Ending(
                    "failed",
                    Reason(
                        "service.job-seconds",
                        "the job took longer than {seconds:,.0f} seconds and was ended",
                        seconds=limits.job_seconds,
                    ),
                )

    def interrupt(self) -> None:
        """As Ctrl-C: a search ends with the best that it has found."""
        self._signal(signal.SIGINT)

    def memory(self) -> int:
        """The bytes that the process and what it has started hold."""
        held = 0
        with suppress(psutil.Error):  # it has ended
            for each in [self._seen, *self._seen.children(recursive=True)]:
                with suppress(psutil.Error):  # what it has started may end meanwhile
                    held += each.memory_info().rss
        return held

    def end(self, grace: float = GRACE) -> None:
        """End it, with everything that it has started; once it has ended, nothing more happens."""
        if self._has_ended:
            return
        if grace:
            self._signal(signal.SIGTERM)
            self._server.wait(self._process, grace)
        self._signal(signal.SIGKILL)
        self._server.wait(self._process, GRACE)
        self._has_ended = True
        self._server.forget(self._process)
        self._line.close()

    def _signal(self, number: signal.Signals) -> None:
        if not self._has_ended and self._has_its_number():
            with suppress(ProcessLookupError, PermissionError):  # it has ended
                os.killpg(self.pid, number)

    def _has_its_number(self) -> bool:
        """Whether its number is not somebody else's: it is free only when all that it has started is gone."""
        try:
            return bool(psutil.Process(self.pid) == self._seen)
        except psutil.NoSuchProcess:
            return True

    def _next(self) -> Message | None:
        """What the process tells; nothing yet, or None if it has ended, may be in the middle of a message."""
        try:
            return json.loads(self._line.recv_bytes()) if self._line.poll(LOOK_EVERY) else {}
        except (EOFError, OSError, ValueError):
            return None

    def _killed(self) -> Ending:
        code = self._server.wait(self._process, GRACE)
        self.end(grace=0.0)  # what it has started, and itself if only its line broke
        by: str = ""
        if code is not None:
            by = (
                Reason("service.by-signal", " by signal {signal}", signal=-code)
                if code < 0
                else Reason("service.with-exit-code", " with exit code {code}", code=code)
            )
        why = Reason("service.process-ended", "the process of the job ended unexpectedly{by}", by=by)
        return Ending("killed", why)


class ForkServer:
    """Starts processes, and knows how they ended; a server that is lost is replaced by a new one.

    Args:
        folder: where it writes the program that the server is started by.
    """

    def __init__(self, folder: Path) -> None:
        self._context = get_context("forkserver")
        self._starter = folder / STARTER
        self._starter.unlink(missing_ok=True)
        self._starter.write_text(_starter(), encoding="utf-8")
        self._starter.chmod(0o700)
        with _lock, self._executable(), _short_names():
            self._context.set_forkserver_preload([PRELOAD])
            forkserver.ensure_running()

    def spawn(self) -> tuple[ForkServerProcess, Connection, psutil.Process]:
        """A new process that waits for its task, in a session of its own; the line to it, and who it is."""
        for _ in range(TRIES):  # the server may be lost; as soon as its end is known there is another one
            ours, theirs = self._context.Pipe()
            process = self._context.Process(target=attend, args=(theirs,), daemon=True)
            try:
                with theirs, _lock, self._executable():
                    process.start()
                ours.recv_bytes()  # it is ready
                seen = psutil.Process(process.pid)
            except (OSError, EOFError, psutil.NoSuchProcess):
                ours.close()
                time.sleep(PAUSE)
            else:
                return process, ours, seen
        raise OSError("no process can be started")

    def wait(self, process: ForkServerProcess, seconds: float) -> int | None:
        """How a process ended; None if it has not within some seconds, or if nobody knows."""
        wait([process.sentinel], seconds)
        with _lock:
            code = process.exitcode
        return None if code == 255 else code  # the server was lost, and the process may go on

    def forget(self, process: ForkServerProcess) -> None:
        """Nobody will ask any more how a process ended."""
        with _lock, suppress(ValueError):  # it does not end: what it has open stays open with it
            process.join(0)
            process.close()

    @contextmanager
    def _executable(self) -> Iterator[None]:
        """Let multiprocessing start Python by our program; others may use it in this process, too."""
        before = spawn.get_executable()
        spawn.set_executable(str(self._starter))
        try:
            yield
        finally:
            spawn.set_executable(before)


@contextmanager
def _short_names() -> Iterator[None]:
    """Let multiprocessing make its sockets where their names are short enough for the system."""
    before, usual = tempfile.tempdir, tempfile.gettempdir()
    if len(os.fsencode(usual)) > LONGEST_FOLDER:
        writable = (folder for folder in SHORT_FOLDERS if os.access(folder, os.W_OK | os.X_OK))
        tempfile.tempdir = next(writable, usual)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _starter() -> str:
    """A program that starts Python as multiprocessing asks, in a clean environment.

    It has another session, so that Ctrl-C in the terminal of the service does not reach it, and reads and
    writes nothing: what libraries print might quote data. It finds the same modules as the service.
    """
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    kept |= {name: str(Path(kept[name]).absolute()) for name in FOLDERS if kept.get(name)}
    paths = [str(Path(path).absolute()) for path in sys.path]
    first = f"import os, sys; os.setsid(); sys.path[:] = {paths!r}; exec(sys.argv[-1])"
    command = ["env", "-i", *(f"{name}={value}" for name, value in kept.items()), sys.executable, "-c", first]
    return f'#!/bin/sh\nexec {shlex.join(command)} "$@" </dev/null >/dev/null 2>&1\n'
