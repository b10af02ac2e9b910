"""Writing to databases: the whole table in one transaction, or nothing."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.address import database_file, is_duckdb, quoted, shown
from tarnkappe.table.formats.database import (
    connected,
    connected_to_duckdb,
)
from tarnkappe.table.formats.rendering import pieces, plain, plain_schema, refuse_kinds
from tarnkappe.table.formats.text_write import CsvStyle, csv_blocks

CHUNK = 10_000
MYSQL = ("mysql", "mariadb")
"""Dialects whose times have whole seconds, and whose texts 64 KB, unless something else is said."""
ROWS = '"rows to be written"'


def write_sql(
    data: pa.Table, address: str, *, table: str, replace: bool = False, progress: Progress | None = None
) -> None:
    """Write a new table; one that exists is replaced only if that is asked for.

    Everything happens in one transaction, so a failure leaves the database as it was. MySQL and MariaDB
    cannot take back the creation of a table: there it is filled under another name, and renamed when it is
    whole.
    """
    refuse_kinds(data.schema, "a database")
    data = _in_microseconds(data)
    with _file_of_its_own(address):
        write = _write_duckdb if is_duckdb(address) else _write_sqlalchemy
        write(data, address, table, replace, progress)


@contextmanager
def _file_of_its_own(address: str) -> Iterator[None]:
    """Remove the file of a database that did not exist before if it cannot be filled."""
    path = database_file(address)
    if path is None or path.exists():
        yield
        return
    if not path.parent.is_dir():
        raise ParameterError(
            "table.folder-not-exist-create-first",
            "{address}: the folder {parent} does not exist: create it first",
            address=shown(address),
            parent=path.parent,
        )
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _refuse_existing(address: str, table: str) -> None:
    raise ParameterError(
        "table.table-exists-choose-another-name",
        "{address}: the table '{table}' exists: choose another name or pass `replace`",
        address=shown(address),
        table=table,
    )


def _write_duckdb(data: pa.Table, address: str, table: str, replace: bool, progress: Progress | None) -> None:
    schema, _, name = table.partition(".")
    with connected_to_duckdb(address, read_only=False) as connection:
        schemas = connection.execute("SELECT schema_name FROM information_schema.schemata").fetchall()
        place = (schema, name) if name and (schema,) in schemas else ("main", table)
        found = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables"
        ).fetchall()
        if place in found and not replace:
            _refuse_existing(address, table)
        target = ".".join(map(quoted, place))
        connection.begin()
        connection.register(ROWS.strip('"'), plain(data.slice(0, 0)))
        connection.execute(f"CREATE OR REPLACE TABLE {target} AS SELECT * FROM {ROWS}")
        for piece in pieces(data, progress):
            connection.register(ROWS.strip('"'), piece)
            connection.execute(f"INSERT INTO {target} SELECT * FROM {ROWS}")
        connection.commit()


def _write_sqlalchemy(
    data: pa.Table, address: str, table: str, replace: bool, progress: Progress | None
) -> None:
    with connected(address) as connection:
        dialect = connection.dialect.name
        if dialect == "sqlite":
            _refuse_for_sqlite(data)
        elif dialect in MYSQL:
            _refuse_for_mysql(data)
        target = _target(connection, data, table)
        exists = sa.inspect(connection).has_table(str(target.name), target.schema)
        if exists and not replace:
            _refuse_existing(address, table)
        if dialect in MYSQL:
            _fill_and_rename(connection, target, data, exists, progress)
            return
        if dialect == "sqlite":
            connection.exec_driver_sql("BEGIN")  # the driver begins by itself only before rows are written
        if exists:
            target.drop(connection)
        target.create(connection)
        insert = _copy if dialect == "postgresql" else _insert
        insert(connection, target, data, progress)
        connection.commit()


def _fill_and_rename(
    connection: sa.Connection, target: sa.Table, data: pa.Table, exists: bool, progress: Progress | None
) -> None:
    """Fill a table under a name of its own, and give it the wanted name in one step when it is whole."""
    filled = target.to_metadata(sa.MetaData(), name=f"tarnkappe_{secrets.token_hex(8)}")
    older = target.to_metadata(sa.MetaData(), name=f"{filled.name}_old")
    # Without it some servers cut what does not fit, and only warn.
    connection.exec_driver_sql("SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')")
    filled.create(connection)
    try:
        _insert(connection, filled, data, progress)
        connection.commit()
        old, new, whole = map(connection.dialect.identifier_preparer.format_table, (older, target, filled))
        moves = [*([f"{new} TO {old}"] if exists else []), f"{whole} TO {new}"]
        connection.exec_driver_sql(f"RENAME TABLE {', '.join(moves)}")
    except BaseException:
        connection.rollback()
        filled.drop(connection, checkfirst=True)
        raise
    if exists:
        older.drop(connection)
    connection.commit()


def schema_and_name(connection: sa.Connection, table: str) -> tuple[str, str]:
    """The schema ("" for the usual one) and the name that a new table is to have."""
    schema, dot, name = table.partition(".")
    return (schema, name) if dot and sa.inspect(connection).has_schema(schema) else ("", table)


def _target(connection: sa.Connection, data: pa.Table, table: str) -> sa.Table:
    schema, name = schema_and_name(connection, table)
    for part in (name, *data.column_names):
        if len(part.encode()) > connection.dialect.max_identifier_length:
            raise ColumnError(
                "table.name-too-long-would-cut",
                "the name '{part}' is too long for {dialect}: it would be cut",
                part=part,
                dialect=connection.dialect.name,
            )
    columns: list[sa.Column[Any]] = [
        sa.Column(sa.quoted_name(field.name, quote=True), _column_type(field.type), key=f"column_{place}")
        for place, field in enumerate(plain_schema(data.schema))
    ]
    return sa.Table(
        sa.quoted_name(name, quote=True),
        sa.MetaData(),
        *columns,
        schema=sa.quoted_name(schema, quote=True) if schema else None,
    )


def _column_type(kind: pa.DataType) -> sa.types.TypeEngine[Any]:
    if pa.types.is_boolean(kind):
        return sa.Boolean()
    if pa.types.is_integer(kind):
        return sa.BigInteger()
    if pa.types.is_floating(kind):
        return sa.Double()
    if pa.types.is_decimal(kind):
        return sa.Numeric(kind.precision, kind.scale)
    if pa.types.is_date(kind):
        return sa.Date()
    if pa.types.is_timestamp(kind):
        return sa.DateTime(timezone=kind.tz is not None).with_variant(mysql.DATETIME(fsp=6), *MYSQL)
    if pa.types.is_time(kind):
        return sa.Time().with_variant(mysql.TIME(fsp=6), *MYSQL)
    return sa.Text().with_variant(mysql.LONGTEXT(), *MYSQL)


def _in_microseconds(data: pa.Table) -> pa.Table:
    """Times as databases keep them."""
    for place, field in enumerate(data.schema):
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns":
            try:
                column = data.column(place).cast(pa.timestamp("us", field.type.tz))
            except pa.ArrowInvalid:
                raise ColumnError(
                    "table.column-holds-times-finer-microseconds",
                    "the column '{field}' holds times finer than microseconds: databases round them, so "
                    "round them first",
                    field=field.name,
                ) from None
            data = data.set_column(place, field.name, column)
    return data


def _refuse_for_sqlite(data: pa.Table) -> None:
    """Refuse what SQLite would silently change: exact decimals, time zones, NaN."""
    for field, column in zip(data.schema, data.columns, strict=True):
        kind = field.type
        if pa.types.is_decimal(kind) or (pa.types.is_timestamp(kind) and kind.tz):
            raise ColumnError(
                "table.column-holds-values-sqlite",
                "the column '{field}' holds {kind} values: SQLite has no such type",
                field=field.name,
                kind=kind,
            )
        if pa.types.is_floating(kind) and pc.any(pc.is_nan(column)).as_py():
            raise ColumnError(
                "table.column-holds-nan-sqlite",
                "the column '{field}' holds NaN: SQLite would make missing values of it",
                field=field.name,
            )


def _refuse_for_mysql(data: pa.Table) -> None:
    """Refuse what MySQL and MariaDB would silently change: they know no time zone of a value."""
    for field in data.schema:
        if pa.types.is_timestamp(field.type) and field.type.tz:
            raise ColumnError(
                "table.column-holds-values-mysql",
                "the column '{field}' holds {kind} values: MySQL and MariaDB keep no time zone",
                field=field.name,
                kind=field.type,
            )


def _copy(connection: sa.Connection, target: sa.Table, data: pa.Table, progress: Progress | None) -> None:
    place = ".".join(quoted(part) for part in (target.schema, target.name) if part)
    copy_rows(connection, place, data, progress)


def copy_rows(
    connection: sa.Connection, place: str, data: pa.Table, progress: Progress | None = None
) -> None:
    """Send rows to PostgreSQL the fast way; its CSV tells missing values from empty texts as ours does."""
    columns = ", ".join(quoted(name) for name in data.column_names)
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {place} ({columns}) FROM STDIN (FORMAT csv)") as copy:
        for block in csv_blocks(data, CsvStyle(), progress, header=False):
            copy.write(block)


def _insert(connection: sa.Connection, target: sa.Table, data: pa.Table, progress: Progress | None) -> None:
    keys = [column.key for column in target.columns]
    for piece in pieces(data, progress, CHUNK):
        connection.execute(target.insert(), piece.rename_columns(keys).to_pylist())
