"""HTTP over mutual TLS: how parties in different places reach each other."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from typing import TYPE_CHECKING, Any

from tarnkappe.errors import InputError, ProtocolError, TarnkappeError
from tarnkappe.federation.certificates import Credentials, peer_name
from tarnkappe.federation.printable import printable

if TYPE_CHECKING:  # where nobody is called, nothing has to be loaded for it
    import httpx

Answer = tuple[int, Mapping[str, Any]]
Serve = Callable[[str, bytes, bytes, str], Answer]
"""Path, body, certificate and name of who calls, to the answer."""

OK, REFUSED, BROKEN = 200, 409, 500
LARGEST = 4 * 2**30
PIECE = 4 * 2**20
"""Long messages travel in pieces of so many bytes: if a connection breaks, only the last one is repeated."""

LARGEST_CALL = 4 * PIECE
"""A call that announces more bytes is refused before any of them is read."""
LARGEST_ANSWER = 256 * 2**20

IDLE = 30.0
"""After so many seconds of silence a connection is closed; who calls gives it up earlier."""

AT_ONCE = 64
"""Calls that are answered at the same time."""

LONGEST_ERROR = 2000

PAUSES = (0.05, 0.2, 0.5, 1.0)
"""How long to wait before each further attempt to reach a party."""


class UnreachableError(ProtocolError):
    """A party does not answer."""


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
        self._kept = 1 if keep_open else 0
        self._clients: dict[str, httpx.Client] = {}

    def call(self, party: str, path: str, body: bytes = b"", *, pauses: tuple[float, ...] = PAUSES) -> Any:
        """The answer of a party; tried again while it cannot be reached, since repeating does no harm."""
        import httpx

        for pause in (*pauses, None):
            try:
                status, answer = self._once(party, path, body)
            except (OSError, httpx.HTTPError, ValueError) as error:
                if pause is None:
                    why = f"'{party}' cannot be reached ({type(error).__name__})"
                    raise UnreachableError(
                        "federation.running-certificate-valid",
                        "{why}: is it running, and is its certificate valid?",
                        why=why,
                    ) from None
                time.sleep(pause)
                continue
            if status != OK:
                raise ProtocolError.because(
                    printable(answer.get("error", f"'{party}' refused"))[:LONGEST_ERROR]
                )
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
                raise ProtocolError(
                    "federation.lost-part-message-run",
                    "'{party}' has lost a part of a message: the run ends",
                    party=party,
                )
            if position >= len(body):
                return

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _once(self, party: str, path: str, body: bytes) -> tuple[int, Any]:
        host, port = self._addresses[party]
        url = f"https://{f'[{host}]' if ':' in host else host}:{port}{path}"
        with self._client(party).stream(
            "POST", url, content=body, extensions={"trace": self._watch(party)}
        ) as response:
            text = bytearray()
            for piece in response.iter_raw():
                text += piece
                if len(text) > LARGEST_ANSWER:
                    raise ValueError("an answer without end")
        if response.status_code >= BROKEN:
            raise ValueError("it failed while it answered")
        return response.status_code, dict(json.loads(text))

    def _client(self, party: str) -> httpx.Client:
        """The way to one party; none is shared, since two parties may be said to have the same address."""
        import httpx

        if party not in self._clients:
            self._clients[party] = httpx.Client(
                headers={"Content-Type": "application/octet-stream", "Accept-Encoding": "identity"},
                limits=httpx.Limits(max_keepalive_connections=self._kept, keepalive_expiry=IDLE / 2),
                timeout=self._patience,
                trust_env=False,  # no proxy of the environment hears of it
                verify=self._context,
            )
        return self._clients[party]

    def _watch(self, party: str) -> Callable[[str, Mapping[str, Any]], None]:
        """What sees a connection being made: who answers is asked before anything is sent."""

        def watch(event: str, told: Mapping[str, Any]) -> None:
            if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                return
            stream = told["return_value"]
            try:
                sock = stream.get_extra_info("socket")
                if not isinstance(sock, ssl.SSLSocket):
                    sock.getpeername()  # if it is gone, Python's ssl module would leave the socket open
                elif (found := peer_name(sock.getpeercert(binary_form=True))) != party:
                    host, port = self._addresses[party]
                    raise ProtocolError(
                        "federation.answers-instead-run-ends",
                        "at {host}:{port} answers '{found}' instead of '{party}': the run ends",
                        host=host,
                        port=port,
                        found=found,
                        party=party,
                    )
            except BaseException:
                stream.close()
                raise

        return watch


class Listener:
    """Answers calls of parties that show a certificate of the authority.

    Args:
        address: host and port to listen at; port 0 takes any that is free.
        credentials: who answers.
        serve: what makes the answer.
    """

    def __init__(self, address: tuple[str, int], credentials: Credentials, serve: Serve) -> None:
        import uvicorn

        self._context, self._serve = credentials.server_context(), serve
        self._calls = ThreadPoolExecutor(AT_ONCE, "call")
        config = uvicorn.Config(
            self._respond,
            http=_protocol(),
            interface="asgi3",
            lifespan="off",
            proxy_headers=False,
            log_config=None,
            log_level="critical",  # nothing is logged: paths and sizes are in the transcript
            access_log=False,
            server_header=False,
            date_header=False,
            ws="none",
            loop="asyncio",
            timeout_keep_alive=int(IDLE),
        )
        config.load()
        config.ssl = _Door(self._open)
        self._server = uvicorn.Server(config)
        self._thread: Thread | None = None
        try:
            self._socket = socket.create_server(address, backlog=AT_ONCE)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise InputError(
                "federation.cannot-listen-choose-another-address",
                "cannot listen at {address}:{address_2} ({why}): choose another address",
                address=address[0],
                address_2=address[1],
                why=why,
            ) from None
        host, port = self._socket.getsockname()[:2]
        self.address: tuple[str, int] = str(host), int(port)

    def start(self) -> None:
        """Answer calls in the background."""
        self._thread = Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()

    def serve_forever(self) -> None:
        """Answer calls until `close`."""
        self.start()
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(IDLE)

    def close(self) -> None:
        """Stop answering, and close the connections that wait for further calls."""
        self._server.should_exit = self._server.force_exit = True
        if self._thread is not None:
            self._thread.join()
        self._socket.close()
        self._calls.shutdown(wait=False)

    def context(self) -> ssl.SSLContext:
        """How the next connection is secured."""
        return self._context

    def handshake_failed(self, error: ssl.SSLError) -> None:
        """Somebody showed no certificate of the authority; who wants to know of it overrides this."""

    def _open(self) -> ssl.SSLContext:
        context, failed = self.context(), self._failed

        class Handshake(ssl.SSLObject):
            def do_handshake(self) -> None:
                try:
                    super().do_handshake()
                except ssl.SSLError as error:
                    if not isinstance(error, ssl.SSLWantReadError | ssl.SSLWantWriteError):
                        failed(error)
                    raise

        context.sslobject_class = Handshake
        return context

    def _failed(self, error: ssl.SSLError) -> None:
        with contextlib.suppress(RuntimeError):  # it is closed
            self._calls.submit(self.handshake_failed, error)

    async def _respond(self, scope: Any, receive: Any, send: Any) -> None:
        """One call, as ASGI has it."""
        body = await _body(scope, receive)
        loop = asyncio.get_running_loop()
        status, answer = await loop.run_in_executor(self._calls, self._answer, scope, body)
        text = json.dumps(answer).encode()
        headers = [(b"content-length", str(len(text)).encode())]
        if status != OK:  # what was refused may not have been read to its end
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": text})

    def _answer(self, scope: Mapping[str, Any], body: bytes | None) -> Answer:
        certificate = scope["state"]["certificate"]
        try:
            if body is None:
                raise ValueError
            return self._serve(scope["raw_path"].decode(), body, certificate, peer_name(certificate))
        except TarnkappeError as error:
            return REFUSED, {"error": str(error)}
        except ValueError:
            return REFUSED, {"error": "a call that cannot be read"}
        except Exception:  # who calls tries again; what went wrong might show data
            return BROKEN, {}


class Served:
    """What others reach through a listener."""

    _listener: Listener

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        return self._listener.address

    def serve_forever(self) -> None:
        """Answer calls until `close`."""
        self._listener.serve_forever()

    def start(self) -> None:
        """Answer calls in the background."""
        self._listener.start()

    def close(self) -> None:
        """Stop answering."""
        self._listener.close()


async def _body(scope: Mapping[str, Any], receive: Any) -> bytes | None:
    """What is sent, if it is a call, announces its length, keeps to it and comes in time."""
    length = dict(scope["headers"]).get(b"content-length", b"")
    if scope["method"] != "POST" or not length.isdigit() or int(length) > LARGEST_CALL:
        return None
    body = bytearray()
    while len(body) < int(length):
        try:
            message = await asyncio.wait_for(receive(), IDLE)
        except TimeoutError:
            return None
        if message["type"] != "http.request":
            return None
        body += message["body"]
    return bytes(body)


class _Door(ssl.SSLContext):
    """Secures every connection as it is to be secured at that moment."""

    _current: Callable[[], ssl.SSLContext]

    def __new__(cls, current: Callable[[], ssl.SSLContext]) -> _Door:
        made = super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)
        made._current = current
        return made

    def wrap_bio(self, *given: Any, **named: Any) -> ssl.SSLObject:
        """As asyncio asks for it, once for each connection."""
        return self._current().wrap_bio(*given, **named)


def _protocol() -> type[asyncio.Protocol]:
    """HTTP as uvicorn speaks it, which also tells who calls."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            # asyncio does it for sockets that name their protocol; without it an answer waits 40 ms
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            shown = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
            self.app_state = {**self.app_state, "certificate": shown}
            self.timeout_keep_alive_task = self.loop.call_later(IDLE, self.timeout_keep_alive_handler)

    return Protocol
