"""From the keeper's answer to what the client asked for: aggregates, DISTINCT, order and limits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.selection import AllowedQuery, Order, OutputColumn
from tarnkappe.gate.sql.view import ViewColumn

Row = tuple[Any, ...]


def arranged(selection: AllowedQuery, rows: Iterable[Sequence[Any]], values: Sequence[Any]) -> list[Row]:
    """The rows of the answer.

    Args:
        selection: what the client asked for.
        rows: the keeper's answer, with the columns `selection.asked`.
        values: of the parameters.
    """
    place = _places(selection)
    given = [tuple(row) for row in rows]
    if selection.aggregates:
        pairs = [
            (_figures(selection, group, place), group[0] if group else ())
            for group in _groups(selection, given, place)
        ]
    else:
        pairs = [(tuple(row[place[_shown(output)]] for output in selection.outputs), row) for row in given]
    return finished(selection, pairs, values)


def noised(
    selection: AllowedQuery,
    figures: Mapping[tuple[str, ...], Mapping[OutputColumn, Fraction | None]],
    values: Sequence[Any],
) -> list[Row]:
    """The rows of an answer that is made of figures by group."""
    pairs: list[tuple[Row, Row]] = []
    for group, found in figures.items():
        cells = dict(zip(selection.grouped, group, strict=True))
        row = tuple(
            _number(output, found[output]) if output in found else cells[_shown(output)]
            for output in selection.outputs
        )
        pairs.append((row, ()))
    return finished(selection, pairs, values)


def _number(output: OutputColumn, value: Fraction | None) -> int | float | Decimal | None:
    """A figure as a number of the type that its column has in the answer."""
    if value is None:
        return None
    if output.kind == types.BIGINT:
        return int(value)
    if output.kind == types.DOUBLE:
        return float(value)
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return exact if value.denominator == 1 else exact.quantize(Decimal("0.000001"))


def _places(selection: AllowedQuery) -> dict[ViewColumn, int]:
    return {column: number for number, column in enumerate(selection.asked)}


def finished(selection: AllowedQuery, pairs: list[tuple[Row, Row]], values: Sequence[Any]) -> list[Row]:
    """Rows in the order and the number that the client asked for, each beside the row it was made of."""
    place = _places(selection)
    if selection.distinct:
        pairs = list({row: (row, source) for row, source in pairs}.values())
    for key in reversed(selection.order):
        pairs = _sorted(pairs, key, place)
    first, most = selection.window(values)
    end = None if most is None else first + most
    return [row for row, _ in pairs[first:end]]


def _shown(output: OutputColumn) -> ViewColumn:
    assert output.column is not None
    return output.column


def _groups(selection: AllowedQuery, rows: list[Row], place: dict[ViewColumn, int]) -> list[list[Row]]:
    if not selection.grouped:
        return [rows]
    found: dict[Hashable, list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[place[column]] for column in selection.grouped), []).append(row)
    return list(found.values())


def _figures(selection: AllowedQuery, group: list[Row], place: dict[ViewColumn, int]) -> Row:
    figures = []
    for output in selection.outputs:
        if output.column is None:
            figures.append(len(group))
            continue
        cells = [row[place[output.column]] for row in group]
        figures.append(cells[0] if output.function is None else _aggregate(output, cells))
    return tuple(figures)


def _aggregate(output: OutputColumn, cells: list[Any]) -> Any:
    present = [cell for cell in cells if cell is not None]
    if output.distinct:
        present = list(dict.fromkeys(present))
    if output.function == "count":
        return len(present)
    return _FUNCTIONS[output.function or ""](present) if present else None


def _sum(cells: list[Any]) -> Any:
    return sum(cells) if isinstance(cells[0], float) else sum((Decimal(cell) for cell in cells), Decimal(0))


def _mean(cells: list[Any]) -> Any:
    return _sum(cells) / len(cells)


_FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {"sum": _sum, "avg": _mean, "min": min, "max": max}


def _sorted(pairs: list[tuple[Row, Row]], key: Order, place: dict[ViewColumn, int]) -> list[tuple[Row, Row]]:
    def cell(pair: tuple[Row, Row]) -> Any:
        return pair[0][key.output] if isinstance(key.output, int) else pair[1][place[key.output]]

    missing = [pair for pair in pairs if cell(pair) is None]
    present = sorted((pair for pair in pairs if cell(pair) is not None), key=cell, reverse=key.descending)
    return missing + present if key.nulls_first else present + missing
