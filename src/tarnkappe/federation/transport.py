"""HTTP over mutual TLS: how parties in different places reach each other."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tarnkappe.errors import InputError, ProtocolError, TarnkappeError
from tarnkappe.federation.certificates import Credentials, peer_name
from tarnkappe.federation.printable import printable

Answer = tuple[int, Mapping[str, Any]]
Serve = Callable[[str, bytes, bytes, str], Answer]
"""Path, body, certificate and name of who calls, to the answer."""

OK, REFUSED = 200, 409
LARGEST = 4 * 2**30
PIECE = 4 * 2**20
"""Long messages travel in pieces of so many bytes: if a connection breaks, only the last one is repeated."""

LARGEST_CALL = 4 * PIECE
"""A call that announces more bytes is refused before any of them is read."""
LARGEST_ANSWER = 256 * 2**20

IDLE = 30.0
"""After so many seconds without a call a connection is closed."""

LONGEST_ERROR = 2000

PAUSES = (0.05, 0.2, 0.5, 1.0)
"""How long to wait before each further attempt to reach a party."""


class UnreachableError(ProtocolError):
    """A party does not answer."""


def secured(context: ssl.SSLContext, raw: socket.socket, *, server_side: bool = False) -> ssl.SSLSocket:
    """TLS over a connection, which belongs to it from then on.

    Whether the other side is still there is asked first: where it is not, Python's ssl module would raise
    an error and leave the socket open.
    """
    raw.getpeername()
    return context.wrap_socket(raw, server_side=server_side)


class _Connection(http.client.HTTPSConnection):
    """A connection that leaves no socket open if its other side goes away during the handshake."""

    def __init__(self, address: tuple[str, int], patience: float, context: ssl.SSLContext) -> None:
        super().__init__(*address, timeout=patience, context=context)
        self._secure = context

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        assert self.sock is not None
        self.sock = secured(self._secure, self.sock)

    @property
    def party(self) -> str:
        """Who answers, as its certificate says."""
        sock = self.sock
        return peer_name(sock.getpeercert(binary_form=True)) if isinstance(sock, ssl.SSLSocket) else ""


class Caller:
    """Calls other parties. It serves one thread.

    Args:
        credentials: who calls.
        addresses: host and port of each party.
        patience: how many seconds an answer may take.
        keep_open: whether connections stay open for further calls, until `close`.
    """

    def __init__(
        self,
        credentials: Credentials,
        addresses: Mapping[str, tuple[str, int]],
        patience: float,
        *,
        keep_open: bool = False,
    ) -> None:
        self._context = credentials.client_context()
        self._addresses = addresses
        self._patience = patience
        self._keep_open = keep_open
        self._open: dict[str, _Connection] = {}

    def call(self, party: str, path: str, body: bytes = b"", *, pauses: tuple[float, ...] = PAUSES) -> Any:
        """The answer of a party; tried again while it cannot be reached, since repeating does no harm."""
        if party in self._open:
            pauses = (0.0, *pauses)  # it may only have closed a connection that was idle
        for pause in (*pauses, None):
            try:
                status, answer = self._once(party, path, body)
            except (OSError, http.client.HTTPException, ssl.SSLError, ValueError) as error:
                if pause is None:
                    why = f"'{party}' cannot be reached ({type(error).__name__})"
                    raise UnreachableError(f"{why}: is it running, and is its certificate valid?") from None
                time.sleep(pause)
                continue
            if status != OK:
                raise ProtocolError(printable(answer.get("error", f"'{party}' refused"))[:LONGEST_ERROR])
            return answer
        raise AssertionError

    def upload(self, party: str, path: str, body: bytes) -> None:
        """Send something long in pieces; what has arrived before a connection broke is not sent again."""
        position = 0
        while True:
            piece = body[position : position + PIECE]
            answer = self.call(party, f"{path}/{position}/{len(body)}", piece)
            position += len(piece)
            if answer.get("have") != position:
                raise ProtocolError(f"'{party}' has lost a part of a message: the run ends")
            if position >= len(body):
                return

    def close(self) -> None:
        """Close all connections."""
        for connection in self._open.values():
            connection.close()
        self._open.clear()

    def _once(self, party: str, path: str, body: bytes) -> tuple[int, Any]:
        connection = self._open.pop(party, None) or self._connected(party)
        try:
            connection.request("POST", path, body, {"Content-Type": "application/octet-stream"})
            with connection.getresponse() as response:
                text = response.read(LARGEST_ANSWER + 1)
                if len(text) > LARGEST_ANSWER:
                    raise ValueError("an answer without end")
                answer = response.status, dict(json.loads(text))
        except BaseException:
            connection.close()
            raise
        if self._keep_open and not response.will_close:
            self._open[party] = connection
        else:
            connection.close()
        return answer

    def _connected(self, party: str) -> _Connection:
        host, port = address = self._addresses[party]
        connection = _Connection(address, self._patience, self._context)
        try:
            connection.connect()
            if connection.party != party:
                raise ProtocolError(
                    f"at {host}:{port} answers '{connection.party}' instead of '{party}': the run ends"
                )
        except BaseException:
            connection.close()
            raise
        return connection


class Listener(ThreadingHTTPServer):
    """Answers calls of parties that show a certificate of the authority.

    Args:
        address: host and port to listen at; port 0 takes any that is free.
        credentials: who answers.
        serve: what makes the answer.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], credentials: Credentials, serve: Serve) -> None:
        self._context = credentials.server_context()
        self._connections: set[ssl.SSLSocket] = set()
        self.serve = serve
        try:
            super().__init__(address, _Handler)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise InputError(
                f"cannot listen at {address[0]}:{address[1]} ({why}): choose another address"
            ) from None

    def finish_request(self, request: Any, client_address: Any) -> None:
        """The handshake is made in the thread of the call, so that nobody can hold up the others."""
        request.settimeout(IDLE)
        try:
            shaken = secured(self._context, request, server_side=True)
        except (OSError, ssl.SSLError) as error:
            self.handshake_failed(error)
            return
        with contextlib.suppress(OSError, ssl.SSLError), shaken as connection:
            self._connections.add(connection)
            try:
                super().finish_request(connection, client_address)
            finally:
                self._connections.discard(connection)

    def handshake_failed(self, error: Exception) -> None:
        """Somebody showed no certificate of the authority; who wants to know of it overrides this."""

    def server_close(self) -> None:
        """Close the connections too that wait for further calls."""
        super().server_close()
        for connection in tuple(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Broken connections are normal, and tracebacks might show data."""


class _Handler(BaseHTTPRequestHandler):
    server: Listener
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        certificate = self.connection.getpeercert(binary_form=True)
        try:
            length = int(self.headers.get("Content-Length", ""))
            if not 0 <= length <= LARGEST_CALL:
                raise ValueError
            body = self.rfile.read(length)
            if len(body) < length:
                raise ValueError
            status, answer = self.server.serve(self.path, body, certificate, peer_name(certificate))
        except TarnkappeError as error:
            status, answer = REFUSED, {"error": str(error)}
        except ValueError:
            status, answer = REFUSED, {"error": "a call that cannot be read"}
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        if status != OK:  # what was refused may not have been read to its end
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: paths and sizes are in the transcript."""
