"""Parties over real sockets with mutual TLS: the same release, and a clear end whatever goes wrong."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tarnkappe.errors import AccessError, ProtocolError
from tarnkappe.federation.certificates import Authority, Credentials, peer_name
from tarnkappe.federation.contract import CIPHERED, Contract, Partitioning, Protocol
from tarnkappe.federation.envelope import seal, unseal
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.transport import (
    LARGEST_CALL,
    OK,
    PIECE,
    Answer,
    Caller,
    Listener,
    UnreachableError,
)
from tests.federation.federations import EXPECTED, PURE, multiset
from tests.federation.sites import Sites

EVERY_RUN = [(p, d) for p in CIPHERED for d in PURE]


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_checklist_20_the_worked_example_over_mutual_tls(
    sites: Callable[..., Sites], protocol: Protocol, distribution: Partitioning
) -> None:
    all_sites = sites(protocol, distribution)
    all_sites.run()
    for party in ("P1", "P2", "P3"):
        outcome = all_sites.ended[party].outcome
        assert outcome is not None
        assert multiset(outcome.release) == EXPECTED
        assert all_sites.ended[party].transcript


def test_who_shows_no_certificate_of_the_authority_is_not_heard(
    sites: Callable[..., Sites], tmp_path: Path
) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL)
    stranger = Authority(tmp_path / "other").issue("P1")
    mixed = dataclasses.replace(stranger, authority=all_sites.credentials["P1"].authority)
    with pytest.raises(UnreachableError, match="'P2' cannot be reached"):
        Caller(mixed, all_sites.addresses, 5).call("P2", "/propose", b"{}", pauses=())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(all_sites.authority.certificate)
    with socket.create_connection(all_sites.addresses["P2"]) as raw, context.wrap_socket(raw) as tls:
        assert _is_cut_off(tls)


def _is_cut_off(tls: ssl.SSLSocket) -> bool:
    try:
        tls.sendall(b"POST /propose HTTP/1.0\r\nContent-Length: 0\r\n\r\n")
        return tls.recv(1) == b""
    except OSError:
        return True


def test_a_party_at_the_wrong_address_is_noticed(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL)
    swapped = {**all_sites.addresses, "P2": all_sites.addresses["P3"]}
    with pytest.raises(ProtocolError, match="answers 'P3' instead of 'P2'"):
        Caller(all_sites.credentials["P1"], swapped, 5).call("P2", "/propose", b"{}", pauses=())


class Recorder:
    """Somebody at the address of a party; keeps every byte of an application that it is sent."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.heard, self._context = bytearray(), context
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._socket.getsockname()
        self._thread = threading.Thread(target=self._listen)

    def __enter__(self) -> Recorder:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        raw, _ = self._socket.accept()
        with contextlib.suppress(OSError), raw:
            if self._context is None:
                raw.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                return
            with self._context.wrap_socket(raw, server_side=True) as tls:
                while piece := tls.recv(4096):
                    self.heard += piece


@pytest.mark.parametrize("who", ["P2", "P3", "P2 of another authority", "no certificate"])
def test_a_peer_with_another_name_or_none_gets_no_byte(tmp_path: Path, who: str) -> None:
    authority = Authority(tmp_path / "own")
    shown = {
        "P2": lambda: authority.issue("P2"),
        "P3": lambda: authority.issue("P3"),
        "P2 of another authority": lambda: Authority(tmp_path / "other").issue("P2"),
    }
    context = None
    if who in shown:
        files = shown[who]()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files.certificate, files.key)
    with Recorder(context) as peer:
        caller = Caller(authority.issue("P1"), {"P2": peer.address}, 2.0)
        with pytest.raises(ProtocolError, match="instead of 'P2'" if who == "P3" else "cannot be reached"):
            caller.call("P2", "/message", b"a secret", pauses=())
    assert (b"a secret" in peer.heard) == (who == "P2"), "the right one hears it, though it does not answer"
    assert bool(peer.heard) == (who == "P2")


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[tuple[Authority, Listener]]:
    def serve(path: str, body: bytes, certificate: bytes, name: str) -> Answer:
        if path == "/broken":
            raise KeyError("a cell")
        return OK, {"path": path, "size": len(body), "name": name, "same": peer_name(certificate) == name}

    authority = Authority(tmp_path)
    listener = Listener(("127.0.0.1", 0), authority.issue("P2"), serve)
    listener.start()
    yield authority, listener
    listener.close()


def test_the_one_who_is_called_hears_who_calls(echo: tuple[Authority, Listener]) -> None:
    authority, listener = echo
    for name in ("P1", "P3"):
        caller = Caller(authority.issue(name), {"P2": listener.address}, 60.0, keep_open=True)
        for size in (0, 1, PIECE):
            told = {"path": "/a/1%2F2", "size": size, "name": name, "same": True}
            assert caller.call("P2", "/a/1%2F2", b"x" * size) == told
        caller.close()


def test_what_fails_inside_tells_nothing(
    echo: tuple[Authority, Listener], capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    authority, listener = echo
    with pytest.raises(UnreachableError) as caught:
        Caller(authority.issue("P1"), {"P2": listener.address}, 60.0).call("P2", "/broken", pauses=())
    said = (str(caught.value), *capfd.readouterr(), caplog.text)
    assert not any("cell" in text for text in said)


@pytest.mark.parametrize(
    "head",
    [
        f"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: {LARGEST_CALL + 1}\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_what_is_too_long_or_no_call_is_refused_before_it_is_read(
    echo: tuple[Authority, Listener], head: str
) -> None:
    authority, listener = echo
    context = authority.issue("P1").client_context()
    with socket.create_connection(listener.address) as raw, context.wrap_socket(raw) as tls:
        tls.sendall(head.encode())
        answer = b""
        while piece := tls.recv(4096):  # and the connection is closed
            answer += piece
    assert answer.startswith(b"HTTP/1.1 409")
    assert b"a call that cannot be read" in answer


def test_nothing_starts_before_everybody_has_confirmed(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL)

    def refuse(_: Contract) -> None:
        raise AccessError("test.disagrees", "'P2' does not agree to the contract")

    all_sites.add("P2", all_sites.build("P2"), refuse)
    with pytest.raises(ProtocolError, match="'P2' does not agree"):
        all_sites.run()
    assert all_sites.ended == {}


def test_a_contract_is_run_once(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL)
    all_sites.run()
    with pytest.raises(ProtocolError, match="proposed before"):
        all_sites.run()


def test_a_party_that_is_silent_ends_the_run_for_all(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL, patience=1.0)

    def silent(contract: Contract) -> Participant:
        party = all_sites.build("P2")(contract)
        party.start = list  # type: ignore[method-assign]
        return party

    all_sites.add("P2", silent)
    with pytest.raises(ProtocolError, match="has waited 1 seconds for a message: the run ends"):
        all_sites.run()
    assert all_sites.ended == {}


def test_an_error_of_one_party_is_told_to_all_without_its_data(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.RING, Partitioning.HORIZONTAL)

    def broken(_: Contract) -> Participant:
        raise ValueError("patient 4711 has a negative age")

    all_sites.add("P3", broken)
    with pytest.raises(ProtocolError, match="'P3' failed with a ValueError: the run ends") as caught:
        all_sites.run()
    assert "4711" not in str(caught.value)
    assert all_sites.ended == {}


# ------------------------------------------------------------------ envelopes


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Credentials, bytes, bytes]:
    credentials = Authority(tmp_path).issue("P1")
    message = Message(bytes(32), "P1", "P2", "subset", 0, b"some tables")
    certificate = ssl.PEM_cert_to_DER_cert(credentials.certificate.read_text())
    return credentials, certificate, seal(message, credentials)


def test_an_envelope_comes_back(signed: tuple[Credentials, bytes, bytes]) -> None:
    _, certificate, envelope = signed
    assert unseal(envelope, certificate, "P1").body == b"some tables"


def test_every_flipped_bit_and_every_cut_is_noticed(signed: tuple[Credentials, bytes, bytes]) -> None:
    _, certificate, envelope = signed
    for index in range(0, len(envelope), 7):
        flipped = bytearray(envelope)
        flipped[index] ^= 1 << index % 8
        with pytest.raises(ProtocolError):
            unseal(bytes(flipped), certificate, "P1")
    for length in range(0, len(envelope), 9):
        with pytest.raises(ProtocolError):
            unseal(envelope[:length], certificate, "P1")


def test_a_message_in_the_name_of_another_is_refused(signed: tuple[Credentials, bytes, bytes]) -> None:
    _, certificate, envelope = signed
    with pytest.raises(ProtocolError, match="is not its own"):
        unseal(envelope, certificate, "P3")


def test_private_keys_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    assert Authority(tmp_path).issue("P1").key.stat().st_mode & 0o077 == 0
