"""Rows that an engine will compute: an Ibis expression, and which of its columns is what.

Inside a statement columns have numbers (`c0`, `c1`, ...), so no name of the data can collide with another
one or with ours, be a reserved word, or differ from another in the case of its letters alone.

Slicing and randomization need to know which row is which. Where they ask for it, rows carry an *id*: one or
more whole numbers (`i0`, `i1`, ...) that no two rows share and whose order is the order of the rows: that of
a stored relation, of the left before the right side of a union, of pairs in nested loops for a join.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis
from ibis.expr.operations import JoinChain

from tarnkappe.errors import ParameterError


@dataclass(frozen=True, eq=False)
class LoweredRows:
    """The result of a plan, still to be computed.

    Attributes:
        table: the Ibis expression.
        columns: the plan's columns; the n-th is the table's column `c<n>`.
        ids: how many columns an id has; 0 if the rows have none.
        is_dense: whether the id is one number and counts the rows from 0 without a gap.
    """

    table: Any
    columns: tuple[str, ...]
    ids: int = 0
    is_dense: bool = False

    def cell(self, column: str) -> Any:
        """The cell of a column."""
        return self.table[f"c{self.columns.index(column)}"]

    @property
    def cells(self) -> list[Any]:
        """All cells, in the order of the columns."""
        return [self.table[f"c{n}"] for n in range(len(self.columns))]

    @property
    def id(self) -> list[Any]:
        """The numbers of the id, the most significant first."""
        return [self.table[f"i{n}"] for n in range(self.ids)]

    def changed(self, table: Any, cells: Mapping[str, Any]) -> LoweredRows:
        """The same rows with some cells replaced; the table has the old ones as well."""
        kept = (cells.get(column, table[f"c{n}"]) for n, column in enumerate(self.columns))
        return made(table, self.columns, list(kept), [table[f"i{n}"] for n in range(self.ids)], self.is_dense)

    def onto(self, columns: Sequence[str]) -> LoweredRows:
        """The rows on some of their columns, in this order."""
        if tuple(columns) == self.columns:
            return self
        return made(self.table, columns, [self.cell(column) for column in columns], self.id, self.is_dense)

    def without_ids(self) -> LoweredRows:
        """The same rows, and nothing that tells one from another."""
        return made(self.table, self.columns, self.cells) if self.ids else self

    def renumbered(self) -> LoweredRows:
        """The same rows with an id of one number that has no gaps."""
        if self.is_dense:
            return self
        place = ibis.row_number().over(order_by=self.id)
        return made(self.table, self.columns, self.cells, [place], True)


def made(
    table: Any, columns: Sequence[str], cells: Sequence[Any], ids: Sequence[Any] = (), is_dense: bool = False
) -> LoweredRows:
    """Rows with these cells and ids, computed from a table."""
    named = {f"c{n}": cell for n, cell in enumerate(cells)}
    chosen = table.select(**named, **{f"i{n}": number for n, number in enumerate(ids)})
    # A selection from a join would take part in the next join as the join itself, without its new cells.
    finished = chosen.view() if isinstance(chosen.op(), JoinChain) else chosen
    return LoweredRows(finished, tuple(columns), len(ids), is_dense)


def id_as_text(ids: Sequence[Any]) -> Any:
    """A row's id as it is hashed; `keyed.id_text` says the same in Python."""
    text = ids[0].cast("string")
    for number in ids[1:]:
        text = text + "." + number.cast("string")
    return text


def alike(left: LoweredRows, right: LoweredRows) -> tuple[LoweredRows, LoweredRows]:
    """Both sides with the same columns in the same order, and types that go together.

    A column that is text on one side only (as after a generalization) becomes text on the other; numbers and
    times become the wider type of both.
    """
    right = right.onto(left.columns)
    pairs = [common(a, b, column) for a, b, column in zip(left.cells, right.cells, left.columns, strict=True)]
    return tuple(
        side.changed(side.table, dict(zip(left.columns, cells, strict=True)))
        if any(cell is not own for cell, own in zip(cells, side.cells, strict=True))
        else side
        for side, cells in ((left, [a for a, _ in pairs]), (right, [b for _, b in pairs]))
    )  # type: ignore[return-value]


def common(left: Any, right: Any, column: str) -> tuple[Any, Any]:
    """Two cells with one type that holds the values of both."""
    if left.type() == right.type():
        return left, right
    one, other = kind(left), kind(right)
    if "text" in (one, other) and {one, other} <= {"text", "whole number", "date", "truth value"}:
        return left.cast("string"), right.cast("string")
    wider = widened(left.type(), right.type())
    if wider is None:
        raise ParameterError(
            "algebra.column-side-other-cannot-brought",
            "The column '{column}' is a {one} on one side and a {other} on the other, so they cannot be "
            "brought together.",
            column=column,
            one=one,
            other=other,
        )
    return tuple(cell if cell.type() == wider else cell.cast(wider) for cell in (left, right))


MOST_DIGITS = 38
"""Of a decimal number, in every engine."""


def widened(one: Any, other: Any) -> Any:
    """The smallest type that holds the values of two, as engines agree on it; None if there is none.

    >>> str(widened(ibis.dtype("int32"), ibis.dtype("int64")))
    'int64'
    >>> str(widened(ibis.dtype("decimal(9, 2)"), ibis.dtype("int64")))
    'decimal(21, 2)'
    """
    types = (one, other)
    if all(each.is_string() for each in types):
        return ibis.dtype("string")
    if all(each.is_boolean() for each in types):
        return ibis.dtype("boolean")
    if all(each.is_date() or each.is_timestamp() for each in types):
        return ibis.dtype("date" if all(each.is_date() for each in types) else "timestamp(6)")
    if not all(each.is_numeric() and not each.is_boolean() for each in types):
        return None
    if any(each.is_floating() for each in types):
        return ibis.dtype("float64")
    if all(each.is_integer() for each in types):
        return _widened_integer(one, other)
    if any(each.is_decimal() and each.precision is None for each in types):
        return ibis.dtype("decimal")
    whole, scale = (max(digits) for digits in zip(*(_digits(each) for each in types), strict=True))
    return ibis.dtype(f"decimal({whole + scale}, {scale})") if whole + scale <= MOST_DIGITS else None


def _widened_integer(one: Any, other: Any) -> Any:
    signed = one.is_signed_integer() or other.is_signed_integer()
    bits = 8 * max(each.nbytes * (2 if signed and each.is_unsigned_integer() else 1) for each in (one, other))
    if bits > 64:
        return ibis.dtype("decimal(20, 0)")
    return ibis.dtype(f"{'' if signed else 'u'}int{bits}")


def _digits(kind: Any) -> tuple[int, int]:
    """How many digits a number has before and after the point, at most."""
    if kind.is_decimal():
        return kind.precision - kind.scale, kind.scale
    return {1: 3, 2: 5, 4: 10, 8: 20 if kind.is_unsigned_integer() else 19}[kind.nbytes], 0


def kind(cell: Any) -> str:
    """What a cell holds, in a user's words."""
    dtype = cell.type()
    if dtype.is_string():
        return "text"
    if dtype.is_boolean():
        return "truth value"
    if dtype.is_integer():
        return "whole number"
    if dtype.is_numeric():
        return "number"
    return "date" if dtype.is_date() else "time" if dtype.is_timestamp() else str(dtype)
