"""Arguments of operators and aggregates: `k => 3`, `by => [plz, alter]`, `probability => {plz: 0.3}`."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from tarnkappe.algebra.numbers import read_number
from tarnkappe.algebra.sql.reading import SqlReader
from tarnkappe.errors import ParameterError


class ArgumentReader(SqlReader):
    """Reads the arguments of a call."""

    def arguments(self, call: exp.Expr) -> tuple[list[exp.Expr], dict[str, exp.Expr]]:
        """The arguments by position, and those by name (each name once)."""
        self.only(call, "this", "expressions", what="a call")
        positional: list[exp.Expr] = []
        named: dict[str, exp.Expr] = {}
        for argument in call.expressions:
            if not isinstance(argument, exp.Kwarg):
                positional.append(argument)
                continue
            name = argument.this.name.lower()
            if name in named:
                raise self.refuse(argument, "algebra.given-twice", "'{name}' is given twice", name=name)
            named[name] = argument.expression
        return positional, named

    def known(self, call: exp.Expr, named: dict[str, exp.Expr], *names: str) -> None:
        """Refuse arguments with other names."""
        for name, value in named.items():
            if name not in names:
                raise self.refuse(
                    value,
                    "algebra.no-argument",
                    "{call} has no argument '{name}'; it has {names}",
                    call=call.name.lower(),
                    name=name,
                    names=", ".join(names),
                )

    def number(self, node: exp.Expr) -> Fraction:
        """A number as a decimal or as a quotient of two numbers."""
        match node:
            case exp.Paren():
                return self.number(node.this)
            case exp.Neg():
                return -self.number(node.this)
            case exp.Div():
                divisor = self.number(node.expression)
                if divisor:
                    return self.number(node.this) / divisor
            case exp.Literal() if not node.is_string:
                try:
                    return read_number(str(node.this))
                except ParameterError:
                    pass
        raise self.refuse(node, "algebra.expected-number-like-0", "expected a number like 0.16 or 1/3")

    def whole_number(self, node: exp.Expr) -> int:
        """A number without a fraction."""
        number = self.number(node)
        if number.denominator != 1:
            raise self.refuse(node, "algebra.expected-whole-number", "expected a whole number")
        return int(number)

    def items(self, node: exp.Expr) -> list[exp.Expr]:
        """The items of a list in brackets."""
        if not isinstance(node, exp.Array):
            raise self.refuse(
                node, "algebra.expected-list-brackets-plz", "expected a list in brackets, as [plz, alter]"
            )
        self.only(node, "expressions", "bracket_notation", what="a list")
        return list(node.expressions)

    def pairs(self, node: exp.Expr) -> list[tuple[exp.Identifier, exp.Expr]]:
        """The entries of a mapping in braces."""
        if not isinstance(node, exp.Struct):
            raise self.refuse(
                node,
                "algebra.expected-names-values-braces",
                "expected names with values in braces, as {{plz: 0.3}}",
            )
        self.only(node, "expressions", what="a list of names with values")
        found = []
        for entry in node.expressions:
            if not isinstance(entry, exp.PropertyEQ) or not isinstance(entry.this, exp.Identifier):
                raise self.refuse(
                    entry,
                    "algebra.expected-name-value-plz",
                    "expected a name with its value, as {{plz: 0.3}}",
                )
            found.append((entry.this, entry.expression))
        return found
