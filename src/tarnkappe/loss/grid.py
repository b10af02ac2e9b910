"""Numbers for all combinations of levels at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

Grid = npt.NDArray[np.float64]
"""A number for every combination of levels: one axis per column, along it the levels that may be chosen."""


def over_levels(function: np.ufunc, by_column: Sequence[npt.ArrayLike]) -> Grid:
    """Combine a number of each column, given for each of its levels, over all combinations of levels.

    >>> over_levels(np.add, [[0.0, 1.0], [0.0, 10.0, 20.0]]).tolist()
    [[0.0, 10.0, 20.0], [1.0, 11.0, 21.0]]
    """
    numbers = (np.array(column, dtype=np.float64) for column in by_column)
    return reduce(function.outer, numbers, np.array(function.identity or 0.0))
