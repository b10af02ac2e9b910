"""Exact decisions where floating point would be wrong.

Measured values are computed in floating point. Where one lies so close to the bound that rounding
could decide, the comparison is made again in exact arithmetic, with the bound read as the decimal
number that the user wrote.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

TOLERANCE = 1e-9


def decimal(number: float) -> Fraction:
    """The number as the user wrote it: 0.1 is one tenth, not its nearest binary fraction."""
    return Fraction(str(number))


def share_of(share: float, total: int) -> int:
    """The whole rows in a share: the floor of share x total, exactly."""
    return math.floor(decimal(share) * total)


def at_least(
    measured: npt.NDArray[np.float64], bound: float, exactly: Callable[[int], bool]
) -> npt.NDArray[np.bool_]:
    """Where the measured values reach the bound; `exactly` decides the ties by index."""
    return _compare(measured >= bound, measured, bound, exactly)


def at_most(
    measured: npt.NDArray[np.float64], bound: float, exactly: Callable[[int], bool]
) -> npt.NDArray[np.bool_]:
    """Where the measured values do not exceed the bound; `exactly` decides the ties by index."""
    return _compare(measured <= bound, measured, bound, exactly)


def _compare(
    holds: npt.NDArray[np.bool_],
    measured: npt.NDArray[np.float64],
    bound: float,
    exactly: Callable[[int], bool],
) -> npt.NDArray[np.bool_]:
    near = np.flatnonzero(np.abs(measured - bound) <= TOLERANCE * max(1.0, abs(bound)))
    for index in near:
        holds[index] = exactly(int(index))
    return holds
