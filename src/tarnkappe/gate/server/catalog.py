"""The made-up system catalog: one database, one schema, one table, and nothing of the real ones.

It is a small database that holds only what the policy says: names and types of the columns that clients may
see. Queries of clients are rewritten for it (`sql.catalog_reader`) and run in a process of its own
(`bounded_engine`): they can neither reach files nor the network, nor settings, and one that takes too long or
too much memory is stopped. Everybody has one query at a time, so that nobody keeps all others waiting.
"""

from __future__ import annotations

import asyncio
import queue
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tarnkappe.gate.server.bounded_engine import BoundedEngine, FailedError, TooLargeError, TooLongError
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
from tarnkappe.gate.sql.errors import CANCELED, NOT_OFFERED, TOO_LARGE, StatementError
from tarnkappe.gate.sql.types import ResultField
from tarnkappe.gate.sql.view import TableView

LONGEST_SECONDS = 5.0
MOST_ROWS = 10_000
PROCESSES = 2
"""So many queries of the catalog run at once."""
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


Answer = tuple[tuple[ResultField, ...], list[Row], int]
"""The columns, the rows, and how many bytes they are."""


class SystemCatalog:
    """The catalog of one gate; each session looks at it through its own `Look`."""

    def __init__(self, view: TableView, settings: Mapping[str, str]) -> None:
        self._statements: list[tuple[str, Sequence[Any]]] = []
        for place in (*dict.fromkeys(SCHEMAS.values()), FUNCTIONS):
            self._do(f"CREATE SCHEMA {place}")
        for (place, name), kinds in catalog_tables().items():
            described = ", ".join(f'"{column}" {_engine_kind(kind)}' for column, kind in kinds.items())
            self._do(f'CREATE TABLE {SCHEMAS[place]}."{name}" ({described})')
        self._fill(view, settings)
        self._make_functions()
        self._engines: queue.LifoQueue[BoundedEngine] = queue.LifoQueue()
        for _ in range(PROCESSES):
            self._engines.put(BoundedEngine(self._statements))
        self._workers = ThreadPoolExecutor(PROCESSES, "catalog")
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def look(self, user: str, process: int) -> Look:
        """The catalog as one session sees it."""
        return Look(self, user, process)

    async def turn(self, user: str, query: CatalogQuery, given: Mapping[str, Any], process: int) -> Answer:
        """What a query gives, when it is its turn."""
        async with self._turns[user]:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._workers, self.answer, user, query, given, process)

    def answer(self, user: str, query: CatalogQuery, given: Mapping[str, Any], process: int) -> Answer:
        """What a query gives."""
        variables = {"tarn_user": user, "tarn_database": DATABASE, "tarn_process": process}
        engine = self._engines.get()
        try:
            (columns, rows), size = engine.ask(query.statement, given, variables, MOST_ROWS, LONGEST_SECONDS)
        except TooLongError:
            raise StatementError(
                CANCELED, "gate.query-catalog-takes-too", "this query of the catalog takes too long"
            ) from None
        except TooLargeError:
            raise StatementError(
                TOO_LARGE,
                "gate.query-catalog-takes-too-much",
                "this query of the catalog takes too much memory",
            ) from None
        except FailedError:
            raise StatementError(
                NOT_OFFERED, "gate.query-catalog-not-offered", "this query of the catalog is not offered here"
            ) from None
        finally:
            self._engines.put(engine)
        return tuple(result_field(name, kind) for name, kind in columns), rows, size

    def close(self) -> None:
        """End its processes."""
        self._workers.shutdown(cancel_futures=True)
        while not self._engines.empty():
            self._engines.get().close()

    def _do(self, statement: str, values: Sequence[Any] = ()) -> None:
        self._statements.append((statement, values))

    def _put(self, name: str, rows: Iterable[Mapping[str, Any]], place: str = "pg_catalog") -> None:
        for row in rows:
            names = ", ".join(f'"{column}"' for column in row)
            marks = ", ".join("?" for _ in row)
            self._do(f'INSERT INTO {SCHEMAS[place]}."{name}" ({names}) VALUES ({marks})', list(row.values()))

    def _fill(self, view: TableView, settings: Mapping[str, str]) -> None:
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
        self._do(
            "CREATE VIEW pg_catalog_.known_relation AS SELECT oid, relname FROM pg_catalog_.pg_class "
            f"UNION ALL SELECT * FROM (VALUES {own_relations()}) AS own(oid, relname)"
        )
        formatted = ", ".join(f"({oid}, '{short}', '{name}')" for oid, short, name in formatted_types())
        self._do(
            "CREATE VIEW pg_catalog_.formatted_type AS "
            "SELECT CAST(oid AS UINTEGER) AS oid, typname, formatted "
            f"FROM (VALUES {formatted}) AS known(oid, typname, formatted)"
        )

    def _make_functions(self) -> None:
        forms: dict[str, list[str]] = {}
        for name, arguments, meaning in catalog_functions():
            forms.setdefault(name, []).append(f"({arguments}) AS ({meaning})")
        for name, several in forms.items():
            self._do(f"CREATE MACRO {FUNCTIONS}.{name}{', '.join(several)}")


class Look:
    """One session's sight of the catalog."""

    def __init__(self, catalog: SystemCatalog, user: str, process: int) -> None:
        self._catalog, self._user, self._process = catalog, user, process

    async def answer(self, query: CatalogQuery, values: Sequence[Any]) -> Answer:
        """What a query gives."""
        given = {str(number): values[number - 1] for number in query.used}
        return await self._catalog.turn(self._user, query, given, self._process)

    async def fields(self, query: CatalogQuery) -> tuple[ResultField, ...]:
        """The columns of a query before its parameters are known."""
        return (await self.answer(query, [None] * len(query.parameters.oids)))[0]


def result_field(name: str, kind: str) -> ResultField:
    """A column of the engine as clients see it."""
    if kind.endswith("[]"):
        return ResultField(name, result_field(name, kind.removesuffix("[]")).kind, is_array=True)
    return ResultField(name, types.NUMERIC if kind.startswith("DECIMAL") else SHOWN.get(kind, types.TEXT))


def _engine_kind(kind: str) -> str:
    return KINDS[kind.removesuffix("[]")] + ("[]" if kind.endswith("[]") else "")
