"""What a SELECT does with its tables: WHERE, GROUP BY, HAVING, DISTINCT and the list of columns."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.nodes import Grouping, Projection, Rename, Selection
from tarnkappe.algebra.plan import Plan, listed
from tarnkappe.algebra.sql.aggregates import AggregateReader, is_aggregate
from tarnkappe.algebra.sql.expressions import PredicateReader
from tarnkappe.algebra.sql.reading import SqlReader
from tarnkappe.algebra.sql.scope import NameScope

_CLAUSES = ("expressions", "from_", "joins", "where", "distinct", "with_", "order")
_GROUPING = ("group", "having")


@dataclass(frozen=True)
class _Item:
    """One column of the result: where it comes from and how it is called."""

    column: str
    name: str
    aggregate: Aggregate | None = None


class SelectReader(SqlReader):
    """Reads the clauses of a SELECT, given what it selects from."""

    def select(self, node: exp.Select, scope: NameScope) -> NameScope:
        """The result of a SELECT; `WITH`, `FROM` and `ORDER BY` are its caller's."""
        self.only(node, *_CLAUSES, *_GROUPING, what="a query")
        scope = self._filtered(scope, node.args.get("where"))
        distinct = self._distinct(node)
        star = node.expressions[0] if len(node.expressions) == 1 else None
        if isinstance(star, exp.Star):
            self.only(node, *_CLAUSES, what="SELECT *")
            return self._star(star, scope, distinct)
        items = [self._item(item, scope) for item in node.expressions]
        self._refuse_repetition(node, items)
        group = node.args.get("group")
        if group is not None or any(item.aggregate for item in items):
            plan = self._grouped(node, items, scope)
            if distinct or plan.schema != {item.column for item in items}:
                plan = Projection(plan, tuple(item.column for item in items), distinct)
        else:
            if node.args.get("having") is not None:
                raise self.refuse(
                    node.args["having"],
                    "algebra.having-needs-group-aggregate",
                    "HAVING needs GROUP BY or an aggregate",
                )
            plan = Projection(scope.plan, tuple(item.column for item in items), distinct)
        return NameScope.of(_renamed(plan, items), [item.name for item in items])

    def _filtered(self, scope: NameScope, where: exp.Where | None) -> NameScope:
        if where is None:
            return scope
        self.only(where, "this", what="WHERE")
        predicates = PredicateReader(self.text, lambda column: scope.column(column, self))
        return NameScope(Selection(scope.plan, predicates.predicate(where.this)), scope.shown, scope.tables)

    def _distinct(self, node: exp.Select) -> bool:
        distinct = node.args.get("distinct")
        if distinct is None:
            return False
        self.only(distinct, what="DISTINCT (it takes whole rows)")
        return True

    def _star(self, star: exp.Star, scope: NameScope, distinct: bool) -> NameScope:
        self.only(star, "rename", what="SELECT * (name the columns instead)")
        plan = Projection(scope.plan, scope.plan.columns, distinct=True) if distinct else scope.plan
        if not star.args.get("rename"):
            return NameScope.of(plan, scope.shown)
        names = {}
        for new in star.args["rename"]:
            if not isinstance(new, exp.Alias) or not isinstance(new.this, exp.Column):
                raise self.refuse(
                    new, "algebra.rename-takes-pairs-like", "RENAME takes pairs like alter AS jahre"
                )
            names[scope.column(new.this, self)] = self.name(new.args["alias"]).name
        return NameScope.of(Rename(plan, tuple(names.items())), [names.get(c, c) for c in scope.shown])

    def _item(self, node: exp.Expr, scope: NameScope) -> _Item:
        alias, value = "", node
        if isinstance(node, exp.Alias):
            self.only(node, "this", "alias", what="a result column")
            alias, value = self.name(node.args["alias"]).name, node.this
        if isinstance(value, exp.Column):
            column = scope.column(value, self)
            return _Item(column, alias or column)
        if is_aggregate(value):
            read = AggregateReader(self.text, lambda column: scope.column(column, self)).aggregate
            aggregate = read(value, alias or None)
            return _Item(aggregate.name, aggregate.name, aggregate)
        raise self.refuse(
            value,
            "algebra.select-takes-columns-aggregates",
            "SELECT takes columns and aggregates; nothing is computed from them here",
        )

    def _refuse_repetition(self, node: exp.Select, items: list[_Item]) -> None:
        for index, item in enumerate(items):
            earlier = items[:index]
            if any(item.name == other.name for other in earlier):
                raise self.refuse(
                    node.expressions[index],
                    "algebra.two-result-columns-called",
                    "two result columns are called {what}; rename one by AS",
                    what=listed([item.name]),
                )
            if any(item.column == other.column for other in earlier):
                raise self.refuse(
                    node.expressions[index],
                    "algebra.selected-twice",
                    "{what} is selected twice",
                    what=listed([item.column]),
                )

    def _grouped(self, node: exp.Select, items: list[_Item], scope: NameScope) -> Plan:
        by = self._group_columns(node.args.get("group"), scope)
        for index, item in enumerate(items):
            if item.aggregate is None and item.column not in by:
                raise self.refuse(
                    node.expressions[index],
                    "algebra.neither-aggregated-nor-group",
                    "{what} is neither aggregated nor in GROUP BY",
                    what=listed([item.column]),
                )
        plan: Plan = Grouping(
            scope.plan, tuple(by), tuple(item.aggregate for item in items if item.aggregate)
        )
        having = node.args.get("having")
        if having is None:
            return plan
        self.only(having, "this", what="HAVING")
        result = NameScope.of(plan)
        predicates = PredicateReader(self.text, lambda column: result.column(column, self))
        return Selection(plan, predicates.predicate(having.this))

    def _group_columns(self, group: exp.Group | None, scope: NameScope) -> list[str]:
        if group is None:
            return []
        self.only(group, "expressions", what="GROUP BY")
        for term in group.expressions:
            if not isinstance(term, exp.Column):
                raise self.refuse(term, "algebra.group-takes-columns", "GROUP BY takes columns")
        return list(dict.fromkeys(scope.column(term, self) for term in group.expressions))


def _renamed(plan: Plan, items: list[_Item]) -> Plan:
    names = tuple((item.column, item.name) for item in items if item.column != item.name)
    return Rename(plan, names) if names else plan
