"""Exact distributions over bags of rows: what a plan with random operators may return, and how likely.

Probabilities are fractions, so two distributions are equal or they are not; nothing is sampled and no
tolerance is chosen. Rows stay in order as long as an operator above still reads positions (slicing cuts
its buckets by them); the final comparison forgets the order of rows and of columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

Cell = Any
Row = tuple[Cell, ...]
Rows = tuple[Row, ...]


@lru_cache(maxsize=1 << 16)
def _place(row: Row) -> tuple[tuple[str, str], ...]:
    """Where a row stands among others whatever its cells are; missing values stand first."""
    return tuple(("", "") if cell is None else (type(cell).__name__, repr(cell)) for cell in row)


def as_bag(rows: Iterable[Row]) -> Rows:
    """The rows in their canonical order: two lists hold the same bag if and only if this is equal."""
    return tuple(sorted(rows, key=_place))


@dataclasses.dataclass(frozen=True)
class OutcomeDistribution:
    """The probability of every possible result, over named columns.

    >>> coin = OutcomeDistribution.of(("A",), [((("yes",),), Fraction(1, 2)), ((("no",),), Fraction(1, 2))])
    >>> coin == coin.then(lambda rows: [(rows, Fraction(1))])
    True
    """

    columns: tuple[str, ...]
    probabilities: Mapping[Rows, Fraction]

    @classmethod
    def of(cls, columns: tuple[str, ...], outcomes: Iterable[tuple[Rows, Fraction]]) -> OutcomeDistribution:
        """A distribution from outcomes with probabilities; equal outcomes are added."""
        total: dict[Rows, Fraction] = {}
        for rows, probability in outcomes:
            if probability:
                total[rows] = total.get(rows, Fraction(0)) + probability
        return cls(columns, total)

    @classmethod
    def certain(cls, columns: tuple[str, ...], rows: Rows) -> OutcomeDistribution:
        """The distribution of a result that does not depend on chance."""
        return cls(columns, {rows: Fraction(1)})

    def __iter__(self) -> Iterator[tuple[Rows, Fraction]]:
        return iter(self.probabilities.items())

    def __len__(self) -> int:
        return len(self.probabilities)

    def then(self, draw: Callable[[Rows], Iterable[tuple[Rows, Fraction]]]) -> OutcomeDistribution:
        """What comes out if every result is worked on further, with fresh randomness."""
        return OutcomeDistribution.of(
            self.columns,
            ((further, probability * chance) for rows, probability in self for further, chance in draw(rows)),
        )

    def map(self, columns: tuple[str, ...], change: Callable[[Rows], Rows]) -> OutcomeDistribution:
        """What comes out if every result is changed by a function."""
        return OutcomeDistribution.of(columns, ((change(rows), probability) for rows, probability in self))

    def unordered(self) -> OutcomeDistribution:
        """The same results with the order of their rows forgotten."""
        return self.map(self.columns, as_bag)

    def project(self, columns: Iterable[str]) -> OutcomeDistribution:
        """The distribution of the bags that remain on these columns, duplicates kept."""
        kept = tuple(sorted(columns))
        positions = [self.columns.index(column) for column in kept]
        return self.map(kept, lambda rows: as_bag(tuple(row[i] for i in positions) for row in rows))

    def same_as(self, other: OutcomeDistribution) -> bool:
        """Whether both have the same columns and every bag of rows is equally likely in both."""
        if set(self.columns) != set(other.columns):
            return False
        mine, its = self.project(self.columns), other.project(other.columns)
        return mine.probabilities == its.probabilities

    @property
    def row_counts(self) -> frozenset[int]:
        """The numbers of rows that a result may have."""
        return frozenset(len(rows) for rows in self.probabilities)
