"""Predicates as expressions of an engine, by SQL's three-valued logic, which all engines share.

What engines do not share is what happens when a text meets a number: one compares them as texts, another
turns the text of a cell into a number and quotes the cell when it cannot. So types are looked at here, before
an engine sees a row, and what does not go together is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from functools import reduce
from typing import Any

import ibis

from tarnkappe.algebra.expressions import (
    And,
    ColumnRef,
    ComparisonPredicate,
    Expression,
    IsNull,
    Like,
    Literal,
    Not,
    OneOf,
    Or,
    Predicate,
)
from tarnkappe.algebra.lowering.rows import LoweredRows, kind
from tarnkappe.algebra.times import read_time
from tarnkappe.errors import ParameterError

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBERS = {"number", "whole number"}
_LIKEABLE = {"text", "whole number", "date"}
"""What all engines write as the same text."""


def lowered(predicate: Predicate, rows: LoweredRows, escape: str) -> Any:
    """A predicate over the cells of rows, as a boolean expression.

    Args:
        predicate: what is asked of a row.
        rows: where its columns are.
        escape: the character that the engine's LIKE takes as an escape, "" if none.
    """
    match predicate:
        case ComparisonPredicate(symbol, left, right):
            sides = _value(left, rows), _value(right, rows)
            if any(_is_null(side) for side in (left, right)):
                return _UNKNOWN
            return _OPERATORS[symbol](*_comparable((left, right), sides, f"by {symbol}"))
        case OneOf(expression, constants):
            return _one_of(expression, constants, rows)
        case Like(expression, pattern):
            return _like(expression, pattern, rows, escape)
        case IsNull(expression):
            return ibis.literal(True) if _is_null(expression) else _value(expression, rows).isnull()
        case Not(operand):
            return ~lowered(operand, rows, escape)
        case And(operands):
            return reduce(operator.and_, (lowered(operand, rows, escape) for operand in operands))
        case Or(operands):
            return reduce(operator.or_, (lowered(operand, rows, escape) for operand in operands))
    raise ParameterError(
        "algebra.no-engine-knows-predicate",
        "no engine knows the predicate {name}",
        name=type(predicate).__name__,
    )


_UNKNOWN = ibis.null("boolean")


def _one_of(expression: Expression, constants: tuple[Literal, ...], rows: LoweredRows) -> Any:
    if _is_null(expression):
        return _UNKNOWN
    cell = _value(expression, rows)
    known = [constant for constant in constants if not _is_null(constant)]
    pairs = [_comparable((expression, each), (cell, _value(each, rows)), "by IN") for each in known]
    for tried, _ in pairs:
        cell = tried if tried.type() != cell.type() else cell
    # A NULL among the constants makes what is not found unknown; engines that drop it would say "false".
    found = cell.isin([constant for _, constant in pairs]) if known else ibis.literal(False)
    return found if len(known) == len(constants) else found | _UNKNOWN


def _like(expression: Expression, pattern: str, rows: LoweredRows, escape: str) -> Any:
    if _is_null(expression):
        return _UNKNOWN
    cell = _value(expression, rows)
    if kind(cell) not in _LIKEABLE:
        raise ParameterError(
            "algebra.like-compares-texts", "LIKE compares texts, not a {cell}.", cell=kind(cell)
        )
    text = cell if kind(cell) == "text" else cell.cast("string")
    return text.like(pattern.replace(escape, escape * 2) if escape else pattern)


def _value(expression: Expression, rows: LoweredRows) -> Any:
    match expression:
        case ColumnRef(name):
            return rows.cell(name)
        case Literal(constant):
            return _literal(constant)
        case Predicate():
            raise ParameterError(
                "algebra.comparison-truth-values-not-supported",
                "A comparison of truth values is not supported: write the predicate alone.",
            )
    raise ParameterError(
        "algebra.no-engine-knows-expression",
        "no engine knows the expression {name}",
        name=type(expression).__name__,
    )


def _literal(constant: Any) -> Any:
    match constant:
        case None:
            return ibis.null("string")
        case bool() | str():
            return ibis.literal(constant)
        case datetime():
            return ibis.literal(constant, "timestamp(6)")
        case date():
            return ibis.literal(constant, "date")
        case int() if abs(constant) < 2**63:
            return ibis.literal(constant, "int64")
        case int() | Decimal():
            digits = Decimal(constant).as_tuple()
            scale = max(0, -int(digits.exponent))
            precision = max(len(digits.digits), scale + 1)
            if precision > _MOST_PRECISION:
                raise ParameterError(
                    "algebra.number-more-digits-beyond",
                    "A number of more than {most_precision} digits is beyond the engines.",
                    most_precision=_MOST_PRECISION,
                )
            return ibis.literal(constant, f"decimal({precision}, {scale})")
    raise ParameterError(
        "algebra.no-engine-knows-constant",
        "no engine knows a constant of type {name}",
        name=type(constant).__name__,
    )


_MOST_PRECISION = 38


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.constant is None


_TIMES = {"date", "time"}


def _comparable(
    expressions: tuple[Expression, Expression], sides: tuple[Any, Any], how: str
) -> tuple[Any, Any]:
    """Both sides of a comparison in types that engines compare by value; what has none is refused.

    A text in the query that is compared with a date or a time must be one; it is never compared as text.
    """
    one, other = (
        _as_time(expression, side, kind(partner))
        for expression, side, partner in zip(expressions, sides, reversed(sides), strict=True)
    )
    left, right = kind(one), kind(other)
    if left != right and {left, right} <= _TIMES:
        return one.cast("timestamp(6)"), other.cast("timestamp(6)")
    if left != right and not {left, right} <= _NUMBERS:
        raise ParameterError(
            "algebra.predicate-compares-write-texts",
            "A predicate compares a {left} with a {right} {how}; write texts as '18', numbers as 18, dates "
            "as DATE '2024-02-29' and times as TIMESTAMP '2024-02-29 12:30:00'.",
            left=left,
            right=right,
            how=how,
        )
    return one, other


def _as_time(expression: Expression, side: Any, partner: str) -> Any:
    """A text constant as the date or time that it is compared with."""
    if (
        partner not in _TIMES
        or not isinstance(expression, Literal)
        or not isinstance(expression.constant, str)
    ):
        return side
    return _literal(read_time(expression.constant))
