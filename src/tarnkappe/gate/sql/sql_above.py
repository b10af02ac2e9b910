"""Any SELECT over protected answers: the protected table is cut out, and the rest runs over its answers.

Let X be the answers that the gate gave. Whatever is computed from X and from nothing else tells no more than
X, with all its errors, its time and its memory. So only one thing has to be ruled: which questions a
statement asks.

1. Each place where the protected table stands is one question (the same people are the same question). Its
   people are chosen by those parts of the WHERE beside it, joined by AND, that name quasi-identifiers alone.
   All else (conditions on sensitive columns, HAVING, windows, joins, subqueries) runs over protected rows.
2. GROUP BY of quasi-identifiers beside a sensitive column asks one question for each group: inside an answer
   values have no link to a quasi-identifier.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from tarnkappe.engines.post_processing import check_statement
from tarnkappe.errors import QueryError
from tarnkappe.gate.sql.errors import NO_PARAMETER, NOT_OFFERED, StatementError
from tarnkappe.gate.sql.operands import BindParameters, parameter_number
from tarnkappe.gate.sql.parameter_kinds import declared_kind, is_all, kind_at
from tarnkappe.gate.sql.select_reader import is_protected, read_select
from tarnkappe.gate.sql.selection import AllowedQuery
from tarnkappe.gate.sql.view import TableView, ViewColumn, chosen

PREFIX = "protected_"
ENGINE_KINDS = {
    "boolean": "BOOLEAN",
    "smallint": "SMALLINT",
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "real": "FLOAT",
    "double precision": "DOUBLE",
    "numeric": "DECIMAL(38, 9)",
    "date": "DATE",
    "timestamp without time zone": "TIMESTAMP",
}
"""The types of PostgreSQL as the engine has them; all others are texts."""
MOST_SCANS = 8
"""In how many places of a statement the protected table may stand."""
REFUSED = ("into", "locks", "connect", "laterals", "match", "hint", "kind", "sample")


@dataclasses.dataclass(frozen=True)
class ProtectedScan:
    """One place where the protected table stands.

    Attributes:
        name: what the statement calls its answer.
        query: whom it chooses, and which columns it shows.
        grouped: the quasi-identifiers by whose values it is asked for in parts.
    """

    name: str
    query: AllowedQuery
    grouped: tuple[ViewColumn, ...]


@dataclasses.dataclass(frozen=True)
class SqlAbove:
    """A statement over protected answers.

    Attributes:
        scans: whose answers it reads.
        statement: as DuckDB takes it.
        parameters: all of them.
        used: those (from 0) that are left in the statement; the others are in conditions that choose people.
    """

    scans: tuple[ProtectedScan, ...]
    statement: str
    parameters: BindParameters
    used: frozenset[int] = frozenset()


def read_sql_above(tree: exp.Expr, view: TableView, parameters: BindParameters) -> SqlAbove:
    """The statement that a tree is."""
    if not isinstance(tree, exp.Query):
        raise StatementError(
            NOT_OFFERED, "gate.queries-kind-not-offered", "queries of this kind are not offered here"
        )
    return _AboveReader(tree, view, parameters).read()


class _AboveReader:
    def __init__(self, tree: exp.Query, view: TableView, parameters: BindParameters) -> None:
        self._tree, self._view, self._parameters = tree, view, parameters

    def read(self) -> SqlAbove:
        self._refuse_clauses()
        self._refuse_unknown()
        named = {node.name.casefold() for node in self._tree.find_all(exp.Identifier)}
        stars = any(
            isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count)
            for node in self._tree.walk()
        )
        shown = [
            column
            for column in (*self._view.columns, *self._view.kinds)
            if column.name.casefold() in named or (stars and column.kind_of is None)
        ] or [self._view.columns[0]]
        scans: list[Any] = []
        for table in list(self._tree.find_all(exp.Table)):
            if _is_named_before(table):
                continue
            if not is_protected(table, self._view):
                raise self._view.no_table(table)
            if len(scans) == MOST_SCANS:
                raise StatementError(
                    NOT_OFFERED,
                    "gate.table-may-stand-places",
                    "the table may stand in {most_scans} places of a statement",
                    most_scans=MOST_SCANS,
                )
            scans.append(self._cut(table, shown, f"{PREFIX}{len(scans)}"))
        used = self._bind()
        self._search_arrays()
        return SqlAbove(tuple(scans), self._statement(scans), self._parameters, used)

    def _bind(self) -> frozenset[int]:
        """Give the parameters that are left a type each: they are values over protected rows, which choose
        nobody.
        """
        used: set[int] = set()
        for node in list(self._tree.find_all(exp.Parameter, exp.Placeholder)):
            number = parameter_number(node)
            if number is None:
                raise StatementError(NO_PARAMETER, "gate.no-parameter", "there is no parameter")
            declared = self._parameters.declared
            kind, is_array = declared_kind(declared[number] if 0 <= number < len(declared) else 0)
            if kind is None:
                kind, is_array = kind_at(node, self._view, self._tree)
            self._parameters.settle(number, kind, is_array)
            engine = ENGINE_KINDS.get(self._parameters.found[number].name, "VARCHAR") + "[]" * is_array
            node.replace(exp.cast(node.copy(), engine, dialect="duckdb"))
            used.add(number)
        return frozenset(used)

    def _search_arrays(self) -> None:
        """Put a function for `= ANY (array)` and `<> ALL (array)`, of which DuckDB makes a subquery. A NULL
        among the elements is equal to nothing.
        """
        for node in list(self._tree.find_all(exp.EQ, exp.NEQ)):
            array = _array_of(node)
            if array is None:
                continue
            found: exp.Expr = exp.Anonymous(this="list_contains", expressions=[array, node.this])
            node.replace(exp.Not(this=found) if isinstance(node, exp.NEQ) else found)

    def _refuse_clauses(self) -> None:
        for node in self._tree.find_all(exp.Select, exp.With):
            if any(node.args.get(name) for name in REFUSED) or node.args.get("recursive"):
                raise StatementError(
                    NOT_OFFERED, "gate.queries-kind-not-offered", "queries of this kind are not offered here"
                )
        for alias in self._tree.find_all(exp.TableAlias, exp.CTE):
            name = alias.name if isinstance(alias, exp.TableAlias) else alias.alias
            if name.casefold().startswith(PREFIX):
                raise StatementError(
                    NOT_OFFERED,
                    "gate.names-begin-taken",
                    "names that begin with {prefix} are taken",
                    prefix=PREFIX,
                )
            if isinstance(alias, exp.CTE) and chosen(name, False, [self._view.table]) is not None:
                raise StatementError(
                    NOT_OFFERED, "gate.must-not-name-part", "WITH must not name a part as the protected table"
                )

    def _refuse_unknown(self) -> None:
        """Refuse a column that neither the table nor the statement itself has, before anything is asked."""
        made = {alias.alias.casefold() for alias in self._tree.find_all(exp.Alias, exp.CTE)}
        for alias in self._tree.find_all(exp.TableAlias):
            made |= {alias.name.casefold(), *(column.name.casefold() for column in alias.columns)}
        for column in self._tree.find_all(exp.Column):
            if isinstance(column.this, exp.Identifier) and column.name.casefold() not in made:
                self._view.column(column.this.this, bool(column.this.quoted))

    def _cut(self, table: exp.Table, shown: Sequence[ViewColumn], name: str) -> ProtectedScan:
        """Read whom a place of the table chooses, and put its answer there."""
        around = table.parent.parent if isinstance(table.parent, exp.From | exp.Join) else None
        if not isinstance(around, exp.Select):
            raise StatementError(
                NOT_OFFERED, "gate.table-may-stand-join", "the table may stand in FROM and JOIN alone"
            )
        alone = not around.args.get("joins")
        own = table.alias_or_name.casefold()
        condition = self._choice(around, own, alone)
        asked = exp.select(*(exp.column(c.name, quoted=True) for c in shown)).from_(
            exp.Table(this=exp.to_identifier(self._view.table, quoted=True))
        )
        query = read_select(asked.where(*condition) if condition else asked, self._view, self._parameters)
        grouped = self._grouped(around) if alone and any(not column.selects for column in shown) else ()
        source = exp.Table(this=exp.to_identifier(name, quoted=True))
        source.set("alias", exp.TableAlias(this=exp.to_identifier(table.alias_or_name, quoted=True)))
        for key in ("joins",):
            if table.args.get(key):
                source.set(key, table.args[key])
        table.replace(source)
        return ProtectedScan(name, query, grouped)

    def _choice(self, around: exp.Select, own: str, alone: bool) -> list[exp.Expr]:
        """The parts of a WHERE that choose people; they are taken out of it."""
        where = around.args.get("where")
        outer = any(join.args.get("side") for join in around.args.get("joins") or ())
        if where is None or outer:
            return []
        parts = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
        taken = [part for part in parts if self._chooses(part, own, alone)]
        left = [part for part in parts if not any(part is one for one in taken)]
        around.set("where", exp.Where(this=exp.and_(*left, copy=False)) if left else None)
        for part in taken:
            for column in part.find_all(exp.Column):
                column.set("table", None)
        return taken

    def _chooses(self, part: exp.Expr, own: str, alone: bool) -> bool:
        columns = list(part.find_all(exp.Column))
        if not columns or part.find(exp.Query) is not None:
            return False
        for column in columns:
            if not (alone and not column.table) and column.table.casefold() != own:
                return False
            found = self._column(column)
            if found is None or not found.selects:
                return False
        return True

    def _column(self, column: exp.Column) -> ViewColumn | None:
        if not isinstance(column.this, exp.Identifier):
            return None
        known = (*self._view.columns, *self._view.kinds)
        name = chosen(column.this.this, bool(column.this.quoted), (one.name for one in known))
        return next((one for one in known if one.name == name), None)

    def _grouped(self, around: exp.Select) -> tuple[ViewColumn, ...]:
        """The quasi-identifiers that a GROUP BY names, by themselves or inside expressions."""
        clause = around.args.get("group")
        found: dict[ViewColumn, None] = {}
        for node in [] if clause is None else clause.expressions:
            for column in _meant(node, around).find_all(exp.Column):
                known = self._column(column)
                if known is not None and known.selects:
                    found[known] = None
        return tuple(found)

    def _statement(self, scans: Sequence[ProtectedScan]) -> str:
        try:
            statement = self._tree.sql(
                dialect="duckdb", identify=True, unsupported_level=ErrorLevel.RAISE, comments=False
            )
            check_statement(statement, frozenset(scan.name for scan in scans))
        except QueryError as error:
            raise StatementError.refusing(NOT_OFFERED, error.reason) from None
        except (SqlglotError, ValueError):
            raise StatementError(
                NOT_OFFERED, "gate.queries-kind-not-offered", "queries of this kind are not offered here"
            ) from None
        return statement


def _meant(node: exp.Expr, around: exp.Select) -> exp.Expr:
    """What a part of GROUP BY stands for: a number or a name may be that of a result column."""
    outputs = around.expressions
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdecimal():
        place = int(node.this) - 1
        return outputs[place] if 0 <= place < len(outputs) else node
    if isinstance(node, exp.Column) and not node.table:
        for output in outputs:
            if isinstance(output, exp.Alias) and output.alias.casefold() == node.name.casefold():
                meant: exp.Expr = output.this
                return meant
    return node


def _array_of(node: exp.Expr) -> exp.Expr | None:
    """The array of `= ANY (array)` or `<> ALL (array)`, if a comparison is one."""
    side = node.args["expression"]
    if isinstance(node, exp.EQ) and isinstance(side, exp.Any):
        inner: exp.Expr = side.this
    elif isinstance(node, exp.NEQ) and is_all(side):
        (inner,) = side.expressions
    else:
        return None
    while isinstance(inner, exp.Paren):
        inner = inner.this
    return None if isinstance(inner, exp.Query | exp.Subquery) else inner


def _is_named_before(table: exp.Table) -> bool:
    """Whether a WITH around a table defines its name."""
    if table.args.get("db") or not isinstance(table.this, exp.Identifier):
        return False
    around: exp.Expr | None = table
    while around is not None:
        clause = around.args.get("with_")
        if clause is not None and any(
            part.alias.casefold() == table.name.casefold() for part in clause.expressions
        ):
            return True
        around = around.parent
    return False
