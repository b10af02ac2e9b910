"""Queries printed for other engines: the statements in their order, and nothing is run.

The statements are those that DuckDB would run, written by sqlglot in another dialect. Two things have forms
of their own, since sqlglot writes them in a way that some engines refuse or answer differently: the SHA-256
of a text, and INTERSECT ALL and EXCEPT ALL, which BigQuery and Snowflake lack. What the data decide (which
level a column is lifted to) is a table that the reader has to fill; secrets are placeholders.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import sqlglot
from sqlglot import exp

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering.binary import matched
from tarnkappe.algebra.lowering.keyed import Path, Randomness
from tarnkappe.algebra.lowering.lowering import Lowering
from tarnkappe.algebra.lowering.rows import LoweredRows, made
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Intersection,
    Plan,
    PostProcessing,
    Randomization,
    SlicingNode,
)
from tarnkappe.algebra.person_paths import HIDDEN
from tarnkappe.algebra.prerequisites import is_noisy
from tarnkappe.algebra.promises import Promise
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.engines.statements import in_words
from tarnkappe.errors import ParameterError
from tarnkappe.table.formats.address import quoted

DIALECTS = ("duckdb", "postgres", "spark", "trino", "bigquery", "snowflake")
RUNS_HERE = ("duckdb", "postgres", "spark")
"""Engines that this package runs; for others, statements are printed only."""

LACK_ALL = ("bigquery", "snowflake")
"""Engines without INTERSECT ALL and EXCEPT ALL."""

PLACEHOLDER = ":secret"
_NOT_PRINTED: dict[type[Plan], str] = {
    SlicingNode: "slice",
    Randomization: "randomize",
    ModelGeneralization: "generalize under models",
    PostProcessing: "SQL above the protection",
}
Types = Mapping[str, Mapping[str, Any]]
"""The type of each column of each relation."""


@dataclass(frozen=True)
class PrintedStatement:
    """One statement, and what it is for."""

    purpose: str
    sql: str

    def __str__(self) -> str:
        return f"-- {self.purpose}\n{self.sql};"


def printed(
    query: ParsedQuery, catalog: Catalog, types: Types, dialect: str, promises: Sequence[Promise] = ()
) -> list[PrintedStatement]:
    """The statements of a query in a dialect: counting, tables of levels, answer, verification.

    Raises:
        ParameterError: the dialect is not known, or an operator needs data or draws that are not printed.
    """
    if dialect not in DIALECTS:
        raise ParameterError(
            "algebra.no-dialect",
            "there is no dialect '{dialect}'; there are {dialects}",
            dialect=dialect,
            dialects=", ".join(DIALECTS),
        )
    query.plan.check()
    _require_printable(query.plan)
    site = PrintedSnapshot(types, dialect)
    lowering = PrintedLowering(site, catalog, Randomness(), lacks_all=dialect in LACK_ALL)
    rows = lowering.rows(query.plan).onto(query.columns)
    whole = rows.table.select(**{column: rows.table[f"c{n}"] for n, column in enumerate(query.columns)})
    order = [
        whole[c].desc(nulls_first=False) if down else whole[c].asc(nulls_first=True)
        for c, down in query.order
    ]
    answer = (whole.order_by(order) if order else whole).drop(*({HIDDEN} & set(query.columns)))
    site.say("the answer", answer)
    for promise in promises:
        people = HIDDEN in query.columns
        number = whole[HIDDEN].nunique() if people else whole.count()
        groups = whole.group_by(sorted(promise.columns)).aggregate(n=number)
        what = (
            f"the fewest {'people' if people else 'rows'} that agree in {', '.join(sorted(promise.columns))}"
        )
        smallest = groups.aggregate(n=groups["n"].min())
        site.say(f"verification: {what}, which must be at least {promise.k}", smallest)
    return site.statements


def _require_printable(plan: Plan) -> None:
    for node in plan.walk():
        what = "a noisy aggregate" if is_noisy(node) else _NOT_PRINTED.get(type(node))
        if what is not None:
            raise ParameterError(
                "algebra.cannot-printed-run-query",
                "{what} cannot be printed: run the query on DuckDB, PostgreSQL or Spark",
                what=what,
            )


class PrintedSnapshot(EngineSnapshot):
    """An engine that is not there: it notes statements, and has nothing to fetch."""

    def __init__(self, types: Types, dialect: str) -> None:
        self.statements: list[PrintedStatement] = []
        self._types, self._dialect = types, dialect
        self._numbers = itertools.count()

    def say(self, purpose: str, expression: Any) -> None:
        """Note a statement."""
        self.statements.append(
            PrintedStatement(purpose, written(in_words(expression, "duckdb"), self._dialect))
        )

    def level_table(self, column: str, cell: Any) -> Any:
        """A table that lifts the values of a column, still to be filled."""
        name = f"tarnkappe_levels_{next(self._numbers)}"
        kinds = {"v": cell.type(), "s": ibis.dtype("string")}
        fields = ", ".join(f"{quoted(field)} {_type_name(kind)}" for field, kind in kinds.items())
        # In quotes as in the statements that read it: Snowflake does not take another case for the same name.
        statement = written(f"CREATE TEMPORARY TABLE {quoted(name)} ({fields})", self._dialect)
        purpose = f"levels of {column}: a line for every value (v), and one for NULL, with its label (s)"
        self.statements.append(PrintedStatement(purpose, statement))
        return ibis.table(kinds, name=name)

    def relation(self, name: str, *, numbered: bool) -> LoweredRows:
        if name not in self._types:
            raise ParameterError(
                "algebra.types-columns-not-known",
                "the types of the columns of '{name}' are not known",
                name=name,
            )
        schema, _, table = name.rpartition(".")
        base = ibis.table(dict(self._types[name]), name=table, **({"database": schema} if schema else {}))
        columns = tuple(self._types[name])
        ids = [ibis.row_number()] if numbered else []
        return made(base, columns, [base[column] for column in columns], ids, numbered)

    def fetch(self, expression: Any, what: str = "querying") -> Any:
        raise ParameterError("algebra.printed-query-looks-no-data", "a printed query looks at no data")

    def upload(self, rows: Any) -> Any:
        raise ParameterError(
            "algebra.printed-query-no-tables", "a printed query has no tables of its own but those of levels"
        )

    def keep(self, expression: Any) -> Any:
        return expression

    def secret(self, secret: str) -> Any:
        return ibis.literal(PLACEHOLDER)

    def hashed(self, text: Any) -> Any:
        return text.hexdigest("sha256")

    def digits(self, digits: str) -> Any:
        return ibis.literal(digits)

    def as_hash(self, digits: Any) -> Any:
        return digits

    def prefix(self, drawn: Any, digits: int) -> Any:
        return drawn.left(digits)

    def refusal(self, message: str, kind: Any) -> Any:
        raise ParameterError.because(message)

    def quantile(self, cell: Any, at: float) -> Any:
        return cell.cast("float64").quantile(at)

    def about_distinct(self, cell: Any) -> Any:
        return cell.approx_nunique()


class PrintedLowering(Lowering):
    """Lowers to statements whose tables of levels are still empty."""

    def __init__(
        self, site: PrintedSnapshot, catalog: Catalog, randomness: Randomness, *, lacks_all: bool
    ) -> None:
        super().__init__(site, catalog, randomness)
        self._printed, self._lacks_all = site, lacks_all

    def _generalization(self, plan: Generalization, path: Path, numbered: bool, coded: bool) -> LoweredRows:
        names = sorted(set(plan.by) & set(plan.child.columns))
        rows = self._child(plan.child, path, numbered)
        if not names or plan.k == 1:
            return rows
        cells = {f"g{n}": rows.cell(name) for n, name in enumerate(names)}
        if plan.person is None:
            keys = rows.table.select(**cells)
            counted = keys.group_by(list(cells)).aggregate(n=keys.count())
        else:
            counted = rows.table.select(**cells, u=rows.cell(plan.person)).distinct()
        self._printed.say(f"the combinations of {', '.join(names)}", counted)
        table, lifted = rows.table, {}
        for name in names:
            cell = rows.cell(name)
            lifts = self._printed.level_table(name, cell).view()
            table = table.left_join(lifts, cell.identical_to(lifts["v"]))
            lifted[name] = lifts["s"]
        return rows.changed(table, lifted)

    def _binary(self, plan: Plan, path: Path, numbered: bool) -> LoweredRows:
        if not isinstance(plan, Intersection | Difference) or numbered or not self._lacks_all:
            return super()._binary(plan, path, numbered)
        left = self.rows(plan.left, (*path, 0), numbered=True)
        right = self.rows(plan.right, (*path, 1))
        return matched(left, right, keep_matches=isinstance(plan, Intersection)).without_ids()


def written(statement: str, dialect: str) -> str:
    """A statement of DuckDB in another dialect, with the forms that sqlglot does not know.

    >>> written("SELECT sha256(x) AS h FROM t", "trino").split()[1]
    'LOWER(TO_HEX(SHA256(TO_UTF8(x))))'
    """
    tree = sqlglot.parse_one(statement, read="duckdb")
    if dialect == "duckdb":
        return tree.sql(dialect="duckdb", pretty=True)
    form = _HASHES[dialect]
    tree = tree.transform(lambda node: form(_argument(node)) if _is_hash(node) else node)
    return tree.sql(dialect=dialect, pretty=True)


def _is_hash(node: exp.Expr) -> bool:
    return isinstance(node, exp.SHA2) or (isinstance(node, exp.Anonymous) and node.name.lower() == "sha256")


def _argument(node: exp.Expr) -> exp.Expr:
    found: exp.Expr = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
    return found


def _call(name: str, *arguments: Any) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


_HASHES: dict[str, Callable[[exp.Expr], exp.Expr]] = {
    "spark": lambda x: _call("SHA2", x, exp.Literal.number(256)),
    "snowflake": lambda x: _call("SHA2", x, exp.Literal.number(256)),
    "postgres": lambda x: _call(
        "ENCODE",
        _call("SHA256", _call("CONVERT_TO", x, exp.Literal.string("UTF8"))),
        exp.Literal.string("hex"),
    ),
    "trino": lambda x: _call("LOWER", _call("TO_HEX", _call("SHA256", _call("TO_UTF8", x)))),
    "bigquery": lambda x: _call("TO_HEX", _call("SHA256", x)),
}
"""The hexadecimal SHA-256 of a text, in each dialect but DuckDB's."""


def _type_name(kind: Any) -> str:
    """A type as DuckDB writes it."""
    cast = in_words(ibis.literal(None, kind).name("x").as_table(), "duckdb")
    return str(sqlglot.parse_one(cast, read="duckdb").find(exp.Cast).to.sql(dialect="duckdb"))  # type: ignore[union-attr]
