"""What other tools get wrong (each test is named after the wrong behaviour that ours must not show)."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.privacy import (
    DeltaPresence,
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    KAnonymity,
    Model,
    OrderedCloseness,
    RecursiveDiversity,
    needed_distributions,
    protect,
    satisfied,
)
from tarnkappe.privacy.verify import verify
from tarnkappe.table import Tuples
from tests.privacy.tables import blocks, classes_of, holding, measured, weighted
from tests.random_tables import DISEASE_LEVELS, Example, examples

# ------------------------------------------------------------ 1: recursive diversity sorted the wrong way


def test_c_of_1_is_reported_where_more_than_448_is_needed() -> None:
    tuples = blocks({"skewed": {"flu": 448, "cold": 1}, "even": {"flu": 3, "cold": 3, "ulcer": 3}})
    assert measured(tuples, RecursiveDiversity("disease", 1, 2)) == {"skewed": 448.0, "even": 0.5}
    for c, holds in [(1, False), (448, False), (448.000001, True)]:
        assert holding(tuples, RecursiveDiversity("disease", c, 2))["skewed"] is holds


def test_4_3_diversity_is_called_impossible_where_it_exists() -> None:
    tuples = blocks(
        {"x": {"flu": 3, "cold": 2, "ulcer": 1}, "y": {"flu": 1, "cold": 5, "ulcer": 1, "acne": 1}}
    )
    model = RecursiveDiversity("disease", 4, 3)
    assert measured(tuples, model) == {"x": 3.0, "y": 2.5}
    assert holding(tuples, model) == {"x": True, "y": True}
    model.check(tuples, ["block"])


def test_the_order_in_which_values_occur_decides_recursive_diversity() -> None:
    counts = {"flu": 1, "cold": 2, "ulcer": 7}
    for order in (["flu", "cold", "ulcer"], ["ulcer", "cold", "flu"], ["cold", "ulcer", "flu"]):
        tuples = blocks({"x": {value: counts[value] for value in order}})
        assert measured(tuples, RecursiveDiversity("disease", 3, 2)) == {"x": 7 / 3}


# ------------------------------------------------------------ 2: classes absent from the table escape


def absent_class() -> Tuples:
    """Nobody of the third block is in the table; the second has a single row."""
    columns = {"block": ["x", "y", "z"], "disease": ["flu", "flu", "flu"]}
    return weighted(columns, [4, 1, 0], population=[8, 2, 5])


def test_k_anonymity_with_delta_presence_is_weaker_than_delta_presence_alone() -> None:
    presence, anonymity = DeltaPresence(0.1, 0.6), KAnonymity(3)
    classes = classes_of(absent_class(), presence)
    for models in ([presence], [presence, anonymity], [anonymity, presence]):
        assert not satisfied(protect(classes, models), models, limit=5)


def test_delta_presence_without_a_minimum_minds_absent_classes() -> None:
    presence = DeltaPresence(0, 0.6)
    assert satisfied(protect(classes_of(absent_class(), presence), [presence]), [presence], limit=0)


def test_sql_overlooks_absent_classes() -> None:
    release = pa.table({"block": ["x"] * 4 + ["y"]})
    connection = duckdb.connect(config={"threads": 1})
    connection.register("release", release)
    connection.register("input", release)
    connection.register("everyone", pa.table({"block": ["x"] * 8 + ["y"] * 2 + ["z"] * 5}))
    for minimum, violating in [(0.1, 1), (0, 0)]:
        models = [DeltaPresence(minimum, 0.6)]
        (found,) = verify(connection, models, ["block"], population="everyone")
        assert (found.holds, found.violating_classes, found.value) == (not violating, violating, 0.5)


@given(
    example=examples(with_population=True),
    bounds=st.sampled_from([(0, 0.5), (0.2, 0.7), (0.4, 1)]),
    limit=st.integers(0, 6),
)
@settings(max_examples=50)
def test_any_model_added_to_delta_presence_weakens_it(
    example: Example, bounds: tuple[float, float], limit: int
) -> None:
    presence = DeltaPresence(*bounds)
    added: list[Model] = [KAnonymity(2), RecursiveDiversity("disease", 2, 2)]
    for node in example.nodes():
        classes = example.tuples.classes(example.quasi_identifiers, node, needed_distributions(added))
        for model in added:
            models = [model, presence]
            if satisfied(protect(classes, models), models, limit):
                assert satisfied(protect(classes, [presence]), [presence], limit)


# ------------------------------------------------------------ 3: an entropy of exactly ln l is rejected


@pytest.mark.parametrize("count", [1, 3, 10**4, 10**9])
def test_entropy_of_exactly_ln_l_is_rejected(count: int) -> None:
    for values in range(2, 60):
        tuples = blocks({"x": {f"d{i}": count for i in range(values)}})
        assert holding(tuples, EntropyDiversity("disease", values)) == {"x": True}
        assert holding(tuples, EntropyDiversity("disease", values + 1e-12)) == {"x": False}


@pytest.mark.parametrize("times", [1, 10**4, 10**9])
def test_entropy_of_exactly_ln_l_with_unequal_counts_is_rejected(times: int) -> None:
    """Half the rows on one value and an eighth on each of four have 2 bits: as uncertain as 4 values."""
    counts = {"flu": 4, "cold": 1, "ulcer": 1, "gastritis": 1, "acne": 1}
    tuples = blocks({"x": {value: n * times for value, n in counts.items()}})
    assert holding(tuples, EntropyDiversity("disease", 4)) == {"x": True}
    assert holding(tuples, EntropyDiversity("disease", 4.000000000001)) == {"x": False}


# ------------------------------------------------------------ 4: hierarchical closeness overflows


@pytest.mark.parametrize("rows", [1000, 10**6, 10**9, 4 * 10**12])
def test_a_value_determined_by_the_quasi_identifiers_is_close_when_there_are_many_rows(rows: int) -> None:
    quarter = rows // 4
    tuples = blocks(
        {
            "w": {"flu": quarter},
            "x": {"cold": quarter},
            "y": {"ulcer": quarter},
            "z": {"gastritis": quarter},
        },
        hierarchies={"disease": DISEASE_LEVELS},
    )
    for model, distance in [
        (HierarchicalCloseness("disease", 0.2), (0.75 + 0.5) / 2),
        (EqualCloseness("disease", 0.2), 0.75),
    ]:
        assert set(measured(tuples, model).values()) == {distance}
        assert not any(holding(tuples, model).values())
    assert min(measured(tuples, OrderedCloseness("disease", 0.2)).values()) == pytest.approx(1 / 3)


def test_a_million_written_rows_overflow_in_sql() -> None:
    values = np.array(["flu", "cold", "ulcer", "gastritis"])
    kind = np.arange(10**6) % 4
    release = pa.table({"block": pa.array(kind), "disease": pa.array(values[kind])})
    connection = duckdb.connect()
    connection.register("release", release)
    connection.register("input", release)
    columns = blocks(
        {"x": dict.fromkeys(values.tolist(), 1)}, hierarchies={"disease": DISEASE_LEVELS}
    ).columns
    models = [HierarchicalCloseness("disease", 0.2), HierarchicalCloseness("disease", 0.625)]
    strict, exact = verify(connection, models, ["block"], sensitive=columns)
    assert (strict.value, strict.holds, strict.violating_classes) == (0.625, False, 4)
    assert exact.holds
