"""Messages that are lost, repeated, held back, mixed up, damaged or foreign: a clear end and no release."""

from __future__ import annotations

import dataclasses
from collections import deque

import pytest

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.contract import Distribution, Protocol
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.runner import run_in_memory
from tests.federation.federations import PURE, Federation, example

EVERY_RUN = [(p, d) for p in Protocol for d in PURE]


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
    seen = []
    run_in_memory(federation.participants(), watch=seen.append)
    return len(seen)


def no_release_before_the_end(participants: list[Participant]) -> None:
    done = [p for p in participants if p.outcome is not None]
    assert len(done) < len(participants)


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_a_repeated_message_ends_the_run(protocol: Protocol, distribution: Distribution) -> None:
    federation = example(protocol, distribution)
    for index in range(0, num_messages(federation), 9):
        participants = federation.participants()
        with pytest.raises(ProtocolError, match=r"where message \d+ was due"):
            deliver(participants, lambda n, m, i=index: [m, m] if n == i else [m])


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
def test_a_lost_message_leaves_nobody_with_half_a_release(
    protocol: Protocol, distribution: Distribution
) -> None:
    federation = example(protocol, distribution)
    for index in range(0, num_messages(federation), 7):
        participants = federation.participants()
        try:
            deliver(participants, lambda n, m, i=index: [] if n == i else [m])
        except ProtocolError:
            continue
        no_release_before_the_end(participants)


@pytest.mark.parametrize(("protocol", "distribution"), EVERY_RUN)
@pytest.mark.parametrize("damage", ["cut", "foreign run", "foreign kind", "foreign sender", "empty"])
def test_a_damaged_message_ends_the_run(protocol: Protocol, distribution: Distribution, damage: str) -> None:
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
    participants = example(Protocol.STAR, Distribution.HORIZONTAL).participants()
    for participant in participants:
        participant.start = list  # type: ignore[method-assign]
    with pytest.raises(ProtocolError, match="without a release for P1, P2, P3"):
        run_in_memory(participants)


def test_a_party_forgets_everything_but_its_transcript() -> None:
    participants = example(Protocol.STAR, Distribution.HORIZONTAL).participants()
    run_in_memory(participants)
    party = participants[0]
    party.forget()
    assert set(vars(party)) == {
        "name",
        "contract",
        "outcome",
        "has_done_its_part",
        "transcript",
        "work",
        "handlers",
        "_sent",
        "_received",
    }
