"""Tables with many columns: several shapes side by side, so that the lattice is too large to be searched."""

from __future__ import annotations

import math

import pyarrow as pa

from tarnkappe.errors import ParameterError
from tarnkappe.table.examples.evaluation import shape as shape_of
from tarnkappe.table.examples.example import ExampleData
from tarnkappe.table.examples.shapes import shaped
from tarnkappe.table.table import Role, Table

SIDE_BY_SIDE = ("ADULT", "IHIS", "FARS", "ATUS", "CUP")
"""Whose columns are taken, in this order."""


def wide(columns: int = 24, rows: int = 30_162, seed: int = 0) -> ExampleData:
    """A made-up table with many quasi-identifiers: the columns of several shapes side by side.

    Columns of one shape depend on each other as in `shaped`, those of different shapes do not. They are
    named after their shape, and all are quasi-identifiers.

    Args:
        columns: how many columns there are.
        rows: how many rows.
        seed: another seed gives another table of the same kind.

    >>> example = wide(rows=100)
    >>> example.table.quasi_identifiers[9:12], f"{example.description['lattice']:,}"
    (('ihis year', 'ihis quarter', 'ihis region'), '580,475,289,600')
    """
    there = sum(len(shape_of(name).attributes) for name in SIDE_BY_SIDE)
    if not 1 <= columns <= there:
        raise ParameterError(
            "table.wide-table-1-columns",
            "a wide table has 1 to {there} columns, not {columns}",
            there=there,
            columns=columns,
        )
    data: dict[str, pa.ChunkedArray] = {}
    hierarchies: dict[str, list[list[str]]] = {}
    for shape in SIDE_BY_SIDE:
        part = shaped(shape, rows, seed)
        for name in part.table.column_names[: columns - len(data)]:
            data[f"{shape.lower()} {name}"] = part.table.data.column(name)
            hierarchies[f"{shape.lower()} {name}"] = part.hierarchies[name]
    return ExampleData(
        table=Table(pa.table(data), dict.fromkeys(data, Role.QUASI_IDENTIFIER)),
        hierarchies=hierarchies,
        description={
            "text": f"made-up data with {columns} columns",
            "rows": rows,
            "seed": seed,
            "lattice": math.prod(len(rows[0]) for rows in hierarchies.values()),
        },
    )
