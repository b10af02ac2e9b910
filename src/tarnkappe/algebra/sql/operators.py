"""The anonymization operators as table functions, anywhere a table may stand.

    generalize(table, k => 3, by => [plz, alter])
    generalize(table, k => 3, by => [plz, alter], l => {diagnose: 2}, t => {diagnose: 0.4}, suppress => 0.02)
    slice(table, groups => [[plz, alter], [blutgruppe]])
    randomize(table, probability => {blutgruppe: 0.33, datum: 0.16})
    randomize(table, by => [blutgruppe, datum], probability => 1/3)
    randomize(table, epsilon => {blutgruppe: 2})         -- or: by => [...], epsilon => 2
    bound(table, rows => 5)                              -- at most five rows of each person

The table is a name, a subquery in parentheses or another operator.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from tarnkappe.algebra.model_nodes import Diversity, ModelGeneralization
from tarnkappe.algebra.nodes import Generalization, Randomization, RowBound, SlicingNode
from tarnkappe.algebra.plan import Plan, listed
from tarnkappe.algebra.sql.arguments import ArgumentReader
from tarnkappe.algebra.sql.reading import choose
from tarnkappe.errors import ColumnError, ParameterError

ProbabilityOf = Callable[[str, Fraction], Fraction]
"""The probability of noise in a column's cells that reaches an epsilon; ParameterError if none does."""

OPERATORS = ("generalize", "slice", "randomize", "bound")
"""The names of all of them."""

Arguments = dict[str, exp.Expr]
_OF_MODELS = ("l", "t", "suppress", "suppression", "loss", "method")


class OperatorReader(ArgumentReader):
    """Reads operators; `table` reads what stands in the place of a table."""

    def __init__(
        self, text: str, table: Callable[[exp.Expr], Plan], probability_of: ProbabilityOf | None
    ) -> None:
        super().__init__(text)
        self._table = table
        self._probability_of = probability_of
        self._operators: dict[str, Callable[[exp.Anonymous, Plan, Arguments], Plan]] = {
            "generalize": self._generalize,
            "slice": self._slice,
            "randomize": self._randomize,
            "bound": self._bound,
        }

    def operator(self, call: exp.Anonymous) -> Plan:
        """The plan of one call. Every other function is refused, whatever an engine may know."""
        read = self._operators.get(call.name.lower())
        if read is None:
            known = ", ".join(self._operators)
            raise self.refuse(
                call,
                "algebra.no-table-function",
                "no table function '{call}'; there are {known}",
                call=call.name.lower(),
                known=known,
            )
        positional, named = self.arguments(call)
        if len(positional) != 1:
            raise self.refuse(
                positional[1] if positional else call,
                "algebra.takes-table-all-else",
                "{call} takes one table; all else is named, as in k => 3",
                call=call.name.lower(),
            )
        child = self._table(positional[0])
        try:
            plan = read(call, child, named)
            plan.check()
        except (ColumnError, ParameterError) as error:
            raise self.refuse_because(call, error.reason.clause) from None
        return plan

    def _generalize(self, call: exp.Anonymous, child: Plan, named: Arguments) -> Plan:
        self.known(call, named, "k", "by", *_OF_MODELS)
        k = self._needed(call, named, "k", "as in k => 3")
        by = self._needed(call, named, "by", "the quasi-identifiers, as in by => [plz, alter]")
        columns, degree = self._columns(by, child), self.whole_number(k)
        if not set(named) & set(_OF_MODELS):
            return Generalization(child, columns, degree)
        words = {name: self._word(named[name]) for name in ("suppression", "loss", "method") if name in named}
        return ModelGeneralization(
            child,
            columns,
            degree,
            tuple(self._diversity(key, value, child) for key, value in self._stated(named, "l")),
            tuple((self._known_column(key, child), self.number(t)) for key, t in self._stated(named, "t")),
            self.number(named["suppress"]) if "suppress" in named else Fraction(0),
            **words,
        )

    def _stated(self, named: Arguments, name: str) -> list[tuple[exp.Identifier, exp.Expr]]:
        return self.pairs(named[name]) if name in named else []

    def _diversity(self, key: exp.Identifier, value: exp.Expr, child: Plan) -> Diversity:
        """A number of different values, or a kind of diversity with its numbers."""
        column = self._known_column(key, child)
        if not isinstance(value, exp.Struct):
            return column, "distinct", (self.number(value),)
        stated = self.pairs(value)
        if len(stated) != 1:
            raise self.refuse(
                value,
                "algebra.expected-kind-diversity-entropy",
                "expected one kind of diversity, as {{entropy: 3}}",
            )
        kind, numbers = stated[0]
        listed_numbers = self.items(numbers) if isinstance(numbers, exp.Array) else [numbers]
        return column, kind.name.lower(), tuple(map(self.number, listed_numbers))

    def _word(self, node: exp.Expr) -> str:
        if not isinstance(node, exp.Literal) or not node.is_string:
            raise self.refuse(
                node, "algebra.expected-word-quotes-cell", "expected a word in quotes, as 'cell'"
            )
        return str(node.this)

    def _slice(self, call: exp.Anonymous, child: Plan, named: Arguments) -> Plan:
        self.known(call, named, "groups")
        groups = self._needed(
            call, named, "groups", "the correlation sets, as in groups => [[plz, alter], [b]]"
        )
        return SlicingNode(child, tuple(self._columns(group, child) for group in self.items(groups)))

    def _randomize(self, call: exp.Anonymous, child: Plan, named: Arguments) -> Plan:
        self.known(call, named, "probability", "epsilon", "by")
        if ("probability" in named) == ("epsilon" in named):
            raise self.refuse(
                call,
                "algebra.randomize-needs-either-probability-epsilon",
                "randomize needs either a probability or an epsilon, as in {{plz: 0.3}}",
            )
        if "probability" in named:
            return Randomization(child, self._per_column(named["probability"], named.get("by"), child))
        probability_of = self._probability_of
        if probability_of is None:
            message = "an epsilon needs the noise distributions of the columns, which are not known here"
            raise self.refuse(
                named["epsilon"], "algebra.give-probability", "{message}; give a probability", message=message
            )
        epsilons = self._per_column(named["epsilon"], named.get("by"), child)
        return Randomization(child, tuple((column, probability_of(column, e)) for column, e in epsilons))

    def _bound(self, call: exp.Anonymous, child: Plan, named: Arguments) -> Plan:
        self.known(call, named, "rows")
        rows = self._needed(call, named, "rows", "the most rows of one person, as in rows => 5")
        return RowBound(child, self.whole_number(rows))

    def _per_column(
        self, value: exp.Expr, by: exp.Expr | None, child: Plan
    ) -> tuple[tuple[str, Fraction], ...]:
        """A number for each column: from a mapping, or one number for all columns of `by`."""
        if by is not None:
            number = self.number(value)
            return tuple((column, number) for column in self._columns(by, child))
        return tuple((self._known_column(key, child), self.number(n)) for key, n in self.pairs(value))

    def _columns(self, node: exp.Expr, child: Plan) -> tuple[str, ...]:
        return tuple(self._column(item, child) for item in self.items(node))

    def _column(self, node: exp.Expr, child: Plan) -> str:
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            raise self.refuse(node, "algebra.expected-name-column", "expected the name of a column")
        self.only(node, "this", what="an argument (name the column alone)")
        return self._known_column(node.this, child)

    def _known_column(self, name: exp.Identifier, child: Plan) -> str:
        found = choose(name.name, name.quoted, child.columns)
        if found is None:
            raise self.refuse(
                name,
                "algebra.no-column",
                "no column '{name}'; there are {columns}",
                name=name.name,
                columns=listed(child.columns),
            )
        return found

    def _needed(self, call: exp.Anonymous, named: Arguments, name: str, example: str) -> exp.Expr:
        if name not in named:
            raise self.refuse(
                call,
                "algebra.call-name-example-needs",
                "{call} needs '{name}', {example}",
                call=call.name.lower(),
                name=name,
                example=example,
            )
        return named[name]
