"""The made-up system catalog: one database, one schema, one table, and nothing of the real ones.

It is a small database in memory that holds only what the policy says: names and types of the columns that
clients may see. Queries of clients are rewritten for it (`sql.catalog_reader`); they can neither reach files
nor the network, nor settings, and a query that takes long is stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb

from tarnkappe.gate.server.catalog_rows import (
    DATABASE,
    OWNER_OID,
    all_types,
    attributes,
    collation,
    columns,
    database,
    formatted_types,
    keywords,
    namespaces,
    own_relations,
    relation,
    role,
    schema,
    setting,
    table,
)
from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.arrange import Row
from tarnkappe.gate.sql.catalog_reader import (
    FUNCTIONS,
    SCHEMAS,
    CatalogQuery,
    catalog_functions,
    catalog_tables,
)
from tarnkappe.gate.sql.errors import CANCELED, NOT_OFFERED, StatementError
from tarnkappe.gate.sql.types import Field
from tarnkappe.gate.sql.view import View

LONGEST_SECONDS = 5.0
MOST_ROWS = 10_000
CONFIGURATION = {
    "memory_limit": "256MB",
    "threads": "1",
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
KINDS = {
    "oid": "UINTEGER",
    "text": "VARCHAR",
    "smallint": "SMALLINT",
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "real": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMP",
}
SHOWN = {
    "BOOLEAN": types.BOOLEAN,
    "TINYINT": types.SMALLINT,
    "SMALLINT": types.SMALLINT,
    "INTEGER": types.INTEGER,
    "BIGINT": types.BIGINT,
    "HUGEINT": types.NUMERIC,
    "UINTEGER": types.OID,
    "FLOAT": types.REAL,
    "DOUBLE": types.DOUBLE,
    "DATE": types.DATE,
    "TIMESTAMP": types.TIMESTAMP,
}
"""The types of the engine as clients see them; all others are texts."""


class Catalog:
    """The catalog of one gate; each session looks at it through its own `Look`."""

    def __init__(self, view: View, settings: Mapping[str, str]) -> None:
        self._engine = duckdb.connect(":memory:", config=dict(CONFIGURATION))
        for place in (*dict.fromkeys(SCHEMAS.values()), FUNCTIONS):
            self._engine.execute(f"CREATE SCHEMA {place}")
        for (place, name), kinds in catalog_tables().items():
            described = ", ".join(f'"{column}" {_engine_kind(kind)}' for column, kind in kinds.items())
            self._engine.execute(f'CREATE TABLE {SCHEMAS[place]}."{name}" ({described})')
        self._fill(view, settings)
        self._make_functions()
        self._engine.execute("SET enable_external_access = false")
        self._engine.execute("SET lock_configuration = true")

    def look(self, user: str, process: int) -> Look:
        """The catalog as one session sees it."""
        return Look(self._engine.cursor(), user, process)

    def close(self) -> None:
        """Forget it."""
        self._engine.close()

    def _put(self, name: str, rows: Iterable[Mapping[str, Any]], place: str = "pg_catalog") -> None:
        for row in rows:
            names = ", ".join(f'"{column}"' for column in row)
            marks = ", ".join("?" for _ in row)
            self._engine.execute(
                f'INSERT INTO {SCHEMAS[place]}."{name}" ({names}) VALUES ({marks})', list(row.values())
            )

    def _fill(self, view: View, settings: Mapping[str, str]) -> None:
        self._put("pg_namespace", namespaces())
        self._put("pg_database", [database()])
        self._put("pg_type", all_types())
        self._put("pg_class", [relation(view)])
        self._put("pg_attribute", attributes(view))
        self._put("pg_am", [{"oid": 2, "amname": "heap", "amhandler": 3, "amtype": "t"}])
        self._put("pg_collation", [collation()])
        self._put("pg_tablespace", [{"oid": 1663, "spcname": "pg_default", "spcowner": OWNER_OID}])
        self._put("pg_roles", [role()])
        self._put("pg_get_keywords", keywords())
        self._put("pg_tables", [{"schemaname": "public", "tablename": view.table, "tableowner": "gate"}])
        self._put("pg_settings", [setting(name, value) for name, value in settings.items()])
        self._put("schemata", [schema()], "information_schema")
        self._put("tables", [table(view)], "information_schema")
        self._put("columns", columns(view), "information_schema")
        self._engine.execute(
            "CREATE VIEW pg_catalog_.known_relation AS SELECT oid, relname FROM pg_catalog_.pg_class "
            f"UNION ALL SELECT * FROM (VALUES {own_relations()}) AS own(oid, relname)"
        )
        formatted = ", ".join(f"({oid}, '{short}', '{name}')" for oid, short, name in formatted_types())
        self._engine.execute(
            "CREATE VIEW pg_catalog_.formatted_type AS "
            "SELECT CAST(oid AS UINTEGER) AS oid, typname, formatted "
            f"FROM (VALUES {formatted}) AS known(oid, typname, formatted)"
        )

    def _make_functions(self) -> None:
        forms: dict[str, list[str]] = {}
        for name, arguments, meaning in catalog_functions():
            forms.setdefault(name, []).append(f"({arguments}) AS ({meaning})")
        for name, several in forms.items():
            self._engine.execute(f"CREATE MACRO {FUNCTIONS}.{name}{', '.join(several)}")


class Look:
    """One session's sight of the catalog."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, user: str, process: int) -> None:
        self._cursor, self._lock = cursor, threading.Lock()
        for name, value in (("tarn_user", user), ("tarn_database", DATABASE), ("tarn_process", process)):
            cursor.execute(f"SET VARIABLE {name} = ?", [value])

    def answer(self, query: CatalogQuery, values: Sequence[Any]) -> tuple[tuple[Field, ...], list[Row]]:
        """The columns and the rows of a query."""
        with self._lock:
            stop = threading.Timer(LONGEST_SECONDS, self._cursor.interrupt)
            stop.daemon = True
            stop.start()
            try:
                given = {str(number): values[number - 1] for number in query.used}
                answer = self._cursor.execute(query.statement, given)
                fields = tuple(_field(name, str(kind)) for name, kind, *_ in answer.description)
                return fields, answer.fetchmany(MOST_ROWS)
            except duckdb.InterruptException:
                raise StatementError(CANCELED, "this query of the catalog takes too long") from None
            except (duckdb.Error, RuntimeError, ValueError):
                raise StatementError(NOT_OFFERED, "this query of the catalog is not offered here") from None
            finally:
                stop.cancel()

    def fields(self, query: CatalogQuery) -> tuple[Field, ...]:
        """The columns of a query before its parameters are known."""
        return self.answer(query, [None] * len(query.parameters.oids))[0]

    def close(self) -> None:
        """Forget it."""
        self._cursor.close()


def _field(name: str, kind: str) -> Field:
    if kind.endswith("[]"):
        return Field(name, _field(name, kind.removesuffix("[]")).kind, is_array=True)
    return Field(name, types.NUMERIC if kind.startswith("DECIMAL") else SHOWN.get(kind, types.TEXT))


def _engine_kind(kind: str) -> str:
    return KINDS[kind.removesuffix("[]")] + ("[]" if kind.endswith("[]") else "")
