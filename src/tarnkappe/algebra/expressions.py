"""Predicates of selections and theta joins: immutable trees over the columns of one row.

Every expression knows the columns it reads (`columns`), which the rewrite rules ask, and its value on a row
(`value`), by SQL's three-valued logic: a comparison with a missing value (None) is unknown (None), and a
selection keeps a row only where its predicate is true (`holds`). Two literals are equal only if their types
are, so `TRUE` and `1` are different, although Python calls them equal.
"""

from __future__ import annotations

import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Self

from tarnkappe.algebra.times import alike
from tarnkappe.errors import ParameterError

Value = str | int | Decimal | bool | date | datetime | None
Row = Mapping[str, Any]
MOST_DIGITS = 200
"""Of a number in a query: a hostile 1e999999999 would fill the memory when it is written out."""

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Expression(ABC):
    """What can be computed from one row."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that this one is made of."""

    @abstractmethod
    def value(self, row: Row) -> Any:
        """The value on a row (column to cell); None is SQL's NULL."""

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that the expression reads: attr(F)."""
        return frozenset[str]().union(*(part.columns for part in self.parts))

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same about columns that are called otherwise (old name to new)."""

        def new(value: Any) -> Any:
            if isinstance(value, Expression):
                return value.renamed(names)
            return tuple(map(new, value)) if isinstance(value, tuple) else value

        own = {each.name: new(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]
        return type(self)(**own)


class Predicate(Expression):
    """An expression that is true, false or unknown (None)."""

    def holds(self, row: Row) -> bool:
        """Whether a selection by this predicate keeps the row."""
        return self.value(row) is True


@dataclass(frozen=True)
class ColumnRef(Expression):
    """The cell of a column."""

    name: str

    @property
    def parts(self) -> tuple[Expression, ...]:
        return ()

    @cached_property
    def columns(self) -> frozenset[str]:
        return frozenset({self.name})

    def renamed(self, names: Mapping[str, str]) -> Self:
        return type(self)(names.get(self.name, self.name))

    def value(self, row: Row) -> Any:
        return row[self.name]


@dataclass(frozen=True, eq=False)
class Literal(Expression):
    """A constant. A decimal without a fraction is the whole number that it equals."""

    constant: Value

    def __post_init__(self) -> None:
        if isinstance(self.constant, Decimal):
            object.__setattr__(self, "constant", _plain(self.constant))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[type, Value]:
        return type(self.constant), self.constant

    @property
    def parts(self) -> tuple[Expression, ...]:
        return ()

    def value(self, row: Row) -> Value:
        return self.constant


@dataclass(frozen=True)
class ComparisonPredicate(Predicate):
    """Two expressions compared: `=`, `<>`, `<`, `<=`, `>` or `>=`."""

    symbol: str
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        if self.symbol not in COMPARISONS:
            raise ParameterError(
                "algebra.no-comparison",
                "No comparison '{symbol}'; there are {comparisons}.",
                symbol=self.symbol,
                comparisons=", ".join(COMPARISONS),
            )

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.left, self.right

    def value(self, row: Row) -> bool | None:
        left, right = self.left.value(row), self.right.value(row)
        if left is None or right is None:
            return None
        left, right = alike(left, right)
        try:
            return COMPARISONS[self.symbol](left, right)
        except TypeError:
            message = f"A predicate compares values of different types by {self.symbol}"
            raise ParameterError(
                "algebra.write-texts-18-numbers",
                "{message}; write texts as '18' and numbers as 18.",
                message=message,
            ) from None


@dataclass(frozen=True)
class OneOf(Predicate):
    """`expression IN (constants)`."""

    expression: Expression
    constants: tuple[Literal, ...]

    def __post_init__(self) -> None:
        if not self.constants:
            raise ParameterError("algebra.needs-least-value", "IN needs at least one value.")

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.expression,)

    def value(self, row: Row) -> bool | None:
        cell = self.expression.value(row)
        constants = [constant.constant for constant in self.constants]
        if cell is None:
            return None
        pairs = (alike(constant, cell) for constant in constants if constant is not None)
        if any(constant == value for constant, value in pairs):
            return True
        return None if None in constants else False


@dataclass(frozen=True)
class Like(Predicate):
    """`expression LIKE 'pattern'`: `%` stands for any text, `_` for one character; there is no escape."""

    expression: Expression
    pattern: str

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.expression,)

    def value(self, row: Row) -> bool | None:
        cell = self.expression.value(row)
        if cell is None:
            return None
        wildcards = {"%": ".*", "_": "."}
        regular = "".join(wildcards.get(c, re.escape(c)) for c in self.pattern)
        return re.fullmatch(regular, str(cell), re.DOTALL) is not None


@dataclass(frozen=True)
class IsNull(Predicate):
    """`expression IS NULL`, which is never unknown."""

    expression: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.expression,)

    def value(self, row: Row) -> bool:
        return self.expression.value(row) is None


@dataclass(frozen=True)
class Not(Predicate):
    """The negation; of the unknown it is unknown."""

    operand: Predicate

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.operand,)

    def value(self, row: Row) -> bool | None:
        value = self.operand.value(row)
        return None if value is None else not value


@dataclass(frozen=True)
class _Connective(Predicate):
    """Two or more predicates; nested ones of the same kind are flattened, their order is kept."""

    operands: tuple[Predicate, ...]
    absorbing: ClassVar[bool]

    def __post_init__(self) -> None:
        flat: list[Predicate] = []
        for operand in self.operands:
            flat.extend(operand.operands if isinstance(operand, type(self)) else (operand,))
        object.__setattr__(self, "operands", tuple(flat))
        if len(flat) < 2:
            raise ParameterError(
                "algebra.needs-least-two-predicates",
                "{name} needs at least two predicates.",
                name=type(self).__name__.upper(),
            )

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.operands

    def value(self, row: Row) -> bool | None:
        values = [operand.value(row) for operand in self.operands]
        if self.absorbing in values:
            return self.absorbing
        return None if None in values else not self.absorbing


@dataclass(frozen=True)
class And(_Connective):
    """All predicates: false if one is false, else unknown if one is unknown."""

    absorbing = False


@dataclass(frozen=True)
class Or(_Connective):
    """Any predicate: true if one is true, else unknown if one is unknown."""

    absorbing = True


def _plain(number: Decimal) -> int | Decimal:
    if not number.is_finite() or abs(number.adjusted()) > MOST_DIGITS:
        raise ParameterError(
            "algebra.number-predicate-must-finite",
            "A number in a predicate must be finite and of reasonable size.",
        )
    return int(number) if number == number.to_integral_value() else number


def conjunction(predicates: Iterable[Predicate]) -> Predicate:
    """The conjunction of one or more predicates (a single one is itself)."""
    predicates = tuple(predicates)
    return predicates[0] if len(predicates) == 1 else And(predicates)


def conjuncts(predicate: Predicate) -> tuple[Predicate, ...]:
    """The predicates that a conjunction demands together; any other predicate is its only conjunct."""
    return predicate.operands if isinstance(predicate, And) else (predicate,)
