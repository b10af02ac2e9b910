"""Which classes are the worst: a stable order that does not depend on the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tarnkappe.privacy.model import entries_of
from tarnkappe.table import Classes, Distribution
from tarnkappe.table.classes import Mask

Key = npt.NDArray[Any]
Indices = npt.NDArray[np.int64]


def first_classes(classes: Classes, among: Mask, keys: Sequence[Key], number: int) -> Indices:
    """The first classes in ascending order of the keys; ties are ordered by the labels of the classes.

    Sorting a million classes by ten columns takes seconds, so each key only narrows down the classes
    that can still be among the first.
    """
    order: list[Callable[[Indices], Key]] = [
        *(_settled(key).__getitem__ for key in keys),
        *(partial(_label_codes, classes, index) for index in range(len(classes.quasi_identifiers))),
    ]
    sure: list[Indices] = []
    tied = np.flatnonzero(among)
    missing = number
    for key_of in order:
        if missing == 0 or len(tied) <= missing:
            break
        values = key_of(tied)
        last = values.min() if missing == 1 else np.partition(values, missing - 1)[missing - 1]
        sure.append(tied[values < last])
        missing -= len(sure[-1])
        tied = tied[values == last]
    chosen = np.concatenate([*sure, tied[:missing]])
    return chosen[np.lexsort([key_of(chosen) for key_of in reversed(order)])]


def _settled(key: Key) -> Key:
    """A key without the last digits of floating point numbers.

    They depend on the order in which terms were added, so that equals would differ by the order of the rows.
    """
    if key.dtype.kind != "f":
        return key
    mantissa, exponent = np.frexp(np.round(key, 12))
    return np.asarray(np.ldexp(np.round(mantissa * 2.0**40), exponent - 40))


def _label_codes(classes: Classes, index: int, chosen: Indices) -> Key:
    """The labels of some classes in one quasi-identifier."""
    column = classes.quasi_identifiers[index]
    codes = column.codes[classes.representatives[chosen]]
    level = classes.levels[index]
    return codes if column.levels is None or level == 0 else column.levels.maps[level][codes]


def most_frequent(distribution: Distribution, class_index: int) -> tuple[str, int]:
    """The most frequent value of a class, of equally frequent ones the least, and how often it occurs."""
    code, count = min(entries_of(distribution, class_index), key=lambda entry: (-entry[1], entry[0]))
    return distribution.column.labels[code], count
