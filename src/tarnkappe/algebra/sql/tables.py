"""What may stand where a table stands: names, operators, subqueries, joins, set operations and WITH."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlglot import exp

from tarnkappe.algebra.expressions import Predicate, conjunction
from tarnkappe.algebra.nodes import (
    Difference,
    Intersection,
    Join,
    Projection,
    Relation,
    Selection,
    ThetaJoin,
    Union,
    draws_at_random,
)
from tarnkappe.algebra.plan import Plan, listed
from tarnkappe.algebra.sql.expressions import PredicateReader
from tarnkappe.algebra.sql.operators import OperatorReader, ProbabilityOf
from tarnkappe.algebra.sql.reading import SqlReader, choose
from tarnkappe.algebra.sql.scope import NameScope
from tarnkappe.algebra.sql.select import SelectReader
from tarnkappe.errors import ColumnError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator


class TableReader(SqlReader):
    """Reads queries and all that stands in their FROM."""

    def __init__(
        self, text: str, tables: Mapping[str, Iterable[str]], probability_of: ProbabilityOf | None
    ) -> None:
        super().__init__(text)
        self._relations = {name: Relation(name, tuple(columns)) for name, columns in tables.items()}
        self._operators = OperatorReader(text, self._operand, probability_of)
        self._shown: tuple[str, ...] = ()
        self._select = SelectReader(text)
        self._named: dict[str, NameScope] = {}
        self._used: list[NameScope] = []

    def query(self, node: exp.Expr, outermost: bool = False) -> NameScope:
        """A SELECT, a set operation, or one of them in parentheses, with its WITH."""
        if isinstance(node, exp.Subquery):
            self.only(node, "this", what="a subquery in this place")
            return self.query(node.this)
        if not isinstance(node, exp.Select | exp.SetOperation):
            raise self.refuse(
                node,
                "algebra.not-supported-write-select",
                "{key} is not supported; write SELECT ... FROM ...",
                key=node.key.upper(),
            )
        if not outermost and node.args.get("order") is not None:
            raise self.refuse(
                node.args["order"],
                "algebra.rows-order-only-outermost",
                "rows have an order only in the outermost query",
            )
        try:
            with self._with(node.args.get("with_")):
                return self._selected(node) if isinstance(node, exp.Select) else self._set_operation(node)
        except (ColumnError, ParameterError) as error:
            raise self.refuse_because(node, error.reason.clause) from None

    @contextmanager
    def _with(self, clause: exp.With | None) -> Iterator[None]:
        """Named subqueries are put in where they are used; one that draws at random may be used only once.

        Put in twice it would draw twice, and two answers about the same rows tell more than one.
        """
        outer = self._named
        try:
            if clause is not None:
                self.only(clause, "expressions", what="WITH")
                self._named = dict(outer)
                names: set[str] = set()
                for part in clause.expressions:
                    self.only(part, "this", "alias", what="WITH")
                    self.only(part.args["alias"], "this", what="WITH (name columns inside)")
                    self.name(part.args["alias"].this)
                    if part.alias in names:
                        raise self.refuse(
                            part.args["alias"],
                            "algebra.defined-twice",
                            "'{alias}' is defined twice",
                            alias=part.alias,
                        )
                    names.add(part.alias)
                    self._named[part.alias] = self.query(part.this)
            yield
        finally:
            self._named = outer

    def _selected(self, node: exp.Select) -> NameScope:
        source = node.args.get("from_")
        if source is None:
            raise self.refuse(node, "algebra.query-needs-table-read", "a query needs a table to read FROM")
        self.only(source, "this", what="FROM")
        scope = self._table(source.this)
        for join in node.args.get("joins") or ():
            scope = self._join(scope, join)
        return self._select.select(node, scope)

    def _table(self, node: exp.Expr) -> NameScope:
        """An entry of FROM, perhaps with an alias."""
        alias = node.args.get("alias")
        if alias is not None:
            self.only(alias, "this", what="a table alias (rename columns by SELECT a AS b)")
            self.name(alias.this)
        if isinstance(node, exp.Subquery):
            self.only(node, "this", "alias", what="a subquery")
            inner = node.this
            is_table = isinstance(inner, exp.Table | exp.Subquery)
            scope = self._table(inner) if is_table else self.query(inner)
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous):
            self.only(node, "this", "alias", what="a table function")
            scope = self.operated(node.this)
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            self.only(node, "this", "db", "catalog", "alias", "joins", what="a table")
            scope = self._by_name(node, [node.args.get("catalog"), node.args.get("db"), node.this])
            scope = NameScope.of(scope.plan, scope.shown, node.this.name)
        else:
            raise self.refuse(
                node,
                "algebra.expected-table-operator-like",
                "expected a table, an operator like generalize(...) or a subquery",
            )
        scope = NameScope.of(scope.plan, scope.shown, alias.name) if alias is not None else scope
        for join in node.args.get("joins") or ():
            scope = self._join(scope, join)
        return scope

    def operated(self, call: exp.Anonymous) -> NameScope:
        """The result of an operator, whose columns are shown in the order of its table."""
        plan = self._operators.operator(call)
        return NameScope.of(plan, self._shown)

    def _operand(self, node: exp.Expr) -> Plan:
        scope = self._argument(node)
        self._shown = scope.shown
        return scope.plan

    def _argument(self, node: exp.Expr) -> NameScope:
        """The table that is the first argument of an operator; the parser takes a name there for a column."""
        match node:
            case exp.Anonymous():
                return self.operated(node)
            case exp.Paren():
                return self._argument(node.this)
            case exp.Subquery() | exp.Select() | exp.SetOperation():
                return self.query(node)
            case exp.Column() if isinstance(node.this, exp.Identifier):
                self.only(node, "this", "table", "db", "catalog", what="a table")
                return self._by_name(node, [node.args.get(a) for a in ("catalog", "db", "table", "this")])
        raise self.refuse(
            node,
            "algebra.expected-table-operator-like-generalize",
            "expected a table, an operator like generalize(...) or (SELECT ...)",
        )

    def _by_name(self, node: exp.Expr, parts: list[exp.Expr | None]) -> NameScope:
        given = [self.name(part, node) for part in parts if part is not None]
        name = ".".join(part.name for part in given)
        quoted = any(part.quoted for part in given)
        named = choose(name, quoted, self._named) if len(given) == 1 else None
        if named is not None:
            self._use(node, named)
            return self._named[named]
        known = choose(name, quoted, self._relations)
        if known is None:
            there = f"there are {listed(self._relations)}" if self._relations else "none is known"
            raise self.refuse(
                node,
                "algebra.no-table-views-not-read",
                "no table '{name}'; {there} (views are not read)",
                name=name,
                there=there,
            )
        return NameScope.of(self._relations[known])

    def _use(self, node: exp.Expr, name: str) -> None:
        scope = self._named[name]
        if draws_at_random(scope.plan) and any(scope is used for used in self._used):
            raise self.refuse(
                node,
                "algebra.draws-random-may-used-only-once-two",
                "'{name}' draws at random and may be used only once: two draws would tell more",
                name=name,
            )
        self._used.append(scope)

    def _join(self, left: NameScope, node: exp.Join) -> NameScope:
        self.only(node, "this", "method", "kind", "using", "on", what="a join (only inner joins are)")
        kind, natural = str(node.args.get("kind") or ""), node.args.get("method")
        if kind not in ("", "INNER", "CROSS") or natural not in (None, "", "NATURAL"):
            raise self.refuse(
                node,
                "algebra.join-not-supported-only-inner",
                "{natural} JOIN is not supported; only inner joins are",
                natural=natural or kind,
            )
        right = self._table(node.this)
        twice = set(left.tables) & set(right.tables)
        if twice:
            raise self.refuse(
                node.this,
                "algebra.table-name-stands-twice",
                "the table name {twice} stands twice in FROM; give an alias",
                twice=listed(twice),
            )
        common = left.plan.schema & right.plan.schema
        both = NameScope(
            self._joined(node, left.plan, right.plan, common),
            left.shown + tuple(column for column in right.shown if column not in common),
            {**left.tables, **right.tables},
        )
        condition = node.args.get("on")
        if condition is None:
            return both
        predicates = PredicateReader(self.text, lambda column: both.column(column, self))
        rest: list[Predicate] = []
        equated = set()
        for conjunct in condition.flatten() if isinstance(condition, exp.And) else [condition]:
            column = self._equated(conjunct, left, right)
            if column is None:
                rest.append(predicates.predicate(conjunct))
            else:
                equated.add(column)
        self._all_common(node, common, equated, "ON")
        return self._restricted(both, left.plan, right.plan, rest, common)

    def _joined(self, node: exp.Join, left: Plan, right: Plan, common: frozenset[str]) -> Plan:
        """The natural join, if the join is written so that it means the same."""
        using = node.args.get("using")
        if using:
            names = {choose(name.name, name.quoted, common) or name.name for name in map(self.name, using)}
            foreign = names - common
            if foreign:
                raise self.refuse(
                    using[0],
                    "algebra.using-names-not-both",
                    "USING names {foreign}, which not both sides have",
                    foreign=listed(foreign),
                )
            self._all_common(node, common, names, "USING")
        elif common and node.args.get("on") is None and node.args.get("method") != "NATURAL":
            raise self.refuse(
                node.this,
                "algebra.both-sides-say-natural",
                "both sides have {common}; say NATURAL JOIN or USING, or rename one of them",
                common=listed(common),
            )
        return Join(left, right)

    def _all_common(self, node: exp.Join, common: frozenset[str], named: set[str], clause: str) -> None:
        if common - named:
            message = f"both sides also have {listed(common - named)}, which {clause} does not equate"
            raise self.refuse(
                node.this,
                "algebra.project-away-rename-subquery",
                "{message}; project it away or rename it in a subquery",
                message=message,
            )

    def _equated(self, conjunct: exp.Expr, left: NameScope, right: NameScope) -> str | None:
        """The common column c of a condition left.c = right.c, which the natural join already means."""
        match conjunct:
            case exp.Paren():
                return self._equated(conjunct.this, left, right)
            case exp.EQ(args={"this": exp.Column() as one, "expression": exp.Column() as other}):
                for a, b in ((one, other), (other, one)):
                    if left.names_table(a) and right.names_table(b):
                        column = left.column(a, self)
                        return column if column == right.column(b, self) else None
        return None

    def _restricted(
        self, both: NameScope, left: Plan, right: Plan, rest: list[Predicate], common: frozenset[str]
    ) -> NameScope:
        if not rest:
            return both
        predicate = conjunction(rest)
        plan = Selection(both.plan, predicate) if common else ThetaJoin(left, right, predicate)
        return NameScope(plan, both.shown, both.tables)

    def _set_operation(self, node: exp.SetOperation) -> NameScope:
        allowed = ("this", "expression", "distinct", "by_name", "with_", "order")
        self.only(node, *allowed, what="a set operation")
        if isinstance(node, exp.Intersect) and isinstance(node.this, exp.Union | exp.Except):
            raise self.refuse(
                node.expression,
                "algebra.intersect-beside-union-except",
                "INTERSECT beside UNION or EXCEPT needs parentheses",
            )
        left, right = self.query(node.this), self.query(node.expression)
        distinct = node.args.get("distinct") is not False
        if (
            left.plan.schema == right.plan.schema
            and left.shown != right.shown
            and not node.args.get("by_name")
        ):
            raise self.refuse(
                node.expression,
                "algebra.columns-stand-another-order",
                "the columns stand in another order than above; name them alike",
            )
        plan: Plan
        match node:
            case exp.Union():
                plan = Union(left.plan, right.plan)
            case exp.Intersect():
                plan = Intersection(left.plan, right.plan)
            case _:
                first = Projection(left.plan, left.shown, distinct=True) if distinct else left.plan
                return NameScope.of(Difference(first, right.plan), left.shown)
        return NameScope.of(Projection(plan, left.shown, distinct=True) if distinct else plan, left.shown)
