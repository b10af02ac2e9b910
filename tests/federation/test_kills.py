"""Parties that die, and networks that break, over real sockets: one clear error for all and nothing left."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.contract import CIPHERED, Contract, Partitioning, Protocol
from tarnkappe.federation.leakage import roles_of
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.transport import Caller
from tests.federation.federations import PURE, example
from tests.federation.site_files import serve, tarn, wait_for, write_sites
from tests.federation.sites import Sites
from tests.federation.test_service import everybody_has_the_release, is_erased, nothing_is_left

CLEAR = r"cannot be reached|the run ends|the run is over"


def phases(protocol: Protocol, distribution: Partitioning) -> list[tuple[Protocol, Partitioning, str, str]]:
    """Every party with every kind of message that it receives."""
    roles = roles_of(example(protocol, distribution).contract)
    return [(protocol, distribution, party, kind) for party, kinds in roles.items() for kind in kinds]


def killed_at(sites: Sites, victim: str, kind: str) -> list[str]:
    """Let a party die when the first message of a kind has come; returns what it received until then."""
    build, seen = sites.build(victim), []

    def mortal(contract: Contract) -> Participant:
        party = build(contract)
        receive = party.receive

        def until_killed(message: Message) -> list[Message]:
            seen.append(message.kind)
            if message.kind == kind:
                sites.services[victim].close()
                Event().wait()  # it never speaks again
            return receive(message)

        party.receive = until_killed  # type: ignore[method-assign]
        return party

    sites.add(victim, mortal)
    return seen


def survivors_have_nothing(sites: Sites, victim: str) -> None:
    assert sites.ended == {}
    deadline = time.monotonic() + 30
    for name, service in sites.services.items():
        for run in service._runs.values() if name != victim else ():
            while not is_erased(run) and time.monotonic() < deadline:
                time.sleep(0.02)
            assert is_erased(run), name


@pytest.mark.parametrize(("victim", "kind"), [("P2", "contribution"), ("X", "subset"), ("P1", "result")])
def test_a_party_that_dies_ends_the_run_for_all(sites: Callable[..., Sites], victim: str, kind: str) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL, patience=4.0)
    seen = killed_at(all_sites, victim, kind)
    with pytest.raises(ProtocolError, match=CLEAR):
        all_sites.run()
    assert seen[-1] == kind
    survivors_have_nothing(all_sites, victim)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "distribution", "victim", "kind"),
    [each for protocol in CIPHERED for distribution in PURE for each in phases(protocol, distribution)],
)
def test_every_party_killed_at_every_phase_ends_the_run_for_all(
    sites: Callable[..., Sites], protocol: Protocol, distribution: Partitioning, victim: str, kind: str
) -> None:
    all_sites = sites(protocol, distribution, patience=8.0)
    seen = killed_at(all_sites, victim, kind)
    with pytest.raises(ProtocolError, match=CLEAR):
        all_sites.run()
    assert seen[-1] == kind
    survivors_have_nothing(all_sites, victim)


# ------------------------------------------------------------------ messages between services


FAULTY_UPLOADS: dict[str, Callable[[Callable[[bytes], None], bytes], None]] = {
    "dropped": lambda send, body: None,
    "duplicated": lambda send, body: (send(body), send(body)),  # type: ignore[func-returns-value]
    "delayed": lambda send, body: (time.sleep(1.2), send(body)),  # type: ignore[func-returns-value]
    "truncated": lambda send, body: send(body[:-9]),
    "bit-flipped": lambda send, body: send(body[:-3] + bytes([body[-3] ^ 4]) + body[-2:]),
}


@pytest.mark.parametrize("fault", list(FAULTY_UPLOADS))
def test_a_message_that_meets_with_a_fault_between_services(
    sites: Callable[..., Sites], monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    upload, count = Caller.upload, iter(range(10**6))

    def faulty(caller: Caller, party: str, path: str, body: bytes) -> None:
        def send(changed: bytes) -> None:
            upload(caller, party, path, changed)

        (FAULTY_UPLOADS[fault] if next(count) == 5 else lambda s, b: s(b))(send, body)

    monkeypatch.setattr(Caller, "upload", faulty)
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL, patience=1.0)
    if fault in ("duplicated", "delayed"):
        all_sites.run()
        everybody_has_the_release(all_sites)
    else:
        with pytest.raises(ProtocolError, match=CLEAR):
            all_sites.run()
        nothing_is_left(all_sites)


class Wire:
    """A wire to a service that carries bytes, encrypted as they are, until it does something to them.

    Args:
        target: where the service listens.
        harm: what becomes of each chunk, given its number; None cuts the connection.
    """

    def __init__(self, target: tuple[str, int], harm: Callable[[int, bytes], bytes | None]) -> None:
        self._target, self._harm, self._chunks = target, harm, 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._socket.accept()
            except OSError:
                return
            far = socket.create_connection(self._target)
            Thread(target=self._carry, args=(near, far, True), daemon=True).start()
            Thread(target=self._carry, args=(far, near, False), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, watched: bool) -> None:
        with source, sink:
            try:
                while chunk := source.recv(2**16):
                    if watched:
                        self._chunks += 1
                        harmed = self._harm(self._chunks, chunk)
                        if harmed is None:
                            break
                        chunk = harmed
                    sink.sendall(chunk)
            except OSError:
                return
            finally:
                for each in (source, sink):
                    try:
                        each.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        continue


HARMED = (7, 20, 33)


def flips(number: int, chunk: bytes) -> bytes:
    return chunk[:-1] + bytes([chunk[-1] ^ 1]) if number in HARMED else chunk


def cuts(number: int, chunk: bytes) -> bytes | None:
    return None if number in HARMED else chunk


@pytest.mark.parametrize("harm", [flips, cuts])
def test_a_wire_that_breaks_or_changes_bytes_is_used_again(
    sites: Callable[..., Sites], harm: Callable[[int, bytes], bytes | None]
) -> None:
    """TLS notices; the piece is sent again over a new connection."""
    all_sites = sites(Protocol.STAR, Partitioning.VERTICAL, patience=10.0)
    wire = Wire(all_sites.services["X"].address, harm)
    try:
        all_sites.run(addresses={**all_sites.addresses, "X": wire.address})
    finally:
        wire.close()
    everybody_has_the_release(all_sites)


def test_a_wire_that_swallows_everything_ends_the_run(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.VERTICAL, patience=0.5)
    wire = Wire(all_sites.services["X"].address, lambda number, chunk: chunk if number < 12 else b"")
    try:
        with pytest.raises(ProtocolError, match=CLEAR):
            all_sites.run(addresses={**all_sites.addresses, "X": wire.address})
    finally:
        wire.close()
    assert all_sites.ended == {}


# ------------------------------------------------------------------ processes


MORTAL = """
import os, signal, sys
from tarnkappe.federation.message import Participant
receive = Participant.receive
def until_killed(self, message):
    if message.kind == {kind!r}:
        os.kill(os.getpid(), signal.SIGKILL)
    return receive(self, message)
Participant.receive = until_killed
sys.argv = ["tarn", "party", "serve", "--config", {config!r}]
from tarnkappe.cli import main
main()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, int], list[Any]]]:
    where = tmp_path_factory.mktemp("sites")
    ports = write_sites(where, example(Protocol.STAR, Partitioning.HORIZONTAL), patience=4)
    processes: list[subprocess.Popen[str]] = []
    for name in ports:
        if name != "P2":
            serve(name, where, processes)
    yield where, ports, processes
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["offer", "contribution", "release"])
def test_a_process_killed_by_the_system_ends_the_run_with_one_clear_line(
    folder: tuple[Path, dict[str, int], list[Any]], kind: str
) -> None:
    where, ports, processes = folder
    victim = subprocess.Popen(
        [sys.executable, "-c", MORTAL.format(kind=kind, config="P2.toml")],
        cwd=where,
        stderr=subprocess.PIPE,
        text=True,
    )
    processes.append(victim)
    wait_for(ports)
    done = tarn(
        "federate", "job.toml", "--new-run", cwd=where
    )  # a contract runs once, also if it ended early
    assert victim.wait(60) == -signal.SIGKILL, done.stderr
    assert done.returncode == 2
    assert done.stdout == ""
    assert "'P2' cannot be reached" in done.stderr or "the run ends" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(where.glob("*/*/release.parquet"))
    assert not list(where.glob("*.transcript.json"))
