"""Facts of a table that do not change during a search, computed once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from tarnkappe.table import Tuples

Key = TypeVarTuple("Key")
Fact = TypeVar("Fact")


def remembered(function: Callable[[Tuples, *Key], Fact]) -> Callable[[Tuples, *Key], Fact]:
    """Keep what a function says of a table with that table, by the other arguments.

    Under full-domain generalization most losses need of a column only its value counts before and after,
    so a search computes them once per column and level and never looks at a row again.
    """
    place = f"_remembered_{function.__qualname__}"

    @functools.wraps(function)
    def lookup(tuples: Tuples, *key: *Key) -> Fact:
        facts: dict[tuple[*Key], Fact] = tuples.__dict__.setdefault(place, {})
        if key not in facts:
            facts[key] = function(tuples, *key)
        return facts[key]

    return lookup
