"""Where processes of jobs come from: one process that has loaded everything, and divides itself for each.

Loading takes two seconds, dividing some milliseconds. The nursery itself never does anything else, so every
job begins in the same clean state, and none sees what another left.
"""

from __future__ import annotations

import os
import queue
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from tarnkappe.service.worker import REPORT

KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "OMP_NUM_THREADS", "NUMBA_CACHE_DIR", "JAVA_HOME", "TZ")
"""All that a job gets of the environment, in which there may be secrets of the service."""
FOLDERS = ("HOME", "TMPDIR", "NUMBA_CACHE_DIR", "JAVA_HOME")
"""Those of them that name a folder: a job works in one of its own, where a relative name means another."""


class Nursery:
    """Starts processes, and knows how they ended; one that is lost is replaced by a new one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._births = threading.Lock()
        self._codes: dict[int, int] = {}
        self._begin()

    def birth(self) -> tuple[int, socket.socket]:
        """A new process that waits for its task: its number, and the line to it."""
        ours, theirs = socket.socketpair()
        with theirs, self._births:
            for _ in range(2):
                try:
                    socket.send_fds(self._line, [b"+"], [theirs.fileno()])
                    pid = self._born.get()
                except OSError:
                    pid = None
                if pid is not None:
                    return pid, ours
                self.close()
                self._begin()
        ours.close()
        raise OSError("no process can be started")

    def wait(self, pid: int, seconds: float | None = None) -> int | None:
        """How a process ended; None if it has not within some seconds, or if nobody knows."""
        with self._changed:
            self._changed.wait_for(lambda: pid in self._codes or not self._is_alive, seconds)
            return self._codes.get(pid)

    def forget(self, pid: int) -> None:
        """Nobody will ask any more how a process ended."""
        with self._changed:
            self._codes.pop(pid, None)

    def close(self) -> None:
        """End it; processes that it has started end when their lines do."""
        self._process.kill()
        self._process.wait()

    def _begin(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "tarnkappe.service.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=[theirs.fileno()],
                env=_environment(),
            )
        self._line, self._is_alive = ours, True
        self._born: queue.Queue[int | None] = queue.Queue()
        threading.Thread(target=self._listen, args=(ours, self._born), daemon=True).start()

    def _listen(self, line: socket.socket, born: queue.Queue[int | None]) -> None:
        with line, suppress(OSError):
            while report := line.recv(REPORT.size):
                has_ended, pid, code = REPORT.unpack(report)
                with self._changed:
                    if has_ended:
                        self._codes[pid] = code
                    else:
                        self._codes.pop(pid, None)  # numbers are used again
                        born.put(pid)
                    self._changed.notify_all()
        with self._changed:
            if line is self._line:
                self._is_alive = False
            self._changed.notify_all()
        born.put(None)


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    places = {name: str(Path(kept[name]).absolute()) for name in FOLDERS if kept.get(name)}
    return kept | places
