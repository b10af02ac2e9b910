"""The end of a process that is ours: at once, when everything is said and cleared away.

Before it ends, Python takes a thousand modules and their objects apart one by one, which takes a sixth of the
time of a command on a small table. The system takes the memory back anyway.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_code: int | None = None
"""With what the process ends; None while it is not known, and where Python has more to say at its end."""


@contextmanager
def ended_at_once() -> Iterator[None]:
    """End the process as the exit in this block says, but take nothing apart.

    To be entered before libraries are loaded: what they registered for the end is then done before, and
    threads have ended before it, as always.
    """
    global _code
    atexit.register(_end)
    try:
        yield
    except SystemExit as end:
        _code = end.code if isinstance(end.code, int) else None
        raise


def _end() -> None:
    if _code is None:
        return
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):  # nobody listens any more: Python has its own way to end then
        return
    os._exit(_code)
