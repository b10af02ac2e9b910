"""Levels that are chosen privately in a job, and the conditions of differential privacy by sampling."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import ParameterError
from tarnkappe.table import Table

BUDGET = {"model": "differential-privacy", "epsilon": 2.0, "delta": 0.001, "search_budget": 1.0}
HIERARCHIES = {"age": {"builder": "intervals", "width": [10, 50]}, "sex": {"builder": "root"}}


@pytest.fixture
def people() -> Table:
    data = pa.table({"age": [i % 100 for i in range(6000)], "sex": ["f", "m", "m"] * 2000})
    return Table(data).with_roles(quasi_identifiers=["age", "sex"])


def anonymized(table: Table, promise: dict[str, object] | None = None, **changes: Any) -> tarnkappe.Result:
    settings: dict[str, Any] = {
        "privacy": [promise or BUDGET],
        "hierarchies": HIERARCHIES,
        "suppression_limit": 1,
        "loss": "precision",
    }
    return tarnkappe.anonymize(table, **settings | changes)


def test_levels_are_chosen_and_the_promise_speaks_of_all_of_epsilon(people: Table) -> None:
    result = anonymized(people)
    assert result.levels != {"age": 3, "sex": 1}, "with so many rows something is left by far the likeliest"
    promise = tarnkappe.models.DifferentialPrivacy(2.0, 0.001, 1.0)
    fixed = tarnkappe.models.DifferentialPrivacy(1.0, 0.001)
    assert (promise.k, promise.sampling_rate) == (fixed.k, fixed.sampling_rate)
    assert (result.verified[0].value or 0) >= promise.k
    assert abs(result.input.num_rows / 6000 - promise.sampling_rate) < 0.05
    assert "7.389" in promise.promise
    assert "chosen privately, with 1 of this epsilon" in promise.promise


def test_limits_of_levels_are_kept(people: Table) -> None:
    for _ in range(3):
        result = anonymized(people, levels={"age": (2, 3), "sex": 0})
        assert result.levels is not None
        assert result.levels["age"] >= 2
        assert result.levels["sex"] == 0


def test_what_the_proof_does_not_cover_is_refused(people: Table) -> None:
    two = [BUDGET, {"model": "k-anonymity", "k": 3}]
    with pytest.raises(ParameterError, match="stands alone"):
        anonymized(people, privacy=two)
    for loss in ("loss", "entropy", {"name": "precision", "weights": {"age": 2.0}}):
        with pytest.raises(ParameterError, match='loss = "precision"'):
            anonymized(people, loss=loss)
    with pytest.raises(ParameterError, match="suppression_limit = 1"):
        anonymized(people, suppression_limit=0.5)
    with pytest.raises(ParameterError, match="with aggregated columns"):
        anonymized(people, aggregates={"age": "median"})
    with pytest.raises(ParameterError, match="less than 2"):
        anonymized(people, BUDGET | {"search_budget": 2.0})
    shown = Table(people.data.append_column("town", pa.array(["x"] * 6000)))
    with pytest.raises(ParameterError, match="town would be released unchanged"):
        anonymized(shown.with_roles(quasi_identifiers=["age", "sex"], sensitive=["town"]))


@pytest.mark.parametrize(
    "builder",
    [None, {"builder": "auto"}, {"builder": "intervals", "quantiles": 4}, {"builder": "ordered", "size": 10}],
)
def test_no_hierarchy_may_be_made_from_the_data(people: Table, builder: dict[str, object] | None) -> None:
    hierarchies = {"sex": {"builder": "root"}} | ({} if builder is None else {"age": builder})
    for promise in (BUDGET, BUDGET | {"search_budget": 0.0}):
        with pytest.raises(ParameterError, match="the hierarchy of age would be made from the data"):
            anonymized(people, promise, hierarchies=hierarchies, levels={"age": 1, "sex": 0})


def test_a_method_that_decides_by_the_data_stays_refused(people: Table) -> None:
    with pytest.raises(ParameterError, match="decides by looking at the data"):
        anonymized(people, algorithm="mondrian")
