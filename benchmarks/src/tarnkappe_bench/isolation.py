"""(c,t)-isolation: does a guess of an attacker single somebody out among points in space?

This is a predicate on the guesses of an attacker, not on equivalence classes, so it is no model that a
search could enforce: it tells how well a release resisted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.spatial import KDTree

from tarnkappe.errors import ColumnError, InputError
from tarnkappe.privacy.exact import TOLERANCE, decimal
from tarnkappe.privacy.requiring import require_number, require_whole
from tarnkappe.table.encoding import as_numbers

Points = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Isolation:
    """A guess that isolates somebody.

    Attributes:
        guess: the row of the guess.
        row: the row of the original that is nearest to it.
        distance: how far away it is.
        neighbours: how many rows of the original, this one included, lie within c times that distance.
    """

    guess: int
    row: int
    distance: float
    neighbours: int


def isolations(
    original: pa.Table, guesses: pa.Table, columns: Sequence[str], *, c: float, t: int
) -> list[Isolation]:
    """The guesses that isolate somebody (Chawla, Dwork, McSherry, Smith and Wee 2005).

    The rows are points, by the named columns of numbers. A guess q isolates the nearest row of the
    original, at distance d, if fewer than t rows of the original lie within c d of q. The larger c and t,
    the easier it is to isolate. Whether a row lies exactly at c d is decided exactly.

    >>> people = pa.table({"age": [30, 31, 60], "income": [10, 11, 90]})
    >>> guesses = pa.table({"age": [59, 30], "income": [88, 12]})
    >>> [(found.guess, found.row) for found in isolations(people, guesses, ["age", "income"], c=3, t=2)]
    [(0, 2)]
    """
    require_number("isolation", "c", c, 1)
    require_whole("isolation", "t", t, 1)
    points, centres = _points(original, columns), _points(guesses, columns)
    if len(points) == 0 or len(centres) == 0:
        raise InputError(
            "bench.isolation-needs-least-row",
            "isolation needs at least one row of the original and one guess",
        )
    tree = KDTree(points)
    found = []
    for guess, centre in enumerate(centres):
        distance, nearest = tree.query(centre)
        reach = c * float(distance)
        perhaps = tree.query_ball_point(centre, reach * (1 + TOLERANCE) + TOLERANCE)
        surely = tree.query_ball_point(centre, reach * (1 - TOLERANCE) - TOLERANCE)
        neighbours = len(perhaps)
        if len(surely) < neighbours:
            neighbours = _neighbours(points[perhaps], centre, decimal(c))
        if neighbours < t:
            found.append(Isolation(guess, int(nearest), float(distance), neighbours))
    return found


def _neighbours(points: Points, centre: Points, c: Fraction) -> int:
    """How many points lie within c times the distance of the nearest one, exactly."""
    exact = [decimal(x) for x in centre.tolist()]
    squares = [
        sum(((decimal(x) - own) ** 2 for x, own in zip(point, exact, strict=True)), Fraction(0))
        for point in points.tolist()
    ]
    reach = c * c * min(squares)
    return sum(square <= reach for square in squares)


def _points(table: pa.Table, columns: Sequence[str]) -> Points:
    if not columns:
        raise ColumnError(
            "bench.isolation-needs-least-column", "isolation needs at least one column of numbers"
        )
    coordinates = []
    for name in columns:
        if name not in table.column_names:
            raise ColumnError("bench.table-no-column", "the table has no column '{name}'", name=name)
        numbers = as_numbers(table.column(name).combine_chunks())
        if numbers is None:
            raise ColumnError(
                "bench.column-not-hold-numbers",
                "the column '{name}' does not hold numbers, so its rows are no points",
                name=name,
            )
        if np.isnan(numbers).any():
            raise ColumnError(
                "bench.column-missing-values-leave",
                "the column '{name}' has missing values: leave these rows out",
                name=name,
            )
        coordinates.append(numbers)
    return np.column_stack(coordinates)
