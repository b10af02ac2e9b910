"""Work in a process of its own: its seconds and its memory are those of nothing else."""

from __future__ import annotations

import dataclasses
import gc
import multiprocessing
import resource
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


@dataclasses.dataclass(frozen=True)
class Alone:
    """What work took.

    Attributes:
        seconds: of the fastest of several runs.
        megabytes: the most memory that the first run took beyond what was there before.
        outcome: what the last run returned.
    """

    seconds: float
    megabytes: float
    outcome: Any


def alone(work: Callable[[], Any], *, repeats: int = 1, patience: float = 2.0) -> Alone:
    """Do work in a fork of this process.

    A fork has what was read and compiled before, and gives back all its memory when it ends. What takes
    longer than the patience is not repeated.

    Args:
        work: something that returns what can be pickled.
        repeats: how many runs there are at most.
        patience: no further run starts after so many seconds.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    gc.collect()
    child = context.Process(target=_work, args=(work, repeats, patience, sender))
    child.start()
    sender.close()
    try:
        found: Alone | str = receiver.recv()
    except EOFError:
        raise RuntimeError("the process that measures ended without a result") from None
    finally:
        child.join()
    if isinstance(found, str):
        raise RuntimeError(f"work in a process of its own failed:\n{found}")
    return found


def _work(work: Callable[[], Any], repeats: int, patience: float, sender: Connection) -> None:
    try:
        before = _peak()
        times: list[float] = []
        peak = 0.0
        outcome: Any = None
        while not times or (len(times) < repeats and sum(times) < patience):
            start = time.perf_counter()
            outcome = work()
            times.append(time.perf_counter() - start)
            peak = peak or _peak()
        sender.send(Alone(min(times), peak - before, outcome))
    except BaseException:
        sender.send(traceback.format_exc())


def _peak() -> float:
    """Megabytes of this process at its most; a fork starts with what it inherits."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
