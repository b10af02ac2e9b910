"""A table that stays where it is stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import pyarrow as pa

from tarnkappe.table import Role, Table
from tarnkappe.table.reading import Reading


@dataclasses.dataclass(frozen=True, eq=False)
class StoredTable(Table):
    """What is known of a table whose rows an engine keeps: its columns, their roles, how many rows it has.

    `data` has no rows and says nothing about types: read the table from its place to have both.

    >>> StoredTable.of(["age"], {"age": Role.QUASI_IDENTIFIER}, 50_000_000, "people.parquet").num_rows
    50000000
    """

    rows: int = 0
    place: str = ""

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        roles: Mapping[str, Role],
        rows: int,
        place: str,
        reading: Reading | None = None,
    ) -> StoredTable:
        """A table with these columns, somewhere else."""
        nothing = pa.table({name: pa.nulls(0) for name in names})
        own = {name: role for name, role in roles.items() if name in names}
        return cls(nothing, own, reading, rows=rows, place=place)

    @property
    def num_rows(self) -> int:
        """How many rows the table has where it is."""
        return self.rows

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, in {self.place})"
