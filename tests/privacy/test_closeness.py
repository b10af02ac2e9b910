"""t-closeness: its distances against a transport problem, worked examples, and the class sizes it implies."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.privacy import (
    EqualCloseness,
    HierarchicalCloseness,
    KAnonymity,
    KullbackLeiblerCloseness,
    OrderedCloseness,
    RecursiveDiversity,
    VariationalCloseness,
)
from tarnkappe.privacy.closeness import Closeness
from tarnkappe.privacy.earth_mover import LARGEST_IMPLIED_SIZE, Tree
from tarnkappe.privacy.model import entries_of
from tarnkappe.table import Column, Distribution, Levels, Tuples
from tests.adult import adult_tuples, read_maps, read_rows
from tests.conftest import FIXTURES
from tests.privacy.tables import blocks, classes_of, holding, measured, weighted
from tests.privacy.twins.closeness import equal_distance, hierarchical_distance, ordered_distance

CONCEPTS = FIXTURES / "concepts"
VALUES = "abcd"
LEVELS = [{"a": "1", "b": "1", "c": "2", "d": "2"}, dict.fromkeys(VALUES, "*")]
MODELS = {"equal": EqualCloseness, "ordered": OrderedCloseness, "hierarchical": HierarchicalCloseness}


# ---------------------------------------------------------------- closed forms and the transport problem


def ground_distance(kind: str, i: int, j: int) -> float:
    if i == j:
        return 0.0
    if kind == "equal":
        return 1.0
    if kind == "ordered":
        return abs(i - j) / (len(VALUES) - 1)
    return 0.5 if LEVELS[0][VALUES[i]] == LEVELS[0][VALUES[j]] else 1.0


def transport(kind: str, p: list[float], q: list[float]) -> float:
    """The least work to turn p into q, as a linear program."""
    size = len(p)
    pairs = list(itertools.product(range(size), repeat=2))
    leaves = [[float(i == value) for i, _ in pairs] for value in range(size)]
    arrives = [[float(j == value) for _, j in pairs] for value in range(size)]
    cost = [ground_distance(kind, i, j) for i, j in pairs]
    return float(linprog(cost, A_eq=[*leaves, *arrives], b_eq=[*p, *q]).fun)


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=30)
@given(
    inside=st.lists(st.integers(0, 4), min_size=4, max_size=4).filter(any),
    outside=st.lists(st.integers(1, 4), min_size=4, max_size=4),
)
def test_the_closed_form_is_the_least_work_of_transport(
    kind: str, inside: list[int], outside: list[int]
) -> None:
    tuples = blocks(
        {"in": dict(zip(VALUES, inside, strict=True)), "out": dict(zip(VALUES, outside, strict=True))},
        hierarchies={"disease": LEVELS},
    )
    whole = [a + b for a, b in zip(inside, outside, strict=True)]
    p, q = ([n / sum(counts) for n in counts] for counts in (inside, whole))
    assert measured(tuples, MODELS[kind]("disease", 1))["in"] == pytest.approx(
        transport(kind, p, q), abs=1e-9
    )


# ---------------------------------------------------------------- few entries among many values


@st.composite
def sparse_distributions(draw: st.DrawFn) -> Distribution:
    """Classes with few (some with no, some with many) of many values, in any order, on a hierarchy."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    num_values = draw(st.sampled_from([1, 2, 5, 40, 300, 1500]))
    most = draw(st.sampled_from([1, 3, 12, 60]))
    largest = draw(st.sampled_from([1, 4, 10**9]))
    classes = [
        random.choice(num_values, min(int(random.integers(0, most + 1)), num_values), replace=False)
        for _ in range(draw(st.integers(1, 12)))
    ]
    classes.append(random.permutation(num_values)[:1])  # at least one row in the whole table
    offsets = np.concatenate([[0], np.cumsum([len(codes) for codes in classes])])
    codes = np.concatenate(classes).astype(np.int32)
    counts = random.integers(1, largest + 1, len(codes))
    others = random.integers(0, largest + 1, num_values) * random.integers(0, 2, num_values)
    totals = others + np.bincount(codes, counts, num_values).astype(np.int64)
    column = Column("disease", np.arange(num_values, dtype=np.int32), pa.array(np.arange(num_values)))
    levels = random_levels(random, num_values, draw(st.integers(1, 4)))
    return Distribution(column.with_levels(levels), totals, offsets, codes, counts)


def random_levels(random: np.random.Generator, num_values: int, height: int) -> Levels:
    maps = [np.arange(num_values, dtype=np.int32)]
    for left in range(height - 1, -1, -1):
        labels = random.integers(0, max(num_values * left // height, 1), int(maps[-1].max()) + 1)
        maps.append(np.unique(labels[maps[-1]], return_inverse=True)[1].astype(np.int32))
    distinct = [int(codes.max()) + 1 for codes in maps]
    return Levels(
        tuple(maps), tuple(tuple(map(str, range(n))) for n in distinct), tuple(map(np.bincount, maps))
    )


def dense_distances(kind: str, distribution: Distribution) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The distances from all shares of all classes, as their definitions say; NaN for an empty class."""
    with np.errstate(invalid="ignore"):
        shares = distribution.dense() / distribution.sizes[:, None]
    extra = shares - distribution.totals / distribution.totals.sum()
    if kind == "ordered":
        extra = extra[:, distribution.totals > 0]
        return np.abs(np.cumsum(extra, axis=1)[:, :-1]).sum(axis=1) / max(extra.shape[1] - 1, 1)
    levels = distribution.column.levels
    assert levels is not None
    maps = levels.maps[: 1 if kind == "equal" else levels.height]
    members = [np.eye(int(labels.max()) + 1)[labels] for labels in maps]
    return np.mean([np.abs(extra @ member).sum(axis=1) / 2 for member in members], axis=0)


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=60, deadline=None)
@given(distribution=sparse_distributions())
def test_the_values_that_a_class_lacks_count_as_if_they_were_visited(
    kind: str, distribution: Distribution
) -> None:
    model = MODELS[kind]("disease", 1)
    found, expected = model.measure_values(distribution), dense_distances(kind, distribution)
    empty = distribution.sizes == 0
    assert np.all(np.isinf(found[empty]))
    assert found[~empty] == pytest.approx(expected[~empty], rel=0, abs=1e-12)
    tree = model.tree(distribution)
    for index in np.flatnonzero(~empty)[:3]:
        entries = entries_of(distribution, int(index))
        exact = tree.exact_distance(entries)
        assert exact == visit_all_nodes(tree, entries)
        assert found[index] == pytest.approx(float(exact), rel=0, abs=1e-12)


def visit_all_nodes(tree: Tree, entries: tuple[tuple[int, int], ...]) -> Fraction:
    """The sum of |P - Q| over all nodes, times the length of an edge."""
    whole, size = int(tree.below[-1]), sum(count for _, count in entries)
    inside = [0] * len(tree.below)
    for code, count in entries:
        inside[tree.nodes[code]] += count
    gaps = 0
    for node, parent in enumerate(tree.parents):
        gaps += abs(inside[node] * whole - int(tree.below[node]) * size)
        inside[parent] += inside[node]
    return tree.edge * Fraction(gaps, size * whole)


# ---------------------------------------------------------------- worked examples


def concept_table(name: str, hierarchy: list[dict[str, str]]) -> tuple[Tuples, dict[str, str]]:
    rows = read_rows(CONCEPTS / f"{name}.csv")
    key = "group" if "group" in rows[0] else "Geburtstag"
    tuples = weighted(
        {"block": [row[key] for row in rows], "Krankheit": [row["Krankheit"] for row in rows]},
        [1] * len(rows),
        hierarchies={"Krankheit": hierarchy},
    )
    return tuples, {row["row"]: row[key] for row in rows}


@pytest.mark.parametrize("name", ["f-h3", "f-h4", "f-h5"])
@pytest.mark.parametrize("letter", ["a", "b"])
def test_distances_of_the_hospital_releases(name: str, letter: str) -> None:
    hierarchy = f"hierarchy-krankheit-{letter}"
    tuples, block_of = concept_table(name, read_maps(CONCEPTS / f"{hierarchy}.csv"))
    for block in json.loads((CONCEPTS / "expected.json").read_text())[name]["blocks"]:
        label = block_of[block["rows"][0]]
        for model, distance in [
            (VariationalCloseness, block["variational"]),
            (EqualCloseness, block["variational"]),
            (HierarchicalCloseness, block[hierarchy]),
        ]:
            assert_distance(tuples, model, label, Fraction(distance))
        for least, c in block.get("c", {}).items():
            model = RecursiveDiversity("Krankheit", 1, int(least))
            assert measured(tuples, model)[label] == float(Fraction(c))


@pytest.mark.parametrize(
    "line", read_rows(CONCEPTS / "f-h6-distances.csv"), ids=lambda line: line["categories"]
)
def test_distances_of_the_anatomy_release(line: dict[str, str]) -> None:
    """All five ways to categorize the diseases; the table's t is the maximum over its groups."""
    categories = line["categories"].split("|")
    level = {value: category for category in categories for value in category.split(",")}
    tuples, _ = concept_table("f-h6", [level, dict.fromkeys(level, "Krankheit")])
    for group in "12":
        assert_distance(tuples, HierarchicalCloseness, group, Fraction(line[f"group {group}"]))
    assert_distance(tuples, VariationalCloseness, "1", Fraction(3, 7))
    assert_distance(tuples, VariationalCloseness, "2", Fraction(9, 28))


def assert_distance(tuples: Tuples, model: type[Closeness], block: str, distance: Fraction) -> None:
    found = model("Krankheit", 1)
    classes = classes_of(tuples, found)
    distribution = classes.distributions["Krankheit",]
    (index,) = (i for i in range(classes.num_classes) if classes.labels(i)["block"] == block)
    assert found.measure(classes)[index] == pytest.approx(float(distance), abs=1e-12)
    assert found.tree(distribution).exact_distance(entries_of(distribution, index)) == distance


def test_measures_of_the_patients() -> None:
    fixture = json.loads((FIXTURES / "algebra" / "patients-3-anonymous.json").read_text())
    rows = fixture["rows"]
    tuples = weighted(
        {"block": [row["Alter"] for row in rows], "Krankheit": [row["Krankheit"] for row in rows]},
        [1] * len(rows),
    )
    expected, order = fixture["expected"], list(dict.fromkeys(row["Alter"] for row in rows))

    def in_order(model: Any) -> list[float]:
        values = measured(tuples, model)
        return [values[block] for block in order]

    variational = [float(Fraction(value)) for value in expected["variational-closeness"]]
    assert in_order(VariationalCloseness("Krankheit", 1)) == pytest.approx(variational)
    divergence = expected["kullback-leibler-closeness"]
    assert in_order(KullbackLeiblerCloseness("Krankheit", 1)) == pytest.approx(divergence, abs=2e-6)
    odds = [math.inf if value is None else value for value in expected["recursive-diversity, l = 2"]]
    assert in_order(RecursiveDiversity("Krankheit", 1, 2)) == odds


def test_distances_of_the_running_example() -> None:
    rows = read_rows(FIXTURES / "local" / "release-1-1-4.csv")
    tuples = weighted(
        {"block": [row["age"] for row in rows], "diagnosis": [row["diagnosis"] for row in rows]},
        [1] * len(rows),
        hierarchies={"diagnosis": read_maps(FIXTURES / "local" / "hierarchy_diagnosis.csv")},
    )
    for model in (EqualCloseness, HierarchicalCloseness):
        assert set(measured(tuples, model("diagnosis", 0.2)).values()) == {0.125}
        assert all(holding(tuples, model("diagnosis", 0.125)).values())


# ---------------------------------------------------------------- ties and limits


@pytest.mark.parametrize("model", MODELS.values())
def test_a_distance_of_exactly_t_passes_and_anything_above_fails(model: type) -> None:
    tuples = blocks(
        {"far": {"a": 2, "d": 1}, "near": {"a": 4, "d": 6}, "rest": {"a": 14, "d": 23}},
        hierarchies={"disease": LEVELS},
    )  # a has 2/3, 0.4 and 14/37 in the blocks, 0.4 in the table: 'far' is at 4/15
    assert holding(tuples, model("disease", 0)) == {"far": False, "near": True, "rest": False}
    assert not holding(tuples, model("disease", 0.2666666666666666))["far"]
    assert holding(tuples, model("disease", 0.2666666666666667))["far"]


def test_the_divergence_is_not_bounded_by_one_and_blind_to_lacking_values() -> None:
    tuples = blocks({"x": {"a": 1, "b": 999}, "y": {"a": 999, "b": 1}, "z": {"c": 1}})
    values = measured(tuples, KullbackLeiblerCloseness("disease", 2))
    assert values["x"] > 1
    assert values["y"] > 1
    assert values["z"] < 0.01  # a homogeneous class of the rarest value


def test_a_divergence_of_exactly_t_passes() -> None:
    tuples = blocks({"x": {"a": 2, "b": 2}, "y": {"a": 1, "b": 1, "c": 6}})
    # The table has a 1/4, b 1/4, c 1/2, an entropy of 3/2 ln 2; a and b of x contribute 1/4 ln 2 each.
    assert measured(tuples, KullbackLeiblerCloseness("disease", 1))["x"] == pytest.approx(1 / 3)
    assert not holding(tuples, KullbackLeiblerCloseness("disease", 0.33333333333333))["x"]
    assert holding(tuples, KullbackLeiblerCloseness("disease", 1 / 3))["x"]
    assert holding(tuples, KullbackLeiblerCloseness("disease", 0.3333333333333334))["x"]


def test_a_table_with_one_value_is_close_everywhere() -> None:
    tuples = blocks({"x": {"a": 1}, "y": {"a": 3}}, hierarchies={"disease": LEVELS})
    for model in [*MODELS.values(), KullbackLeiblerCloseness]:
        assert holding(tuples, model("disease", 0)) == {"x": True, "y": True}
        assert model("disease", 0).sub_criteria(tuples) == ()


def test_values_of_the_population_alone_do_not_count_in_the_order() -> None:
    rows = {"block": ["x", "x", "y"], "disease": ["a", "c", "b"]}
    tuples = weighted(rows, [1, 1, 0], population=[1, 1, 1])
    assert measured(tuples, OrderedCloseness("disease", 1))["x"] == 0
    rows = {"block": ["x", "y", "y"], "disease": ["a", "c", "b"]}
    tuples = weighted(rows, [1, 1, 0], population=[1, 1, 1])
    assert measured(tuples, OrderedCloseness("disease", 1)) == {"x": 0.5, "y": 0.5}


def test_suppressed_cells_show_nothing_and_a_class_of_them_fails() -> None:
    tuples = blocks({"x": {"a": 1, "b": 1, "*": 5}, "y": {"a": 1, "b": 1}, "z": {"*": 2}})
    for model in (EqualCloseness, OrderedCloseness, KullbackLeiblerCloseness):
        assert holding(tuples, model("disease", 0)) == {"x": True, "y": True, "z": False}


@pytest.mark.parametrize("model", [*MODELS.values(), VariationalCloseness, KullbackLeiblerCloseness])
def test_where_every_cell_is_suppressed_every_class_fails_without_a_warning(model: type) -> None:
    tuples = blocks({"x": {"*": 2}, "y": {"*": 3}}, hierarchies={"disease": [{"*": "*"}]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classes = classes_of(tuples, model("disease", 1))
        assert model("disease", 1).measure(classes).dtype == np.float64
        assert holding(tuples, model("disease", 1)) == {"x": False, "y": False}


@pytest.mark.parametrize(
    ("hierarchies", "error"),
    [({}, ParameterError), ({"disease": LEVELS[:1]}, HierarchyError)],
    ids=["no hierarchy", "several roots"],
)
def test_hierarchical_distances_need_a_hierarchy_with_one_root(hierarchies: Any, error: type) -> None:
    tuples = blocks({"x": {"a": 1, "c": 1}}, hierarchies=hierarchies)
    with pytest.raises(error, match="disease"):
        HierarchicalCloseness("disease", 0.2).check(tuples, ["block"])


@pytest.mark.parametrize("t", [-0.1, 1.1, "1.2", "x", True, math.nan])
def test_impossible_distances_are_refused(t: Any) -> None:
    for model in MODELS.values():
        with pytest.raises(ParameterError, match=rf"^{model.name}: t: .* (needed|allowed), not "):
            model("disease", t)


# ---------------------------------------------------------------- implied class sizes


def trees(totals: list[int]) -> dict[str, tuple[Tree, Callable[..., Fraction]]]:
    tuples = blocks({"x": dict(zip(VALUES, totals, strict=False))}, hierarchies={"disease": LEVELS})

    def hierarchical(p: Any, q: Any) -> Fraction:
        return hierarchical_distance(p, q, LEVELS)

    distances = {"equal": equal_distance, "ordered": ordered_distance, "hierarchical": hierarchical}
    return {
        kind: (model("disease", 1).tree(model("disease", 1).whole(tuples)), distances[kind])
        for kind, model in MODELS.items()
    }


def count_vectors(size: int, values: int) -> Iterator[tuple[int, ...]]:
    if values == 1:
        yield (size,)
        return
    for first in range(size + 1):
        for rest in count_vectors(size - first, values - 1):
            yield (first, *rest)


@settings(max_examples=40)
@given(
    totals=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    t=st.sampled_from(["0", "0.05", "0.1", "0.2", "0.3", "0.5"]),
)
def test_the_implied_size_is_the_smallest_over_all_count_vectors(totals: list[int], t: str) -> None:
    q = {VALUES[i]: Fraction(n, sum(totals)) for i, n in enumerate(totals)}
    for tree, distance in trees(totals).values():
        found = tree.smallest_close_size(Fraction(t))
        assert smallest(distance, q, Fraction(t), up_to=found) == found


def smallest(distance: Callable[..., Fraction], q: Any, t: Fraction, up_to: int) -> int | None:
    for size in range(1, up_to + 1):
        for counts in count_vectors(size, len(q)):
            p = {value: Fraction(n, size) for value, n in zip(q, counts, strict=True) if n}
            if distance(p, q) <= t:
                return size
    return None


def test_the_implied_size_is_a_lower_bound_where_the_search_stops() -> None:
    tree = Tree.star(np.array([1, 10**6], dtype=np.int64))
    assert tree.smallest_close_size(Fraction(0)) == LARGEST_IMPLIED_SIZE + 1


def test_classes_of_adult_with_close_occupations_have_at_least_six_rows(adult: Path) -> None:
    model = HierarchicalCloseness("occupation", 0.2)
    assert model.sub_criteria(adult_tuples(adult)) == (KAnonymity(6),)
