"""PostgreSQL: every query in one transaction, on one snapshot, and rolled back at its end.

Secrets and levels are sent as rows of temporary tables (COPY), not as text of statements, which servers log.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

import ibis
import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from tarnkappe.algebra.lowering.backend import Backend
from tarnkappe.algebra.lowering.rows import LoweredRows
from tarnkappe.algebra.lowering.site import REFUSED, EngineSnapshot
from tarnkappe.engines.postgresql import convert_to, encode, sha256
from tarnkappe.engines.statements import in_words, left
from tarnkappe.errors import ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.address import quoted, shown
from tarnkappe.table.formats.database import connected
from tarnkappe.table.formats.names import check_names
from tarnkappe.table.formats.sql_read import read_answer
from tarnkappe.table.formats.sql_write import copy_rows

TABLES = """
SELECT c.oid::bigint, n.nspname, c.relname, pg_table_is_visible(c.oid), a.attname, t.typname
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
WHERE c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema$)'
AND has_table_privilege(c.oid, 'SELECT')
ORDER BY n.nspname, c.relname, a.attnum
"""
"""Tables that store rows. Views are left out, since what they do is not known here."""

KINDS = {
    "int2": "int16",
    "int4": "int32",
    "int8": "int64",
    "float4": "float32",
    "float8": "float64",
    "numeric": "decimal",
    "bool": "boolean",
    "date": "date",
    "timestamp": "timestamp(6)",
    "timestamptz": "timestamp(6)",
}
"""Types that engines share; everything else is read as text."""

COLUMN_TYPES: tuple[tuple[Any, str], ...] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "bigint"),
    (pa.types.is_floating, "double precision"),
    (pa.types.is_decimal, "numeric"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "timestamp"),
)
REFUSE = f"""
CREATE FUNCTION pg_temp.tarnkappe_refuse(message text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION USING MESSAGE = '{REFUSED}' || message; END $$
"""


class PostgreSQLBackend(Backend):
    """The tables of a PostgreSQL database that its user may read."""

    name: ClassVar[str] = "postgresql"

    def __init__(self, address: str) -> None:
        self.source, self.address = shown(address), address
        self._places: dict[str, tuple[str, dict[str, str]]] = {}
        with connected(address) as connection:
            for _, schema, table, visible, column, kind in connection.exec_driver_sql(TABLES):
                name = table if visible else f"{schema}.{table}"
                place = f"{quoted(schema)}.{quoted(table)}"
                self._places.setdefault(name, (place, {}))[1][column] = kind
        self.relations = {
            name: tuple(check_names(list(kinds), f"{self.source}: {name}"))
            for name, (_, kinds) in self._places.items()
        }

    @contextmanager
    def site(self, progress: Progress | None = None) -> Iterator[PostgreSQLSite]:
        """A transaction that sees the database as it is when it begins."""
        with connected(self.address) as connection:
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
            try:
                yield PostgreSQLSite(self, connection, progress)
            finally:
                with suppress(SQLAlchemyError):  # a connection that was cut has nothing to roll back
                    connection.rollback()

    def place(self, name: str) -> tuple[str, dict[str, str]]:
        """The quoted name of a relation, and the types of its columns."""
        self._require(name)
        return self._places[name]

    def close(self) -> None:
        """Nothing is held open between queries."""


class PostgreSQLSite(EngineSnapshot):
    """One query in PostgreSQL."""

    like_escape = "\\"

    def __init__(
        self, backend: PostgreSQLBackend, connection: sa.Connection, progress: Progress | None
    ) -> None:
        self._backend, self._connection, self._progress = backend, connection, progress
        self._numbers = itertools.count()
        self._views: dict[tuple[str, bool], Any] = {}
        self._can_refuse = False
        self._run("SET LOCAL idle_in_transaction_session_timeout = 0")  # a search takes its time
        self._run("SET LOCAL datestyle = ISO")

    def relation(self, name: str, *, numbered: bool) -> LoweredRows:
        place, kinds = self._backend.place(name)
        if (name, numbered) not in self._views:
            self._views[name, numbered] = self._view(place, kinds, numbered)
        return LoweredRows(self._views[name, numbered], tuple(kinds), int(numbered), numbered)

    def _view(self, place: str, kinds: dict[str, str], numbered: bool) -> Any:
        """Texts compare by their code points, as in other engines, and not by the language of the server."""
        cells = [f"{_cell(column, kind)} AS c{n}" for n, (column, kind) in enumerate(kinds.items())]
        schema = {f"c{n}": KINDS.get(kind, "string") for n, kind in enumerate(kinds.values())}
        if numbered:
            cells.append("row_number() OVER (ORDER BY tableoid, ctid) - 1 AS i0")
            schema["i0"] = "int64"
        view = f"tarnkappe_v{next(self._numbers)}"
        self._run(f"CREATE TEMP VIEW {view} AS SELECT {', '.join(cells)} FROM {place}")
        return ibis.table(schema, name=view)

    def fetch(self, expression: Any, what: str = "querying") -> pa.Table:
        statement = in_words(expression, "postgres")
        with self._reporting():
            found = read_answer(self._connection, statement, self._backend.address, progress=self._progress)
        kinds = expression.schema().items()
        return pa.table({name: _typed(found.column(name), kind) for name, kind in kinds})

    def upload(self, rows: pa.Table) -> Any:
        name = f"tarnkappe_u{next(self._numbers)}"
        columns = ", ".join(f"{field.name} {_column_type(field.type)}" for field in rows.schema)
        self._run(f"CREATE TEMP TABLE {name} ({columns}) ON COMMIT DROP")
        copy_rows(self._connection, name, rows)
        self._run(f"ANALYZE {name}")  # else the size of the joins is a guess
        return ibis.table(ibis.Schema.from_pyarrow(rows.schema), name=name)

    def keep(self, expression: Any) -> Any:
        name = f"tarnkappe_k{next(self._numbers)}"
        with self._reporting():
            self._run(f"CREATE TEMP TABLE {name} ON COMMIT DROP AS {in_words(expression, 'postgres')}")
        self._run(f"ANALYZE {name}")
        return ibis.table(expression.schema(), name=name)

    def secret(self, secret: str) -> Any:
        return self.upload(pa.table({"k": [secret]}))["k"].as_scalar()

    def hashed(self, text: Any) -> Any:
        return sha256(convert_to(text, "UTF8"))

    def digits(self, digits: str) -> Any:
        return decode(ibis.literal(digits), "hex")

    def as_hash(self, digits: Any) -> Any:
        return decode(digits, "hex")

    def prefix(self, drawn: Any, digits: int) -> Any:
        return left(encode(drawn, "hex"), digits)

    def refusal(self, message: str, kind: Any) -> Any:
        if not self._can_refuse:
            self._run(REFUSE)
            self._can_refuse = True
        return tarnkappe_refuse(message).cast(kind)

    def quantile(self, cell: Any, at: float) -> Any:
        return cell.cast("float64").quantile(at)

    def about_distinct(self, cell: Any) -> Any:
        return cell.nunique()

    def _run(self, statement: str) -> None:
        # Without parameters, a percent sign is a percent sign.
        self._connection.exec_driver_sql(statement, execution_options={"no_parameters": True}).close()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Our own refusals reach the user as they are; all else is told without cells further out."""
        try:
            yield
        except SQLAlchemyError as error:
            _, found, message = str(getattr(error, "orig", "")).partition(REFUSED)
            if found:
                raise ParameterError.because(message.partition("\n")[0]) from None
            raise


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def decode(text: str, form: str) -> bytes:  # type: ignore[empty-body]
    """Text as bytes, in PostgreSQL."""


@ibis.udf.scalar.builtin(database="pg_temp")  # type: ignore[untyped-decorator]
def tarnkappe_refuse(message: str) -> str:  # type: ignore[empty-body]
    """Fails with a message where it is evaluated."""


def _cell(column: str, kind: str) -> str:
    if kind == "timestamptz":
        return f"{quoted(column)} AT TIME ZONE 'UTC'"
    return quoted(column) if kind in KINDS else f'{quoted(column)}::text COLLATE "C"'


def _column_type(kind: pa.DataType) -> str:
    return next((name for fits, name in COLUMN_TYPES if fits(kind)), 'text COLLATE "C"')


def _typed(column: pa.ChunkedArray, kind: Any) -> pa.ChunkedArray:
    """A column as its expression says; where no row came, the driver knows no type."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind.is_decimal():
        return column.cast(pa.decimal128(38, 0)) if not pa.types.is_decimal(column.type) else column
    return column.cast(kind.to_pyarrow())
