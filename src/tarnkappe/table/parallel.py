"""Work on pieces in threads, with the results in the order of the pieces."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def in_order(work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
    """Do the work on all cores, a few pieces ahead of what is asked for, so that memory stays bounded.

    >>> list(in_order(len, ["a", "", "abc"]))
    [1, 0, 3]
    """
    cores = os.cpu_count() or 1
    under_way: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(cores) as pool:
        try:
            for piece in pieces:
                under_way.append(pool.submit(work, piece))
                if len(under_way) > cores:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
