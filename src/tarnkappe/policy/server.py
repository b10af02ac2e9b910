"""A policy that clients of PostgreSQL talk to: who logs in is who asks, and the policy decides.

Logging in, the wire and session commands are the gate's. A query is handed to the policy as it was written,
one at a time, in the thread that holds the data.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
from pygwire import TransactionStatus

from tarnkappe.errors import AccessError, TarnkappeError
from tarnkappe.gate.server.conversation import Conversation
from tarnkappe.gate.server.results import Portal, StatementResult
from tarnkappe.gate.server.service import GateServer
from tarnkappe.gate.server.settings import Settings
from tarnkappe.gate.server.variables import Variables
from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.dialect import words_of
from tarnkappe.gate.sql.errors import IN_FAILED_TRANSACTION, NOT_OFFERED, StatementError
from tarnkappe.gate.sql.reader import Nothing
from tarnkappe.gate.sql.session_commands import Declare, Transaction, read_session_command
from tarnkappe.gate.sql.types import ResultField, WireType
from tarnkappe.policy.enforcer import Enforcer
from tarnkappe.policy.policy_file import AccessPolicy

NO_RIGHT = "42501"
NOT_RUN = "22000"
BYTES_OF_A_CELL = 64


@dataclasses.dataclass
class PolicyQuery:
    """A query as it was written, and its answer as soon as there is one."""

    text: str
    result: StatementResult | None = None


class PolicyConversation(Conversation):
    """One client's statements under a policy."""

    def __init__(self, user: str, ask: Asking, given: Mapping[str, str]) -> None:
        self.user, self._ask = user, ask
        self.variables = Variables(user, given)
        self.statements: dict[str, Any] = {}
        self.portals: dict[str, Portal] = {}
        self.status = TransactionStatus.IDLE
        self.cancel = asyncio.Event()

    async def read(self, text: str, declared: list[int] | None = None) -> Any:
        """A query for the policy, or a command about the session."""
        if any(declared or ()):
            raise StatementError(
                NOT_OFFERED,
                "policy.parameters-not-offered-here-write",
                "parameters are not offered here: write the values into the query",
            )
        words = words_of(text)
        if not words:
            return Nothing()
        command = read_session_command(words)
        if isinstance(command, Declare):
            raise StatementError(NOT_OFFERED, "policy.cursors-not-offered", "cursors are not offered here")
        ends = isinstance(command, Transaction) and command.action in ("commit", "rollback", "back")
        if self.status is TransactionStatus.ERROR_TRANSACTION and not ends:
            raise StatementError(
                IN_FAILED_TRANSACTION,
                "policy.current-transaction-aborted-commands",
                "current transaction is aborted, commands ignored until end of transaction block",
            )
        return PolicyQuery(text) if command is None else command

    async def fields(self, statement: Any) -> tuple[ResultField, ...] | None:
        """The columns of an answer are known when there is one."""
        if isinstance(statement, PolicyQuery):
            return (await self._answered(statement)).fields
        return await super().fields(statement)

    async def run(self, statement: Any, values: tuple[Any, ...]) -> StatementResult:
        """What a statement gives."""
        if not isinstance(statement, PolicyQuery):
            return await super().run(statement, values)
        result = await self._answered(statement)
        statement.result = None  # asked again, it is another question
        return result

    async def _answered(self, query: PolicyQuery) -> StatementResult:
        if query.result is None:
            query.result = await self._ask(self.user, query.text)
        return query.result


class Asking:
    """Hands queries to the policy, one at a time, in the one thread that holds the data."""

    def __init__(self, policy: AccessPolicy) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._enforcer = self._thread.submit(Enforcer, policy).result()

    async def __call__(self, user: str, text: str) -> StatementResult:
        """The answer to a query."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._answer, user, text)

    def _answer(self, user: str, text: str) -> StatementResult:
        try:
            answer = self._enforcer.ask(user, text, by="scram")
        except AccessError as error:
            raise StatementError.refusing(NO_RIGHT, error.reason) from None
        except TarnkappeError as error:
            raise StatementError.refusing(NOT_RUN, error.reason) from None
        fields, rows = on_the_wire(answer.table)
        size = BYTES_OF_A_CELL * len(fields) * len(rows)
        return StatementResult(fields, rows, notice=answer.verdict.told, size=size)

    def close(self) -> None:
        """Let go of the data."""
        self._thread.submit(self._enforcer.close).result()
        self._thread.shutdown()


class PolicyService(GateServer):
    """A policy behind a port of PostgreSQL.

    Args:
        policy: what is allowed; its members may log in.
        settings: where to listen, and limits.
    """

    greeting = "a policy decides what every query may see"

    def __init__(self, policy: AccessPolicy, settings: Settings) -> None:
        self._prepare(policy.users, settings)
        self._asking = Asking(policy)

    def _conversation(self, user: str, given: Mapping[str, str], number: int) -> Conversation:
        del number  # catalogs of PostgreSQL, which name sessions, are not offered here
        return PolicyConversation(user, self._asking, given)

    async def _stop(self) -> None:
        """A query that runs has its answer; there are no turns here."""

    async def _end(self) -> None:
        await asyncio.to_thread(self._asking.close)


def on_the_wire(table: pa.Table) -> tuple[tuple[ResultField, ...], list[tuple[Any, ...]]]:
    """The columns and rows of an answer in types of PostgreSQL."""
    fields, columns = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        kind = _wire_type(field.type)
        fields.append(ResultField(field.name, kind))
        values = column.to_pylist()
        columns.append([None if v is None else str(v) for v in values] if kind is types.TEXT else values)
    return tuple(fields), list(zip(*columns, strict=True)) if columns else []


def _wire_type(kind: pa.DataType) -> WireType:
    if pa.types.is_boolean(kind):
        return types.BOOLEAN
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return types.BIGINT
    if pa.types.is_floating(kind):
        return types.DOUBLE
    if pa.types.is_decimal(kind):
        return types.NUMERIC
    if pa.types.is_date(kind):
        return types.DATE
    return types.TIMESTAMP if pa.types.is_timestamp(kind) else types.TEXT
