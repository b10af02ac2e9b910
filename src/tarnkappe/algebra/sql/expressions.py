"""Predicates of WHERE, ON and HAVING."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TypeGuard

from sqlglot import exp

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
from tarnkappe.algebra.numbers import read_number
from tarnkappe.algebra.sql.dialect import parse_predicate
from tarnkappe.algebra.sql.reading import SqlReader
from tarnkappe.algebra.times import as_moment, read_time
from tarnkappe.errors import ParameterError, QueryError

ColumnReader = Callable[[exp.Column], str]

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TIMES = (exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.DATETIME)
_PARTS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.In: ("this", "expressions"),
    exp.Between: ("this", "low", "high"),
    exp.Like: ("this", "expression", "negate"),
}
"""What may be said in a predicate besides one or two operands."""


def read_predicate(text: str) -> Predicate:
    """A predicate in SQL; names are taken as they stand.

    >>> read_predicate("b <> 'B0' AND alter >= 30").columns == {"b", "alter"}
    True
    """
    reader = SqlReader(text)

    def as_it_stands(column: exp.Column) -> str:
        reader.only(column, "this", what="a predicate")
        return column.name

    try:
        return PredicateReader(text, as_it_stands).predicate(parse_predicate(text))
    except RecursionError:
        raise QueryError(
            "algebra.predicate-nested-too-deeply", "The predicate is nested too deeply."
        ) from None


class PredicateReader(SqlReader):
    """Reads predicates whose columns are resolved by `column`."""

    def __init__(self, text: str, column: ColumnReader) -> None:
        super().__init__(text)
        self._column = column

    def predicate(self, node: exp.Expr) -> Predicate:
        """The predicate that a piece of syntax says; whatever is not in this list is refused."""
        self.only(node, *_PARTS.get(type(node), ("this", "expression")), what="a predicate")
        symbol = _COMPARISONS.get(type(node))
        if symbol is not None:
            return self._comparison(symbol, node.this, node.expression)
        match node:
            case exp.Paren():
                return self.predicate(node.this)
            case exp.And():
                return And(tuple(self.predicate(operand) for operand in node.flatten()))
            case exp.Or():
                return Or(tuple(self.predicate(operand) for operand in node.flatten()))
            case exp.Not():
                return Not(self.predicate(node.this))
            case exp.Is() if isinstance(node.expression, exp.Null):
                return IsNull(self.expression(node.this))
            case exp.In():
                if not node.expressions:
                    raise self.refuse(
                        node, "algebra.expressions-needs-least-value", "IN needs at least one value"
                    )
                return OneOf(self.expression(node.this), tuple(map(self.constant, node.expressions)))
            case exp.Between():
                low, high = node.args["low"], node.args["high"]
                bounds = self._comparison(">=", node.this, low), self._comparison("<=", node.this, high)
                return And(bounds)
            case exp.Like() if isinstance(node.expression, exp.Literal) and node.expression.is_string:
                like = Like(self.expression(node.this), node.expression.this)
                return Not(like) if node.args.get("negate") else like
        raise self.refuse(
            node,
            "algebra.not-supported-predicate-compare",
            "{node} is not supported in a predicate; compare columns and constants",
            node=_named(node),
        )

    def _comparison(self, symbol: str, left: exp.Expr, right: exp.Expr) -> Predicate:
        for one, other, said in ((left, right, symbol), (right, left, _MIRRORED.get(symbol, symbol))):
            if _is_day_of_a_column(one):
                return self._of_a_day(said, one, other)
        return ComparisonPredicate(symbol, self.expression(left), self.expression(right))

    def expression(self, node: exp.Expr) -> Expression:
        """A column or a constant."""
        if isinstance(node, exp.Paren):
            return self.expression(node.this)
        return ColumnRef(self._column(node)) if isinstance(node, exp.Column) else self.constant(node)

    def constant(self, node: exp.Expr) -> Literal:
        """A text, a number, a date, TRUE, FALSE or NULL."""
        match node:
            case exp.Null():
                return Literal(None)
            case exp.Boolean():
                return Literal(bool(node.this))
            case exp.Literal() if node.is_string:
                return Literal(str(node.this))
            case exp.Literal():
                return self._number(node, str(node.this))
            case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
                return self._number(node, f"-{node.this.this}")
            case exp.Cast() if node.to.this in _TIMES and node.this.is_string:
                return self._time(node)
        raise self.refuse(
            node,
            "algebra.not-supported-predicate-compare",
            "{node} is not supported in a predicate; compare columns and constants",
            node=_named(node),
        )

    def _number(self, node: exp.Expr, text: str) -> Literal:
        try:
            read_number(text)
            return Literal(Decimal(text))
        except ParameterError:
            raise self.refuse(
                node, "algebra.number-too-long-not-decimal", "this number is too long or not a decimal number"
            ) from None

    def _time(self, node: exp.Cast) -> Literal:
        try:
            found = read_time(node.this.this)
        except ParameterError:
            found = None
        if node.to.this == exp.DType.DATE:
            if found is None or isinstance(found, datetime):
                raise self.refuse(
                    node, "algebra.date-written-date-2026", "a date is written DATE '2026-01-31'"
                )
            return Literal(found)
        if found is None:
            raise self.refuse(
                node,
                "algebra.time-written-timestamp-2026",
                "a time is written TIMESTAMP '2026-01-31 12:30:00', without a time zone",
            )
        return Literal(as_moment(found))

    def _of_a_day(self, symbol: str, node: exp.Cast, other: exp.Expr) -> Predicate:
        """`CAST(column AS DATE) = DATE '...'` as what it says of the column: from when, and until when."""
        column, constant = self.expression(node.this), self.constant(other).constant
        if isinstance(constant, str):
            constant = self._time(exp.cast(exp.Literal.string(constant), exp.DType.DATE)).constant
        if not isinstance(constant, date) or isinstance(constant, datetime):
            raise self.refuse(
                other,
                "algebra.cast-date-compared-day",
                "CAST(... AS DATE) is compared with a day, as DATE '2026-01-31'",
            )
        try:
            begin, end = Literal(constant), Literal(constant + timedelta(days=1))
        except OverflowError:
            raise self.refuse(other, "algebra.day-no-next", "this day has no next one") from None
        match symbol:
            case "<" | ">=":
                return ComparisonPredicate(symbol, column, begin)
            case "<=":
                return ComparisonPredicate("<", column, end)
            case ">":
                return ComparisonPredicate(">=", column, end)
        within = And((ComparisonPredicate(">=", column, begin), ComparisonPredicate("<", column, end)))
        return within if symbol == "=" else Not(within)


def _is_day_of_a_column(node: exp.Expr) -> TypeGuard[exp.Cast]:
    is_cast = isinstance(node, exp.Cast) and node.to.this == exp.DType.DATE
    return is_cast and isinstance(node.this, exp.Column)


def _named(node: exp.Expr) -> str:
    """How a message calls a piece of syntax, without quoting it: it may hold personal data."""
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name.lower()}"
    if isinstance(node, exp.Func):
        return f"the function {node.sql_name().lower()}"
    return {exp.Subquery: "a subquery", exp.Select: "a subquery", exp.Column: "a column alone"}.get(
        type(node), f"'{node.key}'"
    )
