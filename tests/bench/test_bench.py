"""The measurements: they measure what they say, and their keys are stable."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tarnkappe.lattice import AutoSearch
from tarnkappe_bench import NAMES, bench, exchange, lattice, recoding, risk, scale
from tarnkappe_bench.adult import read_adult, read_reference
from tarnkappe_bench.chart import draw_curves


def test_every_measurement_has_limits_and_can_be_run() -> None:
    for name in NAMES:
        assert callable(bench(name).run)
        assert bench(name).LIMITS


def test_the_reference_is_understood_whole(adult: Path) -> None:
    references = read_reference(adult)
    assert len(references) == 132
    assert {model.name for reference in references for model in reference.models} == {
        "k-anonymity",
        "distinct-diversity",
        "entropy-diversity",
        "recursive-diversity",
        "equal-closeness",
        "hierarchical-closeness",
        "delta-presence",
    }


def test_some_optima_of_the_reference_are_found(adult: Path) -> None:
    data, references = read_adult(adult), read_reference(adult)
    for reference in references[::12]:
        problem = data.problem(reference.models, reference.loss, reference.limit)
        found = AutoSearch().run(problem).best
        assert found is not None
        assert found.loss == pytest.approx(reference.score, rel=1e-8), reference


@pytest.mark.slow
def test_all_optima_of_the_reference_are_found(adult: Path) -> None:
    """Every configuration, by the search that users get."""
    data = read_adult(adult)
    for reference in read_reference(adult):
        solution = AutoSearch().run(data.problem(reference.models, reference.loss, reference.limit))
        assert solution.optimal
        assert solution.best is not None
        assert solution.best.loss == pytest.approx(reference.score, rel=1e-8, abs=1e-9), reference


def test_risk_measures_what_it_is_held_to() -> None:
    measured = risk.run(rows=2000, people=500)
    assert set(risk.LIMITS) <= set(measured)
    assert all(measured[name] > 0 for name in risk.LIMITS)


@pytest.mark.slow
def test_exchange_measures_what_it_is_held_to() -> None:
    measured = exchange.run(rows=1000, earlier=3)
    assert set(exchange.LIMITS) <= set(measured)
    assert measured["check_seconds"] > 0
    assert measured["selected"] > 50


def test_recoding_measures_every_method_it_is_asked_for() -> None:
    measured = recoding.run(rows=3000, repeats=1, methods=("mondrian", "datafly"))
    assert set(recoding.LIMITS) <= set(measured)
    assert measured["mondrian_million_rows"] == 3000
    mondrian, datafly = measured["methods"]
    assert mondrian["loss"] < measured["best_node_loss"] <= datafly["loss"]


def test_scale_measures_seconds_memory_and_a_curve() -> None:
    measured = scale.run(rows=3000, curve=(1000, 2000))
    assert set(scale.LIMITS) <= set(measured)
    assert measured["nodes"] == 25_920
    assert [point["rows"] for point in measured["curve"]] == [1000, 2000]
    assert len({point["tuples"] for point in measured["saturated_curve"]}) == 1
    assert measured["seconds_5_percent"] > 0
    assert measured["loss_2_percent"] >= measured["loss_5_percent"] > 0
    assert "1,000 rows" in scale.draw(measured).to_svg()


def test_a_slower_entry_is_counted_and_small_ones_are_forgiven() -> None:
    def entry(ours: float, theirs: float) -> dict[str, object]:
        return {
            "model": "m", "loss": "l", "suppression_limit": 0.0, "equal": True, "optimal": True,
            "yardsticks": ours, "reference_yardsticks": theirs, "ratio": ours / theirs,
            "slower": ours > max(theirs, lattice.SMALL),
        }  # fmt: skip

    compared = lattice._compared([entry(2.0, 1.0), entry(10.0, 40.0), entry(30.0, 20.0)])
    assert compared["slower"] == 1
    assert compared["ratio_worst"] == 1.5
    assert math.isclose(compared["ratio_geometric_mean"], (2.0 * 0.25 * 1.5) ** (1 / 3))


def test_a_curve_has_a_point_for_each_measurement() -> None:
    curves = {"one": [(1, 0.5), (2, 0.7), (4, 3.2)], "other": [(1, 0.1), (4, 0.2)]}
    drawing = draw_curves("a <title>", curves, ("rows", "seconds"))
    tree = ElementTree.fromstring(drawing.to_svg())
    assert sum(element.tag.endswith("}circle") for element in tree.iter()) == 5 + 2, (
        "and one for the key of each"
    )
