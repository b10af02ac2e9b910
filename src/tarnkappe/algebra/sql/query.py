"""Queries: what is read into a plan, and how its result is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from tarnkappe.algebra.plan import Plan
from tarnkappe.algebra.sql.dialect import parse_query
from tarnkappe.algebra.sql.operators import ProbabilityOf
from tarnkappe.algebra.sql.reading import SqlReader, choose
from tarnkappe.algebra.sql.scope import NameScope
from tarnkappe.algebra.sql.tables import TableReader
from tarnkappe.errors import QueryError


@dataclass(frozen=True)
class ParsedQuery:
    """A plan, and how its result is shown: the order of columns, and of rows if one was asked for."""

    plan: Plan
    columns: tuple[str, ...]
    order: tuple[tuple[str, bool], ...] = ()
    """Columns by which the rows are sorted, each with whether it descends."""
    promises_epsilon: bool = False
    """Whether an epsilon was asked for: then values that the noise does not hide are refused."""


def read_sql(
    text: str, tables: Mapping[str, Iterable[str]], *, probability_of: ProbabilityOf | None = None
) -> ParsedQuery:
    """Read one query over base tables, given as names with their columns.

    Only what is listed in this package is read, everything else is refused with its line and column: other
    statements, functions, views and tables that are not given, subqueries in predicates, LIMIT, windows.
    `probability_of` tells the probability that reaches an epsilon, if `randomize` may be given one.

    >>> query = read_sql("SELECT plz, alter FROM generalize(spender, k => 3, by => [plz, alter])",
    ...                  {"spender": ["plz", "alter", "blutgruppe"]})
    >>> query.columns
    ('plz', 'alter')
    """
    return read_tree(text, parse_query(text), tables, probability_of)


def read_tree(
    text: str,
    tree: exp.Expr,
    tables: Mapping[str, Iterable[str]],
    probability_of: ProbabilityOf | None = None,
) -> ParsedQuery:
    """Read a query that is already parsed; the text is for the positions in errors."""
    reader = SqlReader(text)
    asked: list[str] = []

    def noting(column: str, epsilon: Fraction) -> Fraction:
        assert probability_of is not None
        asked.append(column)
        return probability_of(column, epsilon)

    try:
        scope = TableReader(text, tables, noting if probability_of else None).query(tree, outermost=True)
        return ParsedQuery(scope.plan, scope.shown, _order(tree, scope, reader), bool(asked))
    except RecursionError:
        raise QueryError("algebra.query-nested-too-deeply", "The query is nested too deeply.") from None


def _order(tree: exp.Expr, scope: NameScope, reader: SqlReader) -> tuple[tuple[str, bool], ...]:
    clause = tree.args.get("order")
    if clause is None:
        return ()
    found = []
    for term in clause.expressions:
        reader.only(term, "this", "desc", "nulls_first", what="ORDER BY")
        descending = bool(term.args.get("desc"))
        if bool(term.args.get("nulls_first")) == descending:
            raise reader.refuse(
                term,
                "algebra.nulls-first-nulls-last",
                "NULLS FIRST and NULLS LAST are not supported in ORDER BY",
            )
        column = term.this
        if not isinstance(column, exp.Column) or column.args.get("table") is not None:
            raise reader.refuse(
                term, "algebra.order-takes-names-result", "ORDER BY takes names of result columns"
            )
        identifier = reader.name(column.this)
        name = choose(identifier.name, identifier.quoted, scope.shown)
        if name is None:
            raise reader.refuse(
                column,
                "algebra.no-result-column-order",
                "no result column '{column}' to order by",
                column=column.name,
            )
        found.append((name, descending))
    return tuple(found)
