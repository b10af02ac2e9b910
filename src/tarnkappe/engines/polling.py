"""Telling the progress of a statement while the engine works on it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tarnkappe.table.encoding import Progress

SECONDS = 0.2
WHOLE = 100


@contextmanager
def told_while_running(progress: Progress | None, what: str, percent: Callable[[], float]) -> Iterator[None]:
    """Ask an engine now and then how far it is, and pass it on; without a listener, do not ask."""
    if progress is None:
        yield
        return
    finished = threading.Event()

    def ask() -> None:
        while not finished.wait(SECONDS):
            progress(what, min(max(int(percent()), 0), WHOLE), WHOLE)

    asking = threading.Thread(target=ask, daemon=True)
    progress(what, 0, WHOLE)
    asking.start()
    try:
        yield
    finally:
        finished.set()
        asking.join()
    progress(what, WHOLE, WHOLE)
