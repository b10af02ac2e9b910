"""The values that predicates tell apart: without them a difference between two plans would not be seen.

A condition by equality tells its constants apart from one another and from everything else. A condition by
order also tells what lies below, between and above them, and a pattern what fits it and what does not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from tarnkappe.algebra.distribution import Cell
from tarnkappe.algebra.expressions import (
    ColumnRef,
    ComparisonPredicate,
    Expression,
    Like,
    Literal,
    OneOf,
    Predicate,
)
from tarnkappe.errors import ParameterError

ORDERS = ("<", "<=", ">", ">=")
AFTER = "~"
"""A character that follows all letters and digits."""


def landmarks(names: Iterable[str], predicates: Iterable[Predicate]) -> tuple[Cell, ...]:
    """Values for some columns that mean the same: what the predicates compare with, and neighbours.

    >>> from tarnkappe.algebra.expressions import And
    >>> age = ColumnRef("age")
    >>> between = And((ComparisonPredicate(">", age, Literal(1)), ComparisonPredicate("<", age, Literal(2))))
    >>> [str(value) for value in landmarks(["age"], [between])]
    ['0', '1', '1.5', '2', '3']
    """
    names = set(names)
    found: dict[Any, None] = {}
    ordered = False
    for predicate in predicates:
        for part in _within(predicate):
            constants, by_order = _told_apart(part, names)
            found.update(dict.fromkeys(constant for constant in constants if constant is not None))
            ordered = ordered or by_order
    return tuple(_with_neighbours(list(found), ordered))


def _within(expression: Expression) -> Iterator[Expression]:
    yield expression
    for part in expression.parts:
        yield from _within(part)


def _told_apart(part: Expression, names: set[str]) -> tuple[list[Any], bool]:
    """The constants that one condition tells apart, and whether it asks for their order."""
    match part:
        case ComparisonPredicate(symbol, ColumnRef(name), Literal(constant)) if name in names:
            return [constant], symbol in ORDERS
        case ComparisonPredicate(symbol, Literal(constant), ColumnRef(name)) if name in names:
            return [constant], symbol in ORDERS
        case OneOf(ColumnRef(name), literals) if name in names:
            return [literal.constant for literal in literals], False
        case Like(ColumnRef(name), pattern) if name in names:
            # The shortest fitting text, a longer one, and two that just do not fit.
            shortest = pattern.replace("%", "").replace("_", "x")
            longer = pattern.replace("%", "xy").replace("_", "y")
            return [shortest, longer, shortest + AFTER, AFTER + shortest], False
    return [], False


def _with_neighbours(constants: list[Any], ordered: bool) -> Iterator[Any]:
    kinds = {_kind(constant) for constant in constants}
    if len(kinds) > 1:
        raise ParameterError(
            "algebra.column-compared-write-texts",
            "a column is compared with a {kinds}: write texts as '18', numbers as 18, and dates as DATE "
            "'2024-02-29'",
            kinds=" and with a ".join(sorted(kinds)),
        )
    if not kinds:
        return
    if kinds == {"truth value"}:
        yield from (True, False)
    elif kinds == {"text"} and not ordered:
        yield from constants
    else:
        yield from _line(sorted(constants), ordered)


def _line(constants: list[Any], ordered: bool) -> Iterator[Any]:
    """Below, at, between and above sorted constants; if order is not asked for, one other is enough."""
    first, last = constants[0], constants[-1]
    if ordered:
        yield "" if isinstance(first, str) else _moved(first, -1)
    for low, high in itertools.pairwise(constants):
        yield low
        if ordered and (middle := _between(low, high)) is not None:
            yield middle
    yield last
    yield last + AFTER if isinstance(last, str) else _moved(last, 1)


def _between(low: Any, high: Any) -> Any:
    """A value between two, if there is one: whole numbers are tried as decimals as well."""
    if isinstance(low, str):
        return low + " " if low + " " < high else None
    if isinstance(low, date):
        middle = low + (high - low) / 2
        return middle if low < middle < high else None
    middle = (Decimal(low) + Decimal(high)) / 2
    return int(middle) if middle == middle.to_integral_value() else middle


def _moved(value: Any, by: int) -> Any:
    if isinstance(value, date):
        try:
            return value + timedelta(days=by)
        except OverflowError:
            return value
    return value + by


def _kind(constant: Any) -> str:
    if isinstance(constant, bool):
        return "truth value"
    if isinstance(constant, str):
        return "text"
    if isinstance(constant, datetime):
        return "time"
    return "date" if isinstance(constant, date) else "number"
