"""Work on many values, on all cores: the libraries underneath release Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from tarnkappe.table.parallel import in_order

Item = TypeVar("Item")
Result = TypeVar("Result")

WORTH_A_THREAD = 256
"""Fewer values are done sooner than threads are started."""

PIECES_PER_CORE = 4


def in_pieces(work: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]) -> list[Result]:
    """What the work makes of all items, piece by piece on all cores.

    >>> in_pieces(lambda numbers: [2 * n for n in numbers], range(1000)) == [2 * n for n in range(1000)]
    True
    """
    cores = os.cpu_count() or 1
    if cores == 1 or len(items) < WORTH_A_THREAD:
        return work(items)
    size = -(-len(items) // (PIECES_PER_CORE * cores))
    pieces = [items[start : start + size] for start in range(0, len(items), size)]
    return [result for piece in in_order(work, pieces) for result in piece]
