"""Messages that are lost, repeated, held back, mixed up, damaged or foreign: a clear end and no release."""

from __future__ import annotations

import dataclasses
from collections import deque

import pytest

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.certificates import Authority, Credentials
from tarnkappe.federation.contract import CIPHERED, Partitioning, Protocol
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.runner import run_in_memory
from tests.federation.faulty import FAULTS, Network
from tests.federation.federations import EXPECTED, PURE, Federation, example, multiset
from tests.federation.test_service import EMPTIED, KEPT, is_erased

EVERY_RUN = [(p, d) for p in CIPHERED for d in PURE]
ENDS = ("dropped", "truncated", "bit-flipped")
"""Faults that no run can survive; what is repeated or late may be taken, if it is taken once and in order."""


@pytest.fixture(scope="module")
def credentials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Credentials]:
    authority = Authority(tmp_path_factory.mktemp("certificates"))
    return {name: authority.issue(name) for name in ("P1", "P2", "P3", "X")}


def carried(federation: Federation, credentials: dict[str, Credentials], fault: str, index: int) -> Network:
    network = Network(federation.participants(), credentials, fault, index)
    network.run()
    return network


def check(network: Network, fault: str) -> None:
    """Either everybody has the whole release, or nobody has anything."""
    if network.error:
        assert all(is_erased(run) for run in network.runs.values())
        return
    assert fault not in ENDS
    for name, run in network.runs.items():
        assert run.participant is not None
        if name != "X":
            assert run.participant.outcome is not None
            assert multiset(run.participant.outcome.release) == EXPECTED


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("protocol", CIPHERED)
def test_a_message_with_every_fault_leaves_a_whole_release_or_none(
    protocol: Protocol, fault: str, credentials: dict[str, Credentials]
) -> None:
    federation = example(protocol, Partitioning.HORIZONTAL)
    check(carried(federation, credentials, fault, 7), fault)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_every_message_with_every_fault_leaves_a_whole_release_or_none(
    protocol: Protocol, distribution: Partitioning, fault: str, credentials: dict[str, Credentials]
) -> None:
    federation = example(protocol, distribution)
    number = carried(federation, credentials, "", -1).carried
    assert number >= 14
    ended = 0
    for index in range(number):
        network = carried(federation, credentials, fault, index)
        check(network, fault)
        ended += bool(network.error)
    if fault in ENDS:
        assert ended == number
    if fault == "duplicated":
        assert ended == 0


# ------------------------------------------------------------------ without signatures: the state machines


def deliver(participants: list[Participant], tamper) -> None:  # type: ignore[no-untyped-def]
    """A run in which every message passes through hands that may return none, one or several."""
    named = {p.name: p for p in participants}
    line: deque[Message] = deque()
    for participant in participants:
        line.extend(participant.start())
    number = 0
    while line:
        message = line.popleft()
        for each in tamper(number, message):
            line.extend(named[each.receiver].receive(each))
        number += 1


def num_messages(federation: Federation) -> int:
    seen: list[Message] = []
    run_in_memory(federation.participants(), watch=seen.append)
    return len(seen)


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_a_repeated_message_ends_the_run(protocol: Protocol, distribution: Partitioning) -> None:
    federation = example(protocol, distribution)
    for index in range(3, num_messages(federation), 20):
        participants = federation.participants()
        with pytest.raises(ProtocolError, match=r"where message \d+ was due"):
            deliver(participants, lambda n, m, i=index: [m, m] if n == i else [m])


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
@pytest.mark.parametrize("damage", ["cut", "foreign run", "foreign kind", "foreign sender", "empty"])
def test_a_damaged_message_ends_the_run(protocol: Protocol, distribution: Partitioning, damage: str) -> None:
    changes = {
        "cut": lambda m: dataclasses.replace(m, body=m.body[:-9]),
        "foreign run": lambda m: dataclasses.replace(m, contract=bytes(32)),
        "foreign kind": lambda m: dataclasses.replace(m, kind="gossip"),
        "foreign sender": lambda m: dataclasses.replace(m, sender="Mallory"),
        "empty": lambda m: dataclasses.replace(m, body=b""),
    }
    federation = example(protocol, distribution)
    for index in (0, num_messages(federation) // 2):
        participants = federation.participants()
        with pytest.raises(ProtocolError, match="the run ends"):
            deliver(participants, lambda n, m, i=index: [changes[damage](m)] if n == i else [m])
        assert all(participant.outcome is None for participant in participants)


def test_a_run_without_an_end_is_told() -> None:
    participants = example(Protocol.STAR, Partitioning.HORIZONTAL).participants()
    for participant in participants:
        participant.start = list  # type: ignore[method-assign]
    with pytest.raises(ProtocolError, match="without a release for P1, P2, P3"):
        run_in_memory(participants)


@pytest.mark.parametrize("protocol", CIPHERED)
def test_a_party_forgets_everything_but_its_transcript(protocol: Protocol) -> None:
    participants = example(protocol, Partitioning.HORIZONTAL).participants()
    run_in_memory(participants)
    for party in participants:
        party.forget()
        assert set(vars(party)) == KEPT | EMPTIED
        assert not any(vars(party)[name] for name in ("handlers", *EMPTIED))
