"""The institution's own database: read only, by selections that requests may make, one row a patient."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import exp

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.exchange.request import Anchor
from tarnkappe.table import read
from tarnkappe.table.formats.address import is_address

DIALECTS = {"postgresql": "postgres", "postgres": "postgres", "mariadb": "mysql"}
"""What the SQL of a database is called, where that is not the name in its address."""


@dataclasses.dataclass(frozen=True)
class Institution:
    """Where the patients of an institution are.

    Attributes:
        name: the name of the institution in the network.
        source: the address of a database, or a table in memory.
        patient: the column that tells who a row is about; no two rows may have the same.
        table: the table or view of the database, with one row for each patient.
        query: or the query that gives these rows.
    """

    name: str
    source: str | pa.Table
    patient: str
    table: str | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        in_memory = isinstance(self.source, pa.Table)
        if not in_memory and not is_address(self.source):
            raise ParameterError(
                "exchange.patients-institution-database-give",
                "the patients of an institution are in a database: give its address",
            )
        if not in_memory and (self.table is None) == (self.query is None):
            raise ParameterError(
                "exchange.name-either-table-query", "name either the table or the query that has the patients"
            )

    def count(self, anchor: Anchor) -> int:
        """How many people a selection has; no row is read for it."""
        if isinstance(self.source, pa.Table):
            return len(_filtered(self.source, anchor).column(self.patient).unique())
        counted = exp.Count(this=exp.Distinct(expressions=[_column(self.patient)]))
        query = self._selected(anchor, [exp.alias_(counted, "people")])
        return int(self._read(query).column("people")[0].as_py())

    def select(self, anchor: Anchor, columns: Sequence[str]) -> pa.Table:
        """Who is selected and some columns of them.

        Raises:
            InputError: if somebody has two rows: all thresholds count people.
        """
        wanted = list(dict.fromkeys([self.patient, *columns]))
        if isinstance(self.source, pa.Table):
            table = _filtered(self.source, anchor).select(wanted)
        else:
            table = self._read(self._selected(anchor, [_column(name) for name in wanted]))
        return self._one_row_each(table)

    def _one_row_each(self, table: pa.Table) -> pa.Table:
        who = table.column(self.patient)
        if who.null_count or len(who.unique()) < table.num_rows:
            raise InputError(
                "exchange.not-tell-rows-apart",
                "'{patient}' does not tell the rows of {name} apart: name a view with one row for each "
                "patient",
                patient=self.patient,
                name=self.name,
            )
        return table

    def everybody(self, columns: Sequence[str]) -> pa.Table:
        """All patients and some columns of them, for counts that get noise before anybody sees them."""
        wanted = list(dict.fromkeys([self.patient, *columns]))
        if isinstance(self.source, pa.Table):
            return self._one_row_each(self.source.select(wanted))
        query = exp.select(*(_column(name) for name in wanted)).from_(self._relation())
        return self._one_row_each(self._read(query))

    def _selected(self, anchor: Anchor, columns: Sequence[exp.Expr]) -> exp.Select:
        where = exp.cast(_column(anchor.attribute), "text").isin(
            *(exp.Literal.string(value) for value in anchor.values)
        )
        return exp.select(*columns).from_(self._relation()).where(where)

    def _relation(self) -> exp.Expression:
        if self.table is not None:
            parts = [exp.to_identifier(part, quoted=True) for part in self.table.split(".")]
            return exp.Table(this=parts[-1], db=parts[0] if len(parts) > 1 else None)
        try:
            parsed = sqlglot.parse_one(self.query or "", dialect=self._dialect)
        except sqlglot.errors.SqlglotError:
            raise ParameterError(
                "exchange.query-patients-no-sql",
                "the query for the patients is no SQL that can be understood",
            ) from None
        if not isinstance(parsed, exp.Query):
            raise ParameterError(
                "exchange.query-patients-must-select",
                "the query for the patients must be a SELECT: nothing else is run",
            )
        return parsed.subquery("patients")

    def _read(self, query: exp.Select) -> pa.Table:
        return read(str(self.source), query=query.sql(dialect=self._dialect)).data

    @property
    def _dialect(self) -> str:
        scheme = str(self.source).split(":", 1)[0].split("+", 1)[0]
        return DIALECTS.get(scheme, scheme)


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _filtered(table: pa.Table, anchor: Anchor) -> pa.Table:
    values = pa.array(anchor.values, pa.string())
    return table.filter(pc.is_in(table.column(anchor.attribute).cast(pa.string()), value_set=values))
