"""Noisy groupings: the engine adds up, OpenDP noises, and the noisy result is a relation like any other.

Which groups there are must not depend on the data, or the presence of a group would tell of its only member.
So the columns to group by need a hierarchy: its values are the groups, all of them, also the empty ones; rows
with another value are left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from tarnkappe.algebra.aggregates import Aggregate, Noise
from tarnkappe.algebra.lowering.rows import LoweredRows, kind
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.algebra.noisy.grid import CANDIDATES, NumberGrid
from tarnkappe.algebra.noisy.mechanisms import laplace, least
from tarnkappe.algebra.world import World
from tarnkappe.errors import HierarchyError, ParameterError

MOST_GROUPS = 100_000
LARGEST = 2**40
"""So much one row may add to a sum, in steps of the grid, or sums of many rows would not fit."""

Key = tuple[Any, ...]
Counted = dict[Key, int]


def noisy_grouped(
    rows: LoweredRows,
    by: Sequence[str],
    aggregates: Sequence[Aggregate],
    reach: int,
    world: World,
    site: EngineSnapshot,
) -> LoweredRows:
    """One row for each possible group, with noisy aggregates.

    Args:
        rows: what is aggregated.
        by: the columns to group by.
        aggregates: all of them noisy.
        reach: how many of the rows may come or go with one row of a base relation.
        world: the hierarchies, whose values are the groups.
        site: where this runs.
    """
    if not all(aggregate.noise for aggregate in aggregates):
        raise ParameterError(
            "algebra.grouping-noisy-aggregates-no-plain",
            "A grouping with noisy aggregates has no plain ones: they would tell what the noise is to hide.",
        )
    groups = _groups(rows, by, world)
    noisy = _Noisy(rows, by, groups, reach, site)
    columns = (*by, *(aggregate.name for aggregate in aggregates))
    kinds = [rows.cell(column).type().to_pyarrow() for column in by]
    keys = [pa.array([key[n] for key in groups], type_) for n, type_ in enumerate(kinds)]
    values = [noisy.column(aggregate) for aggregate in aggregates]
    cells = {f"c{n}": column for n, column in enumerate([*keys, *values])}
    ids = {"i0": pa.array(range(len(groups)), pa.int64())}
    return LoweredRows(site.upload(pa.table(cells | ids)), columns, 1, True)


def _groups(rows: LoweredRows, by: Sequence[str], world: World) -> list[Key]:
    domains = []
    for column in by:
        if column not in world.hierarchies:
            raise HierarchyError(
                "algebra.groups-noisy-aggregate-must-not-depend",
                "The groups of a noisy aggregate must not depend on the data, so '{column}' needs a "
                "hierarchy: its values are the groups.",
                column=column,
            )
        texts = pa.array(world.hierarchies[column].values, pa.string())
        try:
            domains.append(texts.cast(rows.cell(column).type().to_pyarrow()).to_pylist())
        except pa.ArrowInvalid:
            raise HierarchyError(
                "algebra.hierarchy-values",
                "the hierarchy of '{column}' has values that a {column_2} cannot have",
                column=column,
                column_2=kind(rows.cell(column)),
            ) from None
    if math.prod(map(len, domains)) > MOST_GROUPS:
        raise ParameterError(
            "algebra.more-possible-groups-group",
            "There are more than {most_groups} possible groups: group by fewer columns.",
            most_groups=MOST_GROUPS,
        )
    return list(itertools.product(*domains))


class _Noisy:
    def __init__(
        self, rows: LoweredRows, by: Sequence[str], groups: Sequence[Key], reach: int, site: EngineSnapshot
    ) -> None:
        self._rows, self._by, self._groups = rows, by, groups
        self._reach, self._site = reach, site

    def column(self, aggregate: Aggregate) -> pa.Array:
        """One noisy aggregate of every group."""
        assert aggregate.noise is not None
        if aggregate.function == "count":
            return pa.array(self._counts(aggregate.column, aggregate.noise.epsilon), pa.int64())
        assert aggregate.column is not None
        cell = self._rows.cell(aggregate.column)
        if kind(cell) not in ("number", "whole number"):
            raise ParameterError(
                "algebra.needs-numbers",
                "The {function} of '{column}' needs numbers, but it is a {cell}.",
                function=aggregate.function,
                column=aggregate.column,
                cell=kind(cell),
            )
        compute = {"sum": self._sums, "mean": self._means, "quantile": self._quantiles}[aggregate.function]
        return pa.array([float(value) for value in compute(cell, aggregate, aggregate.noise)], pa.float64())

    def _counts(self, column: str | None, epsilon: Fraction) -> list[int]:
        cell = None if column is None else self._rows.cell(column)
        found = self._asked(lambda table: table.count() if cell is None else cell.count())
        return self._noised(found, 1, epsilon)

    def _sums(self, cell: Any, aggregate: Aggregate, noise: Noise) -> list[Fraction]:
        """In steps from 0, not from the lower bound: else the count would be part of it, without noise."""
        grid = _grid(cell, noise)
        first = round(grid.origin / grid.step)
        largest = max(abs(first), abs(first + grid.last))
        if largest > LARGEST:
            raise ParameterError(
                "algebra.bounds-sum-lie-too",
                "The bounds of the sum of '{column}' lie too close together for how far they are from 0: "
                "widen them.",
                column=aggregate.column,
            )
        found = self._asked(lambda _: (grid.number(cell) + first).sum())
        return [number * grid.step for number in self._noised(found, largest, noise.epsilon)]

    def _means(self, cell: Any, aggregate: Aggregate, noise: Noise) -> list[Fraction]:
        """Half of the epsilon for the sum of the distances from the middle, half for the count."""
        grid = _grid(cell, noise)
        middle, half = (grid.last + 1) // 2, noise.epsilon / 2
        sums = self._noised(self._asked(lambda _: (grid.number(cell) - middle).sum()), middle, half)
        counts = self._counts(aggregate.column, half)
        return [
            grid.value(min(max(middle + Fraction(total, max(count, 1)), Fraction(0)), Fraction(grid.last)))
            for total, count in zip(sums, counts, strict=True)
        ]

    def _quantiles(self, cell: Any, aggregate: Aggregate, noise: Noise) -> list[Fraction]:
        """By the exponential mechanism: a value is the better, the more balanced what lies on its sides."""
        grid = _grid(cell, noise, CANDIDATES)
        assert aggregate.at is not None
        at = aggregate.at.limit_denominator(10_000)
        above, below = at.numerator, at.denominator - at.numerator
        number = grid.number(cell)
        table = self._rows.table.filter(cell.notnull()).select(**self._keys(), g=number)
        counted = self._site.fetch(table.group_by(list(table.columns)).aggregate(n=table.count()), "counting")
        histograms = {key: [0] * (grid.last + 1) for key in self._groups}
        for row in counted.to_pylist():
            key = tuple(row[name] for name in self._keys())
            if key in histograms:
                histograms[key][row["g"]] += row["n"]
        return [
            grid.value(least(_scores(counts, below, above), self._reach * max(below, above), noise.epsilon))
            for counts in histograms.values()
        ]

    def _keys(self) -> dict[str, Any]:
        return {f"k{n}": self._rows.cell(column) for n, column in enumerate(self._by)}

    def _asked(self, value: Callable[[Any], Any]) -> list[int]:
        """An exact whole number of every group, 0 where it has no rows."""
        table, keys = self._rows.table, self._keys()
        exact = value(table).cast("int64")
        asked = table.group_by(**keys).aggregate(v=exact) if keys else table.aggregate(v=exact)
        found: Counted = {}
        for row in self._site.fetch(asked, "counting").to_pylist():
            found[tuple(row[name] for name in keys)] = int(row["v"] or 0)
        return [found.get(key, 0) for key in self._groups]

    def _noised(self, values: Sequence[int], sensitivity: int, epsilon: Fraction) -> list[int]:
        return laplace(values, self._reach * sensitivity, epsilon)


def _grid(cell: Any, noise: Noise, most: int | None = None) -> NumberGrid:
    assert noise.lower is not None
    assert noise.upper is not None
    whole = kind(cell) == "whole number"
    if most is None:
        return NumberGrid.of(noise.lower, noise.upper, whole=whole)
    return NumberGrid.of(noise.lower, noise.upper, whole=whole, most=most)


def _scores(counts: Sequence[int], below: int, above: int) -> list[int]:
    """How unbalanced each value is: so many weigh `below` that are less, so many `above` that are greater."""
    lesser = [0, *itertools.accumulate(counts)]
    return [abs(below * lesser[n] - above * (lesser[-1] - lesser[n + 1])) for n in range(len(counts))]
