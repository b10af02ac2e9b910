"""Messages over a connection, within limits. What a message is says pygwire; how long it may be, we."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

from pygwire import BackendConnection, ConnectionPhase, TransactionStatus
from pygwire.messages import ErrorResponse, NoticeResponse, PGMessage, ReadyForQuery

HEADER = struct.Struct("!cI")
QUERY, SYNC = b"Q", b"S\x00\x00\x00\x04"


class ProtocolViolationError(Exception):
    """The client does not speak the protocol. The connection ends, since nothing after it can be trusted."""


class GoneError(Exception):
    """The other side has closed the connection, or does not take what is sent."""


class Wire:
    """One client's connection after its first message.

    Args:
        reader: what the client sends.
        writer: what it is sent.
        protocol: the state of the conversation.
        largest: the most bytes that a message may have.
        patience: the seconds that the client has to take what is sent.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        protocol: BackendConnection,
        largest: int,
        patience: float,
    ) -> None:
        self._reader, self._writer, self._protocol = reader, writer, protocol
        self._largest, self._patience = largest, patience
        self._pending = bytearray()

    async def receive(self) -> PGMessage:
        """The next message."""
        try:
            head = await self._reader.readexactly(HEADER.size)
            length = HEADER.unpack(head)[1]
            if not 4 <= length <= self._largest:
                raise ProtocolViolationError
            body = await self._reader.readexactly(length - 4)
        except (asyncio.IncompleteReadError, OSError):
            raise GoneError from None
        if head[:1] == QUERY and self._protocol.phase is ConnectionPhase.EXTENDED_QUERY:
            self._leave_extended_protocol()
        try:
            (message,) = list(self._protocol.receive(head + body))
        except Exception:  # whatever bytes a stranger can make the decoder fail with
            raise ProtocolViolationError from None
        return message

    def _leave_extended_protocol(self) -> None:
        """Let a simple query end steps that no Sync ended, as PostgreSQL does and asyncpg relies on."""
        list(self._protocol.receive(SYNC))
        self._protocol.send(ReadyForQuery(status=TransactionStatus.IDLE))  # the client does not wait for it

    def send(self, message: PGMessage) -> None:
        """Queue a message; `flush` sends what is queued."""
        self._pending += self._protocol.send(message)

    @property
    def queued(self) -> int:
        """The bytes that wait for `flush`."""
        return len(self._pending)

    async def flush(self) -> None:
        """Send what is queued, and wait until the client has taken most of it."""
        if not self._pending:
            return
        try:
            self._writer.write(bytes(self._pending))
            self._pending.clear()
            await asyncio.wait_for(self._writer.drain(), self._patience)
        except (OSError, TimeoutError):
            self._writer.transport.abort()
            raise GoneError from None

    async def close(self) -> None:
        """End the connection; a client that does not take its end is cut off."""
        self._writer.close()
        try:
            await asyncio.wait_for(self._writer.wait_closed(), 1)
        except (OSError, TimeoutError, asyncio.CancelledError):
            self._writer.transport.abort()


def error(severity: str, sqlstate: str, message: str, hint: str = "") -> ErrorResponse:
    """An error as the protocol has it."""
    return ErrorResponse(fields=_fields(severity, sqlstate, message, hint))


def notice(sqlstate: str, message: str) -> NoticeResponse:
    """A notice as the protocol has it."""
    return NoticeResponse(fields=_fields("NOTICE", sqlstate, message, ""))


def _fields(severity: str, sqlstate: str, message: str, hint: str) -> dict[str, Any]:
    fields = {"S": severity, "V": severity, "C": sqlstate, "M": message}
    return fields | ({"H": hint} if hint else {})
