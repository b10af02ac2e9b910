"""Numbers on a grid: a column clamped to its declared bounds and counted in steps of whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ibis

STEPS = 2**20
"""So many steps lie between the bounds of a column that does not hold whole numbers."""

CANDIDATES = 2**10
"""Among so many values, at most, a quantile is chosen."""


@dataclass(frozen=True)
class NumberGrid:
    """A value is `origin + number * step`, for numbers from 0 to `last`."""

    origin: Fraction
    step: Fraction
    last: int

    @classmethod
    def of(cls, lower: Fraction, upper: Fraction, *, whole: bool, most: int = STEPS) -> NumberGrid:
        """The grid between two bounds; for whole numbers, each of them if there are not too many.

        >>> NumberGrid.of(Fraction(18), Fraction(90), whole=True)
        NumberGrid(origin=Fraction(18, 1), step=Fraction(1, 1), last=72)
        """
        if whole and math.floor(upper) - math.ceil(lower) in range(1, most + 1):
            return cls(Fraction(math.ceil(lower)), Fraction(1), math.floor(upper) - math.ceil(lower))
        return cls(lower, (upper - lower) / most, most)

    def number(self, cell: Any) -> Any:
        """The number of a cell in a statement, clamped twice: no rounding of an engine leaves the grid."""
        low, high = (float(self.origin), float(self.value(self.last)))
        clamped = ibis.least(ibis.greatest(cell.cast("float64"), low), high)
        number = ((clamped - low) / float(self.step)).round().cast("int64")
        on_grid = ibis.least(ibis.greatest(number, 0), self.last)
        return ibis.cases((cell.isnull(), ibis.null("int64")), else_=on_grid)  # engines clamp NULL to a bound

    def value(self, number: int | Fraction) -> Fraction:
        """The value of a number."""
        return self.origin + number * self.step
