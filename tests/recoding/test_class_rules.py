"""The compiled rules say what the models say, of any class."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.privacy import MODELS, Model
from tarnkappe.recoding.batch import Batch
from tarnkappe.recoding.class_rules import class_holds, ruled
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import encode_column
from tests.random_tables import DISEASE_LEVELS, DISEASES

TIES_SAY_NO = "entropy-diversity"
"""Where rounding could decide, its rule says no."""

RULED = [
    MODELS.create(name, {"column": "disease", **parameters})
    for name, parameters in [
        ("distinct-diversity", {"l": 2}),
        ("distinct-diversity", {"l": 3}),
        ("entropy-diversity", {"l": 1.7}),
        ("entropy-diversity", {"l": 2}),
        ("recursive-diversity", {"c": 2, "l": 2}),
        ("recursive-diversity", {"c": 0.9, "l": 2}),
        ("recursive-diversity", {"c": 1.5, "l": 3}),
        ("equal-closeness", {"t": 0.3}),
        ("equal-closeness", {"t": 0.25}),
        ("ordered-closeness", {"t": 0.2}),
        ("hierarchical-closeness", {"t": 0.3}),
        ("variational-closeness", {"t": 0.3}),
    ]
]


def patients(diseases: list[str]) -> Tuples:
    column = encode_column("disease", pa.chunked_array([diseases]))
    rows = [[value, *(level[value] for level in DISEASE_LEVELS)] for value in DISEASE_LEVELS[0]]
    return Tuples.of_rows([Hierarchy.from_rows(rows).attach(column)])


@pytest.mark.parametrize("model", RULED, ids=str)
@given(people=st.lists(st.tuples(st.sampled_from(DISEASES), st.integers(0, 3)), min_size=1, max_size=30))
@settings(max_examples=40)
def test_a_rule_says_of_every_class_what_its_model_says(model: Model, people: list[tuple[str, int]]) -> None:
    tuples = patients([disease for disease, _ in people])
    classes = np.unique([number for _, number in people], return_inverse=True)[1].astype(np.int32)
    number = int(classes.max()) + 1
    rules = ruled(tuples, [model])
    assert not rules.others
    _, expected = Batch(tuples, [model]).judge(np.arange(len(people)), classes, number)
    for own in range(number):
        counts = np.zeros(rules.num_counts, np.int64)
        for value in rules.values[classes == own, 0].tolist():
            counts[value] += 1
        found = class_holds(rules.rules, counts, np.zeros(rules.room, np.int64))
        if model.name == TIES_SAY_NO:
            assert expected[own] or not found
            measured = model.measure_values(_alone(tuples, classes == own, model))[0]  # type: ignore[attr-defined]
            assert found == expected[own] or measured == pytest.approx(model.bound, rel=1e-8)
        else:
            assert found == expected[own]


def _alone(tuples: Tuples, chosen: np.ndarray, model: Model) -> object:
    return tuples.part(chosen).classes((), distributions=model.distributions).distributions["disease",]


def test_models_that_know_more_than_one_column_have_no_rule() -> None:
    tuples = patients(DISEASES)
    given = MODELS.create("distinct-diversity", {"column": "disease", "l": 2, "given": ["treatment"]})
    assert ruled(tuples, [given, MODELS.create("k-anonymity", {"k": 3})]).others == (given,)
