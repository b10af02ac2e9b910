"""Estimated aggregates: what figures of sensitive values say of the people, not of the rows of an answer.

The people are chosen as for rows, and so is the answer; groups by quasi-identifiers are questions of their
own, since inside an answer values have no link to a quasi-identifier. What is then worked out follows from
the answers alone (`estimate`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from tarnkappe.gate.estimate import IntervalEstimate
from tarnkappe.gate.labels import NUMBERS
from tarnkappe.gate.policy_columns import OTHER
from tarnkappe.gate.question import AnswerRows, CountedAnswer, GateQuery, RefusedQuery
from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.arrange import Row, finished
from tarnkappe.gate.sql.errors import NOT_OFFERED, StatementError
from tarnkappe.gate.sql.selection import AllowedQuery, OutputColumn
from tarnkappe.gate.sql.view import ViewColumn
from tarnkappe.table.formats.address import quoted
from tarnkappe.table.table import MISSING

MOST_GROUPS = 200
"""How many groups of quasi-identifiers one statement may ask about."""
Ask = Callable[[GateQuery], AnswerRows | RefusedQuery]
AskFigures = Callable[[GateQuery], CountedAnswer | RefusedQuery]


def can_be_estimated(selection: AllowedQuery) -> bool:
    """Whether a query asks for figures of sensitive values; all others are worked out from rows."""
    return selection.aggregates and any(not column.selects for column in selection.asked)


class Estimating:
    """The figures of one query; what cannot be estimated is refused before anything is asked."""

    def __init__(self, selection: AllowedQuery, question: GateQuery) -> None:
        self.selection, self.question = selection, question
        self.plain = [column for column in selection.grouped if column.selects]
        secret = [column for column in selection.grouped if not column.selects]
        if len(secret) > 1:
            raise StatementError(
                NOT_OFFERED,
                "gate.two-sensitive-columns-not-linked",
                "two sensitive columns are not linked: group by one of them",
            )
        if any(column.kind_of is not None for column in selection.asked):
            raise StatementError(
                NOT_OFFERED,
                "gate.kinds-cells-not-estimated",
                "kinds of cells are not estimated",
                hint="count(column) counts values, count(*) people; the difference is what is no value.",
            )
        self.secret = secret[0] if secret else None
        for output in selection.outputs:
            self._check(output)

    def _check(self, output: OutputColumn) -> None:
        if output.function is None or (output.function == "count" and output.column is None):
            return
        if (
            output.column is None
            or output.column.selects
            or output.distinct
            or output.function in ("min", "max")
        ):
            raise StatementError(
                NOT_OFFERED,
                "gate.count-sum-avg-sensitive",
                "count, sum and avg of sensitive columns are estimated, without DISTINCT",
                hint="Ask for figures of other columns in a statement of their own.",
            )
        if self.secret is not None and output.function != "count":
            raise StatementError(
                NOT_OFFERED,
                "gate.sum-avg-not-estimated",
                "sum and avg are not estimated by groups of a sensitive column",
            )
        if self.secret not in (None, output.column):
            raise StatementError(
                NOT_OFFERED,
                "gate.two-sensitive-columns-not-linked-count",
                "two sensitive columns are not linked: count one of them",
            )

    def rows(
        self, ask: Ask, figures: AskFigures, values: Sequence[Any]
    ) -> tuple[list[Row], str] | RefusedQuery:
        """The rows of the answer, and what is said beside them."""
        groups: list[tuple[Any, ...]] = [()]
        if self.plain:
            names = tuple(column.name for column in self.plain)
            found = ask(dataclasses.replace(self.question, columns=names))
            if isinstance(found, RefusedQuery):
                return found
            groups = list(dict.fromkeys(found.rows))
            if len(groups) > MOST_GROUPS:
                raise StatementError(
                    NOT_OFFERED,
                    "gate.groups-too-many-estimated",
                    "{groups} groups are too many to be estimated, {most_groups} at most",
                    groups=len(groups),
                    most_groups=MOST_GROUPS,
                )
        pairs: list[tuple[Row, Row]] = []
        artificial = shown = 0
        for group in groups:
            told = figures(self._of_group(group))
            if isinstance(told, RefusedQuery):
                return told
            pairs += [(row, ()) for row in self._figures(group, told)]
            shown += sum(sum(counts.values()) for counts in told.shown.values())
            artificial += sum(draw.size for draw in told.draws.values())
        notice = (
            f"Estimates with 95 % intervals by est_low and est_high; {artificial} of {shown} values are "
            "artificial."
        )
        return finished(self.selection, pairs, values), notice

    def _of_group(self, group: tuple[Any, ...]) -> GateQuery:
        """The people of one group."""
        names = tuple(column.name for column in self.selection.asked if not column.selects)
        where, taken = self.question.where, list(self.question.parameters)
        parts = [] if where is None else [f"({where})"]
        for column, cell in zip(self.plain, group, strict=True):
            parts.append(f"{quoted(column.name)} IS NULL" if cell is None else f"{quoted(column.name)} = ?")
            taken += [] if cell is None else [cell]
        return GateQuery(names, " AND ".join(parts) or None, tuple(taken))

    def _figures(self, group: tuple[Any, ...], told: CountedAnswer) -> list[Row]:
        cells = dict(zip(self.plain, group, strict=True))
        if self.secret is None:
            return [tuple(self._cell(output, cells, told) for output in self.selection.outputs)]
        if not told.people:
            return []
        rows = []
        for label in sorted(told.shown[self.secret.name]):
            own = {**cells, self.secret: _shown_as(self.secret, label)}
            found = told.draws[self.secret.name].count(told.shown[self.secret.name], label)
            row = []
            for output in self.selection.outputs:
                if output.function is None:
                    row.append(own[_named(output)])
                elif output.column is not None and own[self.secret] is None:
                    row.append(0)  # count(column) leaves out what is no value
                else:
                    row.append(_whole(_end(output, found), told.people))
            rows.append(tuple(row))
        return rows

    def _cell(self, output: OutputColumn, cells: dict[ViewColumn, Any], told: CountedAnswer) -> Any:
        if output.function is None:
            return cells[_named(output)]
        if output.column is None:
            return told.people
        name = output.column.name
        if not told.people:
            return 0 if output.function == "count" else None
        counts, draw = told.shown[name], told.draws[name]
        numbers = {
            label: float(number)
            for label in draw.labels
            if (number := _shown_as(output.column, label)) is not None and output.function != "count"
        }
        if output.function == "count":
            present = {label: 1.0 for label in draw.labels if _shown_as(output.column, label) is not None}
            return _whole(_end(output, draw.sum(counts, present)), told.people)
        found = draw.sum(counts, numbers) if output.function == "sum" else draw.mean(counts, numbers)
        if found is None:
            return None
        number = _end(output, found)
        return number if output.kind == types.DOUBLE else Decimal(repr(number)).quantize(Decimal("0.000001"))


def _end(output: OutputColumn, found: IntervalEstimate) -> float:
    return {"low": found.low, "high": found.high}.get(output.end or "", found.value)


def _whole(number: float, people: int) -> int:
    """A number of people."""
    return round(min(max(0.0, number), float(people)))


def _named(output: OutputColumn) -> ViewColumn:
    assert output.column is not None
    return output.column


def _shown_as(column: ViewColumn, label: str) -> Any:
    """A label as answers show it: a number in a column of numbers, and nothing where there is none."""
    kind = NUMBERS.get(column.shown.name)
    if label == MISSING or (kind is not None and label == OTHER):
        return None
    return label if kind is None else kind(label)
