"""Queries as Python expressions: nothing runs until an answer is collected.

>>> import pyarrow as pa
>>> donors = relation(
...     pa.table({"alter": [31, 34, 52, 57], "blutgruppe": ["A", "B", "A", "0"]}),
...     "spender",
...     hierarchies={"alter": {"builder": "intervals", "width": 10}},
... )
>>> anonymous = donors.generalize(["alter"], k=2).project("alter", "blutgruppe")
>>> anonymous.sql()
'SELECT alter, blutgruppe FROM generalize(spender, k => 2, by => [alter])'
>>> sorted(anonymous.collect().column("alter").to_pylist())
['30-39', '30-39', '50-59', '50-59']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.calibration import calibrated
from tarnkappe.algebra.declarations import Declarations
from tarnkappe.algebra.explanation import Explanation
from tarnkappe.algebra.expressions import Predicate
from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
    Union,
    draws_at_random,
)
from tarnkappe.algebra.plan import Plan
from tarnkappe.algebra.sources import Sources, declared, source_of
from tarnkappe.algebra.sql.expressions import read_predicate
from tarnkappe.algebra.sql.printing import plan_sql, quoted
from tarnkappe.algebra.sql.query import ParsedQuery, read_sql
from tarnkappe.algebra.tree import plan_tree
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy.plan import HierarchyPlan
from tarnkappe.table import Role

if TYPE_CHECKING:  # it loads Ibis
    from tarnkappe.algebra.query_result import QueryResult

Number = str | int | float | Decimal | Fraction


@dataclass(frozen=True, eq=False)
class LazyRelation:
    """A query that has not run: its plan, the order of its columns, and where the rows are.

    Every method returns a new expression. `collect` runs it: rewritten, in the engine, verified.
    """

    plan: Plan
    columns: tuple[str, ...]
    sources: Sources
    order: tuple[tuple[str, bool], ...] = ()
    promises_epsilon: bool = False

    # ------------------------------------------------------------------ relational operators

    def project(self, *columns: str, distinct: bool = False) -> LazyRelation:
        """Only these columns; duplicates stay unless `distinct` asks to remove them."""
        return self._over(Projection(self.plan, columns, distinct), columns)

    def where(self, predicate: str | Predicate) -> LazyRelation:
        """The rows on which a predicate is true, as SQL writes it: `blutgruppe = '00' AND alter >= 18`."""
        condition = predicate if isinstance(predicate, Predicate) else read_predicate(predicate)
        return self._over(Selection(self.plan, condition))

    def rename(self, names: Mapping[str, str]) -> LazyRelation:
        """Some columns under new names: from old to new."""
        plan = Rename(self.plan, tuple(names.items()))
        return self._over(plan, [names.get(column, column) for column in self.columns])

    def join(self, other: LazyRelation) -> LazyRelation:
        """The natural join, on all columns that both have."""
        added = [column for column in other.columns if column not in self.plan.schema]
        return self._with(other, Join(self.plan, other.plan), [*self.columns, *added])

    def union(self, other: LazyRelation) -> LazyRelation:
        """The rows of both; duplicates stay (UNION ALL)."""
        return self._with(other, Union(self.plan, other.plan))

    def intersect(self, other: LazyRelation) -> LazyRelation:
        """The rows that both have, as often as both have them (INTERSECT ALL)."""
        return self._with(other, Intersection(self.plan, other.plan))

    def difference(self, other: LazyRelation) -> LazyRelation:
        """These rows less those of the other (EXCEPT ALL)."""
        return self._with(other, Difference(self.plan, other.plan))

    def aggregate(self, by: Sequence[str] = (), **aggregates: str | Aggregate) -> LazyRelation:
        """One row for each combination of values in `by`, with aggregates as SQL writes them.

        >>> spender = relation(pa.table({"alter": [31, 34]}), "spender")
        >>> spender.aggregate(n="count(*)", jung="min(alter)").sql()
        'SELECT min(alter) AS jung, count(*) AS n FROM spender'
        """
        read = tuple(self._aggregate(name, said) for name, said in aggregates.items())
        return self._over(Grouping(self.plan, tuple(by), read), [*by, *aggregates])

    # ------------------------------------------------------------------ anonymization

    def generalize(self, by: Sequence[str], k: int) -> LazyRelation:
        """The columns lifted in their hierarchies until every combination occurs at least k times."""
        return self._anonymized(Generalization(self.plan, tuple(by), k))

    def slice(self, groups: Iterable[Sequence[str]]) -> LazyRelation:
        """Rows cut into the groups of columns, whose parts are permuted at random within hidden buckets."""
        return self._anonymized(SlicingNode(self.plan, tuple(tuple(group) for group in groups)))

    def randomize(
        self,
        probability: Mapping[str, Number] | None = None,
        *,
        epsilon: Mapping[str, Number] | None = None,
    ) -> LazyRelation:
        """Cells redrawn with a probability each, or with the one that reaches an epsilon."""
        if (probability is None) == (epsilon is None):
            raise ParameterError(
                "algebra.randomize-needs-either-probability",
                "randomize needs either a probability or an epsilon for each column",
            )
        if epsilon is None:
            return self._anonymized(Randomization.of(self.plan, probability or {}))
        probability_of = calibrated(self.sources.catalog().noise)
        reached = {column: probability_of(column, Fraction(str(e))) for column, e in epsilon.items()}
        noisy = self._anonymized(Randomization.of(self.plan, reached))
        return replace(noisy, promises_epsilon=True)

    # ------------------------------------------------------------------ answers

    def sql(self) -> str:
        """The query in SQL."""
        return plan_sql(self.plan)

    def explain(self, **options: Any) -> Explanation:
        """How it would run: both plans, every rewrite, what was refused, costs and warnings.

        The options are those of `Session`: mode, rules, parallelism.
        """
        with self.sources.session(**options) as session:
            return session.explain(self._query)

    def run(self, **options: Any) -> QueryResult:
        """The answer with all that is to be said of it; the options are those of `Session`."""
        with self.sources.session(**options) as session:
            return session.run(self._query)

    def collect(self, **options: Any) -> pa.Table:
        """The answer as an Arrow table."""
        return self.run(**options).table

    def to_ibis(self, **options: Any) -> Any:
        """The answer as an Ibis table: collected and verified, so that no raw rows stand behind it."""
        import ibis

        return ibis.memtable(self.collect(**options))

    def __repr__(self) -> str:
        return plan_tree(self.plan)

    @property
    def _query(self) -> ParsedQuery:
        return ParsedQuery(self.plan, self.columns, self.order, self.promises_epsilon)

    # ------------------------------------------------------------------ how expressions are made

    def _over(self, plan: Plan, columns: Sequence[str] | None = None) -> LazyRelation:
        return replace(self, plan=plan, columns=tuple(columns or self.columns), order=())

    def _anonymized(self, plan: Plan) -> LazyRelation:
        plan.check()
        return self._over(plan)

    def _with(self, other: LazyRelation, plan: Plan, columns: Sequence[str] | None = None) -> LazyRelation:
        _refuse_two_draws(self.plan, other.plan)
        return replace(
            self._over(plan, columns),
            sources=self.sources.merged(other.sources),
            promises_epsilon=self.promises_epsilon or other.promises_epsilon,
        )

    def _aggregate(self, name: str, said: str | Aggregate) -> Aggregate:
        if isinstance(said, Aggregate):
            return replace(said, name=name)
        plan = read_sql(f"SELECT {said} AS {quoted(name)} FROM r", {"r": self.columns}).plan
        if not isinstance(plan, Grouping) or plan.by or len(plan.aggregates) != 1:
            raise ParameterError(
                "algebra.no-aggregate-write-like",
                "'{name}' is no aggregate: write one like count(*) or avg(alter)",
                name=name,
            )
        return plan.aggregates[0]


def relation(
    source: Any,
    name: str | None = None,
    *,
    table: str | None = None,
    engine: str | None = None,
    hierarchies: Mapping[str, HierarchyPlan] | None = None,
    noise: Mapping[str, Any] | None = None,
    roles: Mapping[str, Role | str] | None = None,
    keys: Sequence[Sequence[str]] = (),
    not_null: Sequence[str] = (),
    person: str | None = None,
    within: Mapping[str, Sequence[str]] | None = None,
    ordered_like: Mapping[str, Sequence[str]] | None = None,
    least_rows: int | None = None,
    bucket: int = 2,
) -> LazyRelation:
    """A relation to build queries on.

    Args:
        source: a file, a database address with `table`, or a table of Tarnkappe, pyarrow, pandas, polars,
            DuckDB or Ibis. A Parquet file stays where it is, and so does a database.
        name: what queries call it; if not given, as the file or the table.
        table: the table of the database.
        engine: for files: duckdb (the default) or spark.
        hierarchies: how columns generalize: a hierarchy, its file, or a builder with its parameters. One is
            proposed from the values where none is given.
        noise: what randomized cells are drawn from: values with probabilities, "uniform" (over the
            values of the hierarchy), "neighbours:3" (one of those that are at most three places away), a
            function from an old value to the new ones with their probabilities, a file, or a distribution.
        roles: what columns are to an attacker; warnings depend on it.
        keys: sets of columns that are never missing and in which no two rows agree; verified before use.
        not_null: columns that are never missing; verified before use.
        person: the column that tells people apart. Then nobody may have two rows below an anonymization, and
            k is a number of people. Without it, rows are counted.
        within: other relations, by name, that have all values of these columns; verified before use.
        ordered_like: other relations, by name, that store the same values of these columns in the same order;
            verified before use.
        least_rows: how many rows it has at least, whatever is asked; verified before use.
        bucket: the least number of rows in a bucket of slicing.
    """
    found = source_of(source, name, table, engine)
    stated = declared(
        found.name,
        hierarchies or {},
        noise or {},
        {**found.roles, **(roles or {})},
        keys,
        bucket,
        not_null,
        person,
        within,
        ordered_like,
        least_rows,
    )
    sources = Sources({found.name: found}, stated)
    sources.catalog()  # says at once if a column is described that is not there
    return LazyRelation(Relation(found.name, found.columns), found.columns, sources)


def sql(text: str, **relations: Any) -> LazyRelation:
    """A query in SQL over expressions, or over anything that `relation` takes, by name.

    >>> spender = relation(pa.table({"alter": [31, 34]}))
    >>> sql("SELECT alter FROM s WHERE alter < 33", s=spender).collect().column("alter").to_pylist()
    [31]
    """
    given = {
        name: each if isinstance(each, LazyRelation) else relation(each, name)
        for name, each in relations.items()
    }
    sources = Sources({}, Declarations())
    for each in given.values():
        sources = sources.merged(each.sources)
    probability_of = calibrated(sources.catalog().noise)
    query = read_sql(
        text, {name: each.columns for name, each in given.items()}, probability_of=probability_of
    )
    used = [node.name for node in query.plan.walk() if isinstance(node, Relation)]
    for name in {name for name in used if used.count(name) > 1}:
        if draws_at_random(given[name].plan):
            raise ParameterError(
                "algebra.draws-random-may-used",
                "'{name}' draws at random and may be used only once: two draws tell more",
                name=name,
            )
    plan = _put_in(query.plan, given)
    promises_epsilon = query.promises_epsilon or any(each.promises_epsilon for each in given.values())
    return LazyRelation(plan, query.columns, sources, query.order, promises_epsilon)


def _put_in(plan: Plan, given: Mapping[str, LazyRelation]) -> Plan:
    if isinstance(plan, Relation):
        return given[plan.name].plan
    return plan.with_children(*(_put_in(child, given) for child in plan.children))


def _refuse_two_draws(left: Plan, right: Plan) -> None:
    """The same random expression on both sides would be drawn twice, and two answers tell more than one."""
    mine = {id(node) for node in left.walk() if draws_at_random(node)}
    if any(id(node) in mine for node in right.walk()):
        raise ParameterError(
            "algebra.expression-draws-random-stands",
            "an expression that draws at random stands on both sides, and two draws tell more than one: "
            "collect it first",
        )
