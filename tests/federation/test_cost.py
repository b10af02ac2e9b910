"""The cost model against its published tables, and against what a run really does."""

from __future__ import annotations

import json

import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.federation.contract import Distribution, Protocol
from tarnkappe.federation.cost import Speed, Workload, calibrated, estimate
from tests.conftest import FIXTURES
from tests.federation.federations import EXAMPLE, PURE, example

TABLES = json.loads((FIXTURES / "federation" / "cost-model.json").read_text(encoding="utf-8"))
SPEEDS = {
    Protocol.RING: (Speed(3000, 88e6, 192), 0.005),
    Protocol.STAR: (Speed(3_000_000, 88e6, 128), 0.005),
    Protocol.MASKED: (Speed(3240, 88e6, 128, 768, shared_tests=True), 0.03),
}


@pytest.mark.parametrize("name", list(TABLES["data"]))
@pytest.mark.parametrize("protocol", list(SPEEDS))
def test_checklist_48_the_formulas_reproduce_the_published_tables(protocol: Protocol, name: str) -> None:
    speed, tolerance = SPEEDS[protocol]
    facts = TABLES["data"][name]
    for (distribution, parties), expected in zip(TABLES["columns"], TABLES[protocol][name], strict=True):
        work = Workload(parties, made_up=facts["rows"] // 4, **facts)
        cost = estimate(protocol, Distribution(distribution), work, speed)
        assert cost.seconds == pytest.approx(expected, rel=tolerance, abs=0.006)


@pytest.mark.parametrize("distribution", PURE)
@pytest.mark.parametrize("protocol", list(SPEEDS))
def test_the_phases_of_a_run_add_up(protocol: Protocol, distribution: Distribution) -> None:
    work = Workload(3, 1000, 5, 200, made_up=250, tests=20, groups=30)
    cost = estimate(protocol, distribution, work, SPEEDS[protocol][0])
    assert cost.seconds == pytest.approx(sum(phase.seconds for phase in cost.phases))
    names = {
        Protocol.RING: ["encryption", "integration", "decryption", "decoding"],
        Protocol.STAR: ["encryption", "decryption"],
        Protocol.MASKED: ["encryption", "tests", "decryption"],
    }[protocol]
    assert [phase.name for phase in cost.phases] == names


def test_erratum_10_times_are_quotients_and_not_products() -> None:
    work = Workload(2, **TABLES["data"]["ADULT"])
    slow, fast = (
        estimate(Protocol.STAR, Distribution.VERTICAL, work, Speed(rate, 88e6, 128)) for rate in (1e3, 1e6)
    )
    assert slow.computing == pytest.approx(1000 * fast.computing)


@pytest.mark.parametrize("distribution", PURE)
def test_a_ring_does_as_many_operations_as_the_model_says(distribution: Distribution) -> None:
    sent = []
    everybody = example(Protocol.RING, distribution).run(sent.append)
    parties, per_party = 3, EXAMPLE["encrypted_per_party"][distribution]
    # Of the example every party encrypts all labels too, which the model leaves out.
    with_labels = Workload(
        parties, 8, 3, per_party - 24 if distribution is Distribution.VERTICAL else per_party // 3
    )
    cost = estimate(Protocol.RING, distribution, with_labels, Speed(1, 1, 256))
    assert cost.operations - parties * with_labels.distinct == everybody["P1"].work["encrypted"]
    assert cost.messages == sum(message.kind != "release" for message in sent)


@pytest.mark.parametrize("protocol", list(SPEEDS))
def test_the_model_is_calibrated_on_the_machine(protocol: Protocol) -> None:
    contract = example(protocol, Distribution.HORIZONTAL).contract
    speed = calibrated(contract, 1e8)
    assert speed.operations > 0
    assert (speed.counter_bits > 0) is protocol.is_masked
    if protocol.is_masked:
        assert speed.counter_bits == 2 * contract.counter_bits


def test_a_masked_ring_is_not_modelled() -> None:
    with pytest.raises(ParameterError, match="not modelled"):
        estimate(Protocol.MASKED_RING, Distribution.VERTICAL, Workload(2, 1, 1, 1), Speed(1, 1, 1))
