"""What every script of a peer does: read the job, measure the work, print the answer."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any


def job() -> dict[str, Any]:
    """What is asked for."""
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123
        found: dict[str, Any] = json.load(file)
    return found


def measured(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """The outcome of work, its seconds, and the most memory beyond what was there before.

    What the peer prints goes to stderr.
    """
    before = most_kilobytes()
    start = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        outcome = work()
    seconds = time.perf_counter() - start
    return outcome, {"seconds": seconds, "megabytes": (most_kilobytes() - before) / 1024}


def most_kilobytes() -> float:
    """The most memory that this process ever had; `ru_maxrss` would count that of whoever started it."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:  # noqa: PTH123
            return float(next(line for line in file if line.startswith("VmHWM")).split()[1])
    except (OSError, StopIteration):
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def answer(package: str, **figures: Any) -> None:
    """Print the answer."""
    print(json.dumps({"version": importlib.metadata.version(package), **figures}))
