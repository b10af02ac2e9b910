"""A slow, obviously correct twin of every privacy model, in plain Python and exact fractions.

A twin gets the model, the rows of one class, all rows, the rows of the population in the class and the
example. It returns the measured value and whether the class meets the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.random_tables import Example, Row

Twin = Callable[[Any, list[Row], list[Row], list[Row], Example], tuple[float | Fraction, bool]]
TWINS: dict[str, Twin] = {}


def twin(name: str) -> Callable[[Twin], Twin]:
    def register(function: Twin) -> Twin:
        TWINS[name] = function
        return function

    return register


def divisions(model: Any, members: list[Row]) -> list[list[Row]]:
    """The class divided by the given columns of a model."""
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in members:
        parts.setdefault(tuple(row[name] for name in model.given), []).append(row)
    return list(parts.values())


def counts(model: Any, members: list[Row]) -> Counter[Any]:
    return Counter(row[model.column] for row in members)
