"""The workloads of the gate: as the setups say, and the same for the same seed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tarnkappe.bench import gate
from tarnkappe.bench.gate_workloads import SETUPS, adult, secrets
from tarnkappe.gate import WitnessPool
from tarnkappe.table.examples import shaped


@pytest.mark.parametrize("name", ["1", "2", "3-7", "3-6", "8", "9", "6-normal", "6-exponential 0.06"])
def test_a_setup_has_the_stated_sizes(name: str) -> None:
    setup = SETUPS[name]
    population, queries = setup.draw(1)
    assert len(population) == setup.people
    assert len(population.labels) == setup.values
    assert len(queries) == setup.queries
    assert {len(set(query)) for query in queries} == {setup.size}
    assert setup.draw(1)[1] == queries
    assert setup.draw(2)[1] != queries
    if setup.new is not None:
        seen: set[int] = set()
        for query in queries:
            assert len(set(query) - seen) == (setup.new if seen else setup.size)
            seen |= set(query)


def test_distributions_have_their_shapes_and_every_value() -> None:
    counts = {
        shape: Counter(secrets(np.random.default_rng(0), 10_000, 100, shape).tolist())
        for shape in ("uniform", "normal", "exponential 0.03", "exponential 0.06")
    }
    assert all(len(count) == 100 for count in counts.values())
    assert counts["normal"][50] > 4 * counts["normal"][10]
    assert counts["exponential 0.06"][0] > counts["exponential 0.03"][0] > 2 * counts["uniform"][0]
    assert counts["exponential 0.06"][0] == pytest.approx(10_000 * (1 - np.exp(-0.06)), rel=0.2)


def test_selections_on_adult_have_10_to_30_rows() -> None:
    population, queries = adult(shaped("ADULT").table.data, seed=0, queries=20)
    assert len(queries) == 20
    assert all(10 <= len(query) <= 30 for query in queries)
    assert len(population.labels) == 14


def test_a_measurement_tells_the_share_and_the_least_share() -> None:
    line = gate.together([gate.measure(*SETUPS["2"].draw(seed), 3, WitnessPool()) for seed in range(2)])
    assert 0 < line["least_share"] <= line["share"] <= line["largest_share"]
    assert line["ratio"] <= 1.5
