"""The service: listens, lets clients in, keeps them apart, and stops without cutting anybody off."""

from __future__ import annotations

import asyncio
import dataclasses
import hmac
import itertools
import logging
import secrets
import socket
import ssl
from collections.abc import Collection, Mapping
from pathlib import Path

from pygwire.messages import BackendKeyData, CancelRequest, ParameterStatus, ReadyForQuery, StartupMessage

from tarnkappe.errors import InputError, ParameterError, TarnkappeError
from tarnkappe.gate.noisy_figures import NoisyFigures
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.server.catalog import SystemCatalog
from tarnkappe.gate.server.conversation import Conversation
from tarnkappe.gate.server.failures import told
from tarnkappe.gate.server.login import LoginFailedError, channel_binding, log_in
from tarnkappe.gate.server.metrics import Metrics
from tarnkappe.gate.server.query_queue import Answering, QueryQueue
from tarnkappe.gate.server.scram import Verifier
from tarnkappe.gate.server.session import ClientSession
from tarnkappe.gate.server.settings import Settings
from tarnkappe.gate.server.startup import Beginning, Startup
from tarnkappe.gate.server.users import NAME, Users
from tarnkappe.gate.server.variables import CHANGEABLE, FIXED
from tarnkappe.gate.server.wire import GoneError, ProtocolViolationError, Wire, error, notice
from tarnkappe.gate.sql.errors import INTERNAL, NO_LOGIN, PROTOCOL, TOO_MANY_CLIENTS
from tarnkappe.gate.sql.view import TableView

log = logging.getLogger(__name__)
BACKLOG = 128
GREETING = "answers are protected: they may contain artificial values, and who has which value is not shown"


@dataclasses.dataclass
class _Client:
    """A client that is logged in: its session, and the secret by which it may cancel."""

    session: ClientSession
    secret: bytes


class GateServer:
    """A gate that clients of PostgreSQL can talk to.

    Args:
        keeper: decides and records.
        view: the protected table as clients see it.
        policy: who may log in.
        settings: where to listen, and limits.
        noisy: figures with noise, if the settings want them.
    """

    greeting = GREETING
    _refresh = 0.0
    _keeper: Answering | None = None

    def __init__(
        self,
        keeper: Answering,
        view: TableView,
        policy: GatePolicy,
        settings: Settings,
        noisy: NoisyFigures | None = None,
    ) -> None:
        self._prepare(policy.users, settings)
        self._view, self._keeper, self._refresh = view, keeper, policy.refresh
        if settings.aggregates == "estimate" and not policy.answers_everybody:
            raise ParameterError(
                "gate.server-aggregates-estimate-needs",
                '[server] aggregates = "estimate" needs surplus values: on_violation = "add", no leak',
            )
        self._desk = QueryQueue(
            keeper,
            policy.history_of,
            settings,
            self.metrics,
            noisy,
            generalizes=policy.form == "generalized",
        )
        self._catalog = SystemCatalog(view, FIXED | CHANGEABLE)

    def _prepare(self, allowed: Collection[str] | None, settings: Settings) -> None:
        """What does not depend on who answers: logins, and keeping clients apart."""
        self._allowed, self._settings = allowed, settings
        self.metrics = Metrics()
        self._users = Users(settings.users)
        self._users.names()  # a users file that cannot be read is noticed now, not at the first login
        self._tls, self._binding = _tls(settings)
        self._startup = Startup(self._tls, settings.largest_message, settings.send_seconds)
        self._clients: dict[int, _Client] = {}
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._socket: socket.socket | None = None
        self._closing = False

    @property
    def port(self) -> int:
        """Where it listens, also if any free port was asked for."""
        assert self._socket is not None
        return int(self._socket.getsockname()[1])

    async def run(self, stop: asyncio.Event, ready: asyncio.Event | None = None) -> None:
        """Serve until told to stop; then let what is running end, and tell everybody else goodbye."""
        self._listen()
        if self._settings.metrics is not None:
            self.metrics.serve(*self._settings.metrics)
        accepting, renewing = asyncio.create_task(self._accept()), asyncio.create_task(self._renew())
        log.info("the gate listens on %s:%d", self._settings.host, self.port)
        if ready is not None:
            ready.set()
        try:
            await stop.wait()
        finally:
            self._closing = True
            accepting.cancel()
            renewing.cancel()
            assert self._socket is not None
            self._socket.close()
            await self._stop()
            for client in self._clients.values():
                client.session.stops.set()
            if self._tasks:
                _, late = await asyncio.wait(self._tasks, timeout=self._settings.grace_seconds)
                for task in late:
                    task.cancel()
                await asyncio.gather(*late, return_exceptions=True)
            self.metrics.close()
            await self._end()
            log.info("the gate is closed")

    async def _renew(self) -> None:
        """Look at the table again and again, whether or not somebody asks."""
        while self._keeper is not None and self._refresh:
            await asyncio.sleep(self._refresh)
            try:
                await asyncio.to_thread(self._keeper.renew)
            except Exception as problem:  # what was read last is answered from until the table can be read
                log.error("the table cannot be looked at: %s", told(problem))

    async def _stop(self) -> None:
        """Give no new turns, and let what is being decided leave when its slot ends."""
        await self._desk.stop()

    async def _end(self) -> None:
        """Let go of what answered."""
        await self._desk.close()
        self._catalog.close()

    def _listen(self) -> None:
        family = socket.AF_INET6 if ":" in self._settings.host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((self._settings.host, self._settings.port))
        except OSError as problem:
            listening.close()
            place = f"{self._settings.host}:{self._settings.port}"
            raise InputError(
                "gate.gate-cannot-listen",
                "{place}: the gate cannot listen there: {strerror}",
                place=place,
                strerror=problem.strerror,
            ) from None
        listening.listen(BACKLOG)
        listening.setblocking(False)
        self._socket = listening

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        assert self._socket is not None
        while True:
            try:
                client, _ = await loop.sock_accept(self._socket)
            except OSError as problem:  # too many open files, or a client that has gone already
                log.warning("a connection could not be accepted: %s", problem.strerror)
                await asyncio.sleep(0.1)
                continue
            client.setblocking(False)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = asyncio.create_task(self._serve(client))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, client: socket.socket) -> None:
        self.metrics.count("tarn_gate_connections_total")
        self.metrics.count("tarn_gate_clients")
        wire: Wire | None = None
        try:
            async with asyncio.timeout(self._settings.login_seconds):
                begun = await self._startup.begin(client)
                wire = begun.wire
                if isinstance(begun.message, CancelRequest):
                    self._cancel(begun.message)
                    return
                assert wire is not None
                user = await self._admit(begun, wire)
            await self._talk(wire, user, begun)
        except ProtocolViolationError:
            self.metrics.count("tarn_gate_protocol_errors_total")
            await _farewell(wire, PROTOCOL, "this is not the protocol of PostgreSQL")
        except (GoneError, LoginFailedError, TimeoutError):
            pass
        except Exception as problem:  # whatever it is, the others go on
            log.error("a session failed: %s", told(problem))
            await _farewell(wire, INTERNAL, "the session has failed")
        finally:
            self.metrics.count("tarn_gate_clients", by=-1)
            if wire is not None:
                await wire.close()
            client.close()

    async def _admit(self, begun: Beginning, wire: Wire) -> str:
        message = begun.message
        assert isinstance(message, StartupMessage)
        if len(self._tasks) > self._settings.connections or self._closing:
            await _turned_away(wire, TOO_MANY_CLIENTS, "sorry, too many clients already")
        if self._tls is not None and not begun.is_encrypted:
            await _turned_away(wire, NO_LOGIN, "this gate wants TLS: use sslmode=require, or verify-full")
        if message.params.get("replication", "false").lower() not in ("false", "off", "no", "0"):
            await _turned_away(wire, NO_LOGIN, "there is no replication here")
        user = message.params.get("user", "")
        binding = self._binding if begun.is_encrypted else None
        try:
            await log_in(wire, user, self._verifier, binding, self._settings.failure_seconds)
        except LoginFailedError:
            self.metrics.count("tarn_gate_logins_total", outcome="failed")
            raise
        self.metrics.count("tarn_gate_logins_total", outcome="done")
        return user

    def _verifier(self, user: str) -> Verifier:
        """What a user must fit: nothing fits for somebody whom the policy does not name."""
        known = NAME.fullmatch(user) is not None
        allowed = self._allowed is None or user in self._allowed
        try:
            return self._users.verifier(user if known and allowed else f"\x00{user}")
        except TarnkappeError as problem:
            log.error("%s", problem)
            return Verifier.of_nobody(user, secrets.token_bytes(32))

    def _conversation(self, user: str, given: Mapping[str, str], number: int) -> Conversation:
        return Conversation(user, self._view, self._desk, self._catalog, given, number)

    async def _talk(self, wire: Wire, user: str, begun: Beginning) -> None:
        number = next(self._numbers)
        secret = secrets.token_bytes(32 if begun.newest else 4)
        assert isinstance(begun.message, StartupMessage)
        talk = self._conversation(user, begun.message.params, number)
        session = ClientSession(wire, talk, self.metrics, self._settings.idle_seconds)
        self._clients[number] = _Client(session, secret)
        if self._closing:
            session.stops.set()
        try:
            for name, value in talk.variables.reported():
                wire.send(ParameterStatus(name=name, value=value))
            wire.send(BackendKeyData(process_id=number, secret_key=secret))
            wire.send(notice("00000", self.greeting))
            wire.send(ReadyForQuery(status=talk.status))
            await wire.flush()
            await session.run()
        finally:
            del self._clients[number]

    def _cancel(self, request: CancelRequest) -> None:
        client = self._clients.get(request.process_id)
        if client is not None and hmac.compare_digest(client.secret, request.secret_key):
            client.session.cancel()


async def _turned_away(wire: Wire, sqlstate: str, message: str) -> None:
    wire.send(error("FATAL", sqlstate, message))
    await wire.flush()
    raise LoginFailedError


async def _farewell(wire: Wire | None, sqlstate: str, message: str) -> None:
    """A last word, if the client still listens and the protocol has a place for it."""
    if wire is None:
        return
    try:
        wire.send(error("FATAL", sqlstate, message))
        await wire.flush()
    except Exception:  # there is nobody to tell
        log.debug("a client left without a last word")


def _tls(settings: Settings) -> tuple[ssl.SSLContext | None, bytes | None]:
    if settings.certificate is None or settings.private_key is None:
        return None, None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.certificate, settings.private_key)
        return context, channel_binding(Path(settings.certificate).read_bytes())
    except (OSError, ssl.SSLError, ValueError):
        raise InputError(
            "gate.certificate-key-cannot-read",
            "{certificate}: the certificate or its key cannot be read, or they do not fit",
            certificate=settings.certificate,
        ) from None
