"""Parties over real sockets with mutual TLS: the same release, and a clear end whatever goes wrong."""

from __future__ import annotations

import dataclasses
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from tarnkappe.errors import AccessError, ProtocolError
from tarnkappe.federation.certificates import Authority, Credentials
from tarnkappe.federation.contract import CIPHERED, Contract, Partitioning, Protocol
from tarnkappe.federation.envelope import seal, unseal
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.transport import Caller, UnreachableError
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


def test_nothing_starts_before_everybody_has_confirmed(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL)

    def refuse(_: Contract) -> None:
        raise AccessError("'P2' does not agree to the contract")

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
