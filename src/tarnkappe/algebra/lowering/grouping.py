"""Groupings in an engine: plain aggregates, with the same results and types everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.lowering.rows import LoweredRows, kind
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.errors import ParameterError

_NUMERIC = ("sum", "mean", "quantile")


def grouped(
    rows: LoweredRows, by: Sequence[str], aggregates: Sequence[Aggregate], site: EngineSnapshot
) -> LoweredRows:
    """One row for each group; its id, if rows have one, is that of its first row."""
    rows = rows.renumbered() if rows.ids > 1 else rows
    columns = (*by, *(aggregate.name for aggregate in aggregates))
    keys = {f"c{n}": rows.cell(column) for n, column in enumerate(by)}
    values = {f"c{n}": _value(a, rows, site) for n, a in enumerate(aggregates, start=len(by))}
    if rows.ids:
        values["i0"] = rows.id[0].min().fill_null(0)  # the one group of no rows has an id as well
    if not values:
        return LoweredRows(rows.table.select(**keys).distinct(), columns)
    groups = rows.table.group_by(**keys) if keys else rows.table
    return LoweredRows(groups.aggregate(**values), columns, rows.ids)


def _value(aggregate: Aggregate, rows: LoweredRows, site: EngineSnapshot) -> Any:
    if aggregate.column is None:
        return rows.table.count()
    cell = rows.cell(aggregate.column)
    whole = kind(cell) == "whole number"
    if aggregate.function in _NUMERIC and not whole and kind(cell) != "number":
        raise ParameterError(
            "algebra.needs-numbers",
            "The {function} of '{column}' needs numbers, but it is a {cell}.",
            function=aggregate.function,
            column=aggregate.column,
            cell=kind(cell),
        )
    match aggregate.function:
        case "count":
            return cell.count()
        case "min":
            return cell.min()
        case "max":
            return cell.max()
        case "sum":
            # Through another type, since Ibis takes the sum to be an int64 already; in DuckDB it is wider.
            return cell.sum().cast("decimal(38, 0)").cast("int64") if whole else cell.sum()
        case "mean":
            return cell.mean().cast("float64")
        case _:
            assert aggregate.at is not None
            return site.quantile(cell, float(aggregate.at))
