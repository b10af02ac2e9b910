"""Waiting for a statement while the engine works on it: Ctrl-C is heard, progress is told."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from tarnkappe.table.encoding import Progress

SECONDS = 0.2
WHOLE = 100

Answer = TypeVar("Answer")


def wait_for(
    work: Callable[[], Answer],
    interrupt: Callable[[], None],
    percent: Callable[[], float],
    progress: Progress | None,
    what: str,
) -> Answer:
    """Run a statement and return what it gives; the waiting thread hears Ctrl-C, which an engine may not.

    Args:
        work: runs the statement, in a thread of its own.
        interrupt: makes the engine give it up.
        percent: how far the engine is; it is asked now and then, and only if somebody listens.
        progress: who listens.
        what: what is being done.
    """
    with ThreadPoolExecutor(1) as alone:
        running = alone.submit(work)
        try:
            while not wait([running], SECONDS).done:
                if progress is not None:
                    progress(what, min(max(int(percent()), 0), WHOLE), WHOLE)
        except BaseException:
            interrupt()
            wait([running])
            raise
    answer = running.result()
    if progress is not None:
        progress(what, WHOLE, WHOLE)
    return answer
