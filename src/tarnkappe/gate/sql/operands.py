"""The values that columns are compared with: constants, and parameters that are bound later."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.dialect import only
from tarnkappe.gate.sql.errors import BAD_VALUE, NO_PARAMETER, NOT_OFFERED, WRONG_TYPE, StatementError
from tarnkappe.gate.sql.types import ValueOutOfTypeError, WireType, read_array

MOST_PARAMETERS = 1_000
MOST_ELEMENTS = 10_000
_NUMBERS = frozenset(kind.oid for kind in types.TYPES if kind.category == "N")
_TEXTS = frozenset(kind.oid for kind in types.TYPES if kind.category == "S")
_TIMES = frozenset(kind.oid for kind in types.TYPES if kind.category == "D")
CASTS = {
    exp.DType.BOOLEAN: types.BOOLEAN,
    exp.DType.SMALLINT: types.SMALLINT,
    exp.DType.INT: types.INTEGER,
    exp.DType.BIGINT: types.BIGINT,
    exp.DType.FLOAT: types.REAL,
    exp.DType.DOUBLE: types.DOUBLE,
    exp.DType.DECIMAL: types.NUMERIC,
    exp.DType.TEXT: types.TEXT,
    exp.DType.VARCHAR: types.VARCHAR,
    exp.DType.DATE: types.DATE,
    exp.DType.TIMESTAMP: types.TIMESTAMP,
}
"""What a constant or a parameter may be cast to."""


@dataclasses.dataclass(frozen=True)
class Constant:
    """A value that stands in the statement."""

    value: Any

    def bound(self, values: Sequence[Any]) -> Any:
        """The value."""
        del values
        return self.value


@dataclasses.dataclass(frozen=True)
class BindParameter:
    """A value that comes with each execution, counted from 0."""

    number: int

    def bound(self, values: Sequence[Any]) -> Any:
        """The value."""
        return values[self.number]


Operand = Constant | BindParameter


@dataclasses.dataclass
class BindParameters:
    """The parameters of a statement: the types that the client declares, and those that we find out.

    Attributes:
        declared: numbers of types, 0 for none, as the client gave them.
    """

    declared: Sequence[int] = ()
    found: dict[int, WireType] = dataclasses.field(default_factory=dict)
    arrays: set[int] = dataclasses.field(default_factory=set)

    def settle(self, number: int, kind: WireType, is_array: bool) -> None:
        """Fix the type of a parameter for which nothing but its place speaks, unless it is fixed already."""
        if not 0 <= number < MOST_PARAMETERS:
            raise StatementError(
                NO_PARAMETER, "gate.catalog-reader-no-parameter", "there is no such parameter"
            )
        if number in self.found and (number in self.arrays) is not is_array:
            raise StatementError(
                WRONG_TYPE, "gate.parameter-used-two-types", "a parameter is used as two types"
            )
        self.found.setdefault(number, kind)
        if is_array:
            self.arrays.add(number)

    def take(self, number: int, wanted: WireType, is_array: bool = False) -> BindParameter:
        """The parameter of this number, as which type it is used is `wanted`."""
        if not 0 <= number < MOST_PARAMETERS:
            raise StatementError(
                NO_PARAMETER, "gate.catalog-reader-no-parameter", "there is no such parameter"
            )
        oid = self.declared[number] if number < len(self.declared) else 0
        known = types.BY_ARRAY if is_array else types.BY_OID
        kind = wanted if oid in (0, types.UNKNOWN.oid) else known.get(oid)
        if kind is None or not comparable(kind, wanted):
            raise StatementError(
                WRONG_TYPE,
                "gate.parameter-type-column-cannot-compared",
                "a parameter has a type that its column cannot be compared with",
            )
        before = self.found.get(number)
        if before is not None and (before is not kind or (number in self.arrays) is not is_array):
            raise StatementError(
                WRONG_TYPE, "gate.parameter-used-two-types", "a parameter is used as two types"
            )
        self.found[number] = kind
        if is_array:
            self.arrays.add(number)
        return BindParameter(number)

    @property
    def oids(self) -> list[int]:
        """The numbers of the types of all parameters, in order."""
        count = max([len(self.declared), *(number + 1 for number in self.found)], default=0)
        return [self._oid(number) for number in range(count)]

    def _oid(self, number: int) -> int:
        kind = self.found.get(number)
        if kind is None:
            return (self.declared[number] if number < len(self.declared) else 0) or types.TEXT.oid
        return kind.array if number in self.arrays else kind.oid

    def read(self, cells: Sequence[bytes | None], forms: Sequence[int]) -> tuple[Any, ...]:
        """The values of all parameters from the wire."""
        if len(cells) != len(self.oids):
            raise StatementError(
                "08P01",
                "gate.number-parameters-not-statement",
                "the number of parameters is not that of the statement",
            )
        if len(forms) not in (0, 1, len(cells)) or any(form not in (0, 1) for form in forms):
            raise StatementError(
                "08P01",
                "gate.formats-parameters-not-understood",
                "the formats of the parameters are not understood",
            )
        spread = list(forms) * len(cells) if len(forms) == 1 else list(forms) or [0] * len(cells)
        return tuple(self._value(number, cell, spread[number]) for number, cell in enumerate(cells))

    def _value(self, number: int, cell: bytes | None, form: int) -> Any:
        kind = self.found.get(number, types.TEXT)
        try:
            if number in self.arrays:
                values = [] if cell is None else read_array(kind, cell, form)
                if len(values) > MOST_ELEMENTS:
                    raise StatementError(
                        "54000", "gate.array-parameter-too-long", "the array of a parameter is too long"
                    )
                return values
            return kind.read(cell, form)
        except ValueOutOfTypeError:
            raise StatementError(
                BAD_VALUE, "gate.parameter-no-value-type", "a parameter is no value of its type"
            ) from None


def comparable(one: WireType, other: WireType) -> bool:
    """Whether values of two types can be compared without an error, whatever they are."""
    return (
        any(one.oid in kinds and other.oid in kinds for kinds in (_NUMBERS, _TEXTS, _TIMES)) or one is other
    )


def parameter_number(node: exp.Expr) -> int | None:
    """Which parameter ($1 is 0) a node is, if it is one."""
    if isinstance(node, exp.Parameter) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        only(node, ("this",), "parameters")
        return int(node.this.this) - 1 if str(node.this.this).isdecimal() else -1
    return None


def read_operand(node: exp.Expr, wanted: WireType, parameters: BindParameters) -> Operand:
    """The value that a column of a type is compared with."""
    while isinstance(node, exp.Paren):
        node = node.this
    number = parameter_number(node)
    if number is not None:
        return parameters.take(number, wanted)
    if isinstance(node, exp.Cast) and type(node) is exp.Cast:
        return _cast(node, wanted, parameters)
    text = _written(node)
    if text is None:
        raise StatementError(
            NOT_OFFERED,
            "gate.columns-compared-constants-parameters",
            "columns are compared with constants and parameters only",
            hint="No functions, no arithmetic.",
        )
    kind, value = text
    if value is None:
        return Constant(None)
    if kind is types.UNKNOWN:
        kind = wanted
    if not comparable(kind, wanted):
        raise StatementError(
            WRONG_TYPE,
            "gate.column-cannot-compared-constant",
            "a column cannot be compared with a constant of this type",
        )
    return Constant(_parse(kind, value))


def _cast(node: exp.Cast, wanted: WireType, parameters: BindParameters) -> Operand:
    only(node, ("this", "to", "_type"), "casts")
    only(node.to, ("this", "nested", "expressions"), "casts")
    kind = CASTS.get(node.to.this)
    if kind is None or node.to.expressions or not comparable(kind, wanted):
        raise StatementError(
            WRONG_TYPE,
            "gate.column-cannot-compared-value",
            "a column cannot be compared with a value of this type",
        )
    number = parameter_number(node.this)
    if number is not None:
        return parameters.take(number, kind)
    written = _written(node.this)
    if written is None:
        raise StatementError(
            NOT_OFFERED,
            "gate.only-constants-parameters-can-cast",
            "only constants and parameters can be cast",
        )
    return Constant(None if written[1] is None else _parse(kind, written[1]))


def _parse(kind: WireType, text: str) -> Any:
    try:
        return kind.read(text.encode(), types.TEXT_FORMAT)
    except (ValueOutOfTypeError, UnicodeEncodeError):
        raise StatementError(
            BAD_VALUE,
            "gate.constant-no-value-type",
            "a constant is no value of the type that it is compared with",
        ) from None


def _written(node: exp.Expr) -> tuple[WireType, str | None] | None:
    """The type of a constant and its text."""
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        return types.NUMERIC, f"-{node.this.this}"
    if isinstance(node, exp.Literal):
        return (types.UNKNOWN, str(node.this)) if node.is_string else (types.NUMERIC, str(node.this))
    if isinstance(node, exp.Boolean):
        return types.BOOLEAN, str(node.this).lower()
    if isinstance(node, exp.Null):
        return types.UNKNOWN, None
    if isinstance(node, exp.RawString):
        return types.UNKNOWN, str(node.this)
    return None
