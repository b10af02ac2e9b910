"""The protocol after the login: simple queries, and the extended protocol step by step."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from pygwire.messages import (
    Bind,
    BindComplete,
    Close,
    CloseComplete,
    CommandComplete,
    Describe,
    EmptyQueryResponse,
    Execute,
    Flush,
    NoData,
    ParameterDescription,
    ParameterStatus,
    Parse,
    ParseComplete,
    PGMessage,
    PortalSuspended,
    Query,
    ReadyForQuery,
    Sync,
    Terminate,
)

from tarnkappe.gate.server.conversation import Conversation
from tarnkappe.gate.server.failures import told
from tarnkappe.gate.server.metrics import Metrics
from tarnkappe.gate.server.results import Portal, StatementResult, described, spread_formats, written
from tarnkappe.gate.server.wire import GoneError, ProtocolViolationError, Wire, error, notice
from tarnkappe.gate.sql.dialect import statements_of
from tarnkappe.gate.sql.errors import IDLE_TOO_LONG, INTERNAL, NOT_OFFERED, PROTOCOL, StatementError
from tarnkappe.gate.sql.reader import Nothing, Statement
from tarnkappe.gate.sql.selection import AllowedQuery
from tarnkappe.gate.sql.sql_above import SqlAbove

log = logging.getLogger(__name__)
FLUSHED_AT = 65_536
"""The bytes after which rows are sent, so that no answer piles up in memory twice."""


class ClientSession:
    """One client after its login."""

    def __init__(self, wire: Wire, talk: Conversation, metrics: Metrics, idle_seconds: float) -> None:
        self._wire, self._talk, self._metrics, self._idle = wire, talk, metrics, idle_seconds
        self._skips = False  # after an error, everything up to the next Sync
        self._busy = False
        self.stops = asyncio.Event()

    async def run(self) -> None:
        """Talk until the client leaves, is silent too long, or the service stops."""
        while True:
            message = await self._next()
            if message is None or isinstance(message, Terminate):
                return
            self._busy = True
            try:
                await self._handle(message)
            finally:
                self._busy = False

    def cancel(self) -> None:
        """Stop what is running for this client, if anything is."""
        if self._busy:
            self._talk.cancel.set()

    async def _next(self) -> PGMessage | None:
        receiving = asyncio.ensure_future(self._wire.receive())
        stopping = asyncio.ensure_future(self.stops.wait())
        try:
            done, _ = await asyncio.wait(
                {receiving, stopping}, timeout=self._idle, return_when=asyncio.FIRST_COMPLETED
            )
            if receiving in done:
                return receiving.result()
            if stopping in done:
                self._wire.send(error("FATAL", "57P01", "the gate is closing"))
            else:
                self._wire.send(error("FATAL", IDLE_TOO_LONG, "the connection was idle for too long"))
            await self._wire.flush()
            return None
        finally:
            receiving.cancel()
            stopping.cancel()

    async def _handle(self, message: PGMessage) -> None:
        self._talk.cancel.clear()
        if isinstance(message, Sync):
            self._skips = False
            await self._ready()
        elif isinstance(message, Flush):
            await self._wire.flush()
        elif isinstance(message, Query):
            self._skips = False
            await self._guarded(self._simple(message.query_string))
            await self._ready()
        elif not self._skips:
            step = self._step(message)
            if step is None:
                raise ProtocolViolationError
            await self._guarded(step, skips=True)

    def _step(self, message: PGMessage) -> Any:
        if isinstance(message, Parse):
            return self._parse(message)
        if isinstance(message, Bind):
            return self._bind(message)
        if isinstance(message, Describe):
            return self._describe(message)
        if isinstance(message, Execute):
            return self._execute(message)
        if isinstance(message, Close):
            return self._close(message)
        return None

    async def _guarded(self, work: Any, skips: bool = False) -> None:
        """Do some work; whatever goes wrong becomes an error that tells nothing but its own kind."""
        try:
            await work
            return
        except StatementError as refusal:
            answer = error("ERROR", refusal.sqlstate, refusal.message, refusal.hint)
        except (GoneError, ProtocolViolationError):
            raise
        except Exception as failure:  # its text may quote data
            log.error("a statement failed: %s", told(failure))
            answer = error("ERROR", INTERNAL, "the statement cannot be answered now")
        self._metrics.count("tarn_gate_statements_total", kind="any", outcome="error")
        self._talk.failed()
        self._skips = skips
        self._wire.send(answer)

    async def _ready(self) -> None:
        self._talk.forget_portals()
        self._wire.send(ReadyForQuery(status=self._talk.status))
        await self._wire.flush()

    async def _simple(self, text: str) -> None:
        for part in statements_of(text):
            await self._statement(part)

    async def _statement(self, text: str) -> None:
        statement = await self._talk.read(text)
        self._talk.portals.pop("", None)
        if isinstance(statement, Nothing):
            self._wire.send(EmptyQueryResponse())
            return
        if self._talk.parameters(statement).oids:
            raise StatementError("42P02", "gate.no-parameter", "there is no parameter")
        result = await self._run(statement, ())
        if result.fields is not None:
            formats = spread_formats((), result.fields)
            self._wire.send(described(result.fields, formats))
            await self._rows(result, formats, result.rows)
        self._end(result, len(result.rows))

    async def _run(self, statement: Statement, values: tuple[Any, ...]) -> StatementResult:
        result = await self._talk.run(statement, values)
        kind = "question" if isinstance(statement, (AllowedQuery, SqlAbove)) else "other"
        self._metrics.count("tarn_gate_statements_total", kind=kind, outcome="done")
        return result

    async def _rows(
        self, result: StatementResult, formats: Sequence[int], rows: Sequence[tuple[Any, ...]]
    ) -> None:
        for row in written(result.fields or (), formats, rows):
            self._wire.send(row)
            if self._wire.queued > FLUSHED_AT:
                await self._wire.flush()

    def _end(self, result: StatementResult, rows: int) -> None:
        for name, value in result.reports:
            self._wire.send(ParameterStatus(name=name, value=value))
        if result.notice and self._talk.variables.hears_notices:
            self._wire.send(notice("00000", result.notice))
        self._wire.send(CommandComplete(tag=result.tag.format(rows)))

    async def _parse(self, message: Parse) -> None:
        if not message.statement:
            self._talk.statements.pop("", None)
        await self._talk.prepare(message.statement, message.query, message.param_types)
        self._wire.send(ParseComplete())

    async def _bind(self, message: Bind) -> None:
        statement = self._talk.prepared(message.statement)
        values = self._talk.parameters(statement).read(message.param_values, message.param_formats)
        if not message.portal:
            self._talk.portals.pop("", None)
        self._talk.bind(message.portal, Portal(statement, values, tuple(message.result_formats)))
        self._wire.send(BindComplete())

    async def _describe(self, message: Describe) -> None:
        if message.kind == "S":
            statement = self._talk.prepared(message.name)
            self._wire.send(ParameterDescription(type_oids=self._talk.parameters(statement).oids))
            fields = await self._talk.fields(statement)
            formats = spread_formats((), fields)
        elif message.kind == "P":
            portal = self._talk.portal(message.name)
            fields = portal.result.fields if portal.result else await self._talk.fields(portal.statement)
            formats = spread_formats(portal.formats, fields)
        else:
            raise StatementError(
                PROTOCOL,
                "gate.only-statements-portals-can-described",
                "only statements and portals can be described",
            )
        self._wire.send(NoData() if fields is None else described(fields, formats))

    async def _execute(self, message: Execute) -> None:
        portal = self._talk.portal(message.portal)
        if isinstance(portal.statement, Nothing):
            self._wire.send(EmptyQueryResponse())
            return
        if portal.result is None:
            portal.result = await self._run(portal.statement, portal.values)
        result = portal.result
        if result.fields is None:
            self._end(result, 0)
            return
        formats = spread_formats(portal.formats, result.fields)
        limit = message.max_rows if 0 < message.max_rows < 2**31 else None
        rows, more = portal.next_rows(limit)
        await self._rows(result, formats, rows)
        if more:
            self._wire.send(PortalSuspended())
        else:
            self._end(result, len(rows))

    async def _close(self, message: Close) -> None:
        if message.kind not in ("S", "P"):
            raise StatementError(
                NOT_OFFERED,
                "gate.only-statements-portals-can-closed",
                "only statements and portals can be closed",
            )
        kept: dict[str, Any] = self._talk.statements if message.kind == "S" else self._talk.portals
        kept.pop(message.name, None)
        self._wire.send(CloseComplete())
