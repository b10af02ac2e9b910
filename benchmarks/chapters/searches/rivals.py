"""The searches that are compared, and whether they agree."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

RIVALS = ("flash", "ola", "flash-dfs", "incognito", "bfs", "auto")
"""The searches of the literature for monotone criteria, and what users get by default."""
PATIENCE = 10.0


def geometric(values: Iterable[float]) -> float:
    return statistics.geometric_mean(max(value, 1e-6) for value in values)


def agree(lines: list[dict[str, Any]], keys: tuple[str, ...]) -> bool:
    """Whether all searches found the same loss for the same problem."""
    found: dict[tuple[Any, ...], list[float]] = {}
    for line in lines:
        if line.get("loss") is not None and line["optimal"]:
            found.setdefault(tuple(line[key] for key in keys), []).append(line["loss"])
    return all(max(each) - min(each) <= 1e-5 * max(abs(max(each)), 1) for each in found.values())
