"""Conditions: comparisons of columns with values, joined by AND, OR and NOT. Nothing else can be said.

None of them can fail for some rows and not for others, so that no error tells anything about a row:
types are compared before anything runs, patterns have no escapes, and there is no arithmetic.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.dialect import only
from tarnkappe.gate.sql.errors import (
    BAD_VALUE,
    NOT_ALLOWED,
    NOT_OFFERED,
    TOO_COMPLEX,
    WRONG_TYPE,
    StatementError,
)
from tarnkappe.gate.sql.operands import (
    BindParameter,
    BindParameters,
    Constant,
    Operand,
    comparable,
    parameter_number,
    read_operand,
)
from tarnkappe.gate.sql.parameter_kinds import is_all, kind_of_cast
from tarnkappe.gate.sql.view import TableView, ViewColumn

MOST_TERMS = 1_000
COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TRUE = Constant(True)


class Condition(ABC):
    """A part of a WHERE clause."""

    @abstractmethod
    def written(self, values: Sequence[Any], taken: list[Any]) -> str:
        """The condition as SQL; with a `?` for each value, which is added to `taken`"""


@dataclasses.dataclass(frozen=True)
class ComparisonCondition(Condition):
    """A column and a value."""

    column: str
    operator: str
    operand: Operand

    def written(self, values: Sequence[Any], taken: list[Any]) -> str:
        value = _safe(self.operator, self.operand.bound(values))
        return f"{quoted(self.column)} {self.operator} {_marked(value, taken)}"


@dataclasses.dataclass(frozen=True)
class ColumnComparison(Condition):
    """Two columns."""

    left: str
    operator: str
    right: str

    def written(self, values: Sequence[Any], taken: list[Any]) -> str:
        del values, taken
        return f"{quoted(self.left)} {self.operator} {quoted(self.right)}"


@dataclasses.dataclass(frozen=True)
class InListCondition(Condition):
    """A column and a list of values, which may be the elements of one parameter."""

    column: str
    operands: tuple[Operand, ...] | BindParameter

    def written(self, values: Sequence[Any], taken: list[Any]) -> str:
        several = self.operands
        listed = (
            several.bound(values)
            if isinstance(several, BindParameter)
            else [o.bound(values) for o in several]
        )
        if not listed:
            return "(1 = 0)"
        return f"{quoted(self.column)} IN ({', '.join(_marked(value, taken) for value in listed)})"


@dataclasses.dataclass(frozen=True)
class Missing(Condition):
    """Whether a column has no value."""

    column: str

    def written(self, values: Sequence[Any], taken: list[Any]) -> str:
        del values, taken
        return f"{quoted(self.column)} IS NULL"


@dataclasses.dataclass(frozen=True)
class Negation(Condition):
    """Not."""

    part: Condition

    def written(self, values: Sequence[Any], taken: list[Any]) -> str:
        return f"NOT ({self.part.written(values, taken)})"


@dataclasses.dataclass(frozen=True)
class Junction(Condition):
    """And, or."""

    word: str
    parts: tuple[Condition, ...]

    def written(self, values: Sequence[Any], taken: list[Any]) -> str:
        return "(" + f" {self.word} ".join(part.written(values, taken) for part in self.parts) + ")"


@dataclasses.dataclass(frozen=True)
class Always(Condition):
    """True or false for everybody."""

    truth: bool

    def written(self, values: Sequence[Any], taken: list[Any]) -> str:
        del values, taken
        return "(1 = 1)" if self.truth else "(1 = 0)"


def quoted(name: str) -> str:
    """A name as every database reads it."""
    return '"' + name.replace('"', '""') + '"'


def _marked(value: Any, taken: list[Any]) -> str:
    taken.append(value)
    return "?"


def _safe(operator: str, value: Any) -> Any:
    # An escape at the end of a pattern is an error, but only if some row comes so far.
    if "LIKE" in operator and value is not None and "\\" in value:
        raise StatementError(
            NOT_OFFERED,
            "gate.patterns-backslash-not-offered",
            "patterns with a backslash are not offered here",
        )
    return value


class ConditionReader:
    """Reads the WHERE clause of one statement.

    Args:
        view: the columns that there are.
        names: how the statement may call the table.
        parameters: takes note of the parameters.
    """

    def __init__(self, view: TableView, names: frozenset[str], parameters: BindParameters) -> None:
        self.view, self.names, self.parameters = view, names, parameters
        self._terms = 0

    def column(self, node: exp.Expr) -> ViewColumn | None:
        """The column that a node is, if it is one."""
        while isinstance(node, exp.Paren):
            node = node.this
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            return None
        only(node, ("this", "table", "db"), "column names")
        if node.table and node.table.casefold() not in self.names:
            raise StatementError(
                "42P01", "gate.missing-clause-entry-table", "missing FROM-clause entry for a table"
            )
        return self.view.column(node.this.this, bool(node.this.quoted))

    def read(self, node: exp.Expr) -> Condition:
        """The condition that a node is; whatever is not known here is refused."""
        self._terms += 1
        if self._terms > MOST_TERMS:
            raise StatementError(
                TOO_COMPLEX, "gate.condition-too-many-parts", "the condition has too many parts"
            )
        if isinstance(node, exp.Paren):
            only(node, ("this",), "conditions")
            return self.read(node.this)
        if isinstance(node, (exp.And, exp.Or)):
            only(node, ("this", "expression"), "conditions")
            word = "AND" if isinstance(node, exp.And) else "OR"
            return Junction(word, tuple(self.read(part) for part in _flat(node, type(node))))
        if isinstance(node, exp.Not):
            only(node, ("this",), "conditions")
            return Negation(self.read(node.this))
        if isinstance(node, exp.Boolean):
            return Always(bool(node.this))
        if type(node) in COMPARISONS:
            return self._comparison(node)
        if isinstance(node, exp.Between):
            return self._between(node)
        if isinstance(node, exp.In):
            return self._membership(node)
        if type(node) in (exp.Like, exp.ILike):
            return self._pattern(node)
        if isinstance(node, exp.Is):
            return self._is(node)
        column = self.column(node)
        if column is not None:
            return ComparisonCondition(self._selecting(column, types.BOOLEAN).name, "=", _TRUE)
        raise StatementError(
            NOT_OFFERED,
            "gate.condition-not-offered",
            "this condition is not offered here",
            hint="Compare columns with constants: = <> < <= > >= BETWEEN IN LIKE IS NULL, with AND, OR "
            "and NOT.",
        )

    def _selecting(self, column: ViewColumn | None, kind: types.WireType | None = None) -> ViewColumn:
        if column is None:
            raise StatementError(
                NOT_OFFERED,
                "gate.condition-compares-columns-constants",
                "a condition compares columns with constants or parameters",
            )
        if not column.selects:
            raise StatementError(
                NOT_ALLOWED,
                "gate.sensitive-column-cannot-used",
                "a sensitive column cannot be used to choose people",
            )
        if kind is not None and not comparable(column.asked, kind):
            raise StatementError(
                WRONG_TYPE,
                "gate.column-cannot-compared-value",
                "a column cannot be compared with a value of this type",
            )
        return column

    def _comparison(self, node: exp.Expr) -> Condition:
        only(node, ("this", "expression"), "comparisons")
        operator = COMPARISONS[type(node)]
        left, right = node.this, node.expression
        constant = self._constant(left, operator, right)
        if constant is not None:
            return constant
        one, other = self.column(left), self.column(right)
        if one is not None and other is not None:
            self._selecting(one, self._selecting(other).asked)
            return ColumnComparison(one.name, operator, other.name)
        if one is None:
            one, right, operator = other, left, MIRRORED.get(operator, operator)
        column = self._selecting(one)
        if isinstance(right, exp.Any) and operator == "=":
            return self._any(column, right.this)
        if operator == "<>" and is_all(right):
            only(right, ("this", "expressions"), "comparisons")
            return Negation(self._any(column, exp.Paren(this=right.expressions[0].copy())))
        return ComparisonCondition(column.name, operator, read_operand(right, column.asked, self.parameters))

    def _constant(self, left: exp.Expr, operator: str, right: exp.Expr) -> Condition | None:
        """What clients write for "all" and "none": 1=1, 1=0."""
        sides = (left, right)
        if operator == "=" and all(isinstance(side, exp.Literal) and not side.is_string for side in sides):
            return Always(str(left.this) == str(right.this))
        return None

    def _any(self, column: ViewColumn, inner: exp.Expr) -> Condition:
        """Whether a column is among the elements of an array."""
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, exp.Cast) and (
            parameter_number(inner.this) is not None or isinstance(inner.this, exp.Array | exp.Literal)
        ):
            kind, is_array = kind_of_cast(inner.to)
            if kind is None or not is_array or not comparable(kind, column.asked):
                raise StatementError(
                    WRONG_TYPE,
                    "gate.column-cannot-compared-value",
                    "a column cannot be compared with a value of this type",
                )
            inner = inner.this
        number = parameter_number(inner)
        if number is not None:
            return InListCondition(column.name, self.parameters.take(number, column.asked, is_array=True))
        if isinstance(inner, exp.Array):
            return InListCondition(column.name, self._operands(column, inner.expressions))
        if isinstance(inner, exp.Literal) and inner.is_string:
            return InListCondition(column.name, self._written_array(column, str(inner.this)))
        raise StatementError(
            NOT_OFFERED, "gate.any-takes-parameter-array", "ANY takes a parameter or an array of constants"
        )

    def _written_array(self, column: ViewColumn, text: str) -> tuple[Operand, ...]:
        """The elements of an array that is written as a text: `'{20,30}'`."""
        try:
            values = types.read_array(column.asked, text.encode(), types.TEXT_FORMAT)
        except (types.ValueOutOfTypeError, UnicodeEncodeError):
            raise StatementError(
                BAD_VALUE, "gate.malformed-array-literal", "malformed array literal"
            ) from None
        self._terms += len(values)
        if self._terms > 10 * MOST_TERMS:
            raise StatementError(
                TOO_COMPLEX, "gate.condition-too-many-parts", "the condition has too many parts"
            )
        return tuple(Constant(value) for value in values)

    def _operands(self, column: ViewColumn, nodes: Sequence[exp.Expr]) -> tuple[Operand, ...]:
        self._terms += len(nodes)
        if self._terms > 10 * MOST_TERMS:
            raise StatementError(
                TOO_COMPLEX, "gate.condition-too-many-parts", "the condition has too many parts"
            )
        return tuple(read_operand(part, column.asked, self.parameters) for part in nodes)

    def _between(self, node: exp.Between) -> Condition:
        only(node, ("this", "low", "high", "negate"), "comparisons")
        column = self._selecting(self.column(node.this))
        low, high = self._operands(column, (node.args["low"], node.args["high"]))
        within = Junction(
            "AND", (ComparisonCondition(column.name, ">=", low), ComparisonCondition(column.name, "<=", high))
        )
        return _unless(node, within)

    def _membership(self, node: exp.In) -> Condition:
        only(node, ("this", "expressions", "negate"), "lists")
        column = self._selecting(self.column(node.this))
        return _unless(node, InListCondition(column.name, self._operands(column, node.expressions)))

    def _pattern(self, node: exp.Expr) -> Condition:
        only(node, ("this", "expression", "negate"), "patterns")
        column = self._selecting(self.column(node.this), types.TEXT)
        operand = read_operand(node.expression, types.TEXT, self.parameters)
        operator = "LIKE" if type(node) is exp.Like else "ILIKE"
        if not isinstance(operand, BindParameter):
            _safe(operator, operand.value)
        return _unless(node, ComparisonCondition(column.name, operator, operand))

    def _is(self, node: exp.Is) -> Condition:
        only(node, ("this", "expression", "negate"), "conditions")
        column = self._selecting(self.column(node.this))
        what = node.expression
        if isinstance(what, exp.Null):
            found: Condition = Missing(column.name)
        elif isinstance(what, exp.Boolean):
            self._selecting(column, types.BOOLEAN)
            equal = ComparisonCondition(column.name, "=", read_operand(what, types.BOOLEAN, self.parameters))
            found = Junction("AND", (Negation(Missing(column.name)), equal))
        else:
            raise StatementError(
                NOT_OFFERED, "gate.condition-not-offered", "this condition is not offered here"
            )
        return _unless(node, found)


def _unless(node: exp.Expr, found: Condition) -> Condition:
    """The condition, or its opposite where the node says NOT."""
    return Negation(found) if node.args.get("negate") else found


def _flat(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The parts of a chain of ANDs or ORs, which may be longer than the interpreter's stack."""
    found, rest = [], [node]
    while rest:
        part = rest.pop()
        if type(part) is kind:
            only(part, ("this", "expression"), "conditions")
            rest += [part.args["expression"], part.args["this"]]
        else:
            found.append(part)
    return found
