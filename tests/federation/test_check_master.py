"""A master that cheats: what it did not anonymize, nobody decrypts."""

from __future__ import annotations

import pytest

from tarnkappe.errors import ProtocolError
from tarnkappe.federation import ring
from tarnkappe.federation.contract import Contract, Partitioning, Protocol
from tarnkappe.federation.engine import FederatedSolution, release, rows_of
from tarnkappe.federation.leakage import LeakageReport, roles_of
from tarnkappe.federation.ring import RingParty
from tarnkappe.federation.runner import run_in_memory
from tarnkappe.federation.share import PartyShare
from tests.federation.federations import EXPECTED, PURE, example, multiset


def lazy(share: PartyShare, contract: Contract) -> tuple[PartyShare, FederatedSolution]:
    """Leaves everything as it is and claims that this is the result."""
    del contract
    raw = share.with_parts(lambda _, part: part.without_rules())
    return raw, FederatedSolution((0, 1, 3), 0, 4.0)


def too_low(share: PartyShare, contract: Contract) -> tuple[PartyShare, FederatedSolution]:
    return release(share, rows_of(share, contract), contract, (0, 0, 5)), FederatedSolution((0, 0, 5), 0, 5.0)


@pytest.mark.parametrize("distribution", PURE)
def test_checklist_30_an_honest_master_passes(distribution: Partitioning) -> None:
    everybody = example(Protocol.RING, distribution, check_master=True).run()
    contract = everybody["P1"].contract
    for name in contract.parties:
        assert multiset(everybody[name].outcome.release) == EXPECTED
        assert {entry.kind for entry in everybody[name].transcript} == set(roles_of(contract)[name])
    LeakageReport.of(contract, {name: party.transcript for name, party in everybody.items()})


@pytest.mark.parametrize("cheat", [lazy, too_low])
@pytest.mark.parametrize("distribution", PURE)
def test_checklist_30_a_cheating_master_gets_nothing_decrypted(
    distribution: Partitioning, cheat, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = ring.anonymize
    federation = example(Protocol.RING, distribution, check_master=True)
    participants = federation.participants()

    def anonymize_at(party: RingParty):
        return cheat if party.name == "P1" else honest

    for participant in participants:
        original = participant.receive

        def receive(message, original=original, participant=participant):
            monkeypatch.setattr(ring, "anonymize", anonymize_at(participant))
            return original(message)

        participant.receive = receive
    with pytest.raises(ProtocolError, match="anonymize to different results, nothing is decrypted"):
        run_in_memory(participants)
    assert all(participant.outcome is None for participant in participants)
    assert all("decrypted" not in participant.work for participant in participants)
