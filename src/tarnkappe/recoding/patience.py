"""How long a method goes on: until it is done, until its time is over, or until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tarnkappe.lattice.interruption import heard


def _wall() -> float:
    return time.monotonic()


_CLOCK: ContextVar[Callable[[], float]] = ContextVar("clock", default=_wall)


class Patience:
    """Asked between two steps of a method that has something to show at any time."""

    def __init__(self, seconds: float | None) -> None:
        self._clock = _CLOCK.get()
        self._until = None if seconds is None else self._clock() + seconds
        self._interrupted = False

    def interrupt(self) -> None:
        """Ctrl-C was pressed."""
        self._interrupted = True

    @property
    def over(self) -> str:
        """Why to stop now ("interrupted", "out of time"), or "" if there is no reason to."""
        if self._interrupted:
            return "interrupted"
        return "out of time" if self._until is not None and self._clock() >= self._until else ""


@contextmanager
def by_processor_time() -> Iterator[None]:
    """Let seconds be those that the own thread works: what is found does not depend on what else runs."""
    token = _CLOCK.set(time.thread_time)
    try:
        yield
    finally:
        _CLOCK.reset(token)


@contextmanager
def patience(seconds: float | None) -> Iterator[Patience]:
    """Listen to Ctrl-C and the clock; a second Ctrl-C has its usual effect."""
    own = Patience(seconds)
    with heard(own.interrupt):
        yield own
