"""What a statement gives: columns, rows and a tag; and how rows are written on the wire."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from pygwire.messages import DataRow, FieldDescription, RowDescription

from tarnkappe.gate.sql.errors import PROTOCOL, StatementError
from tarnkappe.gate.sql.types import ResultField


@dataclasses.dataclass(frozen=True)
class StatementResult:
    """What a statement gives.

    Attributes:
        fields: the columns; None if it gives no rows.
        tag: how the end is announced; `{}` stands for the number of rows.
        notice: what the client is told beside it.
        reports: variables that have changed.
        size: about how many bytes the rows are.
    """

    fields: tuple[ResultField, ...] | None
    rows: Sequence[tuple[Any, ...]] = ()
    tag: str = "SELECT {}"
    notice: str = ""
    reports: tuple[tuple[str, str], ...] = ()
    size: int = 0


@dataclasses.dataclass
class Portal:
    """A bound statement, and how far its rows have been fetched."""

    statement: Any
    values: tuple[Any, ...]
    formats: tuple[int, ...]
    holds: bool = False
    result: StatementResult | None = None
    place: int = 0

    def next_rows(self, most: int | None) -> tuple[Sequence[tuple[Any, ...]], bool]:
        """The next rows, and whether there are more."""
        assert self.result is not None
        end = len(self.result.rows) if most is None else min(len(self.result.rows), self.place + most)
        rows = self.result.rows[self.place : end]
        self.place = end
        return rows, end < len(self.result.rows)


def spread_formats(formats: Sequence[int], fields: Sequence[ResultField] | None) -> tuple[int, ...]:
    """The format of each column: text (0) or binary (1)."""
    count = len(fields or ())
    if any(form not in (0, 1) for form in formats) or len(formats) not in (0, 1, count):
        raise StatementError(
            PROTOCOL, "gate.formats-columns-not-understood", "the formats of the columns are not understood"
        )
    if len(formats) == 1:
        return tuple(formats) * count
    return tuple(formats) or (0,) * count


def described(fields: Sequence[ResultField], formats: Sequence[int]) -> RowDescription:
    """The columns as the protocol has them. No table is named: answers are not its rows."""
    return RowDescription(
        fields=[
            FieldDescription(
                name=field.name, type_oid=field.oid, type_size=field.size, type_modifier=-1, format_code=form
            )
            for field, form in zip(fields, formats, strict=True)
        ]
    )


def written(
    fields: Sequence[ResultField], formats: Sequence[int], rows: Sequence[tuple[Any, ...]]
) -> Iterator[DataRow]:
    """The rows as the protocol has them."""
    for row in rows:
        cells = [f.write(cell, form) for f, form, cell in zip(fields, formats, row, strict=True)]
        yield DataRow(columns=cells)
