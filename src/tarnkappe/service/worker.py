"""The process of one job: it reads one task, tells how far it is and how it ended, and is gone.

If the service goes away, so does the process.
"""

from __future__ import annotations

import html
import json
import math
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tarnkappe.process.signals import take_over, too_late

if TYPE_CHECKING:
    from tarnkappe.errors import TarnkappeError

RESULT = "result.json"
UNPACKING = "unpacking"
"""In place of a kind of job: look how large an upload becomes."""
SCRATCH = "scratch"
"""In the folder of a job: what libraries put down for a moment, so that nothing of it stays elsewhere."""
EVERY = 0.2
"""Seconds between two reports of the same progress."""
WITH_NAMES = {".json": lambda name: json.dumps(name, ensure_ascii=False)[1:-1], ".html": html.escape}
"""How a name is written into files that may name the input, which is called there as its owner calls it."""
NICENESS = 10
"""Pages come first."""


class Telling:
    """Tells the service, from any thread."""

    def __init__(self, line: Connection) -> None:
        self._line, self._lock = line, threading.Lock()
        self._last: dict[str, float] = {}

    def tell(self, **message: Any) -> None:
        """Send one message."""
        with self._lock:
            self._line.send_bytes(json.dumps(message).encode())

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


def attend(line: Connection) -> NoReturn:
    """Wait for a task and do it, in a session of its own: so it can be ended with all that it starts."""
    from tarnkappe.service.work import KINDS, JobContext
    from tarnkappe.service.work.kind import require_sense
    from tarnkappe.service.work.unpacking import require_unpackable

    os.setsid()
    _close_others(line)
    line.send_bytes(b"ready")
    try:
        task = json.loads(line.recv_bytes())
    except EOFError:
        os._exit(1)
    threading.Thread(target=_end_with_service, daemon=True).start()
    _give_way()
    take_over()
    telling = Telling(line)
    names: Mapping[str, str] = task["names"]
    from tarnkappe.errors import Reason, TarnkappeError
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
        too_late()
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
        reason = _with_names(_said_here(error).document(), names)
        telling.tell(end="failed", reason=reason, exit_code=error.exit_code)
    except MemoryError:
        reason = Reason(
            "service.not-enough-memory", "there was not enough memory: take fewer rows or columns"
        )
        telling.tell(end="failed", reason=reason.document(), exit_code=2)
    except BaseException as error:
        if isinstance(error, SystemExit):  # somebody ends us who is not the service: it has stopped listening
            os._exit(128 + signal.SIGTERM)
        if is_interruption(error):
            telling.tell(end="stopped")
        else:  # the text of an unexpected error may quote data, so only its kind is told
            kind = type(error).__name__
            reason = Reason("service.unexpected", "unexpected {kind}: please report it", kind=kind)
            telling.tell(end="failed", reason=reason.document(), exit_code=2)
    os._exit(0)  # nothing is left to do, and no library may hold us up


def _work_in(scratch: Path) -> None:
    """Whatever is put down without a place, or in the place for temporary files, goes with the job."""
    scratch.mkdir(mode=0o700)
    os.chdir(scratch)
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)


def _close_others(line: Connection) -> None:
    """Close what came from the service or from the fork server: neither is any business of a job."""
    service = parent_process()
    assert service is not None
    begin = 3
    for kept in sorted((line.fileno(), service.sentinel)):
        os.closerange(begin, kept)
        begin = kept + 1
    os.closerange(begin, os.sysconf("SC_OPEN_MAX"))


def _give_way() -> None:
    """Let pages come first; Linux shares time between sessions before it looks at processes in them."""
    os.nice(NICENESS)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS))


def _end_with_service() -> None:
    """End with all that was started as soon as the service is gone."""
    service = parent_process()
    assert service is not None
    service.join()
    os.killpg(0, signal.SIGKILL)


def _named(text: str, names: Mapping[str, str], written: Callable[[str], str] = str) -> str:
    """A text in which files are called as their owner calls them."""
    for path, name in names.items():
        text = text.replace(path, written(name))
    return text


def _said_here(error: TarnkappeError) -> TarnkappeError:
    """The error, without flags of the command line."""
    from tarnkappe.errors import InputError

    if error.code != "table.several-tables":
        return error
    return InputError(
        "service.several-tables",
        "{path}: there are several tables: upload the one that you mean alone, or name it in the document of "
        "the job, as sheet of its input: {names}",
        **error.reason.values,
    )


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    """A document in which files are called as their owner calls them."""
    if isinstance(value, str):
        return _named(value, names)
    if isinstance(value, Mapping):
        return {key: _with_names(each, names) for key, each in value.items()}
    return [_with_names(each, names) for each in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Values that JSON has: numbers that are none become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
