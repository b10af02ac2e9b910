"""Aggregates in a SELECT list: plain (`count(*)`, `avg(x)`) and noisy (`noisy_sum(x, epsilon => 1, ...)`)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from tarnkappe.algebra.aggregates import NOISY_FUNCTIONS, Aggregate, Noise
from tarnkappe.algebra.sql.arguments import ArgumentReader
from tarnkappe.errors import ParameterError

_PLAIN: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "mean",
    exp.Min: "min",
    exp.Max: "max",
    exp.Quantile: "quantile",
}
_NOISY = {f"noisy_{function}": function for function in NOISY_FUNCTIONS}


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a piece of syntax is an aggregate that we know."""
    return type(node) in _PLAIN or (isinstance(node, exp.Anonymous) and node.name.lower() in _NOISY)


class AggregateReader(ArgumentReader):
    """Reads aggregates whose columns are resolved by `column`."""

    def __init__(self, text: str, column: Callable[[exp.Column], str]) -> None:
        super().__init__(text)
        self._column = column

    def aggregate(self, node: exp.Expr, name: str | None) -> Aggregate:
        """The aggregate under its alias, or under the name of its function."""
        noisy = isinstance(node, exp.Anonymous)
        function = _NOISY[node.name.lower()] if noisy else _PLAIN[type(node)]
        try:
            read = self._noisy if noisy else self._plain
            return read(node, function, name or (f"noisy_{function}" if noisy else function))
        except ParameterError as error:
            raise self.refuse_because(node, error.reason.clause) from None

    def _plain(self, node: exp.Expr, function: str, name: str) -> Aggregate:
        at: Fraction | None = None
        if function == "quantile":
            self.only(node, "this", "quantile", what="an aggregate")
            where = node.args["quantile"]
            at = self.number(where.expression if isinstance(where, exp.Kwarg) else where)
        else:
            self.only(node, "this", "big_int", what="an aggregate")
        return Aggregate(function, self._aggregated(node.this, function), name, at)

    def _aggregated(self, node: exp.Expr | None, function: str) -> str | None:
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Star) and function == "count":
            self.only(node, what="count(*)")
            return None
        place = node or exp.Null()
        if function == "count":
            raise self.refuse(place, "algebra.count-takes-column", "count takes one column or *")
        raise self.refuse(place, "algebra.takes-column", "{function} takes one column", function=function)

    def _noisy(self, node: exp.Expr, function: str, name: str) -> Aggregate:
        positional, named = self.arguments(node)
        if len(positional) > 1:
            raise self.refuse(
                positional[1],
                "algebra.aggregate-takes-column-all-else",
                "an aggregate takes one column; all else is named, as epsilon => 1",
            )
        column = self._aggregated(positional[0], function) if positional else None
        self.known(node, named, "epsilon", "lower", "upper", "at")
        numbers = {key: self.number(value) for key, value in named.items()}
        if "epsilon" not in numbers:
            raise self.refuse(
                node,
                "algebra.noisy-aggregate-needs-epsilon",
                "a noisy aggregate needs its epsilon, as in epsilon => 1",
            )
        noise = Noise(numbers["epsilon"], numbers.get("lower"), numbers.get("upper"))
        return Aggregate(function, column, name, numbers.get("at"), noise)
