"""Reading from databases: in chunks, so that only the encoded table is in memory."""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.encoding import Progress, as_text, with_one_dictionary
from tarnkappe.table.formats.address import database_file, is_duckdb, quoted, shown
from tarnkappe.table.formats.database import (
    connected,
    connected_to_duckdb,
    planning,
    split_name,
)
from tarnkappe.table.formats.exact_types import (
    TEXT,
    compact,
    concatenated,
    exactly_typed,
    is_text,
)
from tarnkappe.table.formats.names import check_names, chosen_names

CHUNK = 50_000

EXPLAINING = ("postgresql", "sqlite")
"""Databases that plan a query without running it, and so tell what is wrong with it without a cell."""


def read_sql(
    address: str,
    *,
    table: str | None = None,
    query: str | None = None,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Read a table or the answer to a query; nothing is changed in the database.

    Servers send the rows through a cursor of theirs, chunk by chunk. The table's name may be
    preceded by its schema and a dot; names are always quoted.
    """
    if (table is None) == (query is None):
        raise ParameterError(
            "table.pass-either-table-query",
            "{address}: pass either `table` or `query`",
            address=shown(address),
        )
    path = database_file(address)
    if path is not None and not path.is_file():
        raise InputError("table.no-file", "{address}: there is no such file", address=shown(address))
    read = _read_duckdb if is_duckdb(address) else _read_sqlalchemy
    return read(address, table, query, columns, progress)


def _read_duckdb(
    address: str,
    table: str | None,
    query: str | None,
    columns: Sequence[str] | None,
    progress: Progress | None,
) -> pa.Table:
    with connected_to_duckdb(address, read_only=True) as connection:
        if table is not None:
            query = _duckdb_statement(connection, table, columns, address)
        assert query is not None
        with planning(address):
            relation = connection.sql(query)
        if relation is None:
            raise InputError(
                "table.query-gives-no-rows", "{address}: the query gives no rows", address=shown(address)
            )
        names = check_names(relation.columns, shown(address))
        wanted = chosen_names(names, columns, shown(address))
        chunks = []
        rows = 0
        for batch in relation.to_arrow_reader(CHUNK):
            chunks.append(compact(pa.Table.from_batches([batch]).select(wanted)))
            rows += batch.num_rows
            if progress:
                progress("reading", rows, rows)
    return pa.table(
        {name: _joined([array for chunk in chunks for array in chunk.column(name).chunks]) for name in wanted}
    )


def _duckdb_statement(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str] | None, address: str
) -> str:
    found = connection.execute("SELECT table_schema, table_name FROM information_schema.tables").fetchall()
    place = split_name(table, set(found), address)
    described = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE (table_schema, table_name) = (?, ?) "
        "ORDER BY ordinal_position",
        place,
    ).fetchall()
    wanted = chosen_names([name for (name,) in described], columns, shown(address))
    return f"SELECT {', '.join(map(quoted, wanted))} FROM {'.'.join(map(quoted, place))}"


def _read_sqlalchemy(
    address: str,
    table: str | None,
    query: str | None,
    columns: Sequence[str] | None,
    progress: Progress | None,
) -> pa.Table:
    with connected(address) as connection:
        connection = _reading_only(connection)
        if query is not None:
            return read_answer(connection, query, address, columns=columns, progress=progress)
        assert table is not None
        place, declared = look_up(connection, table, address)
        chosen = chosen_names(list(declared), columns, shown(address))
        result = connection.execute(_select(place, chosen), execution_options=_in_chunks())
        data = _fetched(result, address, chosen, progress)
    return pa.table({name: _as_declared(data.column(name), declared.get(name)) for name in data.column_names})


def read_answer(
    connection: sa.Connection,
    query: str,
    address: str,
    *,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """The answer to a query on a connection that is open, chunk by chunk as the database sends it."""
    return _fetched(_answer(connection, query, address), address, columns, progress)


def _fetched(
    result: sa.CursorResult[Any], address: str, columns: Sequence[str] | None, progress: Progress | None
) -> pa.Table:
    with result:
        if not result.returns_rows:
            raise InputError(
                "table.query-gives-no-rows", "{address}: the query gives no rows", address=shown(address)
            )
        names = check_names(list(result.keys()), shown(address))
        wanted = chosen_names(names, columns, shown(address))
        chunks = _chunks(result, [names.index(name) for name in wanted], progress)
    return pa.table({name: _joined(arrays) for name, arrays in zip(wanted, chunks, strict=True)})


def _answer(connection: sa.Connection, query: str, address: str) -> sa.CursorResult[Any]:
    # Without parameters, a percent sign in a query is a percent sign.
    literally = {"no_parameters": True}
    if connection.dialect.name in EXPLAINING:
        with planning(address):
            connection.exec_driver_sql(f"EXPLAIN {query}", execution_options=literally).close()
    return connection.exec_driver_sql(query, execution_options=literally | _in_chunks())


def _in_chunks() -> dict[str, Any]:
    """Let the server keep the rows and send them chunk by chunk."""
    return {"stream_results": True, "yield_per": CHUNK}


def _chunks(
    result: sa.CursorResult[Any], places: list[int], progress: Progress | None
) -> list[list[pa.Array]]:
    chunks: list[list[pa.Array]] = [[] for _ in places]
    rows = 0
    for part in result.partitions(CHUNK):
        for arrays, place in zip(chunks, places, strict=True):
            arrays.append(_array([row[place] for row in part]))
        rows += len(part)
        if progress:
            progress("reading", rows, rows)
    return chunks


def _reading_only(connection: sa.Connection) -> sa.Connection:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA query_only = ON")
    return connection.execution_options(
        postgresql_readonly=True,
        sqlite_raw_colnames=True,  # else a name with a dot would lose what is before the dot
    )


def _select(place: tuple[str, str], wanted: Sequence[str]) -> sa.Select[Any]:
    schema, name = (sa.quoted_name(part, quote=True) if part else None for part in place)
    assert name is not None
    columns: list[sa.ColumnClause[Any]] = [sa.column(sa.quoted_name(column, quote=True)) for column in wanted]
    return sa.select(*columns).select_from(sa.table(name, schema=schema))


def look_up(connection: sa.Connection, table: str, address: str) -> tuple[tuple[str, str], dict[str, Any]]:
    """The schema and name of a table or view, and the declared types of its columns."""
    inspector = sa.inspect(connection)
    schema, dot, rest = table.partition(".")
    if inspector.has_table(table):
        place = ("", table)
    elif dot and inspector.has_table(rest, schema):
        place = (schema, rest)
    else:
        known = {("", name) for name in (*inspector.get_table_names(), *inspector.get_view_names())}
        place = split_name(table, known, address)
    described = inspector.get_columns(place[1], place[0] or None)
    return place, {column["name"]: column["type"] for column in described}


def _array(values: list[Any]) -> pa.Array:
    """Values of one column as a driver gives them; kinds that Arrow has no type for become text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {memoryview, bytes}:
        return pa.array([None if value is None else bytes(value) for value in values])
    if not kinds & {dict, list, uuid.UUID}:
        try:
            array = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            pass
        else:
            if pa.types.is_timestamp(array.type) and array.type.tz:
                return array.cast(pa.timestamp("us", "UTC"))
            return array.dictionary_encode() if is_text(array.type) else array
    return pa.array([None if value is None else _shown(value) for value in values], pa.string()).cast(TEXT)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value.isoformat(" ") if isinstance(value, datetime.datetime) else str(value)


def _joined(parts: list[pa.Array]) -> pa.ChunkedArray:
    """One column from chunks; where their types do not go together, it is text."""
    try:
        return concatenated([pa.chunked_array([part]) for part in parts] or [pa.chunked_array([], TEXT)])
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return with_one_dictionary(
            pa.chunked_array([_text(part).dictionary_encode() for part in parts], TEXT)
        )


def _text(chunk: pa.Array) -> pa.Array:
    return as_text(chunk.dictionary_decode() if pa.types.is_dictionary(chunk.type) else chunk)


def _as_declared(column: pa.ChunkedArray, declared: Any) -> pa.ChunkedArray:
    """SQLite keeps booleans as numbers and dates as text: what is declared and fits is believed."""
    if isinstance(declared, sa.Boolean) and pa.types.is_integer(column.type):
        fits = pc.all(pc.is_in(column.drop_null(), pa.array([0, 1], column.type))).as_py()
        return column.cast(pa.bool_()) if fits else column
    if isinstance(declared, sa.Date | sa.DateTime) and column.type == TEXT and column.num_chunks == 1:
        return pa.chunked_array([exactly_typed(column.chunk(0))])
    return column
