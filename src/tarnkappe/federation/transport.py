"""HTTP over mutual TLS: how parties in different places reach each other."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tarnkappe.errors import ProtocolError, TarnkappeError
from tarnkappe.federation.certificates import Credentials, peer_name

Answer = tuple[int, Mapping[str, Any]]
Serve = Callable[[str, bytes, bytes, str], Answer]
"""Path, body, certificate and name of who calls, to the answer."""

OK, REFUSED = 200, 409
LARGEST = 4 * 2**30
PAUSES = (0.05, 0.2, 0.5, 1.0)
"""How long to wait before each further attempt to reach a party."""


class UnreachableError(ProtocolError):
    """A party does not answer."""


class Caller:
    """Calls other parties.

    Args:
        credentials: who calls.
        addresses: host and port of each party.
        patience: how many seconds an answer may take.
    """

    def __init__(
        self, credentials: Credentials, addresses: Mapping[str, tuple[str, int]], patience: float
    ) -> None:
        self._context = credentials.client_context()
        self._addresses = addresses
        self._patience = patience

    def call(self, party: str, path: str, body: bytes = b"", *, pauses: tuple[float, ...] = PAUSES) -> Any:
        """The answer of a party; tried again while it cannot be reached, since repeating does no harm."""
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
                raise ProtocolError(str(answer.get("error", f"'{party}' refused")))
            return answer
        raise AssertionError

    def _once(self, party: str, path: str, body: bytes) -> tuple[int, Any]:
        host, port = self._addresses[party]
        connection = http.client.HTTPSConnection(host, port, timeout=self._patience, context=self._context)
        try:
            connection.connect()
            sock = connection.sock
            shown = peer_name(sock.getpeercert(binary_form=True)) if isinstance(sock, ssl.SSLSocket) else ""
            if shown != party:
                raise ProtocolError(f"at {host}:{port} answers '{shown}' instead of '{party}': the run ends")
            connection.request("POST", path, body, {"Content-Type": "application/octet-stream"})
            with connection.getresponse() as response:
                return response.status, json.loads(response.read())
        finally:
            connection.close()


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
        super().__init__(address, _Handler)
        self._context = credentials.server_context()
        self.serve = serve

    def finish_request(self, request: Any, client_address: Any) -> None:
        """The handshake is made in the thread of the call, so that nobody can hold up the others."""
        request.settimeout(30)
        try:
            with self._context.wrap_socket(request, server_side=True) as secured:
                super().finish_request(secured, client_address)
        except (OSError, ssl.SSLError):
            return

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Broken connections are normal, and tracebacks might show data."""


class _Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        certificate = self.connection.getpeercert(binary_form=True)
        try:
            length = int(self.headers.get("Content-Length", ""))
            if not 0 <= length <= LARGEST:
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
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: paths and sizes are in the transcript."""
