"""Models on the table as a whole: what they suppress, and what they must not be combined with."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.privacy import (
    AverageRisk,
    DistinctDiversity,
    KAnonymity,
    Model,
    SampleUniqueness,
    XYAnonymity,
    XYLinkability,
    monotone,
    needed_distributions,
    protect,
    satisfied,
)
from tarnkappe.privacy.table_model import TableModel
from tarnkappe.table import Tuples
from tests.privacy.tables import weighted

sizes = st.lists(st.integers(1, 5), min_size=1, max_size=7)
MODELS = [
    AverageRisk(0.5),
    AverageRisk("1/3"),
    AverageRisk(0.21),
    SampleUniqueness(0),
    SampleUniqueness(0.25),
]


def blocks(counts: list[int]) -> Tuples:
    return weighted({"block": range(len(counts))}, counts)


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(counts=sizes)
@settings(max_examples=50)
def test_no_other_choice_of_classes_keeps_more_rows(model: TableModel, counts: list[int]) -> None:
    classes = blocks(counts).classes(["block"])
    kept = model.keep(classes, classes.released)
    best = max(
        sum(chosen)
        for n in range(len(counts) + 1)
        for chosen in combinations(counts, n)
        if not chosen or model.sizes_hold(np.array(chosen), sum(counts))
    )
    assert classes.sizes[kept].sum() == best


@given(counts=sizes, order=st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_neither_the_order_of_rows_nor_of_columns_decides(counts: list[int], order: object) -> None:
    """Classes of equal size are told apart by their labels."""
    model = AverageRisk(0.4)
    rows = [(size, f"{n % 2}", f"{n // 2}") for n, size in enumerate(counts)]
    shuffled = list(rows)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    kept = []
    for table, names in ((rows, ["a", "b"]), (shuffled, ["b", "a"])):
        columns = {"a": [row[1] for row in table], "b": [row[2] for row in table]}
        classes = weighted(columns, [row[0] for row in table]).classes(names)
        chosen = model.keep(classes, classes.released)
        kept.append({tuple(sorted(classes.labels(i).items())) for i in np.flatnonzero(chosen).tolist()})
    assert kept[0] == kept[1]


def test_a_release_without_classes_meets_every_model_on_the_table() -> None:
    classes = weighted({"block": [1]}, [0], population=[3]).classes(["block"])
    for model in MODELS:
        assert model.holds(classes).all()
        assert satisfied(protect(classes, [model]), [model], 0)


def test_a_model_on_the_table_and_one_on_groups_are_not_monotone_together() -> None:
    """On the lower level the two rows to the right are suppressed, each alone in its group of 'a'.

    On the higher level they are a group of their own. Now there are too many classes for the rows, and the
    smallest to go is the one row that made the group to the left diverse.
    """
    left = [("1", "x", "flu")] * 3 + [("1", "y", "cold")]
    rows = [*left, ("2", "x", "flu"), ("3", "y", "cold")]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("a", "b", "disease"))}
    maps = [{"1": "1", "2": "2-3", "3": "2-3"}]
    tuples = weighted(columns, [1] * len(rows), hierarchies={"a": maps, "b": [{"x": "x", "y": "y"}]})
    models: list[Model] = [AverageRisk(0.5), XYAnonymity(("disease",), 2, x=("a",))]
    verdicts = []
    for level in (0, 1):
        classes = tuples.classes(["a", "b"], [level, 0], needed_distributions(models))
        verdicts.append(satisfied(protect(classes, models), models, 2))
    assert verdicts == [True, False]
    assert monotone(models, suppression=False)
    assert not monotone(models, suppression=True)
    assert all(monotone([model], suppression=True) for model in models)
    assert monotone([models[0], KAnonymity(2)], suppression=True)


@given(counts=sizes, data=st.data())
@settings(max_examples=50)
def test_the_order_of_the_models_does_not_matter(counts: list[int], data: st.DataObject) -> None:
    diseases = data.draw(st.lists(st.sampled_from("xyz"), min_size=len(counts), max_size=len(counts)))
    columns = {"a": [n % 2 for n in range(len(counts))], "b": range(len(counts)), "disease": diseases}
    models = data.draw(
        st.permutations(
            [AverageRisk(0.4), DistinctDiversity("disease", 1), XYLinkability(("disease",), 0.6, x=("a",))]
        )
    )
    tuples = weighted(columns, counts)
    classes = tuples.classes(["a", "b"], distributions=needed_distributions(models))
    kept = [protect(classes, order).kept.tolist() for order in (models, models[::-1])]
    assert kept[0] == kept[1]
