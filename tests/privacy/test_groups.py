"""Models on groups: suppressed cells, groups by few or no columns, and what other models took away."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.privacy import (
    ConfidenceBounding,
    KAnonymity,
    Model,
    SubsetAnonymity,
    XYAnonymity,
    XYLinkability,
    monotone,
    needed_distributions,
    protect,
)
from tarnkappe.privacy.verify import verify
from tests.privacy.tables import weighted

COLUMNS = {
    "a": ["1", "1", "1", "1", "2"],
    "b": ["1", "1", "2", "2", "2"],
    "disease": ["flu", "*", "cold", "flu", "*"],
    "treatment": ["A", "B", "*", "A", "C"],
}


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (XYAnonymity(("disease",), 2, x=("a",)), {"1": 2, "2": 0}),
        (XYAnonymity(("disease", "treatment"), 2, x=("a",)), {"1": 1, "2": 0}),
        (XYAnonymity(("treatment", "disease"), 2, x=("a",)), {"1": 1, "2": 0}),
        (XYLinkability(("disease",), 0.7, x=("a",)), {"1": 2 / 3, "2": 0}),
        (
            ConfidenceBounding("disease", {"cold": 0.5}, quasi_identifiers=("a",)),
            {"1": 1 / 3 - 0.5, "2": -0.5},
        ),
    ],
    ids=str,
)
def test_suppressed_cells_are_no_values(model: Model, values: dict[str, float]) -> None:
    """They neither add to the diversity of a group nor water down a share; a group of nothing else fails."""
    classes = weighted(COLUMNS, [1] * 5).classes(["a", "b"], distributions=needed_distributions([model]))
    found = {classes.labels(i)["a"]: v for i, v in enumerate(model.measure(classes).tolist())}
    assert found == pytest.approx(values)
    assert not model.holds(classes)[[classes.labels(i)["a"] for i in range(3)].index("2")]
    release = pa.table(COLUMNS)
    connection = duckdb.connect(config={"threads": 1})
    connection.register("release", release)
    connection.register("input", release)
    (sql,) = verify(connection, [model], ["a", "b"])
    assert sql.value == pytest.approx(values["1"])


def test_without_quasi_identifiers_everybody_is_one_group() -> None:
    classes = weighted({"x": [1, 2]}, [2, 2]).classes([])
    assert SubsetAnonymity(2, 4).holds(classes).tolist() == [True]
    assert SubsetAnonymity(2, 5).holds(classes).tolist() == [False]


def test_a_group_is_judged_by_what_other_models_left_of_it() -> None:
    """Without the single row with a cold, which 2-anonymity takes away, only the flu is left."""
    table = weighted({"a": ["1", "1"], "b": ["1", "2"], "disease": ["flu", "cold"]}, [2, 1])
    diverse = XYAnonymity(("disease",), 2, x=("a",))
    classes = table.classes(["a", "b"], distributions=needed_distributions([diverse]))
    assert protect(classes, [diverse]).kept.all()
    assert not protect(classes, [diverse, KAnonymity(2)]).kept.any()
    assert np.isnan(diverse.value(classes, np.zeros(2, dtype=bool)))


def test_models_are_not_monotone_together_if_one_is_not() -> None:
    models = [KAnonymity(2), XYLinkability(("disease",), 0.5)]
    assert monotone(models, suppression=False)
    assert not monotone(models, suppression=True)
