"""Distinction and separation: how well each set of columns tells rows apart, and the smallest keys."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.privacy.exact import decimal
from tarnkappe.risk.measures.measure import Chart, MeasureResult, RiskFigure, RiskMeasure
from tarnkappe.schema import ExactPositiveShare, param
from tarnkappe.table import Classes
from tarnkappe.table.classes import num_labels
from tarnkappe.table.encoding import Codes, Counts, Progress
from tarnkappe.table.grouping import group_codes, sum_by_group

MOST_SETS = 50_000
"""More sets of columns than this are refused: it would take hours."""
SHOWN = 10


class ColumnSet(NamedTuple):
    """How well some columns tell rows apart.

    Attributes:
        columns: their names.
        classes: into how many classes they part the rows.
        distinction: classes / rows.
        separation: the share of all pairs of rows that they tell apart.
    """

    columns: tuple[str, ...]
    classes: int
    distinction: float
    separation: float


@dataclasses.dataclass(frozen=True)
class DistinctionFound(MeasureResult):
    """Sets of columns by size, then by what they tell apart, the strongest first.

    Attributes:
        largest: the most columns that were combined.
        sets: all sets up to that size.
        keys: those that tell apart as much as a key must while no smaller part of them does.
    """

    largest: int
    sets: tuple[ColumnSet, ...]
    keys: tuple[tuple[str, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "largest": self.largest,
            "sets": [each._asdict() | {"columns": list(each.columns)} for each in self.sets],
            "keys": [list(columns) for columns in self.keys],
        }

    def figures(self) -> Iterator[RiskFigure]:
        yield RiskFigure(
            "keys", len(self.keys), f"smallest sets of at most {self.largest} columns that are a key"
        )
        for size in range(1, self.largest + 1):
            best = next(each for each in self.sets if len(each.columns) == size)
            named = f"pairs of rows that {', '.join(best.columns)} tell apart, the strongest of this size"
            yield RiskFigure(f"  by {size}", best.separation, named, share=True)

    def charts(self) -> Iterator[Chart]:
        yield Chart(
            "Which columns tell people apart",
            "Share of the pairs of rows that the strongest sets of columns tell apart (separation).",
            tuple(
                RiskFigure(", ".join(each.columns), each.separation, "of all pairs", share=True)
                for each in sorted(self.sets, key=lambda each: -each.separation)[:SHOWN]
            ),
        )


class Distinction(RiskMeasure):
    """Distinction and separation of all sets of columns up to a size, and the minimal keys among them.

    Distinction is the share of rows that are left if of equal ones only one is kept, separation the share of
    pairs of rows that differ (Motwani and Xu 2007, *Efficient algorithms for masking and finding
    quasi-identifiers*). A set is a key if its distinction is at least `key_share`; a minimal one has no key
    in it. Columns that tell people apart are those that an attacker looks for elsewhere.
    """

    name = "distinction"
    cites = ("motwani2007",)
    title = "Distinction and separation"
    usual = False

    size: Annotated[int, param("columns that are combined at most", ge=1, le=1_000, unit="columns")] = 3
    key_share: Annotated[
        ExactPositiveShare, param("the distinction from which on a set is called a key", kind="share")
    ] = 1

    def measure(self, classes: Classes, progress: Progress | None = None) -> DistinctionFound:
        names = [column.name for column in classes.quasi_identifiers]
        width, largest = len(names), min(self.size, len(names))
        total = sum(math.comb(width, size) for size in range(1, largest + 1))
        if total > MOST_SETS:
            raise ParameterError(
                "risk.columns-sets-up-choose",
                "{name}: {width} columns have {total:,} sets of up to {largest}: choose a smaller size",
                name=self.name,
                width=width,
                total=total,
                largest=largest,
            )
        found: list[ColumnSet] = []
        for place, sizes in _parted(classes, largest):
            found.append(_column_set(tuple(names[column] for column in place), sizes))
            if progress:
                progress("combining columns", len(found), total)
        found.sort(key=lambda each: (len(each.columns), -each.separation, -each.classes, each.columns))
        rows = int(classes.sizes.sum())
        return DistinctionFound(largest, tuple(found), self._keys(found, rows))

    def _keys(self, found: Sequence[ColumnSet], rows: int) -> tuple[tuple[str, ...], ...]:
        """The minimal keys; smaller sets come first, so that every key within a set is met before it."""
        needed = decimal(self.key_share) * rows
        keys: list[frozenset[str]] = []
        named: list[tuple[str, ...]] = []
        for each in found:
            if each.classes >= needed and not any(key <= set(each.columns) for key in keys):
                keys.append(frozenset(each.columns))
                named.append(each.columns)
        return tuple(named)


def _parted(classes: Classes, largest: int) -> Iterator[tuple[tuple[int, ...], Counts]]:
    """Every set of columns with the rows of each of its classes.

    A set is made from the one without its last column: what that has already parted is parted further.
    """
    released = np.flatnonzero(classes.released)
    columns = [classes.label_codes(place)[released] for place in range(len(classes.quasi_identifiers))]
    pairs = zip(classes.quasi_identifiers, classes.levels, strict=True)
    labels = [max(1, num_labels(column, level)) for column, level in pairs]
    sizes = classes.sizes[released]

    def extended(
        chosen: tuple[int, ...], ids: Codes, groups: int
    ) -> Iterator[tuple[tuple[int, ...], Counts]]:
        for place in range(chosen[-1] + 1 if chosen else 0, len(columns)):
            parted = group_codes([ids, columns[place]], [max(1, groups), labels[place]])
            own = (*chosen, place)
            yield own, sum_by_group(parted.ids, sizes, parted.num_groups)
            if len(own) < largest:
                yield from extended(own, parted.ids, parted.num_groups)

    yield from extended((), np.zeros(len(released), np.int32), 1)


def _column_set(columns: tuple[str, ...], sizes: Counts) -> ColumnSet:
    rows = int(sizes.sum())
    every = rows * (rows - 1)
    alike = sum(size * (size - 1) for size in sizes.tolist())  # whole numbers of Python: pairs are many
    return ColumnSet(
        columns,
        len(sizes),
        len(sizes) / rows if rows else 0.0,
        (every - alike) / every if every else 0.0,
    )
