"""How long a method goes on: until it is done, until its time is over, or until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tarnkappe.lattice.interruption import heard


class Patience:
    """Asked between two steps of a method that has something to show at any time."""

    def __init__(self, seconds: float | None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds
        self._interrupted = False

    def interrupt(self) -> None:
        """Ctrl-C was pressed."""
        self._interrupted = True

    @property
    def over(self) -> str:
        """Why to stop now ("interrupted", "out of time"), or "" if there is no reason to."""
        if self._interrupted:
            return "interrupted"
        return "out of time" if self._until is not None and time.monotonic() >= self._until else ""


@contextmanager
def patience(seconds: float | None) -> Iterator[Patience]:
    """Listen to Ctrl-C and the clock; a second Ctrl-C has its usual effect."""
    own = Patience(seconds)
    with heard(own.interrupt):
        yield own
