"""The cost model against its published tables, and against what a run really does."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import pytest

from tarnkappe.cli.federate import federate as command
from tarnkappe.federation.ciphers.fixed_base import FixedBase
from tarnkappe.federation.ciphers.long_numbers import mpz
from tarnkappe.federation.contract import CIPHERED, Partitioning, Protocol
from tarnkappe.federation.cost import FederationWorkload, Speed, calibrated, estimate
from tarnkappe.federation.message import Message
from tests.conftest import FIXTURES
from tests.federation.federations import EXAMPLE, PURE, example, in_regions, random_whole
from tests.federation.site_files import write_sites

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
        work = FederationWorkload(parties, made_up=facts["rows"] // 4, **facts)
        cost = estimate(protocol, Partitioning(distribution), work, speed)
        assert cost.seconds == pytest.approx(expected, rel=tolerance, abs=0.006)


@pytest.mark.parametrize("distribution", PURE)
@pytest.mark.parametrize("protocol", list(SPEEDS))
def test_the_phases_of_a_run_add_up(protocol: Protocol, distribution: Partitioning) -> None:
    work = FederationWorkload(3, 1000, 5, 200, made_up=250, tests=20, groups=30)
    cost = estimate(protocol, distribution, work, SPEEDS[protocol][0])
    assert cost.seconds == pytest.approx(sum(phase.seconds for phase in cost.phases))
    names = {
        Protocol.RING: ["encryption", "integration", "decryption", "decoding"],
        Protocol.STAR: ["encryption", "decryption"],
        Protocol.MASKED: ["encryption", "tests", "decryption"],
    }[protocol]
    assert [phase.name for phase in cost.phases] == names


def test_erratum_10_times_are_quotients_and_not_products() -> None:
    work = FederationWorkload(2, **TABLES["data"]["ADULT"])
    slow, fast = (
        estimate(Protocol.STAR, Partitioning.VERTICAL, work, Speed(rate, 88e6, 128)) for rate in (1e3, 1e6)
    )
    assert slow.computing == pytest.approx(1000 * fast.computing)


@pytest.mark.parametrize("distribution", PURE)
def test_a_ring_does_as_many_operations_as_the_model_says(distribution: Partitioning) -> None:
    sent = []
    everybody = example(Protocol.RING, distribution).run(sent.append)
    parties, per_party = 3, EXAMPLE["encrypted_per_party"][distribution]
    # Of the example every party encrypts all labels too, which the model leaves out.
    with_labels = FederationWorkload(
        parties, 8, 3, per_party - 24 if distribution is Partitioning.VERTICAL else per_party // 3
    )
    cost = estimate(Protocol.RING, distribution, with_labels, Speed(1, 1, 256))
    assert cost.operations - parties * with_labels.distinct == everybody["P1"].work["encrypted"]
    assert cost.messages == sum(message.kind != "release" for message in sent)


@pytest.mark.parametrize("protocol", CIPHERED)
def test_the_model_is_calibrated_on_the_machine(protocol: Protocol) -> None:
    contract = example(protocol, Partitioning.HORIZONTAL).contract
    speed = calibrated(contract, 1e8)
    assert speed.operations > 0
    assert (speed.counter_bits > 0) is protocol.is_masked
    assert (min(speed.encryptions, speed.decryptions) > 0) is protocol.is_masked
    if protocol.is_masked:
        assert speed.counter_bits == 2 * contract.counter_bits


@pytest.mark.parametrize("distribution", PURE)
def test_a_masked_ring_does_as_many_operations_as_the_model_says(
    distribution: Partitioning, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: Counter[int] = Counter()
    powers = FixedBase.random_powers

    def counted(self: FixedBase, number: int) -> list[mpz]:
        made[id(self)] += number
        return powers(self, number)

    monkeypatch.setattr(FixedBase, "random_powers", counted)
    sent: list[Message] = []
    federation = example(Protocol.MASKED_RING, distribution)
    everybody = federation.run(sent.append)
    vertical = distribution is Partitioning.VERTICAL
    shapes = [dict(e.shape) for e in everybody["X"].transcript if e.kind == "subset"]
    rows = shapes[0]["rows"] if vertical else sum(shape["rows"] for shape in shapes)  # equal rows became one
    tokens = sum(number for shape in shapes for name, number in shape.items() if name.startswith("tokens/"))
    tests = [dict(e.shape)["sizes"] for e in everybody["P1"].transcript if e.kind == "test"]
    work = FederationWorkload(
        3, rows, 3, tokens // (1 if vertical else 3), tests=len(tests), groups=sum(tests) / len(tests)
    )
    cost = estimate(
        Protocol.MASKED_RING, distribution, work, Speed(1, 1, 256, 256, encryptions=1, decryptions=1)
    )
    phases = {phase.name: phase for phase in cost.phases}
    # Horizontal parties of the example have different numbers of tokens, and the model an equal one.
    layers = pytest.approx(everybody["P1"].work["encrypted"], abs=3)
    on_counters = sum(made[id(everybody[name]._public.masks)] for name in federation.contract.parties) / 3
    assert on_counters == pytest.approx(4 * (rows if vertical else rows / 3))
    assert phases["encryption"].operations - on_counters == layers
    kinds = Counter(message.kind for message in sent)
    assert phases["encryption"].messages == kinds["layer"] + kinds["subset"]
    assert phases["tests"].messages == kinds["test"]
    assert phases["decryption"].messages == kinds["result"] + kinds["bare"]
    assert phases["decoding"].messages == kinds["decode"]
    assert phases["tests"].operations == 2 * sum(tests)


def test_a_masked_ring_has_two_ciphers_of_different_speed() -> None:
    work = FederationWorkload(3, 1000, 5, 200, made_up=250, tests=20, groups=30)
    both = Speed(1000, 1e8, 256, 4096, encryptions=100, decryptions=50)
    cost = estimate(Protocol.MASKED_RING, Partitioning.HORIZONTAL, work, both)
    cells, encrypted, decrypted = 3 * 200 + 3 * 200, 4 * 1250 / 3 + 20 * 30, 20 * 30 + 1250
    assert cost.operations == pytest.approx(cells + encrypted + decrypted)
    assert cost.computing == pytest.approx(cells / 1000 + encrypted / 100 + decrypted / 50)
    fewer = estimate(
        Protocol.MASKED_RING, Partitioning.HORIZONTAL, dataclasses.replace(work, released=50), both
    )
    assert cost.computing - fewer.computing == pytest.approx(1200 / 50)


@pytest.mark.parametrize("protocol", CIPHERED)
def test_regions_lie_between_rows_and_columns(protocol: Protocol) -> None:
    speed = Speed(1000, 1e8, 256, 4096, encryptions=100, decryptions=50)
    whole = FederationWorkload(6, 6000, 6, 60, made_up=600, tests=10, groups=20)
    horizontal, vertical = (estimate(protocol, distribution, whole, speed) for distribution in PURE)
    hybrids = [
        estimate(protocol, Partitioning.HYBRID, dataclasses.replace(whole, regions=regions), speed)
        for regions in (1, 2, 3)
    ]
    assert hybrids[0] == vertical
    costs = [cost.seconds for cost in (*hybrids, horizontal)]
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == 4


@pytest.mark.parametrize("protocol", CIPHERED)
def test_the_command_foretells_every_protocol(
    tmp_path: Path, protocol: Protocol, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sites(tmp_path, in_regions(random_whole(13), protocol, (2, 1, 2), 1))
    command(tmp_path / "job.toml", estimate=True, rows=1000, groups=20, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["seconds"] == pytest.approx(sum(phase["seconds"] for phase in told["phases"]))
    assert min(told["operations"], told["messages"], told["bits"]) > 0
    names = [phase["name"] for phase in told["phases"]]
    assert ("tests" in names) is protocol.is_masked
    assert ("decoding" in names) is (protocol in (Protocol.RING, Protocol.MASKED_RING))
