"""A query of the protected table: whom it chooses, which columns it shows, and how the answer is arranged.

Only the choice of people and columns reaches the keeper. Order, limits, DISTINCT and aggregates are worked
out from the answer that it gives, so they tell nothing that the answer does not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from tarnkappe.gate.question import GateQuery
from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.condition import Always, Condition
from tarnkappe.gate.sql.errors import BAD_VALUE, StatementError
from tarnkappe.gate.sql.operands import BindParameters, Constant, Operand
from tarnkappe.gate.sql.types import ResultField, WireType
from tarnkappe.gate.sql.view import ViewColumn

EVERYTHING = Constant(None)


@dataclasses.dataclass(frozen=True)
class OutputColumn:
    """A column of the answer: a column of the view, or an aggregate of one.

    Attributes:
        name: as the client calls it.
        column: of the view; none for `count(*)`.
        function: of an aggregate: count, sum, avg, min or max.
        distinct: the aggregate takes each value once.
        end: "low" or "high" for an end of the interval of an estimate.
    """

    name: str
    column: ViewColumn | None
    function: str | None = None
    distinct: bool = False
    end: str | None = None

    @property
    def kind(self) -> WireType:
        """Its type in the answer."""
        if self.function == "count" or self.column is None:
            return types.BIGINT
        shown = self.column.shown
        if self.function in ("sum", "avg"):
            return types.DOUBLE if shown in (types.DOUBLE, types.REAL) else types.NUMERIC
        return shown


@dataclasses.dataclass(frozen=True)
class Order:
    """One key of ORDER BY: a column of the answer, or one of the view that it does not show."""

    output: int | ViewColumn
    descending: bool
    nulls_first: bool


@dataclasses.dataclass(frozen=True)
class AllowedQuery:
    """A query that is allowed.

    Attributes:
        any_column: is asked for where only the number of rows matters.
        condition: whom it chooses.
        grouped: the columns that aggregates are grouped by.
    """

    outputs: tuple[OutputColumn, ...]
    condition: Condition
    parameters: BindParameters
    any_column: ViewColumn
    grouped: tuple[ViewColumn, ...] = ()
    distinct: bool = False
    order: tuple[Order, ...] = ()
    limit: Operand = EVERYTHING
    offset: Operand = EVERYTHING

    @property
    def fields(self) -> tuple[ResultField, ...]:
        """The columns of the answer."""
        return tuple(ResultField(output.name, output.kind) for output in self.outputs)

    @property
    def aggregates(self) -> bool:
        """Whether it asks for figures rather than for rows."""
        return bool(self.grouped) or any(output.function for output in self.outputs)

    @property
    def asked(self) -> tuple[ViewColumn, ...]:
        """The columns that are needed for it, each once."""
        sources = [output.column for output in self.outputs]
        sources += [*self.grouped, *(key.output for key in self.order if not isinstance(key.output, int))]
        return tuple(dict.fromkeys(column for column in sources if column is not None)) or (self.any_column,)

    def question(self, values: Sequence[Any]) -> GateQuery:
        """What the keeper is asked, with these values of the parameters."""
        taken: list[Any] = []
        where = None if self.condition == Always(True) else self.condition.written(values, taken)
        return GateQuery(tuple(column.name for column in self.asked), where, tuple(taken))

    def window(self, values: Sequence[Any]) -> tuple[int, int | None]:
        """Which rows of the arranged answer are wanted: from where, and how many at most."""
        skipped, most = self.offset.bound(values), self.limit.bound(values)
        for number in (skipped, most):
            if number is not None and (number != int(number) or number < 0):
                raise StatementError(
                    BAD_VALUE, "gate.limit-offset-take-whole", "LIMIT and OFFSET take whole numbers from 0 on"
                )
        return int(skipped or 0), None if most is None else int(most)
