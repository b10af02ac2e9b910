"""When answers leave: at times that tell next to nothing about how they were found.

How long a decision takes depends on the history and on the true values: an easy answer is quick, a refusal or
an answer that needs artificial values takes a search. So every answer, refusal and failure waits for the next
of the times q, 2q, 4q, 8q, ... after its turn came, and the next turn begins only then. Whoever measures
learns which of these it was, a number that grows with the logarithm of the time; mostly it is the first.
"""

from __future__ import annotations

import asyncio
import time


def release_time(elapsed: float, quantum: float) -> float:
    """How long after its turn came an answer leaves that is ready after a time.

    >>> [release_time(seconds, 0.05) for seconds in (0.0, 0.01, 0.05, 0.051, 0.19)]
    [0.05, 0.05, 0.05, 0.1, 0.2]
    """
    leaves = quantum
    while leaves < elapsed:
        leaves *= 2
    return leaves


async def until_release(began: float, quantum: float) -> float:
    """Wait for the next time at which an answer may leave; says how long after the beginning that is.

    Args:
        began: when its turn came, by `time.monotonic`.
        quantum: the first of these times.
    """
    elapsed = time.monotonic() - began
    leaves = release_time(elapsed, quantum)
    await asyncio.sleep(max(0.0, leaves - elapsed))
    return leaves
