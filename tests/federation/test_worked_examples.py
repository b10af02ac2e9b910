"""The worked examples of the protocols, for both distributions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tarnkappe.federation.contract import CIPHERED, Partitioning, Protocol
from tarnkappe.federation.message import Message
from tarnkappe.federation.ring import RingParty
from tarnkappe.federation.share import PartyShare
from tests.federation.federations import EXAMPLE, EXPECTED, PURE, example, multiset

BOTH = PURE


@pytest.mark.parametrize("distribution", BOTH)
@pytest.mark.parametrize("protocol", CIPHERED)
def test_checklist_23_24_32_37_38_everybody_gets_the_release_of_the_worked_example(
    protocol: Protocol, distribution: Partitioning
) -> None:
    federation = example(protocol, distribution)
    everybody = federation.run()
    for party in federation.contract.parties:
        outcome = everybody[party].outcome
        assert [outcome.levels[n] for n in ("sex", "age", "zip")] == EXAMPLE["optimum_sex_age_zip"]
        assert multiset(outcome.release) == EXPECTED
        assert outcome.suppressed == 0


@pytest.mark.parametrize("distribution", BOTH)
def test_checklist_16_17_23_a_ring_sends_as_many_messages_as_the_specification_counts(
    distribution: Partitioning,
) -> None:
    sent: Counter[str] = Counter()
    example(Protocol.RING, distribution).run(lambda message: sent.update([message.kind]))
    assert {kind: sent[kind] for kind in EXAMPLE["messages_of_a_ring"]} == EXAMPLE["messages_of_a_ring"]


@pytest.mark.parametrize("distribution", BOTH)
def test_checklist_21_each_distinct_value_is_encrypted_once_a_hop(distribution: Partitioning) -> None:
    everybody = example(Protocol.RING, distribution).run()
    for party in everybody.values():
        assert party.work["encrypted"] == EXAMPLE["encrypted_per_party"][distribution]
        assert party.work["decrypted"] == EXAMPLE["decrypted_per_party"]


@pytest.mark.parametrize("distribution", BOTH)
def test_checklist_18_a_star_sends_one_subset_each_and_one_result(distribution: Partitioning) -> None:
    sent: list[Message] = []
    example(Protocol.STAR, distribution).run(sent.append)
    through_helper = [m for m in sent if "X" in (m.sender, m.receiver)]
    assert Counter(m.kind for m in through_helper) == {"subset": 3, "result": 1}


@pytest.mark.slow
@pytest.mark.parametrize("distribution", PURE)
@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        (Protocol.RING, {"group": "ristretto255"}),
        (Protocol.RING, {"group": "pohlig-hellman-3072"}),
        (Protocol.RING, {"group": "pohlig-hellman-2048"}),
        (Protocol.MASKED, {"counter_bits": 3072}),
        (Protocol.MASKED_RING, {"counter_bits": 2048}),
    ],
)
def test_the_worked_examples_with_keys_of_recommended_lengths(
    protocol: Protocol, distribution: Partitioning, options: dict[str, Any]
) -> None:
    federation = example(protocol, distribution).with_contract(
        weak_ciphers=False, **{"counter_bits": 2048, **options}
    )
    assert multiset(federation.run()["P2"].outcome.release) == EXPECTED


def test_erratum_1_after_the_first_phase_a_party_holds_the_share_of_its_right_neighbour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held: dict[str, set[str]] = {}
    aligned = RingParty._aligned

    def remember(party: RingParty, share: PartyShare) -> PartyShare:
        held[party.name] = set(share.parts)
        return aligned(party, share)

    monkeypatch.setattr(RingParty, "_aligned", remember)
    example(Protocol.RING, Partitioning.VERTICAL).run()
    assert held == {"P1": {"age"}, "P2": {"sex"}, "P3": {"zip"}}
