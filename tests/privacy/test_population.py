"""Models that compare the table with a population."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.privacy import DeltaPresence, KAnonymity, KMap, Model, PopulationCoverage, protect, satisfied
from tarnkappe.privacy.verify import verify
from tarnkappe.table import Tuples
from tests.adult import COLUMNS, read_maps, read_rows
from tests.privacy.tables import classes_of, holding, measured, weighted

Node = tuple[int, ...]

ROWS = {"block": ["x", "y"], "disease": ["flu", "cold"]}


def test_shares_of_exactly_the_bounds_pass() -> None:
    tuples = weighted(ROWS, [1, 3], population=[10, 10])
    assert holding(tuples, DeltaPresence(0.1, 0.3)) == {"x": True, "y": True}
    assert holding(tuples, DeltaPresence(0.1000000000000001, 0.3)) == {"x": False, "y": True}
    assert holding(tuples, DeltaPresence(0.1, 0.2999999999999999)) == {"x": True, "y": False}


def test_a_class_out_of_bounds_is_suppressed_but_an_absent_one_is_beyond_repair() -> None:
    model = DeltaPresence(0.2, 0.5)
    classes = classes_of(weighted(ROWS, [9, 4], population=[10, 10]), model)
    assert satisfied(protect(classes, [model]), [model], limit=9)
    classes = classes_of(weighted(ROWS, [0, 4], population=[10, 10]), model)
    assert not satisfied(protect(classes, [model]), [model], limit=4)


def test_more_absent_classes_than_suppressed_rows_cannot_be_excused() -> None:
    connection = duckdb.connect(config={"threads": 1})
    connection.register("release", pa.table({"block": ["x"]}))
    connection.register("input", pa.table({"block": ["x", "?"]}))
    for blocks, holds in [(["x", "x", "y"], True), (["x", "x", "y", "z"], False)]:
        connection.register("everyone", pa.table({"block": blocks}))
        for model in (DeltaPresence(0.2, 0.5), PopulationCoverage()):
            (found,) = verify(connection, [model], ["block"], population="everyone")
            assert found.holds is holds


def test_delta_presence_implies_k_map_and_coverage() -> None:
    tuples = weighted(ROWS, [1, 1], population=[4, 4])
    assert DeltaPresence(0, 0.3).sub_criteria(tuples) == (KMap(4),)
    assert DeltaPresence(0.1, 0.25).sub_criteria(tuples) == (KMap(4), PopulationCoverage())


@pytest.mark.parametrize(
    ("fraction", "rows"), [(0.1, 1), (0.3, 3), (0.33, 4), (1, 10)], ids=lambda value: str(value)
)
def test_k_map_is_estimated_by_the_expected_size_of_a_class(fraction: float, rows: int) -> None:
    model = KMap(10, sampling_fraction=fraction)
    tuples = weighted(ROWS, [rows, rows - 1])
    assert holding(tuples, model)["x"]
    assert not holding(tuples, model).get("y", False)
    assert measured(tuples, model)["x"] == pytest.approx(rows / fraction)
    assert model.sub_criteria(tuples) == (KAnonymity(rows),)
    assert "expected" in model.promise


@pytest.mark.parametrize("model", [DeltaPresence(0, 0.5), KMap(2), PopulationCoverage()], ids=str)
def test_without_a_population_the_models_refuse(model: Model) -> None:
    tuples = weighted(ROWS, [1, 1])
    with pytest.raises(ParameterError, match="population"):
        model.check(tuples, ["block"])
    with pytest.raises(ParameterError, match="population"):
        satisfied(protect(classes_of(tuples, model), [model]), [model], limit=0)


def test_a_k_larger_than_the_population_is_refused() -> None:
    tuples = weighted(ROWS, [1, 1], population=[2, 2])
    KMap(4).check(tuples, ["block"])
    with pytest.raises(ParameterError, match="k = 5 is larger than the population, which has 4 rows"):
        KMap(5).check(tuples, ["block"])
    KMap(20, sampling_fraction=0.1).check(tuples, ["block"])
    with pytest.raises(ParameterError, match="larger than the table"):
        KMap(21, sampling_fraction=0.1).check(tuples, ["block"])


@pytest.mark.parametrize(
    ("node", "suppressed", "released"),
    [
        ((0, 4, 1, 2, 1, 2, 2, 1, 1), 0, 30),
        ((1, 4, 1, 1, 0, 2, 2, 2, 1), 14, 30),
        ((0, 4, 1, 1, 3, 2, 2, 1, 0), 25, 23),
    ],
)
def test_presence_in_a_tenth_of_adult(adult: Path, node: Node, suppressed: int, released: int) -> None:
    """Optima of another implementation for (0.05, 0.15)-presence, confirmed by brute force."""
    model = DeltaPresence(0.05, 0.15)
    state = protect(adult_with_subset(adult).classes(COLUMNS, node), [model])
    assert (state.suppressed_rows, state.num_kept) == (suppressed, released)
    assert not model.irreparable(state.classes)


@cache
def adult_with_subset(folder: Path) -> Tuples:
    """The subset as the table and all of Adult as the population."""
    everyone, subset = read_rows(folder / "adult.csv"), read_rows(folder / "adult_subset.csv")
    columns = {name: [row[name] for row in [*everyone, *subset]] for name in COLUMNS}
    in_subset = [0] * len(everyone) + [1] * len(subset)
    hierarchies = {name: read_maps(folder / f"adult_hierarchy_{name}.csv") for name in COLUMNS}
    return weighted(columns, in_subset, hierarchies=hierarchies, population=[1 - n for n in in_subset])


@pytest.mark.parametrize("bounds", [(0.5, 0.4), (0, 0), (-0.1, 0.5), (0, 1.5), (math.nan, 1)])
def test_impossible_bounds_are_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(
        ParameterError, match=r"^delta-presence: (minimum|maximum): .* (needed|allowed), not "
    ):
        DeltaPresence(*bounds)


@pytest.mark.parametrize("fraction", [0, -1, 1.5, "1.1", "x"])
def test_impossible_sampling_fractions_are_refused(fraction: float) -> None:
    with pytest.raises(ParameterError, match=r"^k-map: sampling_fraction: .* (needed|allowed), not "):
        KMap(2, sampling_fraction=fraction)
