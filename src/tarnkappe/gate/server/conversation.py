"""One client's statements, cursors, transactions and variables, and what each statement gives."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pygwire import TransactionStatus

from tarnkappe.gate.server.above import NOTICE, computed_fields
from tarnkappe.gate.server.catalog import SystemCatalog
from tarnkappe.gate.server.query_queue import QueryQueue
from tarnkappe.gate.server.results import Portal, StatementResult
from tarnkappe.gate.server.variables import Variables
from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.catalog_reader import CatalogQuery
from tarnkappe.gate.sql.errors import (
    CURSOR_EXISTS,
    IN_FAILED_TRANSACTION,
    NO_CURSOR,
    NO_STATEMENT,
    NOT_OFFERED,
    STATEMENT_EXISTS,
    TOO_LARGE,
    StatementError,
)
from tarnkappe.gate.sql.operands import BindParameters
from tarnkappe.gate.sql.reader import Nothing, OpenCursor, Statement, read
from tarnkappe.gate.sql.selection import AllowedQuery
from tarnkappe.gate.sql.session_commands import Fetch, Forget, SetVariable, ShowVariable, Transaction
from tarnkappe.gate.sql.sql_above import SqlAbove
from tarnkappe.gate.sql.types import ResultField
from tarnkappe.gate.sql.view import TableView

LONG = 2_000
MOST_OPEN = 1_000
"""The most prepared statements, and the most cursors, that a client may have."""
MOST_KEPT = 64_000_000
"""The bytes of rows in open cursors after which a client gets no further rows until it closes some."""
BYTES_OF_A_CELL = 64


class Conversation:
    """What a client has said so far, as far as it matters for what it says next.

    Args:
        user: who it is.
        view: the protected table as clients see it.
        desk: answers queries of it.
        catalog: answers queries of the catalog.
        given: the variables that the client came with.
        process: the number of its session.
    """

    def __init__(
        self,
        user: str,
        view: TableView,
        desk: QueryQueue,
        catalog: SystemCatalog,
        given: Mapping[str, str],
        process: int,
    ) -> None:
        self.user, self.view = user, view
        self._desk, self._look = desk, catalog.look(user, process)
        self.variables = Variables(user, given)
        self.statements: dict[str, Statement] = {}
        self.portals: dict[str, Portal] = {}
        self.status = TransactionStatus.IDLE
        self.cancel = asyncio.Event()

    # Preparing

    async def read(self, text: str, declared: list[int] | None = None) -> Statement:
        """What a statement asks for; a long one is read aside, so that others can go on."""
        if len(text) > LONG:
            statement = await asyncio.to_thread(read, text, self.view, declared or ())
        else:
            statement = read(text, self.view, declared or ())
        ends = isinstance(statement, Transaction) and statement.action in ("commit", "rollback", "back")
        if (
            self.status is TransactionStatus.ERROR_TRANSACTION
            and not ends
            and not isinstance(statement, Nothing)
        ):
            raise StatementError(
                IN_FAILED_TRANSACTION,
                "gate.current-transaction-aborted-commands",
                "current transaction is aborted, commands ignored until end of transaction block",
            )
        return statement

    async def prepare(self, name: str, text: str, declared: list[int]) -> None:
        """Keep a statement under a name."""
        if name and name in self.statements:
            raise StatementError(
                STATEMENT_EXISTS,
                "gate.prepared-statement-already-exists",
                "prepared statement already exists",
            )
        if len(self.statements) >= MOST_OPEN:
            raise StatementError("54000", "gate.too-many-prepared-statements", "too many prepared statements")
        self.statements[name] = await self.read(text, declared)

    def prepared(self, name: str) -> Statement:
        """A statement that was kept."""
        if name not in self.statements:
            raise StatementError(
                NO_STATEMENT, "gate.prepared-statement-not-exist", "prepared statement does not exist"
            )
        return self.statements[name]

    def bind(self, name: str, portal: Portal) -> None:
        """Keep a cursor under a name."""
        if name and name in self.portals:
            raise StatementError(CURSOR_EXISTS, "gate.cursor-already-exists", "cursor already exists")
        if len(self.portals) >= MOST_OPEN:
            raise StatementError("54000", "gate.too-many-cursors", "too many cursors")
        self.portals[name] = portal

    def portal(self, name: str) -> Portal:
        """A cursor that was kept."""
        if name not in self.portals:
            raise StatementError(NO_CURSOR, "gate.cursor-not-exist", "cursor does not exist")
        return self.portals[name]

    def parameters(self, statement: Statement) -> BindParameters:
        """The parameters of a statement."""
        if isinstance(statement, OpenCursor):
            statement = statement.query
        return (
            statement.parameters
            if isinstance(statement, (AllowedQuery, SqlAbove, CatalogQuery))
            else BindParameters()
        )

    async def fields(self, statement: Statement) -> tuple[ResultField, ...] | None:
        """The columns that a statement will give."""
        if isinstance(statement, AllowedQuery):
            return statement.fields
        if isinstance(statement, CatalogQuery):
            return await self._look.fields(statement)
        if isinstance(statement, SqlAbove):
            return await asyncio.to_thread(computed_fields, statement)
        if isinstance(statement, ShowVariable):
            return _shown_fields(statement)
        if isinstance(statement, Fetch) and not statement.only_moves:
            return await self.fields(self.portal(statement.name).statement)
        return None

    # Running

    async def run(self, statement: Statement, values: tuple[Any, ...]) -> StatementResult:
        """What a statement gives."""
        if isinstance(statement, (AllowedQuery, SqlAbove, CatalogQuery)):
            return await self._query(statement, values)
        if isinstance(statement, OpenCursor):
            return self._declare(statement, values)
        if isinstance(statement, Fetch):
            return await self._fetch(statement)
        if isinstance(statement, Transaction):
            return self._transact(statement)
        if isinstance(statement, SetVariable):
            changed = self.variables.set(statement.name, statement.value) if statement.name else None
            return StatementResult(None, tag=statement.tag, reports=() if changed is None else (changed,))
        if isinstance(statement, ShowVariable):
            return self._show(statement)
        if isinstance(statement, Forget):
            return self._forget(statement)
        raise StatementError(
            NOT_OFFERED, "gate.statements-kind-not-offered", "statements of this kind are not offered here"
        )

    async def _query(
        self, query: AllowedQuery | SqlAbove | CatalogQuery, values: tuple[Any, ...]
    ) -> StatementResult:
        kept = sum(portal.result.size for portal in self.portals.values() if portal.result is not None)
        if kept > MOST_KEPT:
            raise StatementError(
                TOO_LARGE, "gate.open-cursors-hold-too", "the open cursors hold too many rows: close some"
            )
        if isinstance(query, CatalogQuery):
            fields, rows, size = await self._look.answer(query, values)
            return StatementResult(fields, rows, size=size)
        if isinstance(query, SqlAbove):
            fields, rows, size = await self._desk.compute(self.user, query, values, self.cancel)
            return StatementResult(fields, rows, notice=NOTICE, size=size)
        found, notice = await self._desk.ask(self.user, query, values, self.cancel)
        return StatementResult(
            query.fields, found, notice=notice, size=BYTES_OF_A_CELL * len(query.fields) * len(found)
        )

    def _declare(self, cursor: OpenCursor, values: tuple[Any, ...]) -> StatementResult:
        if not cursor.holds and self.status is TransactionStatus.IDLE:
            raise StatementError(
                "25P01",
                "gate.declare-cursor-can-only-used",
                "DECLARE CURSOR can only be used in transaction blocks",
            )
        self.bind(cursor.name, Portal(cursor.query, values, (), cursor.holds))
        return StatementResult(None, tag="DECLARE CURSOR")

    async def _fetch(self, fetch: Fetch) -> StatementResult:
        portal = self.portal(fetch.name)
        if portal.result is None:
            portal.result = await self.run(portal.statement, portal.values)
        rows, _ = portal.next_rows(fetch.count)
        if fetch.only_moves:
            return StatementResult(None, tag=f"MOVE {len(rows)}")
        return StatementResult(portal.result.fields, rows, "FETCH {}", portal.result.notice)

    def _transact(self, command: Transaction) -> StatementResult:
        failed = self.status is TransactionStatus.ERROR_TRANSACTION
        if command.action in ("begin", "back"):
            if command.action == "back" and self.status is TransactionStatus.IDLE:
                raise StatementError(
                    "25P01",
                    "gate.rollback-savepoint-can-only-used",
                    "ROLLBACK TO SAVEPOINT can only be used in transaction blocks",
                )
            self.status = TransactionStatus.IN_TRANSACTION
        elif command.action == "mark":
            if self.status is TransactionStatus.IDLE:
                raise StatementError(
                    "25P01",
                    "gate.savepoints-can-only-used",
                    "savepoints can only be used in transaction blocks",
                )
        else:
            self.status = TransactionStatus.IDLE
            self.forget_portals()
        return StatementResult(None, tag="ROLLBACK" if failed and command.action == "commit" else command.tag)

    def _show(self, command: ShowVariable) -> StatementResult:
        fields = _shown_fields(command)
        if command.name == "all":
            return StatementResult(
                fields, [(name, value, "") for name, value in self.variables.all()], "SHOW"
            )
        return StatementResult(fields, [(self.variables.show(command.name),)], "SHOW")

    def _forget(self, command: Forget) -> StatementResult:
        if command.what in ("cursor", "everything"):
            if command.name is not None and command.name not in self.portals:
                raise StatementError(NO_CURSOR, "gate.cursor-not-exist", "cursor does not exist")
            gone = list(self.portals) if command.name is None else [command.name]
            for name in gone:
                del self.portals[name]
        if command.what in ("statement", "everything"):
            if command.name is not None:
                self.prepared(command.name)
            gone = list(self.statements) if command.name is None else [command.name]
            for name in gone:
                del self.statements[name]
        if command.what == "everything":
            self.variables.set("all", None)
        return StatementResult(None, tag=command.tag)

    def forget_portals(self) -> None:
        """Outside a transaction only those cursors stay open that were declared to."""
        if self.status is TransactionStatus.IDLE:
            self.portals = {name: portal for name, portal in self.portals.items() if portal.holds}

    def failed(self) -> None:
        """A statement has failed: so has its transaction."""
        if self.status is not TransactionStatus.IDLE:
            self.status = TransactionStatus.ERROR_TRANSACTION


def _shown_fields(command: ShowVariable) -> tuple[ResultField, ...]:
    if command.name == "all":
        return tuple(ResultField(name, types.TEXT) for name in ("name", "setting", "description"))
    return (ResultField(command.name, types.TEXT),)
