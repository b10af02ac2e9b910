"""How long a method goes on: until it is done, until its time is over, or until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tarnkappe.lattice.interruption import heard

_COUNTS_WORK: ContextVar[bool] = ContextVar("counts work", default=False)


class Patience:
    """Asked between two steps of a method that has something to show at any time."""

    def __init__(self, seconds: float | None) -> None:
        self._counts_work = _COUNTS_WORK.get()
        self._spent = 0.0
        self._until = None if seconds is None else self._now() + seconds
        self._interrupted = False

    def _now(self) -> float:
        return self._spent if self._counts_work else time.monotonic()

    def spend(self, seconds: float) -> None:
        """A step is done that takes about so long: a figure that depends on the step, not on the machine."""
        self._spent += seconds

    def interrupt(self) -> None:
        """Ctrl-C was pressed."""
        self._interrupted = True

    @property
    def over(self) -> str:
        """Why to stop now ("interrupted", "out of time"), or "" if there is no reason to."""
        if self._interrupted:
            return "interrupted"
        return "out of time" if self._until is not None and self._now() >= self._until else ""


@contextmanager
def by_counted_work() -> Iterator[None]:
    """Let seconds be counted by the work that methods say they did.

    What is found depends neither on the machine, nor on what else runs there, nor on kernels that are still
    to be compiled. A method that does not say what it did goes on to its end.
    """
    token = _COUNTS_WORK.set(True)
    try:
        yield
    finally:
        _COUNTS_WORK.reset(token)


@contextmanager
def patience(seconds: float | None) -> Iterator[Patience]:
    """Listen to Ctrl-C and the clock; a second Ctrl-C has its usual effect."""
    own = Patience(seconds)
    with heard(own.interrupt):
        yield own
