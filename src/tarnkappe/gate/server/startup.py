"""The first messages of a connection: TLS or not, cancel or begin, and with which version of the protocol.

Until it is clear whether TLS follows, not one byte more is read than the message has. What somebody in the
middle puts behind a request for TLS then goes to the handshake, which fails, instead of being taken for the
client's first words inside the channel.
"""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import ssl
import struct

from pygwire import BackendConnection, StartupRequestCode
from pygwire.messages import (
    CancelRequest,
    GSSEncRequest,
    GSSResponse,
    NegotiateProtocolVersion,
    PGMessage,
    SSLRequest,
    SSLResponse,
    StartupMessage,
)

from tarnkappe.gate.server.wire import GoneError, ProtocolViolationError, Wire

LARGEST_STARTUP = 10_000
MOST_REQUESTS = 4
_LENGTH = struct.Struct("!I")
_KNOWN_MINORS = (0, 2)


@dataclasses.dataclass(frozen=True)
class Beginning:
    """What a client wants: to begin, or to cancel something."""

    wire: Wire | None
    message: StartupMessage | CancelRequest
    is_encrypted: bool
    newest: bool = False
    """Whether it speaks version 3.2, which has longer keys for cancelling."""


class Startup:
    """Takes a new connection through its first messages.

    Args:
        tls: the server's side of TLS, if it has a certificate.
        largest: the most bytes of a message later on.
        patience: the seconds a client has to take what it is sent.
    """

    def __init__(self, tls: ssl.SSLContext | None, largest: int, patience: float) -> None:
        self._tls, self._largest, self._patience = tls, largest, patience

    async def begin(self, client: socket.socket) -> Beginning:
        """What the client wants."""
        loop = asyncio.get_running_loop()
        protocol = BackendConnection()
        for _ in range(MOST_REQUESTS):
            message, minor = _decoded(protocol, await _frame(client))
            if isinstance(message, SSLRequest):
                protocol.send(SSLResponse(accepted=self._tls is not None))
                await loop.sock_sendall(client, b"N" if self._tls is None else b"S")
                if self._tls is not None:
                    return await self._encrypted(client, protocol)
            elif isinstance(message, GSSEncRequest):
                protocol.send(GSSResponse(accepted=False))
                await loop.sock_sendall(client, b"N")
            elif isinstance(message, CancelRequest):
                return Beginning(None, message, is_encrypted=False)
            elif isinstance(message, StartupMessage):
                wire = self._wire(*await _streams(client, None), protocol)
                return _negotiated(wire, message, minor, is_encrypted=False)
        raise ProtocolViolationError

    async def _encrypted(self, client: socket.socket, protocol: BackendConnection) -> Beginning:
        try:
            reader, writer = await _streams(client, self._tls)
        except (OSError, ssl.SSLError):
            raise GoneError from None
        wire = self._wire(reader, writer, protocol)
        try:
            head = await reader.readexactly(_LENGTH.size)
            message, minor = _decoded(protocol, head + await reader.readexactly(_body_length(head)))
        except (OSError, asyncio.IncompleteReadError):
            await wire.close()
            raise GoneError from None
        except ProtocolViolationError:
            await wire.close()
            raise
        if isinstance(message, CancelRequest):
            await wire.close()
            return Beginning(None, message, is_encrypted=True)
        if not isinstance(message, StartupMessage):
            await wire.close()
            raise ProtocolViolationError
        return _negotiated(wire, message, minor, is_encrypted=True)

    def _wire(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: BackendConnection
    ) -> Wire:
        return Wire(reader, writer, protocol, self._largest, self._patience)


async def _streams(
    client: socket.socket, tls: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, client, ssl=tls)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _frame(client: socket.socket) -> bytes:
    head = await _exactly(client, _LENGTH.size)
    return head + await _exactly(client, _body_length(head))


def _body_length(head: bytes) -> int:
    length = int(_LENGTH.unpack(head)[0])
    if not 8 <= length <= LARGEST_STARTUP:
        raise ProtocolViolationError
    return length - _LENGTH.size


async def _exactly(client: socket.socket, size: int) -> bytes:
    loop = asyncio.get_running_loop()
    data = b""
    while len(data) < size:
        try:
            more = await loop.sock_recv(client, size - len(data))
        except OSError:
            raise GoneError from None
        if not more:
            raise GoneError
        data += more
    return data


def _decoded(protocol: BackendConnection, frame: bytes) -> tuple[PGMessage, int]:
    """The message, and the minor version that it asks for, which may be one that nobody knows yet."""
    (code,) = _LENGTH.unpack_from(frame, 4)
    major, minor = code >> 16, code & 0xFFFF
    if major == 3 and minor not in _KNOWN_MINORS:
        frame = frame[:4] + _LENGTH.pack(StartupRequestCode.V3_0) + frame[8:]
    try:
        (message,) = list(protocol.receive(frame))
    except Exception:  # whatever bytes a stranger can make the decoder fail with
        raise ProtocolViolationError from None
    return message, minor


def _negotiated(wire: Wire, message: StartupMessage, minor: int, *, is_encrypted: bool) -> Beginning:
    options = [name for name in message.params if name.startswith("_pq_.")]
    newest = minor >= _KNOWN_MINORS[-1]
    if minor not in _KNOWN_MINORS or options:
        spoken = StartupRequestCode.V3_2 if newest else StartupRequestCode.V3_0
        wire.send(NegotiateProtocolVersion(newest_minor=spoken, unrecognized=options))
    return Beginning(wire, message, is_encrypted, newest)
