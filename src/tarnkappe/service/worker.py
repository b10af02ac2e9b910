"""The process of one job, and the one that all of them come from: `python -m tarnkappe.service.worker FD`.

It loads what jobs need, then divides itself whenever a line comes on which a task will be told. The process
of a job reads one task, tells how far it is and how it ended, and is gone. If the service goes away, the line
ends and so does the process. What libraries print goes nowhere: it might quote data.
"""

from __future__ import annotations

import html
import json
import math
import os
import selectors
import shutil
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO

from tarnkappe.process.libraries import load_libraries
from tarnkappe.process.signals import take_over

RESULT = "result.json"
UNPACKING = "unpacking"
"""In place of a kind of job: look how large an upload becomes."""
SCRATCH = "scratch"
"""In the folder of a job: what libraries put down for a moment, so that nothing of it stays elsewhere."""
REPORT = struct.Struct("?ii")
"""What is told of a process: whether it has ended, its number, and its exit code."""
EVERY = 0.2
"""Seconds between two reports of the same progress."""
WITH_NAMES = {".json": lambda name: json.dumps(name, ensure_ascii=False)[1:-1], ".html": html.escape}
"""How a name is written into files that may name the input, which is called there as its owner calls it."""
NICENESS = 10
"""Pages come first."""


class Telling:
    """Tells the service, from any thread."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._lock = out, threading.Lock()
        self._last: dict[str, float] = {}

    def tell(self, **message: Any) -> None:
        """Send one message."""
        with self._lock:
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()

    def __call__(self, what: str, done: int, total: int, note: str = "") -> None:
        """How far it is; what comes too soon after the last report is left out, but not the end."""
        if self._is_time(what) or done >= total:
            self.tell(stage=what, done=int(done), total=int(total), note=note)

    def look(self, filling: Callable[[], list[tuple[int, int, int]]]) -> None:
        """How far each level of a lattice is known; it is counted only when it is told."""
        if self._is_time("lattice"):
            self.tell(lattice=filling())

    def _is_time(self, what: str) -> bool:
        now = time.monotonic()
        if now - self._last.get(what, -EVERY) < EVERY:
            return False
        self._last[what] = now
        return True


def main() -> None:
    """Load what jobs need; then make a process for every line that comes, and tell how each has ended."""
    load_libraries()
    from tarnkappe.service import work

    assert work.KINDS, "everything that jobs need is loaded now"
    service = socket.socket(fileno=int(sys.argv[1]))
    some_ended, wake = socket.socketpair()
    for end in (some_ended, wake):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    watched = selectors.DefaultSelector()
    watched.register(service, selectors.EVENT_READ)
    watched.register(some_ended, selectors.EVENT_READ)
    while True:
        ready = [key.fileobj for key, _ in watched.select()]
        if some_ended in ready:
            some_ended.recv(1024)
            for pid, code in _ended():
                service.send(REPORT.pack(True, pid, code))
        if service in ready:
            asked, lines, _, _ = socket.recv_fds(service, 1, 1)
            if not asked:
                return  # the service is gone
            pid = _divide(lines[0], (service, some_ended, wake, watched))
            service.send(REPORT.pack(False, pid, 0))


def _ended() -> Iterator[tuple[int, int]]:
    """The processes that have ended, with their exit codes."""
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            yield found[0], os.waitstatus_to_exitcode(found[1])


def _divide(line: int, ours: Iterable[socket.socket | selectors.BaseSelector]) -> int:
    """A new process with a line to the service; its own session lets it be ended with all that it starts."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(line, 0)
        for each in ours:
            each.close()
        for number in (line, reading, writing):
            os.close(number)
        _attend()
    os.close(writing)
    os.read(reading, 1)  # it ends when the session is there
    for number in (line, reading):
        os.close(number)
    return pid


def _attend() -> NoReturn:
    """Wait for a task and do it."""
    from tarnkappe.service.work import KINDS, JobContext
    from tarnkappe.service.work.kind import require_sense
    from tarnkappe.service.work.unpacking import require_unpackable

    out = os.fdopen(os.dup(0), "w", encoding="utf-8")
    line = _line()
    if not line:
        os._exit(1)
    task = json.loads(line)
    threading.Thread(target=_end_with_service, daemon=True).start()
    _give_way()
    take_over()
    telling = Telling(out)
    names: Mapping[str, str] = task["names"]
    from tarnkappe.errors import TarnkappeError
    from tarnkappe.native import is_interruption

    try:
        if task["kind"] == UNPACKING:
            require_unpackable(Path(task["document"].pop("path")), **task["document"])
            telling.tell(end="done")
            os._exit(0)
        if task["check"]:
            require_sense(KINDS[task["kind"]], task["document"])
            telling.tell(end="done")
            os._exit(0)
        folder = Path(task["folder"])
        _work_in(folder / SCRATCH)
        outcome = KINDS[task["kind"]].run(task["document"], JobContext(folder, telling, names))
        for file in (folder / name for name in outcome.files.values()):
            if file.suffix in WITH_NAMES:
                text = _named(file.read_text(encoding="utf-8"), names, WITH_NAMES[file.suffix])
                file.write_text(text, encoding="utf-8")
        told = {"figures": _plain(outcome.figures), "text": outcome.text, "exit_code": outcome.exit_code}
        text = json.dumps(told | {"files": dict(outcome.files)}, ensure_ascii=False, default=str)
        (folder / RESULT).write_text(_named(text, names, WITH_NAMES[".json"]), encoding="utf-8")
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)
        telling.tell(end="done")
    except TarnkappeError as error:
        said = {"error": _named(str(error), names), "exit_code": error.exit_code}
        telling.tell(end="failed", kind=error.kind, **said)
    except MemoryError:
        telling.tell(
            end="failed", error="there was not enough memory: take fewer rows or columns", exit_code=2
        )
    except BaseException as error:
        if is_interruption(error) or isinstance(error, SystemExit):
            telling.tell(end="stopped")
        else:  # the text of an unexpected error may quote data, so only its kind is told
            telling.tell(
                end="failed", error=f"unexpected {type(error).__name__}: please report it", exit_code=2
            )
    os._exit(0)  # nothing is left to do, and no library may hold us up


def _work_in(scratch: Path) -> None:
    """Whatever is put down without a place, or in the place for temporary files, goes with the job."""
    scratch.mkdir(mode=0o700)
    os.chdir(scratch)
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)


def _line() -> str:
    """The task; read byte by byte, since the rest is for somebody else."""
    read = bytearray()
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        read += byte
    return read.decode()


def _give_way() -> None:
    """Let pages come first; Linux shares time between sessions before it looks at processes in them."""
    os.nice(NICENESS)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS))


def _end_with_service() -> None:
    while os.read(0, 1024):
        pass
    os._exit(1)


def _named(text: str, names: Mapping[str, str], written: Callable[[str], str] = str) -> str:
    """A text in which files are called as their owner calls them."""
    for path, name in names.items():
        text = text.replace(path, written(name))
    return text


def _plain(value: Any) -> Any:
    """Values that JSON has: numbers that are none become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


if __name__ == "__main__":
    main()
