"""What kind of values the columns of a plan have, from those of base relations, before an engine runs it.

A generalized column is text from then on, and a union of numbers and texts is text. So a rewrite that is
right for values may still let a condition meet another type, or show a column in another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tarnkappe.algebra.expressions import (
    ColumnRef,
    ComparisonPredicate,
    Expression,
    Like,
    Literal,
    OneOf,
    Predicate,
)
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Join,
    Plan,
    PostProcessing,
    Projection,
    Relation,
    Rename,
    Selection,
    SetOperation,
    ThetaJoin,
)

Kinds = dict[str, str]
"""The kind of each column, in the words of messages: text, whole number, number, date, time, truth value."""

NUMBERS = {"number", "whole number"}
TIMES = {"date", "time"}
AS_TEXT = {"text", "whole number", "date", "truth value"}
"""What is brought together with a text as text."""


def column_kinds(plan: Plan, stored: Mapping[str, Kinds]) -> Kinds | None:
    """The kinds of a plan's columns; None if types do not go together in it, so that it would be refused.

    >>> people = Relation("people", ("age", "plz"))
    >>> column_kinds(Generalization(people, ("age",), 2), {"people": {"age": "whole number", "plz": "text"}})
    {'age': 'text', 'plz': 'text'}
    """
    below = [column_kinds(child, stored) for child in plan.children]
    known = [kinds for kinds in below if kinds is not None]
    if len(known) < len(below):
        return None
    match plan:
        case Relation(name, columns):
            return {column: stored[name][column] for column in columns} if name in stored else None
        case SetOperation():
            return _united(*known)
        case Join():
            both = {column: _common(known[0][column], known[1][column]) for column in plan.on}
            return None if None in both.values() else {**known[1], **known[0]}
        case ThetaJoin(_, _, predicate):
            merged = {**known[1], **known[0]}
            return merged if _fits(predicate, merged) else None
        case PostProcessing():  # its inputs show what a rewrite may change
            return {f"{n}.{column}": kind for n, each in enumerate(known) for column, kind in each.items()}
    (kinds,) = known
    match plan:
        case Selection(_, predicate):
            return kinds if _fits(predicate, kinds) else None
        case Projection(_, onto):
            return {column: kinds[column] for column in onto}
        case Rename(_, names):
            new = dict(names)
            return {new.get(column, column): kind for column, kind in kinds.items()}
        case Generalization(_, _, k) if k > 1:
            return kinds | dict.fromkeys(plan.attributes & plan.schema, "text")
        case ModelGeneralization():
            return kinds | dict.fromkeys(plan.attributes, "text")
        case Grouping(_, by, aggregates):
            counted = {a.name: _aggregated(a.function, kinds.get(a.column or "")) for a in aggregates}
            return {column: kinds[column] for column in by} | counted
    return kinds


def _united(left: Kinds, right: Kinds) -> Kinds | None:
    found = {column: _common(kind, right[column]) for column, kind in left.items()}
    whole = {column: kind for column, kind in found.items() if kind is not None}
    return whole if len(whole) == len(found) else None


def _common(one: str, other: str) -> str | None:
    if one == other:
        return one
    if "text" in (one, other):
        return "text" if {one, other} <= AS_TEXT else None
    if {one, other} <= NUMBERS:
        return "number"
    return "time" if {one, other} <= TIMES else None


def _aggregated(function: str, kind: str | None) -> str:
    if function == "count":
        return "whole number"
    if function in ("min", "max"):
        return kind or "number"
    return "whole number" if function == "sum" and kind == "whole number" else "number"


def _fits(predicate: Predicate, kinds: Kinds) -> bool:
    match predicate:
        case ComparisonPredicate(_, left, right):
            return _comparable((left, right), kinds)
        case OneOf(expression, constants):
            return all(_comparable((expression, constant), kinds) for constant in constants)
        case Like(expression):
            return _kind(expression, kinds) in {"text", "whole number", "date", None}
    return all(_fits(part, kinds) for part in predicate.parts if isinstance(part, Predicate))


def _comparable(sides: tuple[Expression, Expression], kinds: Kinds) -> bool:
    one, other = (_kind(side, kinds) for side in sides)
    if None in (one, other) or one == other or {one, other} <= NUMBERS or {one, other} <= TIMES:
        return True
    texts = [side for side in sides if isinstance(side, Literal) and isinstance(side.constant, str)]
    return bool(texts) and bool({one, other} & TIMES)


def _kind(expression: Expression, kinds: Kinds) -> str | None:
    match expression:
        case ColumnRef(name):
            return kinds[name]
        case Literal(constant):
            return _of_constant(constant)
    return "truth value"


def _of_constant(constant: Any) -> str | None:
    kinds = {
        bool: "truth value",
        str: "text",
        int: "whole number",
        Decimal: "number",
        datetime: "time",
        date: "date",
    }
    return kinds.get(type(constant))
