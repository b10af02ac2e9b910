"""Which names a clause may use: the tables of FROM by their aliases, and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from tarnkappe.algebra.plan import Plan, listed
from tarnkappe.algebra.sql.reading import SqlReader, choose


@dataclass(frozen=True)
class NameScope:
    """A plan, the order in which its columns are shown, and the columns of each table in it by alias."""

    plan: Plan
    shown: tuple[str, ...]
    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, shown: Iterable[str] | None = None, alias: str = "") -> NameScope:
        """The scope of one table."""
        return cls(plan, tuple(shown or plan.columns), {alias: plan.schema} if alias else {})

    def column(self, node: exp.Column, reader: SqlReader) -> str:
        """The column of the plan that a (perhaps qualified) name means."""
        reader.only(node, "this", "table", what="a column name")
        name = node.this
        if not isinstance(name, exp.Identifier):
            raise reader.refuse(
                node, "algebra.name-columns-write-alone", "name the columns, or write * alone"
            )
        columns: Iterable[str] = self.plan.columns
        qualifier = node.args.get("table")
        if qualifier is not None:
            reader.name(qualifier, node)
            table = self._table(node)
            if table is None:
                raise reader.refuse(
                    qualifier,
                    "algebra.scope-no-table",
                    "no table '{qualifier}' in FROM; {known_tables}",
                    qualifier=qualifier.name,
                    known_tables=self._known_tables(),
                )
            columns = self.tables[table]
        found = choose(name.name, name.quoted, columns)
        if found is None:
            raise reader.refuse(
                name,
                "algebra.no-column",
                "no column '{name}'; there are {columns}",
                name=name.name,
                columns=listed(columns),
            )
        return found

    def names_table(self, node: exp.Column) -> bool:
        """Whether the name of a column is qualified by a table of this scope."""
        return self._table(node) is not None

    def _table(self, node: exp.Column) -> str | None:
        qualifier = node.args.get("table")
        if not isinstance(qualifier, exp.Identifier):
            return None
        return choose(qualifier.name, qualifier.quoted, self.tables)

    def _known_tables(self) -> str:
        return f"there are {listed(self.tables)}" if self.tables else "its tables have no names"
