"""What every example is: a table with roles, hierarchies for it, and a description."""

from __future__ import annotations

import dataclasses
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.table.table import Table


@dataclasses.dataclass(frozen=True, eq=False)
class ExampleData:
    """A made-up table and all that is needed to anonymize it.

    Attributes:
        table: the data with a role for every column.
        hierarchies: by column, one row of text per value: the value, its label at each level, and
            last "*". The value is in the text form of the encoded column; a missing value is the
            empty text. Hierarchies cover the whole domain of a column, whichever of its values occur.
        description: what the table is, in words and figures that can be written as JSON.
    """

    table: Table
    hierarchies: dict[str, list[list[str]]]
    description: dict[str, Any]


def check_size(rows: int, seed: int, batch_rows: int = 1) -> None:
    """Refuse sizes and seeds that no example can be made with."""
    if rows < 1:
        raise ParameterError(
            "table.example-needs-least-row", "an example needs at least one row: rows is {rows}", rows=rows
        )
    if batch_rows < 1:
        raise ParameterError(
            "table.batch-needs-least-row",
            "a batch needs at least one row: batch_rows is {batch_rows}",
            batch_rows=batch_rows,
        )
    if seed < 0:
        raise ParameterError(
            "table.seed-whole-number-0", "a seed is a whole number from 0 on: seed is {seed}", seed=seed
        )
