"""The workloads of the gate: as the setups say, and the same for the same seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.gate import STRATEGIES, CloneMatching, WitnessPool
from tarnkappe.table.examples import shaped
from tarnkappe_bench import gate
from tarnkappe_bench.command import _lines
from tarnkappe_bench.gate_measure import against_plain_python, measure, together, without_criterion
from tarnkappe_bench.gate_workloads import SETUPS, adult, secrets


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
    line = together([measure(*SETUPS["2"].draw(seed), 3, WitnessPool()) for seed in range(2)])
    assert 0 < line["least_share"] <= line["share"] <= line["largest_share"]
    assert line["ratio"] <= 1.5
    assert [query for query, _ in line["curve"]][-1] == SETUPS["2"].queries


def test_all_ten_setups_are_measured_with_stable_names() -> None:
    assert {SETUPS[name].number for name in gate.PLAN if name != "10"} | {1, 10} == set(range(1, 11))
    assert {strategy for strategies in gate.PLAN.values() for strategy in strategies} <= set(STRATEGIES.names)
    for known in (gate.DOCUMENT, gate.DOCUMENT_LARGEST, gate.DOCUMENT_LATE):
        assert {name.split("_")[1] for name in known} <= set(gate.PLAN)


@pytest.mark.slow
def test_a_run_has_the_figures_of_its_setups_and_a_picture(tmp_path: Path) -> None:
    keep = tmp_path / "figures.jsonl"
    measured = gate.run(seeds=1, setups=("2",), keep=keep)
    assert {key for key in gate.LIMITS if "setup_2" in key} <= set(measured)
    lines = {line["strategy"]: line for line in measured["lines"] if line["setup"] == "setup_2_k3"}
    assert set(lines) == set(gate.PLAN["2"])
    assert lines["witness-pool"]["share"] <= lines["clone-matching"]["share"]
    assert measured["clone_matching_setup_2_ratio"] > 1
    assert "Setup 2" in gate.draw(measured).to_svg()
    assert any("witness-pool" in line for line in _lines(measured, gate.LIMITS)), "it can be printed as text"
    size = keep.stat().st_size
    assert gate.run(seeds=1, setups=("2",), keep=keep) == measured, "what is kept is not measured again"
    assert keep.stat().st_size == size
    keep.write_text("no figures\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1: .* name another file"):
        gate.run(seeds=1, setups=("2",), keep=keep)


def test_setups_are_chosen_by_number_or_name() -> None:
    assert gate._chosen(["3"]) == ["3-7", "3-6"]
    assert gate._chosen(["1", "4-10000-50"]) == ["1", "4-10000-50"]
    assert {name.split("-")[0] for name in gate._chosen([])} == set(map(str, range(1, 11)))
    with pytest.raises(ParameterError, match="no setup '11'"):
        gate._chosen(["11"])


def test_every_setup_has_a_picture() -> None:
    shown = {start.split("_")[1].split("-")[0] for start, _ in gate.PICTURES.values()}
    assert shown == set(map(str, range(1, 11)))
    measured = gate.run(seeds=1, setups=["1"])
    assert {"exact", "clone-matching"} <= set(measured["curves"]["setup_1"])
    assert "Setup 1:" in gate.draw(measured).to_svg()
    assert measured["exact_first_degree_1_after"] <= 30


def test_clone_matching_decides_as_plain_python_on_the_setup() -> None:
    measured = against_plain_python("4-10000-50", 10, queries=6)
    assert 0 < measured["clone_matching_to_plain_python"] < 1


def test_without_a_criterion_degrees_fall() -> None:
    line = without_criterion(CloneMatching, 1)
    assert 3 < line["first_average_degree"] < 7
    assert line["first_degree_1_after"] <= 16, "somebody's value is known, as in the literature"
