"""What is known of the size of base relations: all that a cost model may read.

A number that is not known is None; nobody guesses one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tarnkappe.errors import ParameterError


@dataclass(frozen=True)
class ColumnStatistics:
    """One column: about how many different values it has. It may be an estimate: only costs depend on it."""

    distinct: int | None = None

    def __post_init__(self) -> None:
        _check(self.distinct, "different values")


@dataclass(frozen=True)
class RelationStatistics:
    """One base relation: how many rows it has, counted and not estimated, and its columns.

    Rules rely on the number of rows (no partition may be smaller than k), so an estimate is no number here.
    """

    rows: int | None = None
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check(self.rows, "rows")

    def distinct(self, column: str) -> int | None:
        """About how many different values a column has, if that is known."""
        return self.columns.get(column, ColumnStatistics()).distinct


Statistics = Mapping[str, RelationStatistics]
"""By the name of the base relation."""


def _check(number: int | None, what: str) -> None:
    if number is not None and number < 0:
        raise ParameterError(
            "algebra.number-what", "there cannot be {number} {what}", number=number, what=what
        )
