"""A function of arrays that is asked the same question again and again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

Arguments = TypeVarTuple("Arguments")
Answer = TypeVar("Answer")


def remembers_last(function: Callable[[*Arguments], Answer]) -> Callable[[*Arguments], Answer]:
    """Give the last answer again if the arguments are the very same objects.

    A search asks thousands of times about classes of the same table.
    """
    last: list[tuple[tuple[*Arguments], Answer]] = []

    @functools.wraps(function)
    def answer(*arguments: *Arguments) -> Answer:
        for before, known in last:  # threads may replace the list's entry, never change it
            if list(map(id, before)) == list(map(id, arguments)):
                return known
        found = function(*arguments)
        last[:] = [(arguments, found)]
        return found

    return answer
