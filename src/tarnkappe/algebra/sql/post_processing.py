"""Queries that are more than the algebra knows: protected parts are cut out, and SQL runs over their results.

What stands inside `generalize`, `slice` and `randomize`, and every SELECT with noisy aggregates, is read into
the algebra as ever. All around it is post-processing: CASE, functions, windows, outer joins, LIMIT,
subqueries. It reads results of operators and tables that need no protection, and never a raw table beside
them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction

from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import Anonymization, Plan, PostProcessing, Projection, Relation
from tarnkappe.algebra.plan import listed
from tarnkappe.algebra.sql.dialect import parse_query
from tarnkappe.algebra.sql.inside_operators import (
    _drop_unused,
    _inside,
    _inside_operator,
    _is_noisy,
    _is_operator,
    _put_in_operators,
)
from tarnkappe.algebra.sql.operators import ProbabilityOf
from tarnkappe.algebra.sql.query import ParsedQuery, read_tree
from tarnkappe.algebra.sql.reading import SqlReader, choose
from tarnkappe.algebra.sql.tables import TableReader
from tarnkappe.errors import QueryError

PREFIX = "protected_"
"""How the inputs of a statement are called; no table of a query may be."""

_REFUSED = ("into", "locks", "connect", "laterals", "match", "hint", "kind", "settings", "format", "prewhere")


def read_query(
    text: str,
    tables: Mapping[str, Iterable[str]],
    *,
    probability_of: ProbabilityOf | None = None,
    unprotected: Collection[str] = (),
) -> ParsedQuery:
    """Read a query: as a plan of the algebra if it is one, and else as SQL over protected results.

    `unprotected` are the tables that may stand beside an operator: public ones. A query without any operator
    may read every table; what it lets out is warned of.

    >>> query = read_query("SELECT upper(sex) AS s FROM generalize(t, k => 2, by => [sex])", {"t": ["sex"]})
    >>> query.plan.statement
    'SELECT UPPER("sex") AS "s" FROM "protected_0"'
    """
    tree = parse_query(text)
    known = {name: tuple(columns) for name, columns in tables.items()}
    try:
        return read_tree(text, tree.copy(), known, probability_of)
    except QueryError as refused:
        reader = PostProcessingReader(text, known, probability_of, frozenset(unprotected))
        try:
            return reader.query(tree)
        except _NotThereError:
            raise refused from None
        except RecursionError:
            raise QueryError("algebra.query-nested-too-deeply", "The query is nested too deeply.") from None


def read_enforced(
    text: str, visible: Mapping[str, Iterable[str]], counted: Mapping[str, Iterable[str]]
) -> ParsedQuery:
    """Read a query of somebody who may see some tables, and only count others with noise.

    Every SELECT with noisy aggregates reads the tables of `counted`; all else reads those of `visible`, and
    no others.
    """
    tree = parse_query(text)
    if not any(_is_noisy(node) for node in tree.walk()):
        return read_query(text, visible, unprotected=set(visible))
    tables = {name: tuple(columns) for name, columns in visible.items()}
    noisy = {name: tuple(columns) for name, columns in counted.items()}
    try:
        return PostProcessingReader(text, tables, None, frozenset(tables), noisy).query(tree)
    except RecursionError:
        raise QueryError("algebra.query-nested-too-deeply", "The query is nested too deeply.") from None


class _NotThereError(QueryError):
    """Nothing that post-processing could change: the words of the algebra's reader are better."""


class PostProcessingReader(SqlReader):
    """Cuts the inputs out of a query."""

    def __init__(
        self,
        text: str,
        tables: Mapping[str, tuple[str, ...]],
        probability_of: ProbabilityOf | None,
        unprotected: frozenset[str],
        noisy: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        super().__init__(text)
        self._noisy_tables = tables if noisy is None else noisy
        self._tables, self._unprotected = tables, unprotected
        self._probability_of = probability_of
        self._promises_epsilon = False
        self._inputs: list[tuple[Plan, tuple[str, ...]]] = []
        self._stored: dict[str, str] = {}
        self._has_operator = False

    def query(self, tree: exp.Expr) -> ParsedQuery:
        """The whole query as post-processing of its inputs."""
        if not isinstance(tree, exp.Query):
            raise _NotThereError("algebra.no-query", "no query")
        self._refuse_clauses(tree)
        self._has_operator = any(_is_operator(node) or _is_noisy(node) for node in tree.walk())
        _put_in_operators(tree, self)
        tree = self._cut_noisy(tree)
        _drop_unused(tree)
        self._cut_operators(tree)
        self._cut_tables(tree)
        if not self._inputs:
            raise _NotThereError("algebra.post-processing-no-table", "no table")
        plan = self._over_used_columns(tree)
        return ParsedQuery(plan, (), (), self._promises_epsilon)

    def _refuse_clauses(self, tree: exp.Expr) -> None:
        for node in tree.find_all(exp.Select, exp.With):
            for name in _REFUSED:
                if node.args.get(name):
                    raise self.refuse(
                        node, "algebra.not-supported", "{name} is not supported", name=name.upper()
                    )
            if isinstance(node, exp.With) and node.args.get("recursive"):
                raise self.refuse(node, "algebra.recursive-not-supported", "WITH RECURSIVE is not supported")
        for alias in tree.find_all(exp.TableAlias):
            if alias.name.casefold().startswith(PREFIX):
                raise self.refuse(
                    alias,
                    "algebra.names-begin-taken-choose",
                    "names that begin with {prefix} are taken; choose another one",
                    prefix=PREFIX,
                )

    # ------------------------------------------------------------------ what is cut out

    def _cut_noisy(self, tree: exp.Expr) -> exp.Expr:
        """A SELECT with noisy aggregates becomes an input; how its rows are ordered stays outside."""
        for node in list(tree.find_all(exp.Select)):
            if _inside_operator(node) or not any(
                _is_noisy(each) for item in node.expressions for each in _own(item)
            ):
                continue
            around = exp.select("*")
            for clause in ("order", "limit", "offset"):
                if node.args.get(clause) is not None:
                    around.set(clause, node.args[clause].pop())
            scope = self._reader(self._noisy_tables).query(_with_of(node, tree))
            around.set("from_", exp.From(this=self._input(scope.plan, scope.shown)))
            if node is tree:
                tree = around
            else:
                node.replace(around)
        return tree

    def _cut_operators(self, tree: exp.Expr) -> None:
        for node in [each for each in tree.find_all(exp.Table) if _is_operator(each)]:
            if _inside_operator(node):
                continue
            scope = self._reader(self._tables).operated(node.this)
            self._replace(node, self._input(scope.plan, scope.shown))

    def _cut_tables(self, tree: exp.Expr) -> None:
        for node in list(tree.find_all(exp.Table)):
            if not isinstance(node.this, exp.Identifier):
                raise self.refuse(
                    node,
                    "algebra.expected-table-operator-like",
                    "expected a table, an operator like generalize(...) or a subquery",
                )
            name = ".".join(part.name for part in node.parts)
            if name.startswith(PREFIX) and node.meta.get("input"):
                continue
            quoted = any(part.args.get("quoted") for part in node.parts)
            if len(node.parts) == 1 and choose(name, False, _named_before(node)) is not None:
                continue
            known = choose(name, quoted, self._tables)
            if known is None:
                raise _NotThereError("algebra.post-processing-no-table-2", "no table '{name}'", name=name)
            if self._has_operator and known not in self._unprotected:
                raise self.refuse(
                    node,
                    "algebra.not-protected-here-beside",
                    "'{known}' is not protected here, beside an operator: put it inside generalize(...) or "
                    "another operator, or declare it public",
                    known=known,
                )
            if known not in self._stored:
                relation = Relation(known, self._tables[known])
                self._stored[known] = self._input(relation, relation.columns).name
            self._replace(node, _input_table(self._stored[known]), node.this.name)

    def _replace(self, node: exp.Table, source: exp.Table, name: str = "") -> None:
        """An input in the place of a table, under the same name."""
        for key, value in node.args.items():
            if key in ("joins", "alias", "sample"):
                source.set(key, value)
            elif key not in ("this", "db", "catalog") and value:
                raise self.refuse(
                    node,
                    "algebra.post-processing-not-supported",
                    "{key} is not supported",
                    key=key.strip("_").replace("_", " ").upper(),
                )
        if name and source.args.get("alias") is None:
            source.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
        node.replace(source)

    def _input(self, plan: Plan, shown: tuple[str, ...]) -> exp.Table:
        self._inputs.append((plan, shown))
        return _input_table(f"{PREFIX}{len(self._inputs) - 1}")

    def _reader(self, tables: Mapping[str, tuple[str, ...]]) -> TableReader:
        asked = self._probability_of

        def noting(column: str, epsilon: Fraction) -> Fraction:
            assert asked is not None
            self._promises_epsilon = True
            return asked(column, epsilon)

        return TableReader(self.text, tables, noting if asked else None)

    # ------------------------------------------------------------------ what is left

    def _over_used_columns(self, tree: exp.Expr) -> PostProcessing:
        """The plan, each input with the columns alone that the statement can name."""
        everything = any(
            isinstance(node, exp.Star | exp.Columns)
            or (isinstance(node, exp.Join) and node.args.get("method"))
            for node in tree.walk()
            if not (isinstance(node, exp.Star) and isinstance(node.parent, exp.Count))
        )
        named = {node.name.casefold() for node in tree.find_all(exp.Identifier)}
        self._refuse_unknown(tree, named)
        plans = []
        for plan, shown in self._inputs:
            used = [column for column in shown if everything or column.casefold() in named] or _any(
                plan, shown
            )
            plans.append(plan if set(used) == plan.schema else Projection(plan, tuple(used)))
        names = tuple(f"{PREFIX}{n}" for n in range(len(plans)))
        return PostProcessing(tuple(plans), names, self._statement(tree))

    def _refuse_unknown(self, tree: exp.Expr, named: set[str]) -> None:
        known = {column.casefold() for _, shown in self._inputs for column in shown}
        known |= {alias.name.casefold() for alias in tree.find_all(exp.TableAlias)}
        known |= {alias.alias.casefold() for alias in tree.find_all(exp.Alias)}
        known |= {c.name.casefold() for a in tree.find_all(exp.TableAlias) for c in a.columns}
        for column in tree.find_all(exp.Column):
            if isinstance(column.this, exp.Identifier) and column.name.casefold() not in known:
                there = sorted({c for _, shown in self._inputs for c in shown})
                raise self.refuse(
                    column,
                    "algebra.post-processing-no-column",
                    "no column '{column}'; there are {there}",
                    column=column.name,
                    there=listed(there),
                )

    def _statement(self, tree: exp.Expr) -> str:
        try:
            return tree.sql(
                dialect="duckdb", identify=True, unsupported_level=ErrorLevel.RAISE, comments=False
            )
        except (SqlglotError, ValueError):
            raise QueryError(
                "algebra.clause-query-no-counterpart", "A clause of the query has no counterpart in DuckDB."
            ) from None


def _any(plan: Plan, shown: tuple[str, ...]) -> list[str]:
    """One column for a statement that names none, as to count rows; it cannot show it."""
    named = plan.attributes if isinstance(plan, Anonymization | ModelGeneralization) else ()
    return [*(column for column in shown if column in named), *shown][:1]


def _input_table(name: str) -> exp.Table:
    table = exp.to_table(name)
    table.meta["input"] = True
    return table


def _own(item: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a result column, without those of subqueries in it."""
    return item.walk(prune=lambda node: isinstance(node, exp.Query | exp.Subquery))


def _named_before(node: exp.Expr) -> list[str]:
    """The names that WITH clauses around a table define."""
    found = []
    around: exp.Expr | None = node
    while around is not None:
        clause = around.args.get("with_")
        if clause is not None:
            found += [part.alias for part in clause.expressions]
        around = around.parent
    return found


def _with_of(node: exp.Select, tree: exp.Expr) -> exp.Expr:
    """A SELECT with the WITH clause of the whole query, which it may name."""
    copy = node.copy()
    clause = tree.args.get("with_")
    if clause is not None and node is not tree and not _inside(node, clause):
        copy.set("with_", clause.copy())
    return copy
