"""What the log says of a failure: which kind, and where in the program. Texts of errors may quote data."""

from __future__ import annotations

import traceback
from pathlib import PurePath

DEEPEST = 8


def told(failure: BaseException) -> str:
    """The kinds of an error and of those behind it, each with the places that it came through.

    >>> try:
    ...     int("Ann has flu")
    ... except ValueError as failure:
    ...     print(told(failure))
    ValueError at <doctest tarnkappe.gate.server.failures.told[0]>:2 <module>
    """
    kinds: list[str] = []
    now: BaseException | None = failure
    while now is not None and len(kinds) < DEEPEST:
        frames = reversed(traceback.extract_tb(now.__traceback__)[-DEEPEST:])
        places = (f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
        kinds.append(f"{type(now).__name__} at {', '.join(places)}")
        now = now.__cause__ or (None if now.__suppress_context__ else now.__context__)
    return "; after ".join(kinds)
