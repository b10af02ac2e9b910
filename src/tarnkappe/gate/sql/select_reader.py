"""Reads queries of the protected table, and refuses everything that is not allowed by name."""

from __future__ import annotations

import dataclasses
from typing import Any

from sqlglot import exp

from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.condition import Always, Condition, ConditionReader
from tarnkappe.gate.sql.dialect import only
from tarnkappe.gate.sql.errors import GROUPING, NO_FUNCTION, NOT_OFFERED, StatementError
from tarnkappe.gate.sql.operands import BindParameters, Constant, Operand, read_operand
from tarnkappe.gate.sql.selection import AllowedQuery, Order, OutputColumn
from tarnkappe.gate.sql.view import SCHEMA, TableView, ViewColumn, chosen

CLAUSES = ("kind", "expressions", "from_", "where", "group", "order", "limit", "offset", "distinct")
AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
ENDS = {"est_low": "low", "est_high": "high"}
"""The functions that give the ends of the interval of an estimate."""
MOST_OUTPUTS = 1_000


def read_select(tree: exp.Select, view: TableView, parameters: BindParameters) -> AllowedQuery:
    """The query of the protected table that a tree is."""
    return _SelectReader(tree, view, parameters).read()


class _SelectReader:
    def __init__(self, tree: exp.Select, view: TableView, parameters: BindParameters) -> None:
        if tree.args.get("having") is not None:
            raise StatementError(
                NOT_OFFERED,
                "gate.having-not-offered",
                "HAVING is not offered here",
                hint="Ask for all groups, and choose among those of the answer.",
            )
        only(tree, CLAUSES, "queries")
        self.tree, self.view, self.parameters = tree, view, parameters
        self.names = self._table_names(tree.args.get("from_"))
        self.conditions = ConditionReader(view, self.names, parameters)
        if len(tree.expressions) > MOST_OUTPUTS:
            raise StatementError("54011", "gate.too-many-columns", "too many columns")

    def read(self) -> AllowedQuery:
        outputs = self._outputs()
        grouped = self._grouped(outputs)
        if grouped or any(output.function for output in outputs):
            for output in outputs:
                if output.function is None and output.column not in grouped:
                    raise StatementError(
                        GROUPING,
                        "gate.column-must-group-aggregate",
                        "a column must be in GROUP BY or in an aggregate",
                    )
        return AllowedQuery(
            outputs,
            self._condition(),
            self.parameters,
            self.view.columns[0],
            grouped,
            self._distinct(),
            self._order(outputs, grouped),
            self._count("limit"),
            self._count("offset"),
        )

    def _table_names(self, clause: exp.From | None) -> frozenset[str]:
        table = None if clause is None else clause.this
        if clause is None or not isinstance(table, exp.Table):
            raise StatementError(
                NOT_OFFERED, "gate.queries-kind-not-offered", "queries of this kind are not offered here"
            )
        only(clause, ("this",), "queries")
        only(table, ("this", "db", "catalog", "alias"), "tables")
        if not is_protected(table, self.view):
            raise self.view.no_table(table)
        alias = table.args.get("alias")
        if alias is None:
            return frozenset({self.view.table.casefold()})
        only(alias, ("this",), "aliases")
        return frozenset({alias.this.this.casefold()})

    def _outputs(self) -> tuple[OutputColumn, ...]:
        found: list[OutputColumn] = []
        for node in self.tree.expressions:
            if isinstance(node, exp.Star) or (
                isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
            ):
                found += self._star(node)
                continue
            name = None
            if isinstance(node, exp.Alias):
                only(node, ("this", "alias"), "columns")
                name, node = node.args["alias"].this, node.this
            found.append(self._output(node, name))
        return tuple(found)

    def _star(self, node: exp.Expr) -> list[OutputColumn]:
        only(node, ("this", "table"), "columns")
        if isinstance(node, exp.Column):
            only(node.this, (), "columns")
            if node.table.casefold() not in self.names:
                raise StatementError(
                    "42P01", "gate.missing-clause-entry-table", "missing FROM-clause entry for a table"
                )
        return [OutputColumn(column.name, column) for column in self.view.columns]

    def _output(self, node: exp.Expr, name: str | None) -> OutputColumn:
        column = self.conditions.column(node)
        if column is not None:
            return OutputColumn(name or column.name, column)
        end = ENDS.get(node.name.casefold()) if isinstance(node, exp.Anonymous) else None
        if end is not None:
            return self._end(node, end, name)
        function = AGGREGATES.get(type(node))
        if function is None:
            raise StatementError(
                NOT_OFFERED,
                "gate.only-columns-count-sum",
                "only columns and count, sum, avg, min and max of columns can be selected",
                hint="No functions, no expressions: work on the answer instead.",
            )
        only(node, ("this", "big_int"), "aggregates")
        inner, distinct = node.this, False
        if isinstance(inner, exp.Distinct):
            only(inner, ("expressions",), "aggregates")
            if len(inner.expressions) != 1:
                raise StatementError(
                    NOT_OFFERED,
                    "gate.aggregates-kind-not-offered",
                    "aggregates of this kind are not offered here",
                )
            inner, distinct = inner.expressions[0], True
        if function == "count" and not distinct and (isinstance(inner, exp.Star) or _is_one(inner)):
            return OutputColumn(name or function, None, function)
        column = self.conditions.column(inner) if inner is not None else None
        if column is None:
            raise StatementError(NOT_OFFERED, "gate.aggregates-columns", "aggregates are of columns only")
        if function in ("sum", "avg") and column.shown.category != "N":
            raise StatementError(
                NO_FUNCTION,
                "gate.needs-column-answers-show",
                "{function} needs a column that answers show as numbers",
                function=function,
            )
        return OutputColumn(name or function, column, function, distinct)

    def _end(self, node: exp.Expr, end: str, name: str | None) -> OutputColumn:
        """An end of the interval of an estimate."""
        only(node, ("this", "expressions"), "aggregates")
        if not self.view.estimates:
            raise StatementError(
                NO_FUNCTION,
                "gate.est-low-est-high",
                "est_low and est_high need aggregates that are estimated",
            )
        if len(node.expressions) != 1:
            raise StatementError(
                NO_FUNCTION, "gate.est-takes-aggregate", "est_{end} takes one aggregate", end=end
            )
        inner = self._output(node.expressions[0], None)
        if inner.function not in ("count", "sum", "avg") or inner.end is not None:
            raise StatementError(
                NO_FUNCTION, "gate.est-takes-count-sum", "est_{end} takes count, sum or avg", end=end
            )
        return dataclasses.replace(inner, name=name or f"est_{end}", end=end)

    def _grouped(self, outputs: tuple[OutputColumn, ...]) -> tuple[ViewColumn, ...]:
        clause = self.tree.args.get("group")
        if clause is None:
            return ()
        only(clause, ("expressions",), "groups")
        found = []
        for node in clause.expressions:
            place = self._place(node, outputs)
            column = outputs[place].column if place is not None else self.conditions.column(node)
            if column is None or (place is not None and outputs[place].function):
                raise StatementError(GROUPING, "gate.groups-columns", "groups are of columns only")
            found.append(column)
        return tuple(found)

    def _condition(self) -> Condition:
        clause = self.tree.args.get("where")
        if clause is None:
            return Always(True)
        only(clause, ("this",), "conditions")
        return self.conditions.read(clause.this)

    def _distinct(self) -> bool:
        clause = self.tree.args.get("distinct")
        if clause is None:
            return False
        only(clause, (), "queries")
        return True

    def _order(self, outputs: tuple[OutputColumn, ...], grouped: tuple[ViewColumn, ...]) -> tuple[Order, ...]:
        clause = self.tree.args.get("order")
        if clause is None:
            return ()
        only(clause, ("expressions",), "orders")
        found = []
        for node in clause.expressions:
            if not isinstance(node, exp.Ordered):
                raise StatementError(
                    NOT_OFFERED, "gate.orders-kind-not-offered", "orders of this kind are not offered here"
                )
            only(node, ("this", "desc", "nulls_first"), "orders")
            descending = bool(node.args.get("desc"))
            given = node.args.get("nulls_first")
            key = self._order_key(node.this, outputs, bool(grouped) or any(o.function for o in outputs))
            found.append(Order(key, descending, bool(given)))
        return tuple(found)

    def _order_key(
        self, node: exp.Expr, outputs: tuple[OutputColumn, ...], grouped: bool
    ) -> int | ViewColumn:
        place = self._place(node, outputs)
        if place is not None:
            return place
        wanted = self._output(node, None)
        for number, output in enumerate(outputs):
            if dataclasses.replace(wanted, name=output.name) == output:
                return number
        if wanted.column is None or wanted.function or grouped or self._distinct():
            raise StatementError(
                NOT_OFFERED, "gate.order-takes-columns-answer", "ORDER BY takes columns of the answer here"
            )
        return wanted.column

    def _place(self, node: exp.Expr, outputs: tuple[OutputColumn, ...]) -> int | None:
        """Which column of the answer is meant, by its number or its name."""
        if isinstance(node, exp.Literal) and not node.is_string:
            number = int(node.this) if str(node.this).isdecimal() else 0
            if not 1 <= number <= len(outputs):
                raise StatementError(
                    "42P10", "gate.no-column-number-answer", "there is no column of this number in the answer"
                )
            return number - 1
        if isinstance(node, exp.Column) and not node.table and isinstance(node.this, exp.Identifier):
            name = chosen(node.this.this, bool(node.this.quoted), dict.fromkeys(o.name for o in outputs))
            for number, output in enumerate(outputs):
                if output.name == name:
                    return number
        return None

    def _count(self, name: str) -> Operand:
        clause: Any = self.tree.args.get(name)
        if clause is None:
            return Constant(None)
        if isinstance(clause, exp.Fetch):
            only(clause, ("direction", "count", "limit_options"), "limits")
            options = clause.args.get("limit_options")
            if options is not None:
                only(options, ("rows",), "limits")
            return read_operand(
                clause.args.get("count") or exp.Literal.number(1), types.BIGINT, self.parameters
            )
        only(clause, ("expression",), "limits")
        return read_operand(clause.expression, types.BIGINT, self.parameters)


def is_protected(table: exp.Table, view: TableView) -> bool:
    """Whether a name in FROM is that of the protected table."""
    if not isinstance(table.this, exp.Identifier) or table.catalog:
        return False
    if table.db and table.db.casefold() != SCHEMA:
        return False
    return chosen(table.this.this, bool(table.this.quoted), [view.table]) is not None


def _is_one(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string
