"""Services over real sockets: broken connections, slow people, a starter that dies, and what proves a run."""

from __future__ import annotations

import dataclasses
import gc
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty
from threading import Lock, get_ident
from typing import Any

import pytest

from tarnkappe.errors import ProtocolError
from tarnkappe.federation import transport
from tarnkappe.federation.certificates import Authority
from tarnkappe.federation.contract import Contract, Partitioning, Protocol
from tarnkappe.federation.initiator import _propose, _wait
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.run import Run, RunStage
from tarnkappe.federation.transcript import MergedTranscript
from tarnkappe.federation.transport import Caller
from tests.federation.federations import EXPECTED, PURE, example, multiset
from tests.federation.sites import Sites

KEPT = {"name", "contract", "outcome", "has_done_its_part", "transcript", "sent", "work", "handlers"}
EMPTIED = {"_sent", "_received"}


def everybody_has_the_release(sites: Sites) -> None:
    for party in ("P1", "P2", "P3"):
        outcome = sites.ended[party].outcome
        assert outcome is not None
        assert multiset(outcome.release) == EXPECTED


def nothing_is_left(sites: Sites) -> None:
    """No release, no share, no key, no message: at no party."""
    assert sites.ended == {}
    deadline = time.monotonic() + 20
    for service in sites.services.values():
        for run in service._runs.values():
            while not is_erased(run) and time.monotonic() < deadline:
                time.sleep(0.02)
            assert is_erased(run), service.name


def is_erased(run: Run) -> bool:
    messages = [message for message in tuple(run._inbox.queue) if message is not None]
    if run.stage is not RunStage.FAILED or not run.error or messages or run._arriving:
        return False
    party = run.participant
    return party is None or (set(vars(party)) == KEPT | EMPTIED and not party.handlers and not party.outcome)


# ------------------------------------------------------------------ broken connections


@pytest.mark.parametrize("lost", ["call", "answer"])
def test_a_message_goes_on_where_its_connection_broke(
    sites: Callable[..., Sites], monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    monkeypatch.setattr(transport, "PIECE", 700)
    monkeypatch.setattr(transport, "PAUSES", (0.0, 0.0))
    once, several = Caller._once, Lock()  # the sites call at the same time
    begun: set[tuple[int, str, str]] = set()
    broken: list[str] = []

    def breaks(caller: Caller, party: str, path: str, body: bytes) -> Any:
        call = (get_ident(), party, path)
        with several:
            ends = path.startswith("/message") and call not in begun and len(begun) % 4 == 0
            begun.add(call)  # what is repeated arrives
        if not ends:
            return once(caller, party, path, body)
        broken.append(path)
        if lost == "answer":
            once(caller, party, path, body)
        raise ConnectionResetError

    monkeypatch.setattr(Caller, "_once", breaks)
    all_sites = sites(Protocol.STAR, Partitioning.VERTICAL)
    all_sites.run()
    everybody_has_the_release(all_sites)
    assert len(broken) > 5


def arriving() -> Run:
    run = Run("P2", "P1", example(Protocol.STAR, Partitioning.HORIZONTAL).contract, {})
    run.stage = RunStage.RUNNING
    return run


def test_pieces_make_a_message_however_often_they_come() -> None:
    run = arriving()
    assert run.collect("P1", 0, 0, 5, b"ab") is None
    assert run.collect("P1", 0, 2, 5, b"cd") is None
    assert run.collect("P1", 0, 2, 5, b"cd") is None  # the answer was lost
    assert run.collect("P1", 0, 4, 5, b"e") == b"abcde"


@pytest.mark.parametrize(
    ("number", "position", "total", "piece"),
    [
        (0, 3, 5, b"d"),
        (1, 2, 5, b"c"),
        (0, 2, 6, b"c"),
        (0, 2, 5, b"cdef"),
        (0, -1, 5, b""),
        (0, 0, 2**50, b""),
    ],
)
def test_pieces_that_do_not_fit_are_refused(number: int, position: int, total: int, piece: bytes) -> None:
    run = arriving()
    run.collect("P1", 0, 0, 5, b"ab")
    with pytest.raises(ProtocolError, match="piece"):
        run.collect("P1", number, position, total, piece)


def test_who_did_not_get_the_last_answer_may_ask_again_when_the_run_is_over() -> None:
    run, message = arriving(), Message(b"", "P1", "P2", "release", 0, b"all")
    assert run.collect("P1", 0, 0, 3, b"all") == b"all"
    run.take(message)
    run.stage = RunStage.READY
    assert run.collect("P1", 0, 0, 3, b"all") == b"all"
    run.take(message)
    with pytest.raises(ProtocolError, match="the run is over for 'P2'"):
        run.collect("P1", 1, 0, 3, b"new")
    with pytest.raises(ProtocolError, match="the run is over for 'P2'"):
        run.take(dataclasses.replace(message, number=1))
    run.stage = RunStage.RUNNING
    run.fail("it broke")
    with pytest.raises(ProtocolError, match="it broke"):
        run.collect("P1", 0, 0, 3, b"all")


def test_two_different_messages_with_one_number_end_the_run() -> None:
    run = arriving()
    message = Message(b"", "P1", "P2", "offer", 0, b"one")
    run.take(message)
    run.take(message)
    with pytest.raises(ProtocolError, match="two different messages 0"):
        run.take(dataclasses.replace(message, body=b"other"))
    assert is_erased(run)


def test_no_socket_stays_open(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.MASKED, Partitioning.HORIZONTAL)
    ports = {service.address[1] for service in all_sites.services.values()}
    assert open_sockets(ports), "they listen"
    all_sites.run()
    for service in all_sites.services.values():
        service.close()
    deadline = time.monotonic() + 60
    while (left := open_sockets(ports)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left, ports


def open_sockets(ports: set[int]) -> set[int]:
    """The open sockets of this process at one of these ports; those of other tests are not looked at."""
    return {o.fileno() for o in gc.get_objects() if issubclass(type(o), socket.socket) and ends(o) & ports}


def ends(one: socket.socket) -> set[int]:
    found = set()
    for name in (one.getsockname, one.getpeername):
        with suppress(OSError, IndexError):  # it is closed, connected to nobody, or has no port
            found.add(name()[1])
    return {port for port in found if isinstance(port, int)}


# ------------------------------------------------------------------ slow people, long work, silence


def test_people_may_take_longer_to_agree_than_a_call_may_take(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL, patience=2.0)
    asked = []

    def thinks(contract: Contract) -> None:
        asked.append(contract.digest)
        time.sleep(4.0)

    all_sites.add("P2", all_sites.build("P2"), thinks)
    all_sites.run()
    everybody_has_the_release(all_sites)
    assert len(asked) == 1


def test_who_is_at_work_for_long_is_waited_for(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL, patience=2.0)

    def slow(contract: Contract) -> Participant:
        time.sleep(4)
        return all_sites.build("P2")(contract)

    all_sites.add("P2", slow)
    all_sites.run()
    everybody_has_the_release(all_sites)


def test_who_asks_whether_others_are_at_work_is_not_at_work() -> None:
    run = arriving()
    assert not run.is_waiting
    with pytest.raises(Empty):
        run.next(0.01)
    assert run.is_waiting
    run.take(Message(b"", "P1", "P2", "offer", 0, b"one"))
    assert not run.is_waiting
    assert run.next(1.0) is not None
    assert not run.is_waiting


def test_work_that_passes_between_others_while_they_are_asked_is_noticed(
    sites: Callable[..., Sites], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two parties test levels; the others get no message for long, and ask again and again why."""
    wait, asked = Run.next, [0]

    def impatient(run: Run, patience: float) -> Message | None:
        try:
            return wait(run, min(patience, 0.01))
        except Empty:
            asked[0] += 1
            raise

    monkeypatch.setattr(Run, "next", impatient)
    all_sites = sites(Protocol.MASKED, Partitioning.HORIZONTAL)
    all_sites.run()
    everybody_has_the_release(all_sites)
    assert asked[0] > 5


def started(sites: Sites) -> Caller:
    """A run whose starter does nothing more once all are ready."""
    contract = sites.federation.contract
    caller = Caller(sites.credentials["P1"], sites.addresses, 20.0)
    _propose(contract, sites.addresses, caller)
    _wait(contract, caller, {RunStage.PROPOSED}, "", 0.02, None)
    for party in contract.everybody:
        caller.call(party, f"/start/{contract.digest.hex()}")
    _wait(contract, caller, {RunStage.READY}, "", 0.02, None)
    return caller


def test_a_release_that_nobody_asks_for_is_forgotten(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL, patience=1.5)
    started(all_sites)
    nothing_is_left(all_sites)
    errors = {run.error for service in all_sites.services.values() for run in service._runs.values()}
    assert any("nobody asks for the release" in error for error in errors)


def test_if_one_party_was_told_to_keep_the_release_all_do(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL, patience=1.5)
    caller = started(all_sites)
    caller.call("P2", f"/finish/{all_sites.federation.contract.digest.hex()}")
    deadline = time.monotonic() + 20
    while len(all_sites.ended) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    everybody_has_the_release(all_sites)


# ------------------------------------------------------------------ what proves a run


@pytest.mark.parametrize("distribution", PURE)
def test_the_transcripts_of_all_parties_are_signed_and_agree(
    sites: Callable[..., Sites], distribution: Partitioning
) -> None:
    all_sites = sites(Protocol.RING, distribution)
    merged = all_sites.run()
    kinds = [kind for _, _, kind, _ in merged.messages]
    assert (kinds.count("subset"), kinds.count("partial"), kinds.count("result")) == (6, 2, 2)
    contract, authority = all_sites.federation.contract, all_sites.authority.certificate
    assert MergedTranscript.of(contract, merged.as_document()["signed"], authority) == merged
    for entry in all_sites.ended["P2"].transcript:
        assert (entry.sender, "P2", entry.kind, entry.digest) in merged.messages


def test_a_transcript_that_was_changed_or_withheld_is_noticed(
    sites: Callable[..., Sites], tmp_path: Path
) -> None:
    all_sites = sites(Protocol.RING, Partitioning.HORIZONTAL)
    signed = all_sites.run().as_document()["signed"]
    contract, authority = all_sites.federation.contract, all_sites.authority.certificate
    changed = {**signed, "P2": {**signed["P2"], "statement": signed["P2"]["statement"] + " "}}
    missing = {name: each for name, each in signed.items() if name != "P3"}
    taken = {**signed, "P2": signed["P1"]}
    for false in (changed, missing, taken):
        with pytest.raises(ProtocolError, match=r"the transcript of 'P\d' is not signed by it"):
            MergedTranscript.of(contract, false, authority)
    with pytest.raises(ProtocolError, match="'P1' is not signed"):
        MergedTranscript.of(contract, signed, Authority(tmp_path / "other").certificate)


def test_a_message_that_only_one_side_admits_is_noticed(sites: Callable[..., Sites]) -> None:
    all_sites = sites(Protocol.STAR, Partitioning.HORIZONTAL)

    def denies(contract: Contract) -> Participant:
        party = all_sites.build("X")(contract)
        receive = party.receive

        def forgetful(message: Message) -> list[Message]:
            replies = receive(message)
            party.transcript[:] = party.transcript[:1]
            return replies

        party.receive = forgetful  # type: ignore[method-assign]
        return party

    all_sites.add("X", denies)
    with pytest.raises(ProtocolError, match=r"'P\d' and 'X' tell differently"):
        all_sites.run()
