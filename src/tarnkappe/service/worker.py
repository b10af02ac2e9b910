"""The process of one job: `python -m tarnkappe.service.worker`.

It loads what jobs need, waits for one task as a line on stdin, tells on stdout how far it is and how it
ended, and is gone. If the service goes away, stdin ends and so does the process. What libraries print goes
nowhere: it might quote data.
"""

from __future__ import annotations

import html
import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from tarnkappe.cli.signals import take_over
from tarnkappe.cli.start import load_libraries

RESULT = "result.json"
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
    """Wait for a task and do it."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    load_libraries()
    from tarnkappe.service.work import KINDS, Work

    line = _line()
    if not line:
        return
    task = json.loads(line)
    threading.Thread(target=_end_with_service, daemon=True).start()
    _give_way()
    take_over()
    telling = Telling(out)
    names: Mapping[str, str] = task["names"]
    from tarnkappe.errors import TarnkappeError
    from tarnkappe.native import is_interruption

    try:
        folder = Path(task["folder"])
        outcome = KINDS[task["kind"]].run(task["document"], Work(folder, telling, names))
        for file in (folder / name for name in outcome.files.values()):
            if file.suffix in WITH_NAMES:
                text = _named(file.read_text(encoding="utf-8"), names, WITH_NAMES[file.suffix])
                file.write_text(text, encoding="utf-8")
        told = {"figures": _plain(outcome.figures), "text": outcome.text, "exit_code": outcome.exit_code}
        text = json.dumps(told | {"files": dict(outcome.files)}, ensure_ascii=False, default=str)
        (folder / RESULT).write_text(_named(text, names, WITH_NAMES[".json"]), encoding="utf-8")
        telling.tell(end="done")
    except TarnkappeError as error:
        telling.tell(end="failed", error=_named(str(error), names), exit_code=error.exit_code)
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


def _line() -> str:
    """The first line of stdin; read byte by byte, since the rest is for somebody else."""
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
