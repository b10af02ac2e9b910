"""Grouping on small relations: the exact value of every aggregate, as SQL defines it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.distribution import Row, Rows
from tarnkappe.errors import ParameterError


def group_rows(
    rows: Rows, columns: tuple[str, ...], by: Sequence[str], aggregates: Sequence[Aggregate]
) -> Rows:
    """One row for each group, with its aggregates; without `by` there is one group, even of no rows."""
    positions = [columns.index(column) for column in by]
    groups: dict[Row, list[Row]] = {} if by else {(): []}
    for row in rows:
        groups.setdefault(tuple(row[i] for i in positions), []).append(row)
    return tuple(
        key + tuple(_value(aggregate, members, columns) for aggregate in aggregates)
        for key, members in groups.items()
    )


def _value(aggregate: Aggregate, rows: Sequence[Row], columns: tuple[str, ...]) -> Any:
    if aggregate.noise is not None:
        raise ParameterError(
            "algebra.noisy-aggregate-infinitely-many",
            "a noisy aggregate has infinitely many results and cannot be enumerated exactly",
        )
    if aggregate.column is None:
        return len(rows)
    position = columns.index(aggregate.column)
    cells = [row[position] for row in rows if row[position] is not None]
    if aggregate.function == "count":
        return len(cells)
    if not cells:
        return None
    match aggregate.function:
        case "min":
            return min(cells)
        case "max":
            return max(cells)
        case "sum":
            return sum(map(Fraction, cells))
        case "mean":
            return sum(map(Fraction, cells)) / len(cells)
        case _:
            return _quantile(sorted(map(Fraction, cells)), aggregate.at or Fraction(0))


def _quantile(ascending: Sequence[Fraction], at: Fraction) -> Fraction:
    """The value at a share of the way from the least to the greatest, between neighbours by proportion."""
    place = at * (len(ascending) - 1)
    below = int(place)
    above = min(below + 1, len(ascending) - 1)
    return ascending[below] + (place - below) * (ascending[above] - ascending[below])
